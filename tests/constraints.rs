//! The emitted constraints: Tcl that names every pin of the emitted Verilog once, and no other;
//! and what they claim of the Verilog.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{linkdoze, run, PRESETS};

/// Tcl that knows the commands of SDC which the files may use, and writes what they do, pin by
/// pin. A vector is found by `name[*]`, anything else by its whole name; what finds nothing is
/// an error, as is any other command or option.
const RECORDER: &str = r#"
set pins [dict create {*}$::env(PINS)]
proc get_ports {patterns} {
    set found {}
    foreach pattern $patterns {
        set vector [regexp {^(\w+)\[\*\]$} $pattern -> name]
        if {!$vector} {set name $pattern}
        if {![dict exists $::pins $name] || ([dict get $::pins $name] > 1) != $vector} {
            error "no port $pattern"
        }
        lappend found $name
    }
    return $found
}
proc create_clock {option name -period period ports} {
    if {$option ne "-name"} {error "create_clock $option"}
    foreach port $ports {puts "clock $name $period $port"}
}
proc delay {command option clock side delay ports} {
    if {$option ne "-clock" || $side ni {-min -max}} {error "$command $option $side"}
    foreach port $ports {puts "$command $clock $side $delay $port"}
}
interp alias {} set_input_delay {} delay input
interp alias {} set_output_delay {} delay output
proc set_false_path {option ports} {
    if {$option ne "-from"} {error "set_false_path $option"}
    foreach port $ports {puts "false $port"}
}
proc get_clocks {clocks} {return $clocks}
proc set_clock_groups {option args} {
    if {$option ne "-asynchronous"} {error "set_clock_groups $option"}
    puts "asynchronous $args"
}
proc set_max_delay {option side from other to delay} {
    if {"$option $side $other" ne "-datapath_only -from -to"} {error "set_max_delay $option"}
    puts "longest $from $to $delay"
}
source $::env(FILE)
"#;

/// A pin of a Verilog module's header.
struct Pin {
    name: String,
    width: u32,
    input: bool,
}

fn pins(verilog: &str) -> Vec<Pin> {
    let (_, header) = verilog.split_once("\nmodule ").unwrap();
    let (header, _) = header.split_once("\n);").unwrap();
    header
        .lines()
        .skip(1)
        .map(|line| {
            let code = line
                .split("//")
                .next()
                .unwrap()
                .trim()
                .trim_end_matches(',');
            let (direction, rest) = code.split_once(' ').unwrap();
            let rest = rest
                .trim()
                .trim_start_matches("wire")
                .trim_start_matches("reg")
                .trim();
            let (width, name) = match rest.strip_prefix('[') {
                Some(vector) => {
                    let (high, name) = vector.split_once(":0]").unwrap();
                    (high.parse::<u32>().unwrap() + 1, name.trim())
                }
                None => (1, rest),
            };
            assert!(["input", "output"].contains(&direction), "{line}");
            Pin {
                name: name.to_owned(),
                width,
                input: direction == "input",
            }
        })
        .collect()
}

/// Writes a configuration and what is emitted for it, to the folder `out`.
fn emitted(changes: &str, arguments: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), changes).unwrap();
    let generate = ["generate", "port.toml", "-o", "out"];
    run(linkdoze(folder.path()).args(generate).args(arguments), 0);
    folder
}

