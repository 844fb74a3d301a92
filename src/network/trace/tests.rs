use std::path::{Path, PathBuf};

use super::info::{ideal_time, info};
use super::*;

fn error(text: &str) -> String {
    from_text(text).unwrap_err()
}

/// The binomial broadcast of LogGOPSim's test `binary_tree_32.goal`, for any power of two.
fn binomial_broadcast(ranks: u32) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text += &format!("\nrank {rank} {{\n");
        let mut label = 0;
        let high = rank.checked_ilog2().map_or(1, |bit| 2 << bit);
        if rank > 0 {
            label += 1;
            text += &format!("l1: recv 1b from {} tag 0\n", rank - high / 2);
        }
        let mut step = high;
        while rank + step < ranks {
            label += 1;
            text += &format!("l{label}: send 1b to {} tag 0\n", rank + step);
            if rank > 0 {
                text += &format!("l{label} requires l1\n");
            }
            step *= 2;
        }
        text += "}\n";
    }
    text
}

#[test]
fn a_broadcast_over_32_ranks() {
    let program = from_text(&binomial_broadcast(32)).unwrap();
    let info = info(&program).unwrap();
    assert_eq!(
        (info.ranks, info.sends, info.recvs, info.calcs),
        (32, 31, 31, 0)
    );
    assert_eq!((info.dependencies, info.bytes_sent), (26, 31));
    // Five levels. A rank's k-th send leaves after k overheads of 200 ns; a message takes
    // 1000.02 ns. The last rank is reached by five first sends in a row.
    let (time, _) = ideal_time(&program).unwrap();
    assert_eq!(time, 5 * (200_000 + 1_000_020));
}

#[test]
fn a_ping_pong_of_two_ranks() {
    let program = from_text(
        "num_ranks 2\n\nrank 0{\nl0: send 80000b to 1\nl1: recv 70000b from 1\n}\n\n\
         rank 1{\nl0: recv 80000b from 0\nl1: send 70000b to 0\nl1 requires l0\n}\n",
    )
    .unwrap();
    let info = info(&program).unwrap();
    assert_eq!(info.message_bytes_min, Some(70000));
    assert_eq!(info.message_bytes_median, Some(70000));
    assert_eq!(info.message_bytes_max, Some(80000));
    let (time, _) = ideal_time(&program).unwrap();
    assert_eq!(time, 2 * (200_000 + 1_000_000) + 150_000 * 20);
    assert_eq!((info.ideal_time_ns * 1000.0) as u64, time);
}

#[test]
fn all_of_the_grammar() {
    let program = from_text(
        "/* a comment\n over lines */ num_ranks 2 // and another\r\n\
         rank 0 {  l1 : send 10 b to 1 tag 5 cpu 2 nic 0\r\n\
         calc 7 cpu 3\n\t// alone\n\n  later: calc 0\nl1 requires later\n}\n\
         rank 1{\nx_1:recv 10b from -1 tag -1 cpu 1\ny: calc 2\ny irequires x_1\n}",
    )
    .unwrap();
    let ops = program.ops();
    let send = Op {
        size: 10,
        peer: 1,
        tag: 5,
        kind: OpKind::Send,
        cpu: 2,
        nic: 0,
    };
    assert_eq!(ops[0], send);
    assert_eq!((ops[1].size, ops[1].cpu), (7, 3));
    assert_eq!((ops[3].peer, ops[3].tag, ops[3].cpu), (ANY, ANY, 1));
    assert_eq!(program.needs(), [1, 0, 0, 0, 1]);
    let later = program.successors(2)[0];
    assert_eq!((later.op(), later.on_start()), (0, false));
    let y = program.successors(3)[0];
    assert_eq!((y.op(), y.on_start()), (4, true));
    assert_eq!(program.rank_ops(1), 3..5);
    assert_eq!([0, 2, 3, 4].map(|op| program.rank_of(op)), [0, 0, 1, 1]);
}

#[test]
fn what_the_grammar_does_not_allow_is_found_where_it_stands() {
    let one = |statement: &str| {
        error(&format!(
            "num_ranks 2\nrank 0 {{\n{statement}\n}}\nrank 1 {{\n}}\n"
        ))
    };
    for (statement, place, what) in [
        ("calc 5 us", "3:6", "write `calc 5000`"),
        ("calc 5us", "3:6", "write `calc 5000`"),
        ("calc -5", "3:6", "never negative"),
        ("calc 1.5", "3:6", "not whole"),
        ("calc", "3:5", "the end of the line"),
        ("calc 5 tag 1", "3:8", "a calc has no `tag`"),
        ("calc 5 ; calc 6", "3:8", "one statement per line"),
        ("calc 5 // done", "3:8", "a line of its own"),
        (
            "calc 18446744073709551616",
            "3:6",
            "at most 18446744073709551615",
        ),
        ("send 4kb to 1", "3:6", "write `4000b`"),
        ("send 4KiB to 1", "3:6", "write `4096b`"),
        ("send 4 to 1", "3:8", "write `4b`"),
        ("send 0b to 1", "3:6", "at least 1 byte"),
        ("send -4b to 1", "3:6", "never negative"),
        ("send 4b from 1", "3:9", "expected `to`"),
        ("send 4b to 2", "3:12", "rank 2 does not exist"),
        ("send 4b to -1", "3:12", "never negative"),
        ("send 4b to 1 tag -1", "3:18", "never negative"),
        ("send 4b to 1 tag 4294967295", "3:18", "at most 4294967294"),
        ("send 4b to 1 cpu 256", "3:18", "at most 255"),
        ("send 4b to 1 cpu 1 tag 1", "3:20", "in the order"),
        ("send 4b to 1 tag 1 tag 1", "3:20", "at most once"),
        ("recv 4b to 1", "3:9", "expected `from`"),
        ("recv 4b from -2", "3:14", "never negative"),
        ("sned 4b to 1", "3:1", "`sned` is neither an operation"),
        ("sned to 1", "3:6", "after `sned`"),
        (
            "a: sned 4b to 1",
            "3:4",
            "expected `send`, `recv` or `calc`",
        ),
        ("a: calc 1\na: calc 2", "4:1", "first on line 3"),
        ("a requires b", "3:1", "`a` is not defined"),
        ("a: calc 1\na requires b", "4:12", "`b` is not defined"),
        ("a: calc 1\na requires a", "4:1", "waits for itself"),
        ("a: calc 1\na requires", "4:11", "expected a label"),
        ("a: calc 1\na: requires a", "4:1", "defined twice"),
        ("5: calc 1", "3:1", "expected an operation"),
        ("rank 1 {", "3:1", "the `}` of that rank is missing"),
    ] {
        let message = one(statement);
        assert!(
            message.starts_with(&format!("test.goal:{place}: ")) && message.contains(what),
            "{statement}: {message}"
        );
    }
}

#[test]
fn truncation_is_found() {
    for (text, what) in [
        ("", "the file is empty"),
        ("// nothing\n", "holds no statement"),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\n",
            "its `}` is missing, and so are the 1 ranks",
        ),
        ("num_ranks 2\nrank 0 {\n}\n", "after 1 of 2 ranks"),
        ("num_ranks 2\n/* open\n", "begins on line 2"),
        ("num_ranks 2\nrank 0 {\nsend 4b t", "expected `to`"),
    ] {
        let message = error(text);
        assert!(message.contains(what), "{text:?}: {message}");
    }
}

#[test]
fn what_stands_around_the_ranks_is_checked() {
    for (text, what) in [
        ("ranks 2\n", "test.goal:1:1: expected `num_ranks N`"),
        ("num_ranks 0\n", "at least 1 rank"),
        ("num_ranks -1\n", "never negative"),
        ("num_ranks 4294967295\n", "at most 4294967294"),
        (
            "num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n",
            "test.goal:4:1: found `rank` after the last",
        ),
        ("num_ranks 1\nrank 0 {\n}\njunk\n", "nothing may follow"),
        ("num_ranks 2\nrank 1 {\n}\n", "rank 1 where rank 0 is due"),
        ("num_ranks 2\nrank 5 {\n}\n", "rank 5 does not exist"),
        ("num_ranks 1\nrank 0\n{\n}\n", "expected `{`"),
        ("num_ranks 1\ncalc 5\n", "expected `rank 0 {`"),
    ] {
        let message = error(text);
        assert!(message.contains(what), "{text:?}: {message}");
    }
}

#[test]
fn a_cycle_is_shown() {
    let message = error(
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\nb requires a\n\
         c requires b\nb irequires d\nd requires c\n}\n",
    );
    assert!(
        message.contains("cyclic dependency of 3 operations in rank 0"),
        "{message}"
    );
    for label in ["b", "c", "d"] {
        assert!(message.contains(label), "{message}");
    }
    assert!(!message.contains(" a "), "{message}");
}

#[test]
fn messages_and_receives_must_pair() {
    let two = |a: &str, b: &str| format!("num_ranks 2\nrank 0 {{\n{a}\n}}\nrank 1 {{\n{b}\n}}\n");
    let send = "send 4b to 1 tag 3";
    for (a, b, what) in [
        (
            send,
            "",
            "rank 0: 1 message to rank 1 with tag 3 without a receive",
        ),
        (
            "",
            "recv 4b from 0 tag 3",
            "rank 1: 1 receive from rank 0 with tag 3 without a message",
        ),
        (send, "recv 4b from 0 tag 4", "with tag 4 without a message"),
        (
            send,
            "recv 4b from -1 tag 4",
            "with tag 3 without a receive",
        ),
        (
            send,
            "recv 4b from -1 tag 3\nrecv 4b from -1 tag 3",
            "2 receives of rank 1 from any source with tag 3, but only 1 messages",
        ),
        (
            send,
            "recv 4b from 0 tag -1\nrecv 4b from 0 tag -1",
            "2 receives of rank 1 from rank 0 with any tag, but only 1 messages",
        ),
        (
            send,
            "recv 4b from -1 tag 3\nrecv 4b from -1 tag -1",
            "2 receives",
        ),
        (send, "recv 4b from 1 tag -1", "without a receive"),
    ] {
        let message = error(&two(a, b));
        assert!(message.contains(what), "{a} / {b}: {message}");
    }
    for b in [
        "recv 4b from 0 tag 3",
        "recv 4b from -1 tag 3",
        "recv 4b from 0 tag -1",
        "recv 4b from -1 tag -1",
    ] {
        let program = from_text(&two(send, b)).unwrap();
        assert_eq!(ideal_time(&program).unwrap().0, 1_200_080);
    }
}

