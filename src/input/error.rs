//! What is wrong with an input file, where, and what would be right.

use std::fmt;

use crate::files::FileError;

/// One fault of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line of the text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key, its value, what is wrong and what would be right.
    pub message: String,
}

impl Diagnostic {
    /// A fault at a byte offset of `text`.
    pub(super) fn at(text: &str, offset: usize, message: String) -> Diagnostic {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Diagnostic {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }
}

/// A configuration, a scenario or a sweep that cannot be used.
#[derive(Debug)]
pub enum InputError {
    /// The file cannot be read.
    File(FileError),
    /// The text is faulty; every fault that was found, in the order of the text.
    Invalid {
        /// The file, or what else the text is called.
        name: String,
        /// In the order of the text; at least one.
        diagnostics: Vec<Diagnostic>,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::File(error) => error.fmt(f),
            InputError::Invalid { name, diagnostics } => {
                for (index, fault) in diagnostics.iter().enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    let Diagnostic {
                        line,
                        column,
                        message,
                    } = fault;
                    write!(f, "{name}:{line}:{column}: {message}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for InputError {}
