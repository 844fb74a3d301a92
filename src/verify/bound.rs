//! Checkers put into the modules that they are bound to. Yosys reads `bind` and does nothing about
//! it, so what `bind.sv` says is written into the modules as they are handed to Yosys. The
//! checkers and their connections are those of the files; nothing is known about them here.

use std::path::Path;

use super::tools::ToolError;
use crate::hdl::verilog::BIND;

/// What a `bind` says.
#[derive(Debug, PartialEq, Eq)]
struct Bind<'a> {
    target: &'a str,
    checker: &'a str,
    instance: &'a str,
    /// Ports of the checker, and what they are connected to.
    connections: Vec<(&'a str, &'a str)>,
}

/// The Verilog among `files`, folders left out: every module with its checkers in it, and `top`
/// with the assumption that it starts in reset.
pub(super) fn bound(
    files: &[(String, String)],
    top: &str,
) -> Result<Vec<(String, String)>, ToolError> {
    let mut sources = Vec::new();
    let mut binds = String::new();
    for (path, text) in files {
        let name = Path::new(path).file_name().unwrap_or_default();
        if name == BIND {
            binds = without_comments(text);
        } else if path.ends_with(".v") || path.ends_with(".sv") {
            sources.push((name.to_string_lossy().into_owned(), text.clone()));
        }
    }
    for bind in read(&binds)? {
        let mut inside = String::new();
        for (port, path) in &bind.connections {
            // Yosys joins such wires with the registers.
            if path.contains('.') {
                let range = range(&sources, bind.checker, port)?;
                inside += &format!("  (* hierconn *) wire {range} \\{path} ;\n");
            }
        }
        let connections = bind.connections.iter();
        let connections: Vec<String> = connections
            .map(|(port, path)| format!(".{port}({path})"))
            .collect();
        inside += &format!(
            "  {} {} ({});\n",
            bind.checker,
            bind.instance,
            connections.join(", ")
        );
        insert(&mut sources, bind.target, &inside)?;
    }
    insert(&mut sources, top, "  initial assume (rst);\n")?;
    Ok(sources)
}

/// Without comments and `default_nettype`. Other directives are not understood later on.
fn without_comments(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.filter(|line| !line.starts_with("`default_nettype"));
    lines
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect()
}

/// The statements of `bind.sv`.
fn read(text: &str) -> Result<Vec<Bind<'_>>, ToolError> {
    let statements = text.split(';').map(str::trim);
    let statements = statements.filter(|statement| !statement.is_empty());
    statements
        .map(|statement| {
            let bind = parse(statement);
            bind.ok_or_else(|| ToolError::Bind(format!("`{statement}` cannot be understood")))
        })
        .collect()
}

fn parse(statement: &str) -> Option<Bind<'_>> {
    let (head, connections) = statement.split_once('(')?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let ["bind", target, checker, instance] = words[..] else {
        return None;
    };
    let is_name = |text: &str| {
        let mut chars = text.chars();
        !text.is_empty() && chars.all(|it| it.is_ascii_alphanumeric() || "_$.".contains(it))
    };
    let connections = connections.trim_end().strip_suffix(')')?.split(',');
    let connections = connections.map(|connection| {
        let (port, path) = connection.trim().strip_prefix('.')?.split_once('(')?;
        let (port, path) = (port.trim(), path.strip_suffix(')')?.trim());
        (is_name(port) && is_name(path)).then_some((port, path))
    });
    Some(Bind {
        target,
        checker,
        instance,
        connections: connections.collect::<Option<_>>()?,
    })
}

/// Where the text of a module begins and ends: the file, and the places in it.
fn find(sources: &[(String, String)], module: &str) -> Result<(usize, usize, usize), ToolError> {
    for (file, (_, text)) in sources.iter().enumerate() {
        let mut place = 0;
        let mut begin = None;
        for line in text.split_inclusive('\n') {
            let mut words = line.split(|it: char| it.is_whitespace() || "(;#".contains(it));
            match (words.next(), begin) {
                (Some("module"), _) if words.next() == Some(module) => begin = Some(place),
                (Some("endmodule"), Some(begin)) => return Ok((file, begin, place)),
                _ => {}
            }
            place += line.len();
        }
    }
    Err(ToolError::Bind(format!("there is no module `{module}`")))
}

/// The range of a port, as it is declared.
fn range(sources: &[(String, String)], module: &str, port: &str) -> Result<String, ToolError> {
    let (file, begin, end) = find(sources, module)?;
    let text = without_comments(&sources[file].1[begin..end]);
    let header = text.split(';').next().unwrap_or_default();
    let declarations = header.split([',', '(', ')']).map(str::trim);
    for declaration in declarations {
        if declaration.split_whitespace().last() == Some(port) {
            let range = declaration.find('[').zip(declaration.rfind(']'));
            return Ok(range
                .map_or("", |(low, high)| &declaration[low..=high])
                .into());
        }
    }
    Err(ToolError::Bind(format!("`{module}` has no port `{port}`")))
}

/// In the module of all memories: all words of a memory, the first lowest.
const WORDS: &str = "  wire [WIDTH*DEPTH-1:0] claims_words;
  genvar claims_word;
  generate
    for (claims_word = 0; claims_word < DEPTH; claims_word = claims_word + 1) begin : g_claims_words
      assign claims_words[claims_word*WIDTH +: WIDTH] = words[claims_word];
    end
  endgenerate
";

/// Puts claims at the end of a module about its memories, each with its number of words and their
/// bits: `u_name.claims_words` in them is all words of a memory, the first lowest.
pub(super) fn insert_with_words(
    sources: &mut [(String, String)],
    prefix: &str,
    module: &str,
    memories: &[(&str, u32, u32)],
    inside: &str,
) -> Result<(), ToolError> {
    let ram = format!("{prefix}ram_1r1w");
    let (file, ..) = find(sources, &ram)?;
    if !sources[file].1.contains(WORDS) {
        insert(sources, &ram, WORDS)?;
    }
    // Yosys joins these wires with those in the memories.
    let wires = memories.iter().map(|(name, words, bits)| {
        let high = words * bits - 1;
        format!("  (* hierconn *) wire [{high}:0] \\u_{name}.claims_words ;\n")
    });
    let text = wires.collect::<String>() + inside;
    insert(sources, &format!("{prefix}{module}"), &text)
}

/// Puts `inside` at the end of a module.
pub(super) fn insert(
    sources: &mut [(String, String)],
    module: &str,
    inside: &str,
) -> Result<(), ToolError> {
    let (file, _, end) = find(sources, module)?;
    sources[file].1.insert_str(end, inside);
    Ok(())
}
