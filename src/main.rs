fn main() -> std::process::ExitCode {
    linkdoze::cli::main()
}
