//! The command `linkdoze`: see `linkdoze --help`.

fn main() -> std::process::ExitCode {
    linkdoze::cli::main()
}
