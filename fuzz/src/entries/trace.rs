//! Traces, format by format.

use std::path::Path;

use linkdoze::network::trace::{self, export, fit, info, OpKind, Program, TraceError, ANY};

use super::{check_message, pieces, Folder};

/// A program that was read can run: every number is in its range, the figures that `trace info`
/// and `trace fit` print are finite, and GOAL text says the same program.
fn check(folder: &Folder, name: impl AsRef<Path>) -> bool {
    let read = trace::read(&folder.file(name));
    match &read {
        Ok(program) => check_program(program),
        Err(error) => check_error(&folder.0, error),
    }
    read.is_ok()
}

/// A fault names the file, and the place in it if it has one.
fn check_error(path: &Path, error: &TraceError) {
    let message = error.to_string();
    check_message(&message);
    let named = path.display().to_string();
    assert!(message.starts_with(&named), "no file is named: {message}");
    if let TraceError::Text {
        path, line, column, ..
    } = error
    {
        // Of what is compressed, the text is not in the file.
        if let Ok(text) = std::fs::read(path) {
            let lines = text.split(|byte| *byte == b'\n').count() as u64;
            let packed = text.starts_with(&[0x28, 0xb5]) || text.starts_with(&[0x1f, 0x8b]);
            assert!(*line >= 1 && *column >= 1, "{message}");
            assert!(packed || *line <= lines + 1, "{message}");
        }
    }
}

fn check_program(program: &Program) {
    let ranks = program.ranks();
    assert!(ranks >= 1, "no rank");
    let mut needs = vec![0; program.ops().len()];
    for rank in 0..ranks {
        let ops = program.rank_ops(rank);
        for op in ops.clone() {
            for next in program.successors(op) {
                assert!(ops.contains(&next.op()), "waits for another rank");
                needs[next.op() as usize] += 1;
            }
            let op = program.ops()[op as usize];
            let known = (op.peer as usize) < ranks;
            let right = match op.kind {
                OpKind::Send => known && op.size >= 1 && op.tag != ANY,
                OpKind::Recv => (known || op.peer == ANY) && op.size >= 1,
                OpKind::Calc => true,
            };
            assert!(right, "rank {rank} of {ranks}: {op}");
        }
    }
    assert_eq!(needs, program.needs(), "dependencies are counted wrong");
    match info::info(program) {
        Ok(info) => {
            assert_eq!(info.per_rank.len(), ranks);
            assert_eq!(info.calcs + info.sends + info.recvs, info.operations as u64);
            let times = [info.ideal_time_ns, info.calc_mean_per_rank_ns];
            assert!(times.iter().all(|time| time.is_finite() && *time >= 0.0));
        }
        Err(problem) => check_message(&problem),
    }
    let fitted = fit::fit(program);
    let text = format!("{fitted:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    check_text(program);
}

fn described(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    program.describe(|part| bytes.extend_from_slice(part));
    bytes
}

/// GOAL text is read as the same program.
fn check_text(program: &Program) {
    if export::not_writable(program).is_some() {
        return;
    }
    let mut text = Vec::new();
    export::write(program, &mut text).expect("memory can be written to");
    let folder = Folder::of([("written.goal", &text)]);
    let again = trace::read(&folder.file("written.goal")).unwrap_or_else(|error| {
        panic!("{error}\n{}", String::from_utf8_lossy(&text));
    });
    assert!(
        described(&again) == described(program),
        "another program:\n{}",
        String::from_utf8_lossy(&text)
    );
}

/// GOAL text, or anything that is told apart by its content.
pub fn goal(bytes: &[u8]) -> bool {
    check(&Folder::of([("t.goal", bytes)]), "t.goal")
}

/// GOAL binary.
pub fn goal_binary(bytes: &[u8]) -> bool {
    check(&Folder::of([("t.bin", bytes)]), "t.bin")
}

/// Tasks of a VEF file: a million are legal, take some seconds, and need no more bytes.
const MOST_TASKS: u64 = 1000;

/// VEF.
pub fn vef(bytes: &[u8]) -> bool {
    let mut words = bytes.split(u8::is_ascii_whitespace);
    let tasks = words.nth(1).and_then(|word| str::from_utf8(word).ok());
    let tasks = tasks.and_then(|word| word.parse().ok());
    if tasks.is_some_and(|tasks: u64| tasks > MOST_TASKS) {
        return false;
    }
    check(&Folder::of([("t.vef", bytes)]), "t.vef")
}

/// Archives and compressed files.
pub fn archive(bytes: &[u8]) -> bool {
    check(&Folder::of([("t.tar", bytes)]), "t.tar")
}

/// Logs of several ranks, in a folder.
pub fn mpilog(bytes: &[u8]) -> bool {
    let logs = (0..).map(|rank| format!("rank-{rank:04}.log"));
    check(&Folder::of(logs.zip(pieces(bytes))), "")
}

/// A description, and the file of each rank.
pub fn dumpi(bytes: &[u8]) -> bool {
    let ranks = (0..).map(|rank| format!("t-{rank:04}.bin"));
    let names = std::iter::once("t.meta".to_owned()).chain(ranks);
    check(&Folder::of(names.zip(pieces(bytes))), "t.meta")
}

/// Logs of several ranks.
pub fn liballprof(bytes: &[u8]) -> bool {
    let logs = (0..).map(|rank| format!("t-{rank}.txt"));
    check(&Folder::of(logs.zip(pieces(bytes))), "t-0.txt")
}

/// Graphs of several accelerators.
pub fn chakra(bytes: &[u8]) -> bool {
    let graphs = (0..).map(|rank| format!("t.{rank}.et"));
    check(&Folder::of(graphs.zip(pieces(bytes))), "t.0.et")
}

/// What `otf2-print` prints of an archive, definitions and events: the tool is not run.
pub fn otf2(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let next = String::from_utf8_lossy(super::NEXT_FILE);
    let (definitions, events) = text.split_once(&*next).unwrap_or((&text, ""));
    let path = Path::new("t.otf2");
    let read = trace::of_otf2_print(path, definitions, events);
    match &read {
        Ok(program) => check_program(program),
        Err(error) => check_error(path, error),
    }
    read.is_ok()
}

/// A wrong expectation: that no program computes for 4096 ns.
pub fn control(bytes: &[u8]) -> bool {
    let folder = Folder::of([("t.goal", bytes)]);
    if let Ok(program) = trace::read(&folder.file("t.goal")) {
        let computes = |op: &trace::Op| op.kind == OpKind::Calc && op.size == 4096;
        assert!(!program.ops().iter().any(computes), "put in on purpose");
    }
    true
}