#[test]
fn ranks_that_wait_for_each_other_are_found() {
    let program = from_text(
        "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n\
         rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n",
    )
    .unwrap();
    let message = info(&program).unwrap_err();
    assert!(
        message.contains("4 of 4 operations can never run"),
        "{message}"
    );
    assert!(
        message.contains("rank 1: recv 1b from 0 tag 0"),
        "{message}"
    );
}

/// The binary form of a program, as `txt2bin` writes it.
pub(super) fn to_binary(program: &Program) -> Vec<u8> {
    let ranks = program.ranks();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for rank in 0..ranks {
        let ops = program.rank_ops(rank);
        let roots: Vec<u32> = ops
            .clone()
            .filter(|&op| program.needs()[op as usize] == 0)
            .collect();
        let mut block = Vec::new();
        block.extend((ops.end - ops.start).to_le_bytes());
        block.extend((roots.len() as u32).to_le_bytes());
        for root in roots {
            block.extend((root - ops.start).to_le_bytes());
        }
        let mut appendix: Vec<u32> = Vec::new();
        for number in ops.clone() {
            let op = program.ops()[number as usize];
            block.extend(program.needs()[number as usize].to_le_bytes());
            block.push(match op.kind {
                OpKind::Send => 1,
                OpKind::Recv => 2,
                OpKind::Calc => 3,
            });
            block.extend(op.peer.to_le_bytes());
            block.extend(op.size.to_le_bytes());
            block.extend(op.tag.to_le_bytes());
            block.extend([op.cpu, op.nic]);
            for on_start in [false, true] {
                let list: Vec<u32> = program
                    .successors(number)
                    .iter()
                    .filter(|successor| successor.on_start() == on_start)
                    .map(|successor| successor.op() - ops.start)
                    .collect();
                block.extend((list.len() as u32).to_le_bytes());
                block.extend((appendix.len() as u32).to_le_bytes());
                appendix.extend(list);
            }
        }
        block.extend(appendix.iter().flat_map(|entry| entry.to_le_bytes()));
        blocks.push(block);
    }
    let mut bytes = goalbin::MAGIC.to_le_bytes().to_vec();
    bytes.extend((ranks as u32).to_le_bytes());
    bytes.extend([0, 0]);
    let mut at = 6 + ranks as u64 * 16;
    for block in &blocks {
        bytes.extend(at.to_le_bytes());
        at += block.len() as u64;
        bytes.extend(at.to_le_bytes());
    }
    bytes.extend(blocks.concat());
    bytes
}

fn same_but_for_format(a: &Program, b: &Program) -> bool {
    // Text lists dependencies in another order than binary.
    let lists = |program: &Program| {
        (0..program.ops().len() as u32)
            .map(|op| {
                let mut list: Vec<_> = program
                    .successors(op)
                    .iter()
                    .map(|successor| (successor.on_start(), successor.op()))
                    .collect();
                list.sort_unstable();
                list
            })
            .collect::<Vec<_>>()
    };
    a.ops() == b.ops() && a.needs() == b.needs() && lists(a) == lists(b)
}

#[test]
fn binary_holds_the_same_as_text() {
    for text in [
        binomial_broadcast(16),
        "num_ranks 2\nrank 0 {\na: send 9b to 1 tag 3 cpu 1\nb: calc 4\nb irequires a\nc: calc 5\n\
         c requires a\nc requires b\n}\nrank 1 {\nrecv 9b from -1 tag -1\n}\n"
            .to_owned(),
    ] {
        let program = from_text(&text).unwrap();
        let bytes = to_binary(&program);
        let path = Path::new("test.goalbin");
        let again = goalbin::parse(path, &bytes).unwrap();
        assert_eq!(again.format(), Format::GoalBinary);
        assert!(same_but_for_format(&program, &again));
        // Every shorter file is refused, none panics.
        for length in 0..bytes.len() {
            assert!(goalbin::parse(path, &bytes[..length]).is_err(), "{length}");
        }
    }
}

#[test]
fn what_a_calc_of_a_binary_says_of_messages_is_not_kept() {
    let program = from_text("num_ranks 1\nrank 0 {\na: calc 9\n}\n").unwrap();
    let mut bytes = to_binary(&program);
    // Behind the head, the place of the rank, its numbers and its root: peer, tag and NIC.
    let node = 14 + 16 + 8 + 4;
    bytes[node + 5] = 7;
    bytes[node + 17] = 9;
    bytes[node + 22] = 2;
    let again = goalbin::parse(Path::new("test.goalbin"), &bytes).unwrap();
    assert_eq!(again.ops(), program.ops());
}

#[test]
fn damaged_binary_never_panics() {
    let bytes = to_binary(&from_text(&binomial_broadcast(8)).unwrap());
    let path = Path::new("test.goalbin");
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // Whether the change matters or not, the reader must come back.
            let _ = goalbin::parse(path, &damaged);
        }
    }
    // All ranks are the first one: a few bytes could stand for more than any memory.
    let mut shared = bytes.clone();
    for rank in 1..8 {
        let at = 14 + 16 * rank;
        shared.copy_within(14..30, at);
    }
    let message = goalbin::parse(path, &shared).unwrap_err().to_string();
    assert!(
        message.contains("shares bytes with another rank"),
        "{message}"
    );
    let mut cyclic = to_binary(
        &from_text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nb requires a\n}\n").unwrap(),
    );
    // Operation 0 waits too, and operation 1 names it: a circle without roots.
    let block = 14 + 16;
    cyclic[block + 4] = 0;
    cyclic.drain(block + 8..block + 12);
    let end: u64 = 6 + 16 + (cyclic.len() - block) as u64 + 4;
    cyclic[22..30].copy_from_slice(&end.to_le_bytes());
    let node = |number: usize| block + 8 + 39 * number;
    cyclic[node(0)] = 1;
    cyclic[node(1) + 23] = 1;
    cyclic[node(1) + 27] = 1;
    cyclic.extend(0u32.to_le_bytes());
    let message = goalbin::parse(path, &cyclic).unwrap_err().to_string();
    assert!(message.contains("cyclic dependency in rank 0"), "{message}");
}

#[test]
fn damaged_text_never_panics() {
    let text = binomial_broadcast(4) + "/* end */\n";
    for at in 0..text.len() {
        let _ = from_text(&text[..at]);
        for with in [
            "",
            "-",
            "9999999999999999999999",
            "\u{e9}",
            "/*",
            "}",
            ":",
            "\n",
        ] {
            let _ = from_text(&format!("{}{with}{}", &text[..at], &text[at + 1..]));
        }
    }
}

#[test]
fn files_are_told_apart_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let text = binomial_broadcast(8);
    let program = from_text(&text).unwrap();
    let binary = to_binary(&program);
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    for (bytes, format, compressed) in [
        (text.clone().into_bytes(), Format::GoalText, false),
        (packed(text.as_bytes()), Format::GoalText, true),
        (binary.clone(), Format::GoalBinary, false),
        (packed(&binary), Format::GoalBinary, true),
    ] {
        let path = folder.path().join("trace");
        std::fs::write(&path, bytes).unwrap();
        let again = read(&path).unwrap();
        assert_eq!((again.format(), again.compressed()), (format, compressed));
        assert!(same_but_for_format(&program, &again));
    }
}

#[test]
fn joined_programs_keep_to_themselves() {
    let ping = "num_ranks 2\nrank 0 {\nl0: send 80b to 1 tag 3\nl1: recv 70b from -1\n\
                l1 irequires l0\n}\nrank 1 {\nl0: recv 80b from 0 tag 3\nl1: send 70b to 0\n\
                l1 requires l0\n}\n";
    let calc = "num_ranks 1\nrank 0 {\nl0: calc 5\nl1: calc 7\nl1 requires l0\n}\n";
    let programs = [ping, calc, ping].map(|text| from_text(text).unwrap());
    let alone = ideal_time(&programs[0]).unwrap();
    let joined = Program::join(&programs.each_ref()).unwrap();
    assert_eq!((joined.ranks(), joined.dependencies()), (5, 2 + 1 + 2));
    let shown: Vec<String> = joined.ops().iter().map(Op::to_string).collect();
    assert_eq!(
        shown[..2],
        ["send 80b to 1 tag 3", "recv 70b from -1 tag 0"]
    );
    assert_eq!(
        shown[4..8],
        [
            "calc 5",
            "calc 7",
            "send 80b to 4 tag 3",
            "recv 70b from -1 tag 0"
        ]
    );
    assert_eq!(joined.rank_of(6), 3);
    let next = joined.successors(6)[0];
    assert_eq!((next.op(), next.on_start()), (7, true));
    // They run side by side, as fast as the slowest alone.
    assert_eq!(ideal_time(&joined).unwrap(), alone);
}

#[test]
fn mpi_logs_hold_the_same_as_the_goal_files_made_of_them() {
    let mut compared = 0;
    for entry in std::fs::read_dir("sim").unwrap() {
        let log = entry.unwrap().path();
        let name = log.file_name().unwrap().to_str().unwrap();
        let Some(name) = name.strip_suffix(".mpilog.tar.zst") else {
            continue;
        };
        let goal = log.with_file_name(format!("{name}.goal.zst"));
        let (from_log, from_goal) = (read(&log).unwrap(), read(&goal).unwrap());
        assert_eq!(from_log.format(), Format::Mpilog);
        let ops = from_log.ops().iter().zip(from_goal.ops()).enumerate();
        for (number, (ours, theirs)) in ops {
            assert_eq!(ours, theirs, "{name}: operation {number}");
        }
        assert!(same_but_for_format(&from_log, &from_goal), "{name}");
        compared += 1;
    }
    assert!(compared >= 2, "{compared}");
}

