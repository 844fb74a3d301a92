//! The FuseSoC core of a design (CAPI2): its files by what they are for, and targets that lint and
//! simulate them.

use std::fmt::Write as _;

use super::comment;

/// Vendor and library of the core's name.
const LIBRARY: &str = "linkdoze:power";

/// The flag of FuseSoC by which a design that depends on the core takes its checkers, too.
pub const CHECKERS_FLAG: &str = "linkdoze_checkers";

/// The files of a core, by their names from the folder in which the core lies; each list in the
/// order in which a tool must read it.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Verilog-2005.
    pub rtl: Vec<String>,
    /// SystemVerilog: assertions, and the `bind` that puts them into the design.
    pub checkers: Vec<String>,
    /// SystemVerilog: the module [`super::smoke::name`].
    pub smoke: Vec<String>,
    /// What software and its tools read of the registers.
    pub registers: Vec<String>,
    /// SDC, XDC, LPF, told apart by their names.
    pub constraints: Vec<String>,
}

/// The core's name, text and version: `linkdoze:power:port:0.1.0`. The version is that of linkdoze:
/// configurations are told apart by the prefix of their modules.
pub fn vlnv(top: &str) -> String {
    format!("{LIBRARY}:{top}:{}", env!("CARGO_PKG_VERSION"))
}

/// The core of the design whose top module is `top`: name and text of the file. `hash` is the
/// SHA-256 of the configuration. The smoke test is of `top`; all else is of `toplevel`, which is
/// `top` or has it inside. The same arguments give the same bytes.
pub fn core(top: &str, toplevel: &str, files: &Files, hash: &str) -> (String, String) {
    let [emitted, hashed] = crate::files::origin(hash);
    let vlnv = vlnv(top);
    let smoke = super::smoke::name(top);
    let lint = format!("fusesoc --cores-root DIR run --target=lint {vlnv}");
    let sim = format!("fusesoc --cores-root DIR run --target=sim {vlnv}");
    // FuseSoC knows a core by this first line.
    let mut text = "CAPI=2:\n".to_owned();
    text += &comment(
        "#",
        &[
            &format!("FuseSoC core of module {top}. With DIR for the folder of this file:"),
            "",
            &format!("  {lint}"),
            &format!("  {sim}"),
            "",
            &emitted,
            &hashed,
        ],
    );
    let _ = write!(
        text,
        "\nname: {vlnv}\n\
         description: Power controller for the links of an Ethernet switch\n\n\
         filesets:\n"
    );
    let mut set = |name: &str, says: &str, kind: &str, files: &[String]| {
        if files.is_empty() {
            return;
        }
        let _ = write!(text, "  # {says}\n  {name}:\n    files:\n");
        for file in files {
            let _ = writeln!(text, "      - {file}");
        }
        let _ = writeln!(text, "    file_type: {kind}");
    };
    set("rtl", "The design.", "verilogSource-2005", &files.rtl);
    set(
        "checkers",
        "Assertions, bound to the modules: for simulation and proof, not for synthesis.",
        "systemVerilogSource",
        &files.checkers,
    );
    set(
        "smoke",
        "A test of some seconds.",
        "systemVerilogSource",
        &files.smoke,
    );
    set(
        "registers",
        "The registers, for software and its tools.",
        "user",
        &files.registers,
    );
    let mut conditions = Vec::new();
    for (name, kind, tool, says) in CONSTRAINTS {
        let end = format!(".{name}");
        let of = files.constraints.iter().filter(|file| file.ends_with(&end));
        let of: Vec<String> = of.cloned().collect();
        set(name, says, kind, &of);
        if !of.is_empty() {
            conditions.push(format!("\"tool_{tool}? ({name})\""));
        }
    }
    let has_checkers = !files.checkers.is_empty();
    let mut default = vec!["rtl".to_owned()];
    if has_checkers {
        default.push(format!("\"{CHECKERS_FLAG}? (checkers)\""));
    }
    if !files.registers.is_empty() {
        default.push("registers".into());
    }
    let checked = |others: &[&str]| {
        let checkers = has_checkers.then_some("checkers");
        let all = ["rtl"].into_iter().chain(checkers);
        all.chain(others.iter().copied())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = write!(
        text,
        "\ntargets:\n  \
         # What a core that depends on this one gets; with --flag={CHECKERS_FLAG} the checkers, too.\n  \
         default:\n    filesets: [{}]\n    toplevel: {toplevel}\n\n  \
         lint:\n    description: Verilator's lint, all warnings\n    flow: lint\n    flow_options:\n      \
         tool: verilator\n      verilator_options: [--assert, -Wall]\n    \
         filesets: [{}]\n    toplevel: {toplevel}\n\n  \
         sim:\n    description: The smoke test with the checkers, on Verilator 5\n    flow: sim\n    \
         flow_options:\n      tool: verilator\n      mode: binary\n      \
         verilator_options: [--assert]\n    filesets: [{}]\n    toplevel: {smoke}\n\n  \
         # Icarus Verilog has no bind, hence no checkers; unlike Verilator it knows unknown values.\n  \
         sim_icarus:\n    description: The smoke test without the checkers, on Icarus Verilog\n    \
         flow: sim\n    flow_options:\n      tool: icarus\n      iverilog_options: [-g2012]\n    \
         filesets: [rtl, smoke]\n    toplevel: {smoke}\n",
        default.join(", "),
        checked(&[]),
        checked(&["smoke"]),
    );
    if !conditions.is_empty() {
        let _ = write!(
            text,
            "\n  # The block alone, with its timing constraints: a chip that has it brings its own.\n  \
             synth:\n    description: The block by itself; choose a tool with --tool\n    \
             filesets: [rtl, {}]\n    toplevel: {toplevel}\n",
            conditions.join(", ")
        );
    }
    (format!("{top}.core"), text)
}

/// The constraints: how their names end, their type and the tool that reads them in FuseSoC, and
/// what the core says of them.
const CONSTRAINTS: [(&str, &str, &str, &str); 3] = [
    (
        "sdc",
        "SDC",
        "quartus",
        "Timing of the block by itself, for ASIC flows and Quartus.",
    ),
    (
        "xdc",
        "xdc",
        "vivado",
        "The same for Vivado, out of context.",
    ),
    (
        "lpf",
        "LPF",
        "trellis",
        "The clock alone, for nextpnr-ecp5.",
    ),
];
