//! SystemRDL 2.0.

use std::fmt::Write;

use super::Space;
use crate::blocks::csr::map::{global_offset, Access, Field, Map, Register, STRIDE};

/// The whole space as a SystemRDL file.
pub fn text(space: &Space) -> String {
    let [emitted, hashed] = space.origin();
    let mut out = format!(
        "// Registers of {}, SystemRDL 2.0.\n// {emitted}\n// {hashed}\n\n",
        space.module
    );
    let prefix = &space.prefix;
    let port_page = format!("{prefix}port_page");
    page(&mut out, &port_page, "Registers of a port", &space.port);
    if let Some((_, all)) = &space.all {
        let all_page = format!("{prefix}all_page");
        page(&mut out, &all_page, "Registers of all ports", all);
    }
    let _ = write!(
        out,
        "addrmap {}_registers {{\n  default regwidth = 32;\n  default accesswidth = 32;\n",
        space.module
    );
    match &space.all {
        Some((ports, _)) => {
            let _ = write!(
                out,
                "  {port_page} port[{ports}] @ 0x0 += {STRIDE:#x};\n  \
                 {prefix}all_page all_ports @ {:#x};\n",
                global_offset(*ports)
            );
        }
        None => out.push_str(&format!("  {port_page} port @ 0x0;\n")),
    }
    out.push_str("};\n");
    out
}

fn page(out: &mut String, name: &str, desc: &str, page: &Map) {
    let _ = write!(out, "regfile {name} {{\n  desc = {};\n", quoted(desc));
    for known in &page.registers {
        register(out, known);
    }
    out.push_str("};\n\n");
}

fn register(out: &mut String, register: &Register) {
    let _ = write!(out, "  reg {{\n    desc = {};\n", quoted(&register.doc));
    if register.fields.is_empty() {
        // A register needs a field: this configuration leaves all bits of it reserved.
        out.push_str("    field { sw = r; hw = na; desc = \"reserved\"; } reserved[31:0] = 0x0;\n");
    }
    for known in &register.fields {
        field(out, register, known);
    }
    let _ = writeln!(out, "  }} {} @ {:#x};", register.name, register.offset);
}

fn field(out: &mut String, register: &Register, field: &Field) {
    let properties = match field.access {
        Access::Constant => "sw = r; hw = na;",
        Access::Status => "sw = r; hw = w;",
        Access::Staged | Access::Index => "sw = rw; hw = r;",
        Access::Request => "sw = rw; onwrite = woset; hw = r; hwclr;",
        Access::Pulse => "sw = w; singlepulse; hw = r;",
        Access::Flag => "sw = rw; onwrite = woclr; hw = r; hwset;",
    };
    // Sequences of UVM that write all ones, or expect what they wrote, would go wrong.
    let tests = match field.access {
        Access::Request | Access::Pulse => " donttest;",
        Access::Staged | Access::Index if register.refuses_values() => " donttest;",
        Access::Status | Access::Flag => " dontcompare;",
        Access::Constant | Access::Staged | Access::Index => "",
    };
    let mut encoding = String::new();
    let legal: Vec<_> = field.values.iter().filter(|value| value.2).collect();
    if !legal.is_empty() {
        let name = format!("{}_{}_e", register.name, field.name);
        let _ = writeln!(out, "    enum {name} {{");
        for (value, code, _) in legal {
            let _ = writeln!(
                out,
                "      {} = {}'d{code};",
                value.replace('-', "_"),
                field.width
            );
        }
        out.push_str("    };\n");
        encoding = format!(" encode = {name};");
    }
    let _ = writeln!(
        out,
        "    field {{ {properties}{tests}{encoding} desc = {}; }} {}[{}:{}] = {:#x};",
        quoted(&field.doc),
        field.name,
        field.low + field.width - 1,
        field.low,
        field.reset
    );
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