/// All members of communicators of 1 to 9 ranks call it.
#[test]
fn the_messages_of_every_collective_meet() {
    use super::collectives::Collective;
    use super::mpi::{Comm, Rank, Tags};
    for size in 1..10usize {
        let ramp: Vec<u64> = (1..=size as u64).map(|n| 100 * n).collect();
        let root = size / 2;
        // The vector that member `me` receives holds what the others send to it.
        let all = |me: usize| {
            [
                Collective::Barrier,
                Collective::Broadcast { root, bytes: 10 },
                Collective::Reduce { root, bytes: 10 },
                Collective::AllReduce {
                    bytes: 64,
                    element: 8,
                },
                Collective::AllReduce {
                    bytes: 80_000,
                    element: 8,
                },
                Collective::AllGather { bytes: 10 },
                Collective::AllGatherV {
                    blocks: ramp.clone().into(),
                },
                Collective::ReduceScatter {
                    blocks: ramp.clone().into(),
                },
                Collective::AllToAll { bytes: 10 },
                Collective::AllToAllV {
                    to: ramp.clone(),
                    from: vec![100 * (me as u64 + 1); size],
                },
                Collective::Scan { bytes: 10 },
                Collective::Gather {
                    root,
                    blocks: ramp.clone(),
                },
                Collective::Scatter {
                    root,
                    blocks: ramp.clone(),
                },
            ]
        };
        for kind in 0..all(0).len() {
            let mut builder = Builder::new(Format::Mpilog);
            let mut tags = Tags::default();
            for me in 0..size {
                // Places and ranks run against each other.
                let members: Vec<u32> = (0..size as u32).rev().collect();
                let mut comm = Comm::new(0, members, me as u32).unwrap();
                let place = comm.me;
                let mut rank = Rank::new(&mut builder);
                rank.compute(1);
                all(place)[kind]
                    .expand(&mut comm, &mut tags, &mut rank)
                    .unwrap();
                rank.end().unwrap();
            }
            let what = format!("{:?} of {size}", all(0)[kind]);
            let program = builder.program;
            matching::check(&program).unwrap_or_else(|error| panic!("{what}: {error}"));
            let info = info(&program).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(info.sizes_differ, 0, "{what}");
            assert_eq!(info.sends == 0, size == 1, "{what}");
        }
    }
}

/// A DUMPI file of one rank (version 1.0.0, wall times): its calls by function and arguments.
/// A call takes 1 us, and 2 us pass between calls.
fn dumpi_rank(calls: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"\xff\xaa\xddDUMPI".to_vec();
    let header = bytes.len() as u64;
    bytes.extend([1, 0, 0]);
    bytes.extend([0; 8 + 2 + 2 + 4]);
    let body = bytes.len() as u64;
    bytes.extend([0; 4]);
    bytes.extend(7i32.to_be_bytes());
    let mut at = 0u32;
    for (function, arguments) in calls {
        bytes.extend(function.to_be_bytes());
        bytes.push(8 | 1);
        for time in [at, at + 1000] {
            bytes.extend(3u16.to_be_bytes());
            bytes.extend(time.to_be_bytes());
        }
        bytes.extend(arguments);
        at += 3000;
    }
    bytes.extend(293u16.to_be_bytes());
    let footer = bytes.len() as u64;
    bytes.extend(b"\xff\xaa\xddDUMPI");
    for offset in [0, 0, 0, header, body, footer, 0] {
        bytes.extend(u64::to_be_bytes(offset));
    }
    bytes
}

/// Arguments: `i` an int, `s` a short, `b` a byte.
fn arguments(list: &[(char, i32)]) -> Vec<u8> {
    let one = |&(kind, value): &(char, i32)| match kind {
        'i' => value.to_be_bytes().to_vec(),
        's' => (value as u16).to_be_bytes().to_vec(),
        _ => vec![value as u8],
    };
    list.iter().flat_map(one).collect()
}

/// Writes a DUMPI trace and returns its description.
fn dumpi_trace(folder: &Path, ranks: &[Vec<u8>]) -> PathBuf {
    for (rank, bytes) in ranks.iter().enumerate() {
        std::fs::write(folder.join(format!("run-{rank:04}.bin")), bytes).unwrap();
    }
    let meta = folder.join("run.meta");
    let text = format!(
        "hostname=here\nnumprocs={}\nfileprefix=/else/where/run\n",
        ranks.len()
    );
    std::fs::write(&meta, text).unwrap();
    meta
}

/// Two ranks that receive from anyone and reduce within halves of the world.
fn dumpi_example() -> Vec<Vec<u8>> {
    (0..2i32)
        .map(|me| {
            let other = 1 - me;
            let send = [('i', 3), ('s', 9), ('i', other), ('i', 5), ('s', 2)];
            let recv = [('i', 9), ('s', 9), ('i', -1), ('i', -1), ('s', 2), ('i', 2)];
            let status = [('i', 12), ('i', other), ('b', 0), ('b', 0), ('i', 5)];
            let wait = [&[('i', 2), ('i', 1)], &status[..]].concat();
            // The other order than in the world.
            let split = [('s', 2), ('i', 1), ('i', -me), ('s', 4)];
            let allreduce = [('i', 2), ('s', 14), ('b', 3), ('s', 4)];
            dumpi_rank(&[
                (124, arguments(&[('i', 0)])),
                (12, arguments(&recv)),
                (0, arguments(&send)),
                (13, arguments(&wait)),
                (86, arguments(&split)),
                (65, arguments(&allreduce)),
                (53, arguments(&[('i', 1), ('s', 5), ('i', 0), ('s', 4)])),
                (125, Vec::new()),
            ])
        })
        .collect()
}

#[test]
fn dumpi_calls_become_operations() {
    let folder = tempfile::tempdir().unwrap();
    let program = read(&dumpi_trace(folder.path(), &dumpi_example())).unwrap();
    assert_eq!(program.format(), Format::Dumpi);
    let text = |rank: usize| {
        let ops = &program.ops()[program.rank_ops(rank).start as usize..];
        let ops = &ops[..program.rank_ops(rank).len()];
        ops.iter().map(Op::to_string).collect::<Vec<_>>()
    };
    // Tags of the new communicator begin at 2^30 + 2 * 2^20. Its first member is rank 1.
    let tag = (1 << 30) + (2 << 20);
    let common = |other: u32| {
        vec![
            "calc 2000".to_owned(),
            format!("recv 12b from {other} tag 5"),
            "calc 2000".to_owned(),
            format!("send 12b to {other} tag 5"),
            "calc 2000".to_owned(),
            "calc 4000".to_owned(),
            format!("recv 16b from {other} tag {tag}"),
            format!("send 16b to {other} tag {tag}"),
            "calc 2000".to_owned(),
        ]
    };
    let with = |other: u32, last: String| {
        let mut ops = common(other);
        ops.extend([last, "calc 2000".to_owned()]);
        ops
    };
    assert_eq!(text(0), with(1, format!("recv 1b from 1 tag {}", tag + 1)));
    assert_eq!(text(1), with(0, format!("send 1b to 0 tag {}", tag + 1)));
    assert_eq!(info(&program).unwrap().sizes_differ, 0);
}

#[test]
fn a_word_without_end_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let meta = folder.path().join("run.meta");
    let long = "x".repeat(100_000);
    let refused = |text: String| {
        std::fs::write(&meta, text).unwrap();
        let text = read(&meta).unwrap_err().to_string();
        text.replace(&meta.display().to_string(), "run.meta")
    };
    let text = refused(format!("numprocs={long}\nfileprefix=run\n"));
    assert!(text.starts_with("run.meta:1:10: `xxx"), "{text}");
    assert!(text.ends_with("x` ranks: there are 1 to 1048576"), "{text}");
    assert!(text.contains("x [...] x") && text.len() < 1000, "{text}");
    // A letter of several bytes is not cut.
    let text = refused(format!(
        "numprocs={}\nfileprefix=run\n",
        "\u{e9}".repeat(5000)
    ));
    assert!(text.contains("\u{e9} [...] \u{e9}"), "{text}");
    let text = refused(format!("numprocs=1\nfileprefix={long}\n"));
    assert_eq!(
        text,
        "run.meta:2:12: 100000 bytes: names of files can begin with 240, and `-0000.bin` follows"
    );
}

/// A change in any file that is read shows, and none in others; `sha256sum` comes to the same.
#[test]
fn digests_cover_every_file_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str| {
        let file = at(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, name).unwrap();
    };
    dumpi_trace(folder.path(), &dumpi_example());
    liballprof_logs(folder.path(), &liballprof_example(8));
    for name in [
        "one.goal",
        "logs/rank-0000.log",
        "logs/rank-0001.log",
        "logs/notes.txt",
        "graphs/run.0.et",
        "graphs/run.1.et",
        "graphs/else.0.et",
        "traces.otf2",
        "traces.def",
        "traces/0.evt",
        "traces/0.def",
        "else.otf2",
    ] {
        write(name);
    }
    let all: [(&str, &[&str]); 7] = [
        ("one.goal", &["one.goal"]),
        ("run.meta", &["run.meta", "run-0000.bin", "run-0001.bin"]),
        ("run-0.dat", &["run-0.dat", "run-1.dat"]),
        ("logs", &["logs/rank-0000.log", "logs/rank-0001.log"]),
        ("graphs/run.1.et", &["graphs/run.0.et", "graphs/run.1.et"]),
        (
            "graphs",
            &["graphs/run.0.et", "graphs/run.1.et", "graphs/else.0.et"],
        ),
        (
            "traces.otf2",
            &["traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"],
        ),
    ];
    let digests = || all.map(|(trace, _)| sha256(&at(trace)).unwrap().unwrap());
    let before = digests();
    let mut every: Vec<&str> = all.iter().flat_map(|(_, files)| *files).copied().collect();
    every.extend(["logs/notes.txt", "else.otf2"]);
    for changed in every {
        let content = std::fs::read(at(changed)).unwrap();
        let mut more = content.clone();
        more.push(b'\n');
        std::fs::write(at(changed), more).unwrap();
        for ((trace, files), (before, after)) in all.iter().zip(before.iter().zip(digests())) {
            assert_eq!(
                *before != after,
                files.contains(&changed),
                "{trace}: {changed}"
            );
        }
        std::fs::write(at(changed), content).unwrap();
    }
    assert_eq!(before, digests());
    let lines = "sha256sum traces.def traces.otf2 traces/0.def traces/0.evt | sha256sum";
    let shell = std::process::Command::new("sh")
        .args(["-c", lines])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let found = String::from_utf8(shell.stdout).unwrap();
    assert_eq!(found.split(' ').next().unwrap(), before[6]);
    // A pipe can be read only once.
    assert_eq!(sha256(Path::new("/dev/null")).unwrap(), None);
}

