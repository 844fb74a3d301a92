//! A slice of `make matrix`: a few of its combinations, fewer cycles of each.

use std::path::Path;
use std::process::Command;

/// One combination of twelve: each kind of histogram once, on both scales, with both policies.
const EVERY: &str = "12";
const CYCLES: u64 = 500_000;

#[test]
fn a_slice_of_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/matrix.sh");
    let output = Command::new("sh")
        .arg(script)
        .args([env!("CARGO_BIN_EXE_linkdoze"), &CYCLES.to_string(), EVERY])
        .env("MATRIX_OUT", folder.path().join("matrix"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");

    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .filter(|line| line.ends_with("equal"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    for kind in ["regular", "clearing", "circular", "map", "decaying"] {
        assert!(rows.iter().any(|row| row[0] == kind), "{kind}: {text}");
    }
    for (column, values) in [
        (1, ["linear", "log"]),
        (2, ["perfbound", "perfbound-correct"]),
    ] {
        for value in values {
            assert!(
                rows.iter().any(|row| row[column] == value),
                "{value}: {text}"
            );
        }
    }
    // Some with a guard, and some whose ends never go down after receiving alone.
    assert!(rows.iter().any(|row| row[7] != "0"), "{text}");
    assert!(rows.iter().any(|row| row[6] == "off"), "{text}");
    for row in &rows {
        let figure = |column: usize| row[column].parse::<u64>().unwrap();
        let [cycles, hits, misses, mismatches] = [9, 10, 11, 12].map(figure);
        assert_eq!((cycles, mismatches), (CYCLES, 0), "{row:?}");
        assert!(hits > 0 && misses > 0, "{row:?}");
    }
    let last = text.lines().last().unwrap();
    let all = format!(
        "{} combinations of {CYCLES} cycles each: 0 mismatches",
        rows.len()
    );
    assert_eq!(last, all);
}