/// What a file of constraints does.
fn recorded(folder: &Path, file: &str, pins: &[Pin]) -> Result<String, String> {
    let script = folder.join("recorder.tcl");
    fs::write(&script, RECORDER).unwrap();
    let list: Vec<String> = pins
        .iter()
        .map(|pin| format!("{} {}", pin.name, pin.width))
        .collect();
    let output = Command::new("tclsh")
        .arg(&script)
        .env("PINS", list.join(" "))
        .env("FILE", folder.join("out").join(file))
        .output()
        .expect("tclsh starts (Debian: tcl)");
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// The constraints of a top, whose clock has `period_ns`, do what they should and no more.
fn check(folder: &Path, top: &str, period_ns: &str, outside_ns: &str) {
    let verilog = fs::read_to_string(folder.join(format!("out/{top}.v"))).unwrap();
    let pins = pins(&verilog);
    let mut expected: BTreeSet<String> = [format!("clock clk {period_ns} clk")].into();
    for pin in pins.iter().filter(|pin| pin.name != "clk") {
        let side = if pin.input { "input" } else { "output" };
        expected.insert(format!("{side} clk -max {outside_ns} {}", pin.name));
        expected.insert(format!("{side} clk -min 0 {}", pin.name));
        let straps = ["initiator", "minimal", "cabled"];
        if straps.iter().any(|strap| pin.name.starts_with(strap)) {
            expected.insert(format!("false {}", pin.name));
        }
    }
    for kind in ["sdc", "xdc"] {
        let file = format!("{top}.{kind}");
        let text = recorded(folder, &file, &pins).unwrap();
        let found: BTreeSet<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(found, expected, "{file}");
        assert_eq!(text.lines().count(), found.len(), "{file}: twice");
    }
}

#[test]
fn every_pin_of_every_preset_is_constrained_and_no_other() {
    for preset in PRESETS {
        let folder = tempfile::tempdir().unwrap();
        let init = ["init", "--preset", preset, "-o", "port.toml"];
        run(linkdoze(folder.path()).args(init), 0);
        let generate = ["generate", "port.toml", "-o", "out"];
        run(linkdoze(folder.path()).args(generate), 0);
        let text = fs::read_to_string(folder.path().join("port.toml")).unwrap();
        let period = text
            .lines()
            .find_map(|line| line.strip_prefix("period_ps = "))
            .unwrap();
        let period: f64 = period.split('#').next().unwrap().trim().parse().unwrap();
        let nanoseconds = |ps: f64| format!("{}", ps / 1e3);
        check(
            folder.path(),
            "port",
            &nanoseconds(period),
            &nanoseconds(period / 2.0),
        );
    }
}

/// An odd period, pins for registers, levels, several ports.
#[test]
fn every_pin_of_other_shapes_is_constrained_and_no_other() {
    let clock = "[clock]\nperiod_ps = 3125\ntick_ns = 25\n[port]\ntime_width = 24\n";
    let levels = emitted(
        &format!("{clock}policy = \"fixed\"\nsync = \"levels\"\n"),
        &[],
    );
    check(levels.path(), "port", "3.125", "1.5625");
    let lpf = fs::read_to_string(levels.path().join("out/port.lpf")).unwrap();
    let commands: Vec<&str> = lpf.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands, ["", "FREQUENCY PORT \"clk\" 320.000000 MHZ;"]);

    let registers = emitted("[port]\nregisters = true\n", &[]);
    check(registers.path(), "port", "1", "0.5");
    let several = emitted("[port]\nregisters = true\n", &["--ports", "3"]);
    check(several.path(), "switch_ports", "1", "0.5");
}

/// A wrapper whose AXI4-Lite has a clock of its own: each pin belongs to its clock, and the clocks to
/// nothing else.
#[test]
fn every_pin_of_a_wrapper_belongs_to_its_clock() {
    for (arguments, reset, axi) in [
        (&["--wrapper", "axi-clock"][..], "rst", true),
        (
            &["--ports", "2", "--wrapper", "axi-clock,vectors,aresetn"],
            "aresetn",
            true,
        ),
        (
            &["--ports", "2", "--wrapper", "vectors,aresetn"],
            "aresetn",
            false,
        ),
    ] {
        let folder = emitted("[port]\nregisters = true\n", arguments);
        let top = match arguments.len() {
            2 => "port_wrapper",
            _ => "switch_ports_wrapper",
        };
        let out = folder.path().join("out");
        let verilog = fs::read_to_string(out.join(format!("{top}.v"))).unwrap();
        let pins = pins(&verilog);
        assert!(pins.iter().any(|pin| pin.name == reset));
        let mut expected: BTreeSet<String> = ["clock clk 1 clk".to_owned()].into();
        if axi {
            expected.insert("clock s_axi_aclk 1 s_axi_aclk".into());
        }
        let clocks = ["clk", "s_axi_aclk"];
        for pin in pins.iter().filter(|pin| !clocks.contains(&&*pin.name)) {
            let side = if pin.input { "input" } else { "output" };
            let clock = clocks[usize::from(axi && pin.name.starts_with("s_axi_"))];
            expected.insert(format!("{side} {clock} -max 0.5 {}", pin.name));
            expected.insert(format!("{side} {clock} -min 0 {}", pin.name));
            if pin.name.starts_with("initiator") {
                expected.insert(format!("false {}", pin.name));
            }
        }
        for (kind, between) in [
            ("sdc", &["asynchronous -group clk -group s_axi_aclk"][..]),
            (
                "xdc",
                &["longest clk s_axi_aclk 1", "longest s_axi_aclk clk 1"],
            ),
        ] {
            let mut expected = expected.clone();
            expected.extend(between.iter().filter(|_| axi).map(|it| (*it).to_owned()));
            let text = recorded(folder.path(), &format!("{top}.{kind}"), &pins).unwrap();
            let found: BTreeSet<String> = text.lines().map(str::to_owned).collect();
            assert_eq!(found, expected, "{top}.{kind}");
        }
        let lpf = fs::read_to_string(out.join(format!("{top}.lpf"))).unwrap();
        assert_eq!(
            lpf.matches("\nFREQUENCY PORT").count(),
            1 + usize::from(axi)
        );
    }
}