#[test]
fn damaged_dumpi_is_refused_where_the_fault_is() {
    let folder = tempfile::tempdir().unwrap();
    let good = dumpi_example();
    let message = |ranks: &[Vec<u8>]| {
        let meta = dumpi_trace(folder.path(), ranks);
        read(&meta).unwrap_err().to_string()
    };
    let changed = |rank: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut ranks = good.clone();
        change(&mut ranks[rank]);
        message(&ranks)
    };
    let text = changed(1, &|bytes| bytes.truncate(100));
    assert!(text.contains("run-0001.bin: at byte 100: "), "{text}");
    assert!(text.contains("truncated"), "{text}");
    let text = changed(0, &|bytes| bytes[0] = 0);
    assert!(
        text.contains("run-0000.bin: at byte 0: does not begin"),
        "{text}"
    );
    // The first call's function, behind magic, header and the two biases.
    let text = changed(0, &|bytes| bytes[36] = 200);
    assert!(text.contains("at byte 35: function 200 of MPI"), "{text}");
    let meta = dumpi_trace(folder.path(), &good);
    for (content, what) in [
        ("numprocs=0\nfileprefix=run\n", "run.meta:1:10: `0` ranks"),
        ("fileprefix=run\n", "`numprocs=` is missing"),
        ("numprocs=3\nfileprefix=run\n", "run-0002.bin"),
    ] {
        std::fs::write(&meta, content).unwrap();
        let text = read(&meta).unwrap_err().to_string();
        assert!(text.contains(what), "{text}");
    }
    // Whatever a byte becomes, the reader comes back.
    for at in 0..good[0].len() {
        for flip in [1, 0x80, 0xff] {
            let mut ranks = good.clone();
            ranks[0][at] ^= flip;
            let _ = read(&dumpi_trace(folder.path(), &ranks));
        }
    }
}

