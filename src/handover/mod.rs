//! What lies beside the Verilog for whoever builds it into a chip: a FuseSoC core, and a smoke test
//! that says in seconds whether all files are there and work together.

pub mod fusesoc;
pub mod smoke;

/// The folder of the smoke test, beside the design's files. A folder of its own: tools that take
/// every file of the design's folder, or of the checkers', find no second top there.
pub const TESTBENCH: &str = "testbench";

/// Marks the lines as comments with `mark`.
fn comment(mark: &str, lines: &[&str]) -> String {
    let line = |line: &&str| match *line {
        "" => format!("{mark}\n"),
        line => format!("{mark} {line}\n"),
    };
    lines.iter().map(line).collect()
}
