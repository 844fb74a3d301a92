//! `linkdoze completions`, and the values that shells complete.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
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

/// A parser that also names values which a shell is to complete; it may accept others.
#[derive(Clone)]
pub(super) struct Suggested<P> {
    parser: P,
    values: Vec<&'static str>,
}

/// `parser`, and the values that a shell is to complete.
pub(super) fn suggested<P>(
    parser: P,
    values: impl IntoIterator<Item = &'static str>,
) -> Suggested<P> {
    Suggested {
        parser,
        values: values.into_iter().collect(),
    }
}

impl<P: TypedValueParser> TypedValueParser for Suggested<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().map(PossibleValue::new)))
    }
}