#[test]
fn faults_of_mpi_logs_are_found_where_they_stand() {
    let head = "#mpilog 1\n#rank 0 of 1\n#clock_overhead_ns 10\n#comm 0 0\n";
    for (line, place, what) in [
        ("Send 1 2 3", "5:11", "four times in ns"),
        (
            "Send 1 2 x 4 c=0 d=0 t=0 b=1",
            "5:10",
            "`x` is no time in ns",
        ),
        ("Send 1 2 3 4 c=0 d=0 t=0", "5:1", "`b=` is missing"),
        (
            "Send 1 2 3 4 c=0 d=1 t=0 b=1",
            "5:20",
            "rank 1 does not exist",
        ),
        ("Send 1 2 3 4 c=7 d=0 t=0 b=1", "5:16", "communicator 7"),
        ("Send 1 2 3 4 c=0 d=0 t=-1 b=1", "5:24", "no tag -1"),
        ("Send 1 2 3 4 c=0 5", "5:18", "`5` is no `key=value`"),
        ("Wait 1 2 3 4 Q=0", "5:16", "request 0 is not under way"),
        (
            "Bcast 1 2 3 4 c=0 b=4 root=3",
            "5:28",
            "not in the communicator",
        ),
        (
            "Alltoallv 1 2 3 4 c=0 sc=1,1 rc=1",
            "5:1",
            "a list of 2 sizes",
        ),
        ("Spawn 1 2 3 4 c=0", "5:1", "`Spawn` is no call"),
        ("#unsupported 3", "5:14", "not complete"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("rank-0000.log");
        std::fs::write(&log, format!("{head}{line}\n")).unwrap();
        let text = read(folder.path()).unwrap_err().to_string();
        let start = format!("{}:{place}: ", log.display());
        assert!(
            text.starts_with(&start) && text.contains(what),
            "{line}: {text}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let text = read(folder.path()).unwrap_err().to_string();
    assert!(text.contains("no log of a rank"), "{text}");
    std::fs::write(folder.path().join("rank-0001.log"), head).unwrap();
    let text = read(folder.path()).unwrap_err().to_string();
    assert!(text.contains("the log of rank 0 is missing"), "{text}");
    let one = folder.path().join("rank-0001.log");
    let text = read(&one).unwrap_err().to_string();
    assert!(text.contains("the log of one rank"), "{text}");
}

#[test]
fn a_truncated_archive_of_mpi_logs_is_refused() {
    let packed = std::fs::read("sim/alexnet-dp-bucket-r8-i3.mpilog.tar.zst").unwrap();
    let tar = zstd::decode_all(&packed[..]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.tar");
    std::fs::write(&path, &tar).unwrap();
    assert_eq!(read(&path).unwrap().ranks(), 8);
    // Within the content of the last rank's log.
    let at = tar.windows(13).rposition(|name| name == b"rank-0007.log");
    std::fs::write(&path, &tar[..at.unwrap() + 600]).unwrap();
    let text = read(&path).unwrap_err().to_string();
    assert!(
        text.contains("rank-0007.log: the archive ends after"),
        "{text}"
    );
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let text = read(&path).unwrap_err().to_string();
    assert!(text.contains("truncated"), "{text}");
}

#[test]
fn damaged_mpi_logs_never_panic() {
    let text = "#mpilog 1\n#rank 0 of 1\n#clock_overhead_ns 10\n#comm 0 0\n\
                Isend 1 2 3 4 c=0 d=0 t=1 b=8 q=0\nRecv 1 2 3 4 c=0 s=0 st=1 rb=8\n\
                Wait 1 2 3 4 Q=0\nBcast 1 2 3 4 c=0 b=4 root=0\n";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("rank-0000.log");
    std::fs::write(&log, text).unwrap();
    assert_eq!(read(folder.path()).unwrap().ops().len(), 2);
    for at in 0..text.len() {
        for with in ["", "-", ",", "9999999999999999999999", "=", "\n"] {
            let damaged = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            std::fs::write(&log, damaged).unwrap();
            let _ = read(folder.path());
        }
    }
}

/// Two messages, the second after the first, and a broadcast from task 2 by all four tasks.
const VEF: &str = "VEF 4 2 1 1 4 FALSE\n\
    C0 0 1 2 3\n\
    0 0 1 1024 0 500 -1\n\
    1 1 0 2048 2 300 0\n\
    G0 0 0 0 0 64 1 150 0\n\
    G0 0 0 1 0 64 0 700 -1\n\
    G0 0 0 2 64 0 0 20 -1\n\
    G0 0 0 3 0 64 0 10 -1\n";

#[test]
fn vef_records_wait_for_their_events() {
    let program = from_text(VEF).unwrap();
    assert_eq!(program.format(), Format::Vef);
    let ops = |rank: usize| {
        let range = program.rank_ops(rank);
        let ops = &program.ops()[range.start as usize..range.end as usize];
        ops.iter().map(Op::to_string).collect::<Vec<_>>()
    };
    // Counted from the root, task 0 is the third member and task 3 the second: the root
    // sends to both, and task 3 to task 1.
    let tag = 1 << 30;
    let expected = [
        vec![
            "recv 2048b from 1 tag 1".to_owned(),
            "calc 500".to_owned(),
            "send 1024b to 1 tag 0".to_owned(),
            "calc 150".to_owned(),
            format!("recv 64b from 2 tag {tag}"),
        ],
        vec![
            "recv 1024b from 0 tag 0".to_owned(),
            "calc 700".to_owned(),
            format!("recv 64b from 3 tag {tag}"),
            "calc 300".to_owned(),
            "send 2048b to 0 tag 1".to_owned(),
        ],
        vec![
            "calc 20".to_owned(),
            format!("send 64b to 3 tag {tag}"),
            format!("send 64b to 0 tag {tag}"),
        ],
        vec![
            "calc 10".to_owned(),
            format!("recv 64b from 2 tag {tag}"),
            format!("send 64b to 1 tag {tag}"),
        ],
    ];
    for (rank, expected) in expected.iter().enumerate() {
        assert_eq!(&ops(rank), expected, "rank {rank}");
    }
    // Message 1: 500 ns, 200 ns to send 1024 bytes, 1000 ns and 20 ps a byte on the way,
    // 300 ns, and the same with 2048 bytes.
    let answer = 500_000 + 1_200_000 + 1024 * 20 + 300_000 + 1_200_000 + 2048 * 20;
    assert_eq!(ideal_time(&program).unwrap().0, answer);
}

/// A replay is what is counted: its computing takes as long as its processors do.
#[test]
fn computing_is_counted_at_the_speed_of_the_replay() {
    let program = from_text("num_ranks 1\nrank 0 {\na: calc 1001\nb: calc 2\nb requires a\n}\n");
    let found = info(&program.unwrap().at_speed(10_000_000)).unwrap();
    assert_eq!((found.calcs, found.calc_total_ns), (2, 100));
    assert_eq!(found.ideal_time_ns, 100.3);
}

/// By hand: eight bytes of each of three tasks in parts of 3, 3 and 2, of which a task keeps its own.
#[test]
fn vef_splits_vectors_to_the_last_byte() {
    let parts = (0..3).map(|task| format!("G0 0 7 {task} 8 1 0 0 -1\n"));
    let text = "VEF 3 0 1 1 3 FALSE\nC0 0 1 2\n".to_owned() + &parts.collect::<String>();
    let found = info(&from_text(&text).unwrap()).unwrap();
    let sent: Vec<u64> = found.per_rank.iter().map(|rank| rank.bytes_sent).collect();
    assert_eq!(sent, [5, 5, 6]);
}

/// Two records after the same event, and two delays at the same time, do not add up.
#[test]
fn vef_delays_run_side_by_side_on_one_processor() {
    let text = "VEF 2 3 1 0 0 FALSE\nC0 0 1\n\
                0 0 1 50 0 5000 -1\n1 0 1 50 0 2000 -1\n2 0 1 50 1 1000 1\n";
    // The last message leaves after 5000 ns and 200 ns, and takes 1001 ns.
    let program = from_text(text).unwrap();
    assert_eq!(ideal_time(&program).unwrap().0, 6_201_000);
    // The delays of task 0 name a CPU each, and a processor has one.
    assert_eq!([0, 1].map(|rank| program.processors(rank)), [1, 1]);
}

/// A CPU that only sends or receives is none that computes (PerfBound 4.1: utilisation of a node).
#[test]
fn processors_are_cpus_that_compute() {
    let text =
        "num_ranks 3\nrank 0 {\na: calc 5 cpu 1\nb: calc 5 cpu 2\nc: send 1b to 1 cpu 0\n}\n\
                rank 1 {\na: recv 1b from 0 cpu 0\nb: calc 5 cpu 1\n}\nrank 2 {\n}\n";
    let program = from_text(text).unwrap();
    assert_eq!([0, 1, 2].map(|rank| program.processors(rank)), [2, 1, 1]);
    // What takes no time is there for the order alone, as behind the collectives of Chakra.
    let text = "num_ranks 1\nrank 0 {\na: calc 5 cpu 1\nb: calc 0 cpu 0\nb requires a\n}\n";
    assert_eq!(from_text(text).unwrap().processors(0), 1);
}

/// On the ideal network, too, messages of one sender to one receiver do not overtake each other: a
/// wildcard takes the first one, however short the second one is.
#[test]
fn messages_do_not_overtake_on_the_ideal_network() {
    let text = "num_ranks 2\nrank 0 {\na: send 1000000b to 1 tag 1\nb: send 8b to 1 tag 2\n\
                b requires a\n}\nrank 1 {\na: recv 1000000b from 0 tag -1\n\
                b: recv 8b from 0 tag 2\nb requires a\n}\n";
    let program = from_text(text).unwrap();
    let (_, sizes_differ) = ideal_time(&program).unwrap();
    assert_eq!(sizes_differ, 0);
}

/// A barrier cannot meet an allreduce, nor a communicator another one.
#[test]
fn parts_of_vef_that_contradict_each_other_are_refused() {
    let head = "VEF 2 0 2 1 2 FALSE\nC0 0 1\nC1 0 1\n";
    for (first, second) in [("0 2", "0 6"), ("0 6", "1 6")] {
        let text = format!("{head}G0 {first} 0 0 0 0 0 -1\nG0 {second} 1 0 0 0 0 -1\n");
        let problem = from_text(&text).unwrap_err();
        assert!(
            problem.contains("test.goal:5:1: collective G0 is of kind 6"),
            "{problem}"
        );
        let alike = format!("{head}G0 {first} 0 0 0 0 0 -1\nG0 {first} 1 0 0 0 0 -1\n");
        assert!(from_text(&alike).is_ok());
    }
}

#[test]
fn faults_of_vef_are_found_where_they_stand() {
    let all = |op: u8, sizes: [(u64, u64); 2]| {
        let mut text = "VEF 2 0 1 1 2 FALSE\nC0 0 1\n".to_owned();
        for (task, (sent, received)) in sizes.iter().enumerate() {
            text += &format!("G0 0 {op} {task} {sent} {received} 0 0 -1\n");
        }
        text
    };
    for (op, sizes) in [
        (0, [(8, 0), (0, 8)]),
        (1, [(8, 0), (0, 8)]),
        (2, [(8, 8), (8, 8)]),
        (3, [(8, 16), (8, 0)]),
        (4, [(16, 8), (0, 8)]),
        (5, [(8, 16), (8, 16)]),
        (6, [(0, 0), (0, 0)]),
        (7, [(8, 0), (8, 0)]),
        (7, [(8, 1), (8, 1)]),
    ] {
        let program = from_text(&all(op, sizes)).unwrap();
        assert!(info(&program).unwrap().bytes_sent > 0, "{op}");
    }
    assert!(error(&all(0, [(0, 8), (0, 8)])).contains("sizes of a root"));
    let head = "VEF 2 1 1 0 0 FALSE\nC0 0 1\n";
    for (text, place, what) in [
        ("VEF 0 1 1 0 0 FALSE\n", "1:5", "0 tasks"),
        ("VEF 2 1 1 0 0 MAYBE\n", "1:15", "neither TRUE nor FALSE"),
        ("VEF 2 1 1 0\n", "1:12", "the line ends where"),
        (
            "VEF 2 0 1 0 0 TRUE\nC1 0\n",
            "2:1",
            "expected communicator C0",
        ),
        ("VEF 2 0 1 0 0 TRUE\nC0 0 0\n", "2:7", "stands here twice"),
        (
            &format!("{head}0 0 2 8 0 0 -1\n"),
            "3:5",
            "task 2 does not exist",
        ),
        (
            &format!("{head}0 0 1 8 4 0 -1\n"),
            "3:9",
            "it is 0, 1, 2 or 3",
        ),
        (&format!("{head}0 0 1 8 1 0 0\n"), "3:1", "never comes to"),
        (&format!("{head}0 0 1 8 2 0 7\n"), "3:1", "never comes to"),
        (
            &format!("{head}0 0 1 8 0 0 -1 9\n"),
            "3:16",
            "after the end",
        ),
        (head, "2:1", "after 0 messages; its first line says 1"),
        (
            &format!("{head}0 0 1 8 0 0 -1\n1 0 1 8 0 0 -1\n"),
            "4:1",
            "the first line says 1 messages",
        ),
    ] {
        let message = error(text);
        let start = format!("test.goal:{place}: ");
        assert!(
            message.starts_with(&start) && message.contains(what),
            "{text}: {message}"
        );
    }
}

#[test]
fn damaged_vef_never_panics() {
    for at in 0..VEF.len() {
        let _ = from_text(&VEF[..at]);
        for with in ["", "-", "9999999999999999999999", " ", "G", "7", "\n"] {
            let _ = from_text(&format!("{}{with}{}", &VEF[..at], &VEF[at + 1..]));
        }
    }
}

/// Writes the logs of liballprof and returns that of rank 0.
fn liballprof_logs(folder: &Path, logs: &[String]) -> PathBuf {
    for (rank, log) in logs.iter().enumerate() {
        std::fs::write(folder.join(format!("run-{rank}.dat")), log).unwrap();
    }
    folder.join("run-0.dat")
}

/// Requests are `size` bytes apart.
fn liballprof_example(size: u64) -> Vec<String> {
    let log = |me: u32| {
        let (other, comm, second) = (1 - me, format!("7,{me},2"), 900 + size);
        format!(
            "# collprof 0.9 output file\n\nMPI_Init:-:1:2:100\n\
             MPI_Comm_rank:103:{comm}:5:104.000000\n\
             MPI_Isend:106.5:50:3:11,8,8:{other}:4:{comm}:900:107\n\
             MPI_Irecv:107:50:3:11,8,8:-1:4:{comm}:{second}:108\n\
             MPI_Waitall:110:2:900:0:120\n\
             MPI_Allreduce:120:1:2:1:10,8,8:3:{comm}:130\nMPI_Finalize:131:-\n"
        )
    };
    vec![log(0), log(1)]
}

#[test]
fn liballprof_calls_become_operations() {
    for size in [4, 8] {
        let folder = tempfile::tempdir().unwrap();
        let program = read(&liballprof_logs(folder.path(), &liballprof_example(size))).unwrap();
        assert_eq!(program.format(), Format::Liballprof);
        let tag = 1 << 30;
        for rank in 0..2 {
            let other = 1 - rank;
            let range = program.rank_ops(rank);
            let ops = &program.ops()[range.start as usize..range.end as usize];
            let ops: Vec<String> = ops.iter().map(Op::to_string).collect();
            let expected = [
                // 3 us before MPI_Comm_rank, 2.5 us after it.
                "calc 5500".to_owned(),
                format!("send 24b to {other} tag 4"),
                "recv 24b from -1 tag 4".to_owned(),
                "calc 2000".to_owned(),
                format!("recv 8b from {other} tag {tag}"),
                format!("send 8b to {other} tag {tag}"),
                "calc 1000".to_owned(),
            ];
            assert_eq!(ops, expected);
        }
        assert_eq!(info(&program).unwrap().sizes_differ, 0);
    }
}

#[test]
fn faults_of_liballprof_are_found_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    for (line, place, what) in [
        ("Send:1:2:3", "1:1", "its name begins with MPI_"),
        ("MPI_Send:x:1", "1:10", "`x` is no time in us"),
        (
            "MPI_Send:1:2:3:1,4,4:0:0:7,0",
            "1:29",
            "ends before field 11",
        ),
        (
            "MPI_Send:1:2:3:1,4,4:1:0:7,0,1:9",
            "1:22",
            "rank 1 does not exist",
        ),
        ("MPI_Send:1:2:3:1,4,4:0:-1:7,0,1:9", "1:24", "tag -1"),
        ("MPI_Barrier:1:7,0,2:9", "1:19", "2 of the 1 ranks"),
        (
            "MPI_Barrier:1:7,1,1:9",
            "1:17",
            "by rank 1 of its communicator",
        ),
        ("MPI_Wait:1:5:6:9", "1:12", "request 5 is not under way"),
        ("MPI_Waitall:1:2:5:6:9", "1:15", "not all of 2 requests"),
        ("MPI_Spawn:1:9", "1:1", "MPI_Spawn is no call"),
    ] {
        let log = liballprof_logs(folder.path(), &[format!("{line}\n")]);
        let text = match line.starts_with("MPI_") {
            true => read(&log),
            false => liballprof::read(&log),
        };
        let text = text.unwrap_err().to_string();
        let start = format!("{}:{place}: ", log.display());
        assert!(
            text.starts_with(&start) && text.contains(what),
            "{line}: {text}"
        );
    }
    let nameless = folder.path().join("log");
    std::fs::write(&nameless, "# log\n").unwrap();
    assert!(read(&nameless)
        .unwrap_err()
        .to_string()
        .contains("must hold `-0`"));
}

#[test]
fn damaged_liballprof_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let good = liballprof_example(8);
    let text = &good[0];
    for at in 0..text.len() {
        for with in ["", "-", "99999999999999999999", ":", ",", "\n"] {
            let damaged = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            let log = liballprof_logs(folder.path(), &[damaged, good[1].clone()]);
            let _ = read(&log);
        }
    }
}

/// Rank 0 takes two messages of anything from anyone between two barriers.
#[test]
fn receives_of_any_tag_do_not_take_the_messages_of_collectives() {
    let log = |me: u32| {
        let world = format!("7,{me},3");
        let middle = match me {
            0 => format!(
                "MPI_Irecv:30:50:3:11,8,8:-1:-1:{world}:900:31\n\
                 MPI_Irecv:31:50:3:11,8,8:-1:-1:{world}:904:32\n\
                 MPI_Waitall:32:2:900:0:50\n"
            ),
            _ => format!("MPI_Send:40:50:3:11,8,8:0:4:{world}:50\n"),
        };
        format!("MPI_Init:-:1:2:10\nMPI_Barrier:10:{world}:20\n{middle}MPI_Barrier:60:{world}:70\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let program = read(&liballprof_logs(folder.path(), &[log(0), log(1), log(2)])).unwrap();
    let found = info(&program).unwrap();
    // 24 bytes, where the messages of barriers have 1.
    assert_eq!((found.wildcard_recvs, found.sizes_differ), (2, 0));
    let ops = program.ops().iter();
    let any: Vec<String> = ops
        .filter(|op| is_wildcard(op.peer, op.tag))
        .map(Op::to_string)
        .collect();
    assert_eq!(any, ["recv 24b from -1 tag -1"; 2]);
    // In GOAL any tag is any tag, and no tag means something else.
    let goal = |tag: &str, sent: u32| {
        from_text(&format!(
            "num_ranks 2\nrank 0 {{\nl0: send 8b to 1 tag {sent}\n}}\nrank 1 {{\n\
             l0: recv 8b from 0 tag {tag}\n}}\n"
        ))
    };
    assert!(ideal_time(&goal("-1", COLLECTIVE + 5).unwrap()).is_ok());
    let reserved = ANY_OF_USERS.to_string();
    let text = goal(&reserved, 5).unwrap_err();
    assert!(text.contains("test.goal:6:24: the tag"), "{text}");
}

use super::chakra::{Attribute, Bools, Metadata, Node, Value};

/// A file of Chakra.
fn chakra_file(nodes: &[Node]) -> Vec<u8> {
    use prost::Message;
    let metadata = Metadata {
        version: "0.0.4".into(),
        attributes: Vec::new(),
    };
    let mut bytes = metadata.encode_length_delimited_to_vec();
    for node in nodes {
        bytes.extend(node.encode_length_delimited_to_vec());
    }
    bytes
}

fn chakra_trace(folder: &Path, accelerators: &[Vec<Node>]) -> PathBuf {
    for (number, nodes) in accelerators.iter().enumerate() {
        let path = folder.join(format!("run.{number}.et"));
        std::fs::write(path, chakra_file(nodes)).unwrap();
    }
    folder.join("run.0.et")
}

fn node(id: u64, kind: i32, data: &[u64], attributes: &[(&str, Value)]) -> Node {
    Node {
        id,
        name: format!("n{id}"),
        kind,
        control: Vec::new(),
        data: data.to_vec(),
        duration_us: 0,
        attributes: attributes
            .iter()
            .map(|(name, value)| Attribute {
                name: (*name).into(),
                value: Some(value.clone()),
            })
            .collect(),
    }
}

fn lasting(us: u64, node: Node) -> Node {
    Node {
        duration_us: us,
        ..node
    }
}

/// Computes 3 us, on the host 2 us at the same time; then a message from 0 to 1, and what
/// `collective` is.
fn chakra_example(me: u64, collective: (u64, u64)) -> Vec<Node> {
    let other = Value::Int32(1 - me as i32);
    let size = ("comm_size", Value::Int64(1000));
    let message = match me {
        0 => node(3, 5, &[1, 2], &[size, ("comm_dst", other)]),
        _ => node(3, 6, &[1, 2], &[size, ("comm_src", other)]),
    };
    let whole = Value::Bools(Bools {
        values: vec![true, true],
    });
    vec![
        lasting(3, node(1, 4, &[], &[])),
        lasting(2, node(2, 4, &[77], &[("is_cpu_op", Value::Bool(true))])),
        message,
        node(
            0,
            7,
            &[3],
            &[
                ("comm_type", Value::Int64(collective.0 as i64)),
                ("comm_size", Value::Uint64(collective.1)),
                ("involved_dim", whole),
            ],
        ),
    ]
}

#[test]
fn chakra_nodes_become_operations() {
    let folder = tempfile::tempdir().unwrap();
    let example = |me| chakra_example(me, (0, 64));
    let path = chakra_trace(folder.path(), &[example(0), example(1)]);
    let program = read(&path).unwrap();
    assert_eq!(
        (program.format(), program.compressed()),
        (Format::Chakra, false)
    );
    let range = program.rank_ops(0);
    let ops: Vec<(String, u8)> = program.ops()[range.start as usize..range.end as usize]
        .iter()
        .map(|op| (op.to_string(), op.cpu))
        .collect();
    let tag = 1 << 30;
    let expected = [
        ("calc 3000".to_owned(), 1),
        ("calc 2000".to_owned(), 2),
        ("send 1000b to 1 tag 0".to_owned(), 0),
        ("calc 0".to_owned(), 0),
        (format!("recv 64b from 1 tag {tag}"), 0),
        (format!("send 64b to 1 tag {tag}"), 0),
        ("calc 0".to_owned(), 0),
    ];
    assert_eq!(ops, expected);
    assert_eq!(program.needs()[..7], [0, 0, 2, 1, 1, 1, 2]);
    let missing = "dependencies on nodes that are not in the file".to_owned();
    assert_eq!(program.left_out(), &BTreeMap::from([(missing, 2)]));
    // 3 us of computing, then the message (1000 bytes), then the exchange (64 bytes).
    let (time, _) = ideal_time(&program).unwrap();
    assert_eq!(time, 3_000_000 + 2 * 1_200_000 + 1064 * 20);

    // A folder, an archive and compressed files hold the same.
    assert_eq!(read(folder.path()).unwrap(), program);
    let mut tar = tar::Builder::new(Vec::new());
    for me in 0..2 {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&chakra_file(&example(me))).unwrap();
        let bytes = gzip.finish().unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, format!("a/run.{me}.et.gz"), &bytes[..])
            .unwrap();
    }
    let archive = folder.path().join("run.tar");
    std::fs::write(&archive, tar.into_inner().unwrap()).unwrap();
    let again = read(&archive).unwrap();
    assert!(again.compressed());
    assert_eq!(again.ops(), program.ops());
}

#[test]
fn every_collective_of_chakra_runs() {
    for kind in 0..10 {
        for accelerators in 2..6 {
            let folder = tempfile::tempdir().unwrap();
            let all: Vec<Vec<Node>> = (0..accelerators)
                .map(|_| chakra_example(0, (kind, 1001))[3..].to_vec())
                .collect();
            let program = read(&chakra_trace(folder.path(), &all)).unwrap();
            let found = info(&program).unwrap();
            assert_eq!(found.sizes_differ, 0, "{kind} of {accelerators}");
            let count = accelerators as u64;
            let bytes = match kind {
                // Whole vectors or blocks through trees, to or from one, or by everyone to all.
                1 | 3 | 5 => (count - 1) * 1001,
                2 => count * (count - 1) * 1001,
                // All parts but those that stay.
                4 => 1001 - 1001u64.div_ceil(count),
                6..=8 => (count - 1) * 1001,
                _ => found.bytes_sent,
            };
            assert_eq!(found.bytes_sent, bytes, "{kind} of {accelerators}");
            let roots = found.left_out.values().sum::<u64>();
            // The dependency on node 3, and the root.
            let expected = if matches!(kind, 1 | 3 | 4 | 5) { 2 } else { 1 };
            assert_eq!(roots, expected * count);
        }
    }
}

#[test]
fn control_dependencies_that_close_a_circle_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut nodes = vec![
        lasting(1, node(1, 4, &[], &[])),
        lasting(1, node(2, 4, &[1], &[])),
    ];
    nodes[1].control = vec![1];
    let path = chakra_trace(folder.path(), &[nodes.clone()]);
    assert_eq!(read(&path).unwrap().left_out(), &BTreeMap::new());
    nodes[0].control = vec![2];
    chakra_trace(folder.path(), &[nodes.clone()]);
    let program = read(&path).unwrap();
    assert_eq!((program.dependencies(), program.left_out().len()), (1, 1));
    nodes[0].data = vec![2];
    chakra_trace(folder.path(), &[nodes]);
    let text = read(&path).unwrap_err().to_string();
    assert!(
        text.contains("run.0.et: at byte 8: node 1 (`n1`)"),
        "{text}"
    );
    assert!(text.contains("wait for each other: 1 -> 2 -> 1"), "{text}");
}

#[test]
fn process_groups_of_chakra_are_those_that_use_them() {
    let folder = tempfile::tempdir().unwrap();
    let collective = |name: &str, size: u64| {
        let mut node = chakra_example(0, (7, 90)).remove(3);
        node.attributes[2] = Attribute {
            name: "pg_name".into(),
            value: Some(Value::Text(name.into())),
        };
        node.attributes.push(Attribute {
            name: "pg_size".into(),
            value: Some(Value::Uint64(size)),
        });
        vec![node]
    };
    let all: Vec<Vec<Node>> = ["even", "odd", "even", "odd", "even"]
        .map(|name| collective(name, if name == "even" { 3 } else { 2 }))
        .to_vec();
    let path = chakra_trace(folder.path(), &all);
    let found = info(&read(&path).unwrap()).unwrap();
    let sent: Vec<u64> = found.per_rank.iter().map(|rank| rank.bytes_sent).collect();
    assert_eq!(sent, [60, 45, 60, 45, 60]);
    let missing = read(&folder.path().join("run.9.et")).unwrap_err();
    assert!(missing.to_string().contains("run.9.et"), "{missing}");
    std::fs::remove_file(folder.path().join("run.4.et")).unwrap();
    let text = read(&path).unwrap_err().to_string();
    assert!(
        text.contains("2 of the 4 traces have collectives"),
        "{text}"
    );
}

#[test]
fn faults_of_chakra_are_found_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let example = |me| chakra_example(me, (0, 64));
    let changed = |change: &dyn Fn(&mut Vec<Node>)| {
        let mut nodes = example(0);
        change(&mut nodes);
        read(&chakra_trace(folder.path(), &[nodes, example(1)]))
            .unwrap_err()
            .to_string()
    };
    let set = |place: usize, name: &'static str, value: Value| {
        changed(&move |nodes: &mut Vec<Node>| {
            nodes[place].attributes.retain(|one| one.name != name);
            let value = Some(value.clone());
            nodes[place].attributes.insert(
                0,
                Attribute {
                    name: name.into(),
                    value,
                },
            );
        })
    };
    for (text, what) in [
        (changed(&|nodes| nodes[2].kind = 9), "its type is 9"),
        (changed(&|nodes| nodes[2].id = 1), "node 1 stands at byte 8"),
        (
            changed(&|nodes| nodes[2].attributes.clear()),
            "`comm_dst` is missing",
        ),
        (set(2, "comm_dst", Value::Int32(5)), "`comm_dst` is 5"),
        (
            set(2, "comm_size", Value::Int32(-5)),
            "`comm_size` is no whole number",
        ),
        (
            set(2, "comm_tag", Value::Uint64(1 << 40)),
            "`comm_tag` 1099511627776 is too large",
        ),
        (
            set(2, "comm_src", Value::Int32(1)),
            "this is the trace of accelerator 0",
        ),
        (set(3, "comm_type", Value::Int32(10)), "it is 0 to 9"),
        (
            set(3, "comm_size", Value::Int64(65)),
            "collective 0 of its process group `` is an all-reduce of 64 bytes, that of \
             accelerator 0 (node 0) an all-reduce of 65 bytes",
        ),
        (
            set(
                3,
                "involved_dim",
                Value::Bools(Bools {
                    values: vec![true, false],
                }),
            ),
            "give the members as a process group",
        ),
        (set(3, "pg_name", Value::Int32(1)), "`pg_name` is no text"),
        (
            changed(&|nodes| {
                nodes.pop();
            }),
            "a collective of all, but accelerator 0 has none",
        ),
        (
            changed(&|nodes| {
                let again = Node {
                    id: 9,
                    ..nodes[3].clone()
                };
                nodes.push(again);
            }),
            "they must be as many",
        ),
        (
            changed(&|nodes| {
                nodes[0] = node(1, 4, &[], &[("num_ops", Value::Int64(5))]);
            }),
            "`num_ops` but no `duration_micros`",
        ),
        (changed(&|nodes| nodes.clear()), "the file holds no node"),
        (
            changed(&|nodes| {
                nodes.remove(2);
            }),
            "rank 1: 1 receive from rank 0 with tag 0 without a message",
        ),
    ] {
        assert!(text.contains(what), "{what}: {text}");
        let place = "run.0.et: at byte ";
        let place = text.contains(place) || text.contains("run.1.et: at byte ");
        assert!(place || what.contains("without a message"), "{text}");
    }

    let path = chakra_trace(folder.path(), &[example(0), example(1)]);
    let refused = |path: &Path, what: &str| {
        let text = read(path).unwrap_err().to_string();
        assert!(text.contains(what), "{what}: {text}");
    };
    let other = folder.path().join("other.0.et");
    std::fs::copy(&path, &other).unwrap();
    // Its folder holds another run, but the file tells which one is meant.
    assert_eq!(read(&path).unwrap().ranks(), 2);
    refused(folder.path(), "holds two traces");
    refused(&other, "a collective, but this is the trace of one");
    std::fs::rename(&other, folder.path().join("run.3.et")).unwrap();
    refused(&path, "here that of accelerator 2 should stand");
    std::fs::write(folder.path().join("rank-0000.log"), "").unwrap();
    refused(folder.path(), "put one trace in a folder");
    let nameless = folder.path().join("trace.et");
    std::fs::copy(&path, &nameless).unwrap();
    refused(&nameless, "does not tell the accelerator");
}