/// Where paths lead from pin to pin, a third of the period is left to them; and nowhere else, as Yosys
/// finds them in the Verilog.
#[test]
fn a_third_of_the_period_is_left_to_a_path_from_pin_to_pin() {
    let ports = ["--ports-down", "2", "--ports-up", "3"];
    let mut through = 0;
    for part in [
        "round-robin",
        "first-on",
        "powar",
        "alonso",
        "selectable-ports",
        "tree-links",
        "lanes",
    ] {
        let chosen = match part {
            "lanes" => vec!["--link-lanes", "12"],
            part => [&["--switch-part", part][..], &ports].concat(),
        };
        let changes =
            "[clock]\nperiod_ps = 1000\n[port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\n\
                       sync = \"lpi\"\n";
        let folder = emitted(changes, &chosen);
        let out = folder.path().join("out");
        let leads_through = !inputs_behind_outputs(&out).is_empty();
        through += usize::from(leads_through);
        let files = fs::read_dir(&out).unwrap().map(|it| it.unwrap().path());
        let sdc: Vec<_> = files
            .filter(|it| it.extension().is_some_and(|it| it == "sdc"))
            .collect();
        assert_eq!(sdc.len(), 1, "{part}");
        for file in sdc {
            let top = file.file_stem().unwrap().to_str().unwrap();
            check(
                folder.path(),
                top,
                "1",
                if leads_through { "0.333" } else { "0.5" },
            );
        }
    }
    assert_eq!(through, 6, "all but selectable-ports");
}

/// The recorder complains of what it must.
#[test]
fn constraints_of_another_module_are_refused() {
    let folder = emitted("[port]\npolicy = \"fixed\"\n", &[]);
    let verilog = fs::read_to_string(folder.path().join("out/port.v")).unwrap();
    let all = pins(&verilog);
    assert!(recorded(folder.path(), "port.sdc", &all).is_ok());
    let fewer: Vec<Pin> = pins(&verilog)
        .into_iter()
        .filter(|pin| pin.name != "receiving")
        .collect();
    let error = recorded(folder.path(), "port.sdc", &fewer).unwrap_err();
    assert!(error.contains("no port receiving"), "{error}");
    let narrow: Vec<Pin> = all.into_iter().map(|pin| Pin { width: 1, ..pin }).collect();
    let error = recorded(folder.path(), "port.xdc", &narrow).unwrap_err();
    assert!(error.contains("no port packet_hops[*]"), "{error}");
}

/// What the delays rest on: no path through the block leads from an input to an output. Yosys
/// follows every output back to registers and memories.
#[test]
fn no_path_leads_from_pin_to_pin() {
    for (changes, arguments) in [
        ("", &[][..]),
        ("[port]\nregisters = true\nsync = \"levels\"\n", &[]),
        ("[port]\npolicy = \"fixed\"\n", &["--ports", "2"]),
    ] {
        let folder = emitted(changes, arguments);
        let out = folder.path().join("out");
        assert_eq!(inputs_behind_outputs(&out), "", "{changes} {arguments:?}");
    }
    // The search does find such a path where there is one.
    let folder = emitted("[port]\npolicy = \"fixed\"\n", &[]);
    let file = folder.path().join("out/port.v");
    let text = fs::read_to_string(&file).unwrap();
    let with_path = text.replacen("assign tx_enable = ", "assign tx_enable = ~rst & ", 1);
    assert_ne!(text, with_path);
    fs::write(&file, with_path).unwrap();
    let found = inputs_behind_outputs(&folder.path().join("out"));
    assert_eq!(found, "port/rst\n");
}

/// The inputs that an output depends on within a cycle, a line each.
fn inputs_behind_outputs(folder: &Path) -> String {
    let script = "read_verilog *.v; hierarchy -auto-top; proc; flatten; opt_clean; memory -nomap; \
                  select -write found o:* \
                  %ci*:-$dff,$dffe,$sdff,$sdffe,$sdffce,$mem_v2 i:* %i";
    let yosys = Command::new("yosys")
        .current_dir(folder)
        .args(["-q", "-p", script])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&yosys.stderr);
    assert!(yosys.status.success(), "{errors}");
    fs::read_to_string(folder.join("found")).unwrap()
}
