//! GOAL binary: what LogGOPSim's `txt2bin` writes; little endian, packed.
//!
//! ```text
//! 0  u64 magic | u32 num_ranks | u8 highest cpu | u8 highest nic
//! 14 num_ranks times { u64 start, u64 end }          offsets counted from byte 8
//!    per rank: u32 nodes, u32 roots, u32 root[roots], 39-byte nodes, u32 appendix[]
//! ```
//! A node lists its successors in the appendix; the roots and the numbers of
//! dependencies are redundant and are checked.

use std::path::Path;

use super::{Builder, Cycle, Format, Op, OpKind, Program, TooLarge, TraceError, ANY, ANY_OF_USERS};

/// The first 8 bytes of the file.
pub const MAGIC: u64 = 4223;

/// The first 8 bytes of a file whose writing was not finished (`txt2bin --save-mem`).
pub const MAGIC_SPOILT: u64 = 2342;

const NODE: usize = 39;

/// Reads GOAL binary.
///
/// # Errors
/// Names the byte at which the file contradicts itself or the format.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Program, TraceError> {
    Reader { bytes }
        .program()
        .map_err(|(offset, problem)| TraceError::Binary {
            path: path.into(),
            offset: offset as u64,
            problem,
        })
}

type Problem = (usize, String);

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn field<const N: usize>(&self, at: usize, what: &str) -> Result<[u8; N], Problem> {
        at.checked_add(N)
            .and_then(|end| self.bytes.get(at..end))
            .and_then(|field| field.try_into().ok())
            .ok_or_else(|| {
                (
                    self.bytes.len(),
                    format!("the file ends where {what} should stand (byte {at}): it is truncated"),
                )
            })
    }

    fn u8(&self, at: usize, what: &str) -> Result<u8, Problem> {
        self.field::<1>(at, what).map(|field| field[0])
    }

    fn u32(&self, at: usize, what: &str) -> Result<u32, Problem> {
        self.field(at, what).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize, what: &str) -> Result<u64, Problem> {
        self.field(at, what).map(u64::from_le_bytes)
    }

    /// A position counted from byte 8, as a position in the file.
    fn position(&self, at: usize, what: &str) -> Result<usize, Problem> {
        let offset = self.u64(at, what)?;
        usize::try_from(offset)
            .ok()
            .and_then(|offset| offset.checked_add(8))
            .filter(|&position| position <= self.bytes.len())
            .ok_or_else(|| {
                (
                    at,
                    format!(
                        "{what} is {offset}, beyond the end of the file ({} bytes): it is \
                         truncated or damaged",
                        self.bytes.len()
                    ),
                )
            })
    }

    fn program(&self) -> Result<Program, Problem> {
        match self.u64(0, "the magic number")? {
            MAGIC => {}
            MAGIC_SPOILT => {
                return Err((
                    0,
                    format!(
                        "magic number {MAGIC_SPOILT}: `txt2bin --save-mem` did not finish this \
                         file; convert the text again"
                    ),
                ))
            }
            other => {
                return Err((
                    0,
                    format!("magic number {other} instead of {MAGIC}: not a GOAL binary"),
                ))
            }
        }
        let ranks = self.u32(8, "the number of ranks")?;
        if ranks == 0 {
            return Err((8, "0 ranks: a program has at least 1 rank".into()));
        }
        let mut builder = Builder::new(Format::GoalBinary);
        // Ranks and lists share no bytes: a few of them could stand for more than any memory.
        let mut left = self.bytes.len();
        for rank in 0..ranks {
            let at = 14 + rank as usize * 16;
            let start = self.position(at, &format!("the start of rank {rank}"))?;
            let end = self.position(at + 8, &format!("the end of rank {rank}"))?;
            if end < start {
                return Err((
                    at,
                    format!("rank {rank} ends (byte {end}) before it starts (byte {start})"),
                ));
            }
            left = left.checked_sub(end - start).ok_or_else(|| {
                let shares =
                    format!("rank {rank} shares bytes with another rank: the file is damaged");
                (at, shares)
            })?;
            self.rank(&mut builder, rank, ranks, start, end)?;
        }
        Ok(builder.program)
    }

    fn rank(
        &self,
        builder: &mut Builder,
        rank: u32,
        ranks: u32,
        start: usize,
        end: usize,
    ) -> Result<(), Problem> {
        let too_large = |TooLarge| {
            (
                start,
                "more than 2147483648 operations or 4294967295 dependencies: too large".to_owned(),
            )
        };
        let nodes = self.u32(start, "a number of operations")?;
        let roots = self.u32(start + 4, "a number of roots")?;
        let first_node = start + 8 + roots as usize * 4;
        let appendix = first_node + nodes as usize * NODE;
        if appendix > end {
            return Err((
                start,
                format!(
                    "rank {rank} announces {nodes} operations and {roots} roots, which do not \
                     fit into its {} bytes",
                    end - start
                ),
            ));
        }
        if !(end - appendix).is_multiple_of(4) {
            return Err((
                appendix,
                format!("the lists of rank {rank} do not fill whole numbers of 4 bytes"),
            ));
        }
        let listed = (end - appendix) / 4;
        let mut left = listed;

        let mut announced = Vec::with_capacity(nodes as usize);
        let mut found = vec![0u32; nodes as usize];
        for node in 0..nodes {
            let at = first_node + node as usize * NODE;
            announced.push(self.u32(at, "an operation")?);
            builder.op(self.op(at, rank, ranks)?).map_err(too_large)?;
            for (list_at, on_start) in [(at + 23, false), (at + 31, true)] {
                let count = self.u32(list_at, "an operation")? as usize;
                if count == 0 {
                    continue;
                }
                let first = self.u32(list_at + 4, "an operation")? as usize;
                if first + count > listed {
                    return Err((
                        list_at,
                        format!(
                            "operation {node} of rank {rank} lists successors {first} to {}, but \
                             the rank has {listed}",
                            first + count - 1
                        ),
                    ));
                }
                left = left.checked_sub(count).ok_or_else(|| {
                    let shares = format!(
                        "the successors of operation {node} of rank {rank} are also those of another: \
                         the file is damaged"
                    );
                    (list_at, shares)
                })?;
                for place in first..first + count {
                    let place = appendix + place * 4;
                    let successor = self.u32(place, "a successor")?;
                    if successor >= nodes {
                        return Err((
                            place,
                            format!(
                                "operation {successor} does not exist: rank {rank} has {nodes}"
                            ),
                        ));
                    }
                    found[successor as usize] += 1;
                    builder
                        .dependency(successor, node, on_start)
                        .map_err(too_large)?;
                }
            }
        }
        for (node, (&announced, &found)) in announced.iter().zip(&found).enumerate() {
            if announced != found {
                return Err((
                    first_node + node * NODE,
                    format!(
                        "operation {node} of rank {rank} announces {announced} dependencies, but \
                         {found} operations name it as successor"
                    ),
                ));
            }
        }
        let mut is_root = vec![false; nodes as usize];
        for root in 0..roots as usize {
            let at = start + 8 + root * 4;
            let node = self.u32(at, "a root")?;
            match is_root.get_mut(node as usize) {
                Some(seen) if found[node as usize] == 0 && !*seen => *seen = true,
                _ => {
                    return Err((
                        at,
                        format!(
                            "root {node} of rank {rank} does not exist, has dependencies or is \
                             listed twice"
                        ),
                    ))
                }
            }
        }
        if let Some(missing) = (0..nodes as usize).find(|&node| found[node] == 0 && !is_root[node])
        {
            return Err((
                start + 4,
                format!("operation {missing} of rank {rank} has no dependencies but is no root"),
            ));
        }
        builder.end_rank().map_err(|Cycle(cycle)| {
            (
                first_node + cycle[0] as usize * NODE,
                format!(
                    "cyclic dependency in rank {rank}: operations {cycle:?} wait for each other \
                     (each for the next)"
                ),
            )
        })
    }

    fn op(&self, at: usize, rank: u32, ranks: u32) -> Result<Op, Problem> {
        let kind = match self.u8(at + 4, "an operation")? {
            1 => OpKind::Send,
            2 => OpKind::Recv,
            3 => OpKind::Calc,
            other => {
                return Err((
                    at + 4,
                    format!(
                        "type {other} in rank {rank}: an operation is 1 (send), 2 (recv) or \
                         3 (calc)"
                    ),
                ))
            }
        };
        let op = Op {
            kind,
            peer: self.u32(at + 5, "an operation")?,
            size: self.u64(at + 9, "an operation")?,
            tag: self.u32(at + 17, "an operation")?,
            cpu: self.u8(at + 21, "an operation")?,
            nic: self.u8(at + 22, "an operation")?,
        };
        if kind == OpKind::Calc {
            // What a calc says of messages is nobody's: equal programs must be equal.
            return Ok(Op {
                peer: 0,
                tag: 0,
                nic: 0,
                ..op
            });
        }
        if op.size == 0 {
            return Err((
                at + 9,
                format!("a message of 0 bytes in rank {rank}: a message has at least 1 byte"),
            ));
        }
        if op.peer >= ranks && !(kind == OpKind::Recv && op.peer == ANY) {
            return Err((
                at + 5,
                format!(
                    "rank {} does not exist: the file has ranks 0 to {}",
                    op.peer,
                    ranks - 1
                ),
            ));
        }
        if kind == OpKind::Send && op.tag == ANY {
            return Err((
                at + 17,
                "a send with the tag -1: only a receive takes any tag".into(),
            ));
        }
        if op.tag == ANY_OF_USERS {
            return Err((
                at + 17,
                format!("the tag {ANY_OF_USERS} means something else here: take another one"),
            ));
        }
        Ok(op)
    }
}