#[test]
fn damaged_chakra_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let path = chakra_trace(
        folder.path(),
        &[chakra_example(0, (0, 64)), chakra_example(1, (0, 64))],
    );
    let good = std::fs::read(&path).unwrap();
    for at in 0..good.len() {
        std::fs::write(&path, &good[..at]).unwrap();
        let text = read(&path).unwrap_err().to_string();
        assert!(
            text.contains(".et: ") || text.contains("no message"),
            "{text}"
        );
        for flip in [1, 2, 0x40, 0x80, 0xff] {
            let mut damaged = good.clone();
            damaged[at] ^= flip;
            std::fs::write(&path, &damaged).unwrap();
            // Whether the change matters or not, the reader must come back.
            let _ = read(&path);
        }
    }
}

#[test]
fn json_is_refused_with_what_to_give_instead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    for (json, what) in [
        (r#"{"schema": "1.1.0", "nodes": []}"#, "sizes, but no times"),
        (r#" {"traceEvents": []}"#, "a profile of Kineto"),
        (r#"{"workload_graph": []}"#, "a workload graph"),
        (r#"{"a": 1}"#, "JSON that is no trace"),
        (r#"{"a": "#, "EOF while parsing a value at line 1"),
    ] {
        std::fs::write(&path, json).unwrap();
        for given in [&path, folder.path()] {
            let text = read(given).unwrap_err().to_string();
            assert!(text.starts_with(&format!("{}: ", path.display())), "{text}");
            assert!(text.contains(what), "{text}");
        }
    }
}

/// Two ranks on locations 4 and 9, a third location, 2 ticks to a ns.
const OTF2_DEFINITIONS: &str = r#"
=== Global Definitions ===
Definition  ID  Attributes
--------------------------------
CLOCK_PROPERTIES     Ticks per Seconds: 2000000000, Global Offset: 7, Length: 9, Date: UNDEFINED
LOCATION          4  Name: "Master, thread" <12>, Type: CPU_THREAD, # Events: 60, Group: "R" <0>
GROUP             0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: "Master, thread" <4>, "Master, thread" <9>
GROUP             1  Name: "" <0>, Type: COMM_GROUP, Paradigm: MEASUREMENT_SYSTEM, Flags: NONE, 1 Members: 5 ("Master, thread" <4>)
GROUP             3  Name: "" <0>, Type: COMM_SELF, Paradigm: "MPI" <4>, Flags: NONE, 0 Members
GROUP             4  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 1 ("Master, thread" <9>), 0 ("Master, thread" <4>)
COMM              0  Name: "Process x Threads" <262>, Group: "P" <1>, Parent: UNDEFINED, Flags: NONE
COMM              1  Name: "MPI_COMM_WORLD" <257>, Group: "" <4>, Parent: UNDEFINED, Flags: NONE
COMM              2  Name: "MPI_COMM_SELF" <258>, Group: "" <3>, Parent: UNDEFINED, Flags: NONE
"#;

/// Each sends to the other, once without and once with a request, then both reduce. In the
/// communicator the ranks run against those in the world.
fn otf2_events() -> String {
    let mut text = "Event  Location  Timestamp  Attributes\n--------\n".to_owned();
    for (location, other) in [(4, 0), (9, 1)] {
        let place = format!("{other} (\"x\" <8>), Communicator: \"MPI_COMM_WORLD\" <1>");
        for (name, ticks, rest) in [
            ("PROGRAM_BEGIN", 100, "Name: \"a\" <8>, 0 Arguments".to_owned()),
            ("ENTER", 120, "Region: \"main\" <3>".into()),
            ("ENTER", 140, "Region: \"MPI_Sendrecv\" <5>".into()),
            ("MPI_SEND", 141, format!("Receiver: {place}, Tag: 3, Length: 80")),
            ("MPI_RECV", 150, format!("Sender: {place}, Tag: 3, Length: 80")),
            ("LEAVE", 200, "Region: \"MPI_Sendrecv\" <5>".into()),
            ("ENTER", 210, "Region: \"MPI_Irecv\" <6>".into()),
            ("MPI_IRECV_REQUEST", 211, "Request: 17".into()),
            ("LEAVE", 214, "Region: \"MPI_Irecv\" <6>".into()),
            ("ENTER", 214, "Region: \"MPI_Isend\" <7>".into()),
            (
                "MPI_ISEND",
                215,
                format!("Receiver: {place}, Tag: 4, Length: 90, Request: 18"),
            ),
            ("LEAVE", 216, "Region: \"MPI_Isend\" <7>".into()),
            ("METRIC", 217, "Metric: 0, 1 Values".into()),
            ("ENTER", 220, "Region: \"MPI_Waitall\" <8>".into()),
            (
                "MPI_IRECV",
                230,
                format!("Sender: {place}, Tag: 4, Length: 90, Request: 17"),
            ),
            ("MPI_ISEND_COMPLETE", 231, "Request: 18".into()),
            ("LEAVE", 240, "Region: \"MPI_Waitall\" <8>".into()),
            ("ENTER", 240, "Region: \"MPI_Allreduce\" <9>".into()),
            ("MPI_COLLECTIVE_BEGIN", 241, String::new()),
            (
                "MPI_COLLECTIVE_END",
                250,
                "Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <1>, Root: NONE, Sent: 16, \
                 Received: 16"
                    .into(),
            ),
            ("LEAVE", 251, "Region: \"MPI_Allreduce\" <9>".into()),
            ("LEAVE", 261, "Region: \"main\" <3>".into()),
            ("PROGRAM_END", 271, "Exit status: 0".into()),
        ] {
            text += &format!("{name:<20} {location:>6} {ticks:>20}  {rest}\n");
            if name == "PROGRAM_BEGIN" {
                text += &format!("{:<40}ADDITIONAL ATTRIBUTES: (\"P\" <2>)\n", "");
            }
        }
    }
    text + "ENTER    11    5  Region: \"f\" <1>\n"
}

#[test]
fn otf2_events_become_operations() {
    let program = otf2::from_output(OTF2_DEFINITIONS, &otf2_events()).unwrap();
    matching::check(&program).unwrap();
    assert_eq!((program.format(), program.ranks()), (Format::Otf2, 2));
    for rank in 0..2 {
        // The place of each in the communicator is the other's rank: they send to each other.
        let other = 1 - rank;
        let range = program.rank_ops(rank);
        let ops = &program.ops()[range.start as usize..range.end as usize];
        let ops: Vec<String> = ops.iter().map(Op::to_string).collect();
        let (tag, collective) = (1 << 20, (1 << 30) + (1 << 20));
        let expected = [
            "calc 20".to_owned(),
            format!("recv 80b from {other} tag {}", tag + 3),
            format!("send 80b to {other} tag {}", tag + 3),
            "calc 5".to_owned(),
            format!("recv 90b from {other} tag {}", tag + 4),
            format!("send 90b to {other} tag {}", tag + 4),
            "calc 2".to_owned(),
            format!("recv 8b from {other} tag {collective}"),
            format!("send 8b to {other} tag {collective}"),
            "calc 10".to_owned(),
        ];
        assert_eq!(ops, expected);
    }
    // 16 bytes are 8 for each of two members, or 16 in place.
    let left_out: Vec<(&str, u64)> = (program.left_out().iter())
        .map(|(what, count)| (what.split(" (").next().unwrap(), *count))
        .collect();
    assert_eq!(
        left_out,
        [
            ("METRIC events", 2),
            ("collectives that may have been in place", 2),
            ("events of locations that are no ranks", 1),
        ]
    );
    assert_eq!(info(&program).unwrap().sizes_differ, 0);
}

/// The sizes that Score-P gives, by place in the communicator, and what is sent in all.
#[test]
fn every_collective_of_otf2_runs() {
    let good = otf2_events();
    let line =
        "ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <1>, Root: NONE, Sent: 16, Received: 16";
    let rank_1 = good.find("MPI_RECV             ").unwrap();
    let rank_1 = good[rank_1..].find("PROGRAM_BEGIN").unwrap() + rank_1;
    let root = "1 (\"x\" <4>)";
    for (name, root, parts, sent) in [
        ("BARRIER", "NONE", [(0, 0), (0, 0)], 2),
        // Member 1 is rank 0.
        ("BCAST", root, [(0, 10), (20, 10)], 10),
        ("REDUCE", root, [(10, 0), (10, 20)], 10),
        ("GATHERV", root, [(11, 0), (10, 21)], 11),
        ("SCATTERV", root, [(0, 11), (21, 10)], 11),
        ("ALLREDUCE", "NONE", [(20, 20), (20, 20)], 20),
        ("ALLGATHERV", "NONE", [(20, 30), (40, 30)], 30),
        ("ALLTOALL", "NONE", [(20, 20), (20, 20)], 20),
        // The first member's share of 21 bytes is 11, the other's of 15 is 7.
        ("ALLTOALLV", "NONE", [(21, 15), (15, 21)], 10 + 8),
        ("REDUCE_SCATTER", "NONE", [(30, 20), (30, 40)], 30),
        ("CREATE_HANDLE", "NONE", [(0, 0), (0, 0)], 0),
    ] {
        let with = |(sent, received): (u64, u64)| {
            format!(
                "{name}, Communicator: \"MPI_COMM_WORLD\" <1>, Root: {root}, Sent: {sent}, \
                 Received: {received}"
            )
        };
        let events = good[..rank_1].replace(line, &with(parts[1]))
            + &good[rank_1..].replace(line, &with(parts[0]));
        let program = otf2::from_output(OTF2_DEFINITIONS, &events).unwrap();
        let found = info(&program).unwrap();
        assert_eq!(
            (found.sizes_differ, found.bytes_sent),
            (0, 340 + sent),
            "{name}"
        );
    }
}

#[test]
fn faults_of_otf2_are_found_where_they_stand() {
    let (definitions, events) = (OTF2_DEFINITIONS.to_owned(), otf2_events());
    for (from, to, line, what) in [
        (
            "Ticks per Seconds: 2000000000",
            "x",
            "5",
            "CLOCK_PROPERTIES",
        ),
        (
            "2 Members: \"Master, thread\" <4>",
            "2 Members: <4>",
            "7",
            "`GROUP`",
        ),
        ("COMM_LOCATIONS", "LOCATIONS", "13", "0 locations of MPI"),
        ("<9>), 0 (", "<9>), 2 (", "12", "ranks that do not exist"),
        (
            "<4>, \"Master, thread\" <9>",
            "<4>, \"M\" <4>",
            "13",
            "location 4 is two ranks",
        ),
        (
            "--------------------------------",
            "",
            "13",
            "before its headline",
        ),
    ] {
        assert!(definitions.contains(from), "{from}");
        let text = otf2::from_output(&definitions.replace(from, to), &events).unwrap_err();
        let place = text.starts_with(&format!("{line}: "));
        assert!(place && text.contains(what), "{what}: {text}");
    }
    for (from, to, line, what) in [
        (
            "MPI_IRECV_REQUEST ",
            "IGNORED ",
            "18",
            "request 17 was not posted",
        ),
        (
            "  Request: 18\n",
            "  Request: 19\n",
            "19",
            "request 19 is not under way",
        ),
        (
            "<1>, Tag: 3, Length: 80",
            "<5>, Tag: 3, Length: 80",
            "9",
            "communicator 5",
        ),
        (
            "Receiver: 0",
            "Receiver: 2",
            "9",
            "rank 2 of communicator 1, which has 2",
        ),
        (
            "Tag: 4, Length: 90, R",
            "Tag: 9999999999, Length: 90, R",
            "11",
            "is too large",
        ),
        (
            "Length: 80",
            "Width: 80",
            "7",
            "`MPI_SEND` is not as expected",
        ),
        (
            "METRIC ",
            "RMA_PUT ",
            "16",
            "RMA_PUT: messages of one-sided",
        ),
        (" 141 ", " 139 ", "7", "time goes backwards at location 4"),
        (
            "ENTER                     4                  140",
            "METRIC 4 140",
            "9",
            "was not entered",
        ),
        (
            "METRIC               ",
            "MEASUREMENT_ON_OFF ",
            "16",
            "`MEASUREMENT_ON_OFF` is not as expected",
        ),
        ("ALLREDUCE", "SCAN", "23", "SCAN is no collective"),
        ("ALLREDUCE", "BCAST", "23", "BCAST without a root"),
    ] {
        assert!(events.contains(from), "{from}");
        let text = otf2::from_output(&definitions, &events.replace(from, to)).unwrap_err();
        let place = text.starts_with(&format!("{line}: "));
        assert!(place && text.contains(what), "{what}: {text}");
    }
    // One of the ranks calls another one, or none.
    let other = events.replacen("ALLREDUCE", "BARRIER", 1);
    let text = otf2::from_output(&definitions, &other).unwrap_err();
    let what = "23: this, collective 0 of its communicator, is BARRIER, but rank 1 has ALLREDUCE \
                (line 47)";
    assert_eq!(text, what);
    let one = events.replacen("MPI_COLLECTIVE_END", "MPI_COLLECTIVE_ENDED", 1);
    let text = otf2::from_output(&definitions, &one).unwrap_err();
    assert!(
        text.contains("rank 0 takes no part in this, collective 0"),
        "{text}"
    );
    let cancelled = events.replace("MPI_IRECV ", "IGNORED ");
    let program = otf2::from_output(&definitions, &cancelled).unwrap();
    let what = "receives that were cancelled or never complete";
    assert_eq!(program.left_out()[what], 2);
}

/// Between regions of MPI, 10 of 20 ns are computing if the measurement writes to disk for the others, or is
/// off for them.
#[test]
fn what_the_measurement_takes_is_no_computing() {
    let before = "ENTER                     4                  140";
    let calc = |between: &str| {
        let events = otf2_events().replace(before, &format!("{between}{before}"));
        let program = otf2::from_output(OTF2_DEFINITIONS, &events).unwrap();
        (program.ops()[0].to_string(), program.left_out().clone())
    };
    let flush = "times in which the measurement wrote its buffer to disk";
    let off = "times in which the measurement was off: what was sent then is missing";
    assert_eq!(calc("").0, "calc 20");
    for (between, time, what) in [
        ("BUFFER_FLUSH 4 114  Stop Time: 134\n", "calc 10", flush),
        (
            "MEASUREMENT_ON_OFF 4 114  Mode: OFF\nMEASUREMENT_ON_OFF 4 134  Mode: ON\n",
            "calc 10",
            off,
        ),
        // It lasts for longer than the next event says, or until the end of the trace.
        ("BUFFER_FLUSH 4 130  Stop Time: 999\n", "calc 15", flush),
        ("MEASUREMENT_ON_OFF 4 130  Mode: OFF\n", "calc 15", off),
    ] {
        let (found, left_out) = calc(between);
        assert_eq!((found.as_str(), left_out[what]), (time, 1), "{between}");
    }
}

#[test]
fn damaged_otf2_never_panics() {
    let (definitions, events) = (OTF2_DEFINITIONS, otf2_events());
    let damaged = |text: &str, at: usize, read: &dyn Fn(&str)| {
        read(&text[..at]);
        for with in [
            "",
            "-",
            "9",
            "99999999999999999999",
            "<",
            "\"",
            "\u{e9}",
            "\n",
        ] {
            read(&format!("{}{with}{}", &text[..at], &text[at + 1..]));
        }
    };
    for at in 0..definitions.len() {
        damaged(definitions, at, &|text| {
            let _ = otf2::from_output(text, &events);
        });
    }
    for at in 0..events.len() {
        damaged(&events, at, &|text| {
            let _ = otf2::from_output(definitions, text);
        });
    }
}

/// With the tool the archive's fault is told, without it how to get the tool.
#[test]
fn an_otf2_file_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces.otf2");
    std::fs::write(&path, "no archive").unwrap();
    let text = read(&path).unwrap_err().to_string();
    assert!(text.starts_with(&format!("{}: ", path.display())), "{text}");
    assert!(
        text.contains("otf2-print cannot read it (exit status: 1): ")
            || text.contains("apt-get install otf2-tools"),
        "{text}"
    );
    let missing = read(&folder.path().join("none.otf2")).unwrap_err();
    assert!(missing.to_string().contains("none.otf2"), "{missing}");
}

/// A few megabytes of compressed zeros must not fill the memory.
#[test]
fn what_is_unpacked_in_memory_is_limited() {
    use std::io::Write;
    let path = Path::new("logs.tar");
    let archive = |names: [&str; 2], size: usize| {
        let mut tar = tar::Builder::new(Vec::new());
        for name in names {
            let mut header = tar::Header::new_gnu();
            header.set_size(size as u64);
            let zeros = std::io::repeat(0).take(size as u64);
            tar.append_data(&mut header, name, zeros).unwrap();
        }
        tar.into_inner().unwrap()
    };
    let limited = |archive: &[u8], most: u64| {
        Members::of_archive(path, archive, most).map(|members| members.files.len())
    };
    let logs = archive(["rank-0000.log", "rank-0001.log"], 1000);
    assert_eq!(limited(&logs, 2000).unwrap(), 2);
    let text = limited(&logs, 1999).unwrap_err().to_string();
    assert!(text.starts_with("logs.tar/rank-0001.log: "), "{text}");
    assert!(text.contains("unpack it, and give the folder"), "{text}");
    // Files with other names are passed over, however long they are.
    let others = archive(["notes.txt", "rank-0000.log"], 100_000);
    assert_eq!(limited(&others, 100_000).unwrap(), 1);

    // Compressed once more within the archive: what comes out counts.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&[0; 100_000]).unwrap();
    let packed = gzip.finish().unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(packed.len() as u64);
    tar.append_data(&mut header, "run.0.et.gz", &packed[..])
        .unwrap();
    let nested = tar.into_inner().unwrap();
    assert!(limited(&nested, 100_000).is_err());
    assert_eq!(limited(&nested, 110_000).unwrap(), 1);

    // A sparse file has holes that are no bytes of the archive.
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNUSparse);
    let gnu = header.as_gnu_mut().unwrap();
    gnu.set_real_size(1 << 32);
    gnu.sparse[0].set_offset(1 << 32);
    gnu.sparse[0].set_length(0);
    header.set_size(0);
    tar.append_data(&mut header, "notes.txt", &[][..]).unwrap();
    let sparse = tar.into_inner().unwrap();
    let text = limited(&sparse, u64::MAX).unwrap_err().to_string();
    assert!(
        text.starts_with("logs.tar/notes.txt: a sparse file"),
        "{text}"
    );

    // A second name of a file holds nothing: the trace of an accelerator would be missing.
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Link);
    header.set_size(0);
    tar.append_link(&mut header, "run.1.et", "run.0.et")
        .unwrap();
    let linked = tar.into_inner().unwrap();
    let text = limited(&linked, u64::MAX).unwrap_err().to_string();
    assert!(
        text.starts_with("logs.tar/run.1.et: a link to another file"),
        "{text}"
    );

    // The name of a file, which the archive holds as a file of its own.
    let long = format!("{}/rank-0000.log", "n".repeat(1 << 17));
    let named = archive([&long, "rank-0001.log"], 10);
    let text = limited(&named, 1000).unwrap_err().to_string();
    assert!(text.contains("name of a file is longer"), "{text}");

    // GOAL binary is held as a whole, too.
    let mut goal = super::goalbin::MAGIC.to_le_bytes().to_vec();
    goal.resize(1000, 0);
    let text = super::read_plain(path, &goal[..], 999).unwrap_err();
    assert!(text.to_string().contains("unpacked"), "{text}");
}
