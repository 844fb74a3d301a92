//! Whether a file is a Liberty file, before the tools are asked.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::SynthError;
use crate::files::GZIP;

/// Longest line that is looked at whole, in bytes; tables of delays are shorter.
const LONGEST_LINE: usize = 1 << 20;

/// Refuses what cannot be a library of standard cells with flip-flops. It is not parsed: what is
/// wrong inside, the tools say.
///
/// # Errors
/// Which of them is missing, or that the file cannot be read.
pub(super) fn check(path: &Path) -> Result<(), SynthError> {
    let wrong = |problem: String| SynthError::Liberty {
        path: path.into(),
        problem,
    };
    let unreadable = |error: std::io::Error| wrong(format!("cannot read: {error}"));
    let kind = std::fs::metadata(path).map_err(unreadable)?;
    if !kind.is_file() {
        return Err(wrong("not a regular file".into()));
    }
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    if reader.fill_buf().map_err(unreadable)?.starts_with(GZIP) {
        return Err(wrong("compressed: unpack it first (gunzip)".into()));
    }
    contents(reader)
        .map_err(unreadable)?
        .map_or(Ok(()), |problem| Err(wrong(problem.into())))
}

/// What is missing in the text; `None` if nothing is.
fn contents(mut reader: impl BufRead) -> std::io::Result<Option<&'static str>> {
    // The groups in the order in which they have to come.
    let mut wanted = ["library", "cell", "ff"].into_iter().peekable();
    let mut in_comment = false;
    let mut line = Vec::new();
    loop {
        let Some(&group) = wanted.peek() else {
            return Ok(None);
        };
        line.clear();
        let mut limited = std::io::Read::take(&mut reader, LONGEST_LINE as u64);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(Some(match group {
                "library" => "no Liberty file: it has no `library` group",
                "cell" => "a Liberty file without cells",
                _ => "a Liberty file without flip-flops: none of its cells has an `ff` group",
            }));
        }
        let text = String::from_utf8_lossy(&line);
        let code = without_comments(&text, &mut in_comment);
        let code = code.trim();
        if group == "library" && !code.is_empty() && !opens(code, group) {
            return Ok(Some("no Liberty file: it does not begin with `library`"));
        }
        // Several may stand in one line.
        while wanted.next_if(|group| opens(code, group)).is_some() {}
    }
}

/// The text outside `/* */` and before `//`; `in_comment` goes on from line to line.
fn without_comments(mut text: &str, in_comment: &mut bool) -> String {
    let mut code = String::new();
    loop {
        if *in_comment {
            match text.split_once("*/") {
                Some((_, rest)) => text = rest,
                None => return code,
            }
            *in_comment = false;
        }
        match text.split_once("/*") {
            Some((before, rest)) if !before.contains("//") => {
                code += before;
                text = rest;
                *in_comment = true;
            }
            _ => {
                code += text.split("//").next().unwrap_or_default();
                return code;
            }
        }
    }
}

/// Whether a group of this name opens in `code`: the word, then a bracket.
fn opens(code: &str, group: &str) -> bool {
    code.match_indices(group).any(|(at, _)| {
        let is_word = !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        is_word && code[at + group.len()..].trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(text: &str) -> Option<&'static str> {
        contents(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_library_of_cells_and_flip_flops() {
        let text = "/* a\n library of cells */\n// x\n\nlibrary(demo) {\n  cell (INV) {\n }\n  \
                    cell (DFF) {\n    ff (IQ, IQN) { }\n  }\n}\n";
        assert_eq!(missing(text), None);
        assert_eq!(missing("library (a) { cell (b) { ff(q, n) { } } }"), None);
    }

    #[test]
    fn what_is_missing_is_said() {
        let refuses = |text: &str, what: &str| {
            let found = missing(text).unwrap();
            assert!(found.contains(what), "{text}: {found}");
        };
        refuses("", "no `library` group");
        refuses("/* library (a) {", "no `library` group");
        refuses(
            "module port;\nlibrary (a)\n",
            "does not begin with `library`",
        );
        refuses("my_library (a) {\n", "does not begin");
        refuses(
            "library (a) {\n // cell (b) {\n cell_rise (b) { }\n}\n",
            "without cells",
        );
        refuses(
            "library (a) {\n cell (b) {\n timing_ff (c) { }\n }\n}\n",
            "without flip-flops",
        );
    }
}
