//! The inputs that fuzzing keeps (`make fuzz`): whatever they hold, what `fuzz/src/entries` says of
//! them is true.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[path = "../fuzz/src/entries/mod.rs"]
mod entries;

/// Bytes of all kept inputs together: they come with the sources.
const MOST_BYTES: u64 = 300_000;

/// Of all inputs in the folder of a target: how many there are, how many of them are accepted, and
/// what is said of those that fail.
fn replay(target: &entries::Target) -> (usize, usize, Vec<String>) {
    let folder = Path::new("fuzz/corpus").join(target.name);
    let (mut accepted, mut failures) = (0, Vec::new());
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    for file in &files {
        let bytes = fs::read(file).unwrap();
        match catch_unwind(|| (target.check)(&bytes)) {
            Ok(is_accepted) => accepted += usize::from(is_accepted),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                failures.push(format!("{}: {}", file.display(), text.unwrap_or("panic")));
            }
        }
    }
    (files.len(), accepted, failures)
}

#[test]
fn what_fuzzing_has_found_stays_mended() {
    let mut failed = Vec::new();
    for target in &entries::TARGETS {
        let (inputs, accepted, failures) = replay(target);
        // Inputs of which none is legal any more would check little.
        assert!(accepted >= 1, "{}: none of {inputs} inputs", target.name);
        failed.extend(failures);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_broken_promise_is_noticed() {
    let checks: [fn(&[u8]) -> bool; 2] = [
        |_| panic!("always"),
        |bytes| {
            assert!(bytes.is_empty(), "some bytes");
            true
        },
    ];
    for check in checks {
        let target = entries::Target {
            name: "goal",
            check,
        };
        let (inputs, _, failures) = replay(&target);
        assert!(inputs > 0 && failures.len() == inputs, "{failures:?}");
    }
    for (target, bytes) in [
        (&entries::CONTROLS[0], &b"\x7fLPI"[..]),
        (
            &entries::CONTROLS[1],
            b"num_ranks 1\nrank 0 {\ncalc 4096\n}\n",
        ),
    ] {
        let panic = catch_unwind(|| (target.check)(bytes)).unwrap_err();
        let text = panic.downcast_ref::<&str>().unwrap();
        assert!(text.contains("on purpose"), "{text}");
        (target.check)(b"num_ranks 1\nrank 0 {\ncalc 4095\n}\n");
    }
}

#[test]
fn the_inputs_that_are_kept_are_few() {
    let mut bytes = 0;
    for target in fs::read_dir("fuzz/corpus").unwrap() {
        let target = target.unwrap();
        let known = entries::TARGETS.iter().map(|target| target.name);
        let name = target.file_name().into_string().unwrap();
        assert!(known.clone().any(|known| known == name), "{name}");
        for file in fs::read_dir(target.path()).unwrap() {
            bytes += file.unwrap().metadata().unwrap().len();
        }
    }
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}
