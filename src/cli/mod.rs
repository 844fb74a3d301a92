//! The command line.

/// Runs the command line and returns its exit status.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
