//! Whether sends and receives can meet: counted per channel, without running anything.

use std::collections::BTreeMap;

use super::{is_wildcard, wildcards, OpKind, Program, ANY, ANY_OF_USERS};
use crate::words::counted;

/// Checks that the messages and the receives of every rank can be paired.
///
/// A channel is (source, destination, tag). Receives that name both must not outnumber
/// the messages of their channel; what is left over must be taken by receives from any
/// source or of any tag, and nothing may remain. With wildcards these conditions are
/// necessary, not sufficient: which message meets which receive depends on time, and the
/// replay reports what remains.
pub(super) fn check(program: &Program) -> Result<(), String> {
    let mut channels: Vec<(u32, u32, u32, i64)> = Vec::new();
    for rank in 0..program.ranks() {
        for op in program.rank_ops(rank) {
            let op = &program.ops()[op as usize];
            match op.kind {
                OpKind::Send => channels.push((op.peer, rank as u32, op.tag, 1)),
                OpKind::Recv => channels.push((rank as u32, op.peer, op.tag, -1)),
                OpKind::Calc => {}
            }
        }
    }
    channels.sort_unstable();
    // One entry per channel: messages minus receives that name it.
    channels.dedup_by(|next, kept| {
        let same = (next.0, next.1, next.2) == (kept.0, kept.1, kept.2);
        if same {
            kept.3 += next.3;
        }
        same
    });
    channels
        .chunk_by(|a, b| a.0 == b.0)
        .try_for_each(destination)
}

/// The channels of one destination.
fn destination(channels: &[(u32, u32, u32, i64)]) -> Result<(), String> {
    // The receives with wildcards, and the messages that each could take.
    let mut takers: BTreeMap<(u32, u32), Count> = BTreeMap::new();
    for &(to, from, tag, surplus) in channels {
        if is_wildcard(from, tag) {
            takers.entry((from, tag)).or_default().receives -= surplus;
        } else if surplus < 0 {
            return Err(format!(
                "rank {to}: {} from rank {from} with tag {tag} without a message: rank {from} sends \
                 fewer than rank {to} receives",
                counted(-surplus as usize, "receive", "receives")
            ));
        }
    }
    let to = channels[0].0;
    let mut left = 0;
    for &(_, from, tag, surplus) in channels {
        if is_wildcard(from, tag) || surplus == 0 {
            continue;
        }
        let mut taken = false;
        for wild in wildcards(from, tag) {
            if let Some(count) = takers.get_mut(&wild) {
                count.messages += surplus;
                taken = true;
            }
        }
        if !taken {
            return Err(format!(
                "rank {from}: {} to rank {to} with tag {tag} without a receive",
                counted(surplus as usize, "message", "messages")
            ));
        }
        left += surplus;
    }
    let mut receives = 0;
    for (&(from, tag), count) in &takers {
        receives += count.receives;
        if count.messages < count.receives {
            let any = |value: u32, one: &str| match value {
                ANY | ANY_OF_USERS => format!("any {one}"),
                _ => format!("{one} {value}"),
            };
            let from = any(from, "source").replace("source ", "rank ");
            return Err(format!(
                "{} receives of rank {to} from {from} with {}, but only {} messages are left \
                 for them",
                count.receives,
                any(tag, "tag"),
                count.messages
            ));
        }
    }
    if left != receives {
        return Err(format!(
            "rank {to} has {receives} receives from any source or with any tag for {left} \
             messages"
        ));
    }
    Ok(())
}

#[derive(Default)]
struct Count {
    receives: i64,
    messages: i64,
}
