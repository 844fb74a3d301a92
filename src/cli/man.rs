//! `linkdoze man`

use std::path::PathBuf;

use clap_mangen::Man;

use super::{output, Outcome};
use crate::files;

#[derive(clap::Args)]
pub struct Args {
    /// Write a page for linkdoze and one for each command into this folder instead, such as
    /// /usr/local/share/man/man1.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// If a page cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut command = super::command();
    // Gives each subcommand its whole name.
    command.build();
    let Some(folder) = &args.out else {
        output::print(&String::from_utf8(page(&command)?)?)?;
        return Ok(Outcome::Done);
    };
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    files::make_folder(folder)?;
    let files: Vec<(PathBuf, &[u8])> = pages
        .iter()
        .map(|(name, page)| (folder.join(name), page.as_slice()))
        .collect();
    files::write_together(&files)?;
    let list: String = files
        .iter()
        .map(|(path, _)| format!("{}\n", path.display()))
        .collect();
    output::print(&list)?;
    Ok(Outcome::Done)
}

fn page(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let name = command.get_display_name().unwrap_or(command.get_name());
    Man::new(command.clone()).title(name).render(&mut page)?;
    Ok(page)
}

/// The pages of a command and of those below it, with the names of their files.
fn collect(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push((format!("{name}.1"), page(command)?));
    let below = command.get_subcommands();
    for command in below.filter(|command| command.get_name() != "help") {
        collect(command, pages)?;
    }
    Ok(())
}
