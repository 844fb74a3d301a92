//! `linkdoze completions`

use clap::CommandFactory;
use clap_complete::Shell;

use super::{output, Cli, Outcome};

#[derive(clap::Args)]
pub struct Args {
    /// The shell that is to complete the commands.
    shell: Shell,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linkdoze", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}
