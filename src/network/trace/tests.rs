use std::path::Path;

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
            "1 messages of rank 0 to rank 1 with tag 3 have no receive",
        ),
        (
            "",
            "recv 4b from 0 tag 3",
            "1 receives of rank 1 from rank 0 with tag 3 have no message",
        ),
        (send, "recv 4b from 0 tag 4", "with tag 4 have no message"),
        (send, "recv 4b from -1 tag 4", "with tag 3 have no receive"),
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
        (send, "recv 4b from 1 tag -1", "no receive"),
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
    let joined = Program::join(programs.to_vec()).unwrap();
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
