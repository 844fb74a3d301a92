//! The registers as tables for people.

use std::fmt::Write;

use super::Space;
use crate::blocks::csr::map::{global_offset, Map, STRIDE};

/// The whole space as Markdown.
pub fn text(space: &Space) -> String {
    let [emitted, _] = space.origin();
    let mut out = format!(
        "# Registers of `{}`\n\n{emitted}\nSHA-256 of the configuration: `{}`.\n\n\
         AXI4-Lite, 32 bits, little endian. An address without a register answers DECERR. A\n\
         write to a register that is only read, of a value that the hardware does not\n\
         support, or of a bin while one is being fetched, answers SLVERR and changes nothing. Reserved bits read 0 and ignore writes, but\n\
         those of a time of the link and of `guard_burst`: a 1 there is out of range, and refused.\n\n\
         A tick is {} ns. Values of more than 32 bits lie in two registers. Of what the\n\
         hardware counts or computes, read the lower word first: it latches the upper one, which\n\
         holds until the lower word of any such value is read. Parameters are staged: write them\n\
         in any order, then 1 to `command.apply`. They take effect together, with the next idle\n\
         period that begins; until then `command.apply` reads 1 and writing them answers SLVERR.\n\n",
        space.module,
        space.hash,
        crate::config::ns(space.tick_ps)
    );
    if let Some((ports, _)) = &space.all {
        let _ = write!(
            out,
            "| address | what lies there |\n| --- | --- |\n\
             | `k * {STRIDE:#x}` | page of port `k`, 0 to {} |\n| `{:#x}` | page of all ports |\n\n",
            ports - 1,
            global_offset(*ports)
        );
    }
    page(&mut out, "Page of a port", &space.port);
    if let Some((_, all)) = &space.all {
        page(&mut out, "Page of all ports", all);
    }
    out
}

fn page(out: &mut String, title: &str, page: &Map) {
    let _ = write!(
        out,
        "## {title}\n\n| offset | register | bits | field | access | reset | meaning |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for row in rows(page) {
        let cells = row.iter().map(|cell| match cell.as_str() {
            "" => " |".to_owned(),
            cell => format!(" {cell} |"),
        });
        let _ = writeln!(out, "|{}", cells.collect::<String>());
    }
    out.push('\n');
}

/// The rows of a page: offset, register, bits, field, access, value after reset, meaning.
pub fn rows(page: &Map) -> Vec<[String; 7]> {
    let mut rows = Vec::new();
    for register in &page.registers {
        let offset = format!("`{:#05x}`", register.offset);
        let name = format!("`{}`", register.name);
        if register.fields.is_empty() {
            let none = String::new;
            let reserved = format!("{}; reserved in this configuration", register.doc);
            rows.push([
                offset.clone(),
                name.clone(),
                none(),
                none(),
                none(),
                none(),
                reserved,
            ]);
        }
        for field in &register.fields {
            let top = field.low + field.width - 1;
            let bits = match field.width {
                1 => format!("{top}"),
                _ => format!("{top}:{}", field.low),
            };
            let mut meaning = field.doc.clone();
            let values: Vec<String> = field
                .values
                .iter()
                .filter(|value| value.2)
                .map(|(name, code, _)| format!("{code} {name}"))
                .collect();
            if !values.is_empty() {
                let _ = write!(meaning, ": {}", values.join(", "));
            }
            rows.push([
                offset.clone(),
                name.clone(),
                bits,
                format!("`{}`", field.name),
                field.access.text().to_owned(),
                format!("{:#x}", field.reset),
                meaning,
            ]);
        }
    }
    rows
}
