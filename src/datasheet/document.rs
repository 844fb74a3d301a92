//! A document as blocks, printed as Markdown or as one page of HTML. Text has the marks of Markdown
//! for code, `` `name` ``, and no others.

use std::fmt::Write as _;

use crate::words::escaped;

const STYLE: &str = include_str!("page.css");

/// A part of a document.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// A heading; the title has level 1.
    Heading(u8, String),
    /// A paragraph.
    Text(String),
    /// Items, each of which is to be ticked off.
    Checklist(Vec<String>),
    /// A table.
    Table(Table),
    /// Text that keeps its lines.
    Verbatim(String),
    /// A drawing: SVG for the page, text for Markdown in a fence of this kind.
    Figure {
        /// An `svg` element.
        svg: String,
        /// The kind of the fence.
        kind: &'static str,
        /// The same as text.
        text: String,
        /// What the page says above the text, which is folded there.
        summary: String,
    },
}

/// Rows under a header.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The names of the columns, those of numbers marked.
    pub columns: Vec<(&'static str, Align)>,
    /// As many cells each.
    pub rows: Vec<Vec<String>>,
}

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

impl Table {
    pub fn new<const N: usize>(columns: [(&'static str, Align); N]) -> Self {
        Table {
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

/// The document in Markdown.
pub(super) fn markdown(blocks: &[Block]) -> String {
    let mut parts = Vec::new();
    for block in blocks {
        parts.push(match block {
            Block::Heading(level, text) => format!("{} {text}\n", "#".repeat((*level).into())),
            Block::Text(text) => format!("{text}\n"),
            Block::Checklist(items) => {
                let lines = items.iter().map(|item| format!("- [ ] {item}\n"));
                lines.collect()
            }
            Block::Table(table) => table_in_markdown(table),
            Block::Verbatim(text) => format!("```text\n{}\n```\n", text.trim_end()),
            Block::Figure { kind, text, .. } => {
                format!("```{kind}\n{}\n```\n", text.trim_end())
            }
        });
    }
    parts.join("\n")
}

fn table_in_markdown(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let header: Vec<String> = table.columns.iter().map(|it| it.0.to_owned()).collect();
    let rule: Vec<String> = (table.columns.iter())
        .map(|(_, align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        })
        .collect();
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    line(&header) + &line(&rule) + &rows
}

/// The document as a page that refers to nothing outside of it.
pub(super) fn html(title: &str, blocks: &[Block]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title)
    );
    for block in blocks {
        // Writing to a string does not fail.
        let _ = match block {
            Block::Heading(level, text) => writeln!(page, "<h{level}>{}</h{level}>", inline(text)),
            Block::Text(text) => writeln!(page, "<p>{}</p>", inline(text)),
            Block::Checklist(items) => {
                page += "<ul class=\"checklist\">\n";
                for item in items {
                    let _ = writeln!(
                        page,
                        "<li><label><input type=\"checkbox\"> <span>{}</span></label></li>",
                        inline(item)
                    );
                }
                writeln!(page, "</ul>")
            }
            Block::Table(table) => table_in_html(&mut page, table),
            Block::Verbatim(text) => writeln!(page, "<pre>{}</pre>", escaped(text.trim_end())),
            Block::Figure {
                svg, text, summary, ..
            } => writeln!(
                page,
                "<figure class=\"wide\">\n{svg}</figure>\n<details>\n<summary>{}</summary>\n\
                 <pre>{}</pre>\n</details>",
                inline(summary),
                escaped(text.trim_end())
            ),
        };
    }
    page + "</main>\n</body>\n</html>\n"
}

fn table_in_html(page: &mut String, table: &Table) -> std::fmt::Result {
    let class = |column: usize| match table.columns[column].1 {
        Align::Left => "",
        Align::Right => " class=\"n\"",
    };
    *page += "<div class=\"wide\">\n<table>\n";
    // Markdown has no table without a header.
    if table.columns.iter().any(|(name, _)| !name.is_empty()) {
        *page += "<thead><tr>";
        for (column, (name, _)) in table.columns.iter().enumerate() {
            write!(page, "<th{}>{}</th>", class(column), inline(name))?;
        }
        *page += "</tr></thead>\n";
    }
    *page += "<tbody>\n";
    for row in &table.rows {
        *page += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            write!(page, "<td{}>{}</td>", class(column), inline(cell))?;
        }
        *page += "</tr>\n";
    }
    writeln!(page, "</tbody>\n</table>\n</div>")
}

/// A text with its code as HTML.
fn inline(text: &str) -> String {
    let mut html = String::new();
    for (place, part) in text.split('`').enumerate() {
        match place % 2 {
            0 => html += &escaped(part),
            _ => html += &format!("<code>{}</code>", escaped(part)),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_and_page_say_the_same() {
        let mut table = Table::new([("what", Align::Left), ("bits", Align::Right)]);
        table.row(["`a|b`".into(), "7".into()]);
        let blocks = [
            Block::Heading(1, "`port`".into()),
            Block::Text("1 < 2 & \"so\"".into()),
            Block::Checklist(vec!["tie `rst`".into()]),
            Block::Table(table),
            Block::Verbatim("x\n".into()),
        ];
        assert_eq!(
            markdown(&blocks),
            "# `port`\n\n1 < 2 & \"so\"\n\n- [ ] tie `rst`\n\n\
             | what | bits |\n| --- | ---: |\n| `a\\|b` | 7 |\n\n```text\nx\n```\n"
        );
        let page = html("a <b>", &blocks);
        for part in [
            "<title>a &lt;b&gt;</title>",
            "<h1><code>port</code></h1>",
            "<p>1 &lt; 2 &amp; &quot;so&quot;</p>",
            "<span>tie <code>rst</code></span>",
            "<td><code>a|b</code></td><td class=\"n\">7</td>",
            "<pre>x</pre>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
