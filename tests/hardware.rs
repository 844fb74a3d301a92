//! What the presets emit: the files that are checked in, equal to the golden model, of the
//! size that the estimate says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{json, Value};

use crate::common::{folder_of, linkdoze, run, share, without_notes, PRESETS};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Those of folders in it as well, by their paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inside = files(&path).into_iter();
            found.extend(inside.map(|(file, text)| (format!("{name}/{file}"), text)));
        } else {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let (out, _) = run(linkdoze(folder).args(arguments).arg("--json"), 0);
    serde_json::from_str(&out).unwrap()
}

#[test]
fn the_checked_in_verilog_and_constraints_are_up_to_date() {
    let mut presets = PRESETS.map(str::to_owned);
    presets.sort();
    for kind in ["rtl", "constraints"] {
        let mut folders = files_and_folders(&project(kind));
        folders.sort();
        assert_eq!(folders, presets, "a folder of {kind}/ per preset");
    }
    for preset in PRESETS {
        let folder = folder_of(preset);
        let checked_in = ["rtl", "constraints"].map(|kind| project(kind).join(preset));
        let output = linkdoze(folder.path())
            .args(["generate", "port.toml", "--check", "-o"])
            .arg(&checked_in[0])
            .arg("--constraints")
            .arg(&checked_in[1])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{preset} is stale: mend it with `make rtl`\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        // Nor is there a file that is no longer emitted.
        let fresh = ["rtl", "constraints"].map(|kind| folder.path().join(kind));
        let generate = [
            "generate",
            "port.toml",
            "-o",
            "rtl",
            "--constraints",
            "constraints",
        ];
        run(linkdoze(folder.path()).args(generate), 0);
        for (checked_in, fresh) in checked_in.iter().zip(fresh) {
            let names = |path: &Path| files(path).into_keys().collect::<Vec<_>>();
            assert_eq!(
                names(checked_in),
                names(&fresh),
                "{}: remove what is not emitted, then `make rtl`",
                checked_in.display()
            );
        }
    }
}

fn files_and_folders(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn what_another_configuration_left_is_named_and_removed() {
    let folder = folder_of("bxiv3-hybrid");
    let path = folder.path();
    let text = fs::read_to_string(path.join("port.toml")).unwrap();
    assert_eq!(text.matches("sync = \"messages\"").count(), 1);
    let levels = text.replace("sync = \"messages\"", "sync = \"levels\"");
    fs::write(path.join("levels.toml"), levels).unwrap();
    let generate = |config: &str, words: &[&str], status| {
        let mut command = linkdoze(path);
        command.args(["generate", config, "-o", "out"]).args(words);
        run(&mut command, status)
    };
    generate("port.toml", &[], 0);
    // By hand, or from elsewhere.
    let own = "// Emitted by hand.\nmodule own;\nendmodule\n";
    fs::write(path.join("out/own.v"), own).unwrap();
    generate("port.toml", &["--check"], 0);

    generate("levels.toml", &["--constraints", "timing"], 0);
    let left = ["link_sync.v", "port.lpf", "port.sdc", "port.xdc"];
    for name in left {
        assert!(!path.join("out").join(name).exists(), "{name}");
    }
    assert_eq!(fs::read_to_string(path.join("out/own.v")).unwrap(), own);

    // Alone, a left file fails the check; the two ways to name the folder are one.
    generate("port.toml", &["--constraints", "./out"], 0);
    fs::copy(path.join("out/link_sync.v"), path.join("out/old.v")).unwrap();
    let checkers = path.join("out/checkers");
    fs::copy(checkers.join("port_checker.sv"), checkers.join("old.sv")).unwrap();
    fs::write(checkers.join("own.sv"), own).unwrap();
    let (out, err) = generate("port.toml", &["--check"], 1);
    assert_eq!(
        (out.as_str(), without_notes(&err).as_str()),
        (
            "",
            "of another configuration: out/old.v, out/checkers/old.sv\n\
             regenerate with: linkdoze generate port.toml -o out\n"
        )
    );
    let (_, err) = generate("port.toml", &[], 0);
    let removed = "removed, of another configuration: out/old.v, out/checkers/old.sv\n";
    assert_eq!(without_notes(&err), removed);
    generate("port.toml", &["--check"], 0);
    assert!(path.join("out/own.v").exists() && checkers.join("own.sv").exists());
    // The folder of the constraints as well.
    let (_, err) = generate("levels.toml", &["--constraints", "timing"], 0);
    assert!(err.contains("out/link_sync.v, out/port.lpf"), "{err}");
    fs::copy(path.join("timing/port.sdc"), path.join("timing/old.sdc")).unwrap();
    let words = ["--check", "--constraints", "timing"];
    let (_, err) = generate("levels.toml", &words, 1);
    assert!(
        err.contains("of another configuration: timing/old.sdc\n"),
        "{err}"
    );
}

/// Two configurations in one chip: Icarus elaborates both at once only if the names of their
/// modules differ; everything else takes such names as well.
#[test]
fn two_configurations_in_one_design() {
    let folder = folder_of("bxiv3-hybrid");
    let path = folder.path();
    let text = fs::read_to_string(path.join("port.toml")).unwrap();
    let other = text
        .replace("sync = \"messages\"", "sync = \"levels\"")
        .replace("time_width = 32", "time_width = 24")
        .replace("ttl_ns = 1000000000", "ttl_ns = 10000000");
    assert_ne!(text, other);
    for (name, text) in [("north", &text), ("south", &other)] {
        let named = format!("{text}\n[verilog]\nmodule_prefix = \"{name}_\"\n");
        fs::write(path.join(format!("{name}.toml")), named).unwrap();
        fs::write(path.join(format!("{name}_plain.toml")), text).unwrap();
        for (config, output) in [
            (format!("{name}.toml"), name.to_owned()),
            (format!("{name}_plain.toml"), format!("{name}_plain")),
        ] {
            run(linkdoze(path).args(["generate", &config, "-o", &output]), 0);
            run(
                linkdoze(path).args(["generate", &config, "-o", &output, "--check"]),
                0,
            );
        }
    }
    for name in files(&path.join("north")).keys() {
        let module = name.rsplit('/').next().unwrap();
        assert!(
            module.starts_with("north_") || module == "bind.sv",
            "{name}"
        );
    }
    let elaborates = |north: &str, south: &str, modules: [&str; 2]| {
        let [one, two] = modules;
        fs::write(
            path.join("chip.v"),
            format!(
                "module chip (input clk, input rst, output [1:0] enable);\n  \
                 {one} u_north (.clk(clk), .rst(rst), .tx_enable(enable[0]));\n  \
                 {two} u_south (.clk(clk), .rst(rst), .tx_enable(enable[1]));\nendmodule\n"
            ),
        )
        .unwrap();
        let mut sources = vec!["chip.v".to_owned()];
        for folder in [north, south] {
            let names = files(&path.join(folder)).into_keys();
            let verilog = names.filter(|name| name.ends_with(".v"));
            sources.extend(verilog.map(|name| format!("{folder}/{name}")));
        }
        std::process::Command::new("iverilog")
            .args(["-g2005", "-s", "chip", "-o", "chip.vvp"])
            .args(sources)
            .current_dir(path)
            .output()
            .unwrap()
            .status
            .success()
    };
    assert!(elaborates("north", "south", ["north_port", "south_port"]));
    assert!(!elaborates("north_plain", "south_plain", ["port", "port"]));

    let sdc = fs::read_to_string(path.join("north/north_port.sdc")).unwrap();
    assert!(sdc.starts_with("# Timing of module north_port "), "{sdc}");
    for words in [&[][..], &["--rtl", "north"]] {
        let cosim = ["cosim", "north.toml", "--random", "--cycles", "100000"];
        let report = json_of(path, &[&cosim[..], words].concat());
        assert_eq!(
            (&report["mismatches"], &report["cycles"]),
            (&0.into(), &100_000.into())
        );
    }
    let several = ["generate", "north.toml", "--ports", "2", "-o", "several"];
    let (out, _) = run(linkdoze(path).args(several), 0);
    for name in ["north_switch_ports.v", "north_switch_ports_registers.rdl"] {
        assert!(out.contains(&format!("several/{name}\n")), "{out}");
    }
    let synth = ["synth", "south.toml", "--target", "xilinx"];
    let counted = json_of(path, &synth);
    let flip_flops = &counted["mappings"][0]["resources"]["flip_flops"];
    assert!(flip_flops.as_u64().unwrap() > 100, "{counted}");
}

#[test]
fn generated_twice_it_is_the_same_and_an_edit_is_stale() {
    let folder = folder_of("bxiv3-hybrid");
    let path = folder.path();
    let generate = ["generate", "port.toml", "-o"];
    for output in ["one", "two"] {
        let (out, err) = run(linkdoze(path).args(generate).arg(output), 0);
        assert_eq!(out.lines().count(), 26);
        assert!(err.lines().all(|line| line.starts_with("note: ")), "{err}");
    }
    let one = files(&path.join("one"));
    assert_eq!(one, files(&path.join("two")));
    assert_eq!(one.len(), 26);
    for (list, folder, end) in [
        ("port.f", "", ".v"),
        ("port_checkers.f", "checkers/", ".sv"),
    ] {
        let list = String::from_utf8(one[list].clone()).unwrap();
        let mut listed: Vec<&str> = list.lines().collect();
        listed.sort_unstable();
        let there = one
            .keys()
            .filter(|name| name.starts_with(folder) && name.ends_with(end));
        assert_eq!(listed, there.collect::<Vec<_>>());
    }
    let check = ["generate", "port.toml", "--check", "-o", "two"];
    run(linkdoze(path).args(check), 0);

    let edited = path.join("two/pdt_timer.v");
    let text = fs::read_to_string(&edited).unwrap();
    fs::write(
        &edited,
        text.replacen("last_sender_q <= 1'b1", "last_sender_q <= 1'b0", 1),
    )
    .unwrap();
    fs::remove_file(path.join("two/port.f")).unwrap();
    fs::write(path.join("two/port.lpf"), "").unwrap();
    fs::remove_file(path.join("two/checkers/bind.sv")).unwrap();
    let (out, err) = run(linkdoze(path).args(check), 1);
    assert_eq!(out, "");
    assert!(
        err.contains("missing: two/pdt_timer.v, two/port.f, two/checkers/bind.sv, two/port.lpf\n"),
        "{err}"
    );
    assert!(
        err.contains("linkdoze generate port.toml -o two\n"),
        "{err}"
    );
    // The check mends nothing; what it names does.
    assert!(!path.join("two/port.f").exists());
    run(linkdoze(path).args(generate).arg("two"), 0);
    assert_eq!(one, files(&path.join("two")));
}

#[test]
fn random_activity_on_every_preset() {
    random_activity(2_000_000, 20_000);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn long_random_activity_on_every_preset() {
    random_activity(20_000_000, 80_000);
}

/// So many cycles with each of two seeds, and so many in the native simulation, which is slower.
fn random_activity(cycles: u64, native_cycles: u64) {
    let all = 2 * cycles;
    for preset in share(&PRESETS, 3) {
        let folder = folder_of(preset);
        let random = ["cosim", "port.toml", "--random"];
        let cycles = cycles.to_string();
        let cycles = ["--cycles", &cycles, "--seed", "1..2"];
        let report = json_of(folder.path(), &[&random[..], &cycles].concat());
        assert_eq!(report["mismatches"], 0, "{preset}");
        assert_eq!(report["cycles"], all, "{preset}");
        assert_eq!(report["engine"], "verilator");
        assert!(report["verilator"].as_str().unwrap().starts_with("Veril"));
        assert!(report["cycles_per_second"].as_f64().unwrap() > 0.0);
        for (count, least) in [
            ("hits", all / 400),
            ("misses", all / 8_000),
            ("updates", all / 800),
        ] {
            assert!(report[count].as_u64().unwrap() > least, "{preset}: {count}");
        }
        let states = report["state_cycles"].as_object().unwrap();
        let sum: u64 = states.values().map(|cycles| cycles.as_u64().unwrap()).sum();
        let leapt = report["leapt_cycles"].as_u64().unwrap();
        assert_eq!(sum, all + leapt, "{preset}");
        let reached = &report["coverage"]["reached"];
        for corner in ["hardest-traffic", "clear-by-samples", "reset-wake"] {
            assert!(reached[corner].as_u64().unwrap() > 0, "{preset}: {corner}");
        }

        let cycles = native_cycles.to_string();
        let native = ["--engine", "native", "--cycles", &cycles];
        let report = json_of(folder.path(), &[&random[..], &native].concat());
        assert_eq!(report["mismatches"], 0, "{preset}");
        assert_eq!(report["cycles"], native_cycles, "{preset}");
        assert_eq!(report["engine"], "native");
    }
}

/// Random activity on a map with times so short that its corners are reached: so many samples fill it, and
/// `registers` says whether software changes that. All is equal, and the corners are reached.
fn random_activity_on_a_map_of(
    max_samples: u32,
    registers: bool,
    options: &[&str],
    corners: &[&str],
) -> Value {
    let folder = folder_of("bxiv3-fast-wake");
    let config = format!(
        "[port]\ntime_width = 16\nsleep = \"fast-wake\"\nsync = \"levels\"\n\
         registers = {registers}\n\
         [states.fast-wake]\nt_w_ns = 20\nt_s_ns = 10\n\
         [histogram]\nkind = \"map\"\nbins = 64\nbin_ns = 8\ncounter_bits = 3\n\
         max_samples = {max_samples}\nttl_ns = 4000\nmap_entries = 6\n\
         [perfbound]\nhop_factor = 0.05\n"
    );
    fs::write(folder.path().join("port.toml"), config).unwrap();
    let random = ["cosim", "port.toml", "--random"];
    let report = json_of(folder.path(), &[&random[..], options].concat());
    assert_eq!(report["mismatches"], 0);
    for corner in corners {
        let count = report["coverage"]["reached"][corner].as_u64().unwrap();
        assert!(count > 0, "{corner}");
    }
    report
}

/// The hardware has entries for as many samples as it was built for, whatever software sets.
#[test]
fn software_changes_when_a_map_is_cleared() {
    let corners = ["clear-by-samples", "applied-active"];
    let report = random_activity_on_a_map_of(5, true, &["--cycles", "300k"], &corners);
    assert!(report["leapt_cycles"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn random_activity_on_a_map() {
    let corners = [
        "map-overflow",
        "map-insert-top",
        "map-insert-middle",
        "map-insert-bottom",
        "map-counter-saturated",
        "clear-by-samples",
        "clear-by-ttl",
        "clear-at-ttl",
    ];
    let options = ["--cycles", "1000000", "--seed", "1..2"];
    random_activity_on_a_map_of(40, false, &options, &corners);
}

#[test]
fn a_list_of_periods() {
    let folder = folder_of("bxiv3-fast-wake");
    let mut text = String::from("busy,idle\n");
    let (mut busy, mut idle) = (0, 0);
    for index in 0..2000u64 {
        let period = (1 + index * 37 % 200, 1 + index * index * 7919 % 5000);
        busy += period.0;
        idle += period.1;
        text += &format!("{},{}\n", period.0, period.1);
    }
    fs::write(folder.path().join("p.csv"), text).unwrap();
    let cosim = ["cosim", "port.toml", "--periods", "p.csv"];
    for engine in ["verilator", "native"] {
        let cycles: &[&str] = match engine {
            "native" => &["--cycles", "20000"],
            _ => &[],
        };
        let report = json_of(
            folder.path(),
            &[&cosim[..], &["--engine", engine], cycles].concat(),
        );
        assert_eq!(report["mismatches"], 0);
        assert_eq!(report["engine"], engine);
        let periods = report["hits"].as_u64().unwrap() + report["misses"].as_u64().unwrap();
        assert!(periods > 5, "{report}");
        let ran = report["cycles"].as_u64().unwrap();
        match engine {
            "native" => assert_eq!(ran, 20_000),
            // A packet that meets a sleeping link waits: never fewer cycles than listed.
            _ => assert!(ran >= busy + idle, "{ran} < {busy} + {idle}"),
        }
    }
}

#[test]
fn sixteen_ports_of_a_switch_under_lammps() {
    // The first packets come after more than 300,000 cycles.
    const CYCLES: &str = "1000000";
    let cycles: u64 = CYCLES.parse().unwrap();
    let folder = folder_of("bxiv3-hybrid");
    let scenario = project("sim/lammps-lj-r16.toml");
    let report = json_of(
        folder.path(),
        &[
            "cosim",
            "port.toml",
            "--scenario",
            scenario.to_str().unwrap(),
            "--cycles",
            CYCLES,
        ],
    );
    assert_eq!(report["mismatches"], 0);
    assert_eq!(report["engine"], "verilator");
    // The cycles before both ends of every link may send come on top.
    assert!(report["cycles"].as_u64().unwrap() >= 16 * cycles);
    let ports = report["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 16);
    for (index, port) in ports.iter().enumerate() {
        assert_eq!(
            port["cycles"],
            report["cycles"].as_u64().unwrap() / 16,
            "port {index}"
        );
        // Every rank sends and receives in this part of the trace.
        assert!(port["hits"].as_u64().unwrap() > 5, "port {index}: {port}");
    }
    assert!(report["misses"].as_u64().unwrap() > 0);
}

/// PerfBound Table 5, digit by digit as the paper prints it.
#[test]
fn the_estimate_holds_table_5() {
    let folder = folder_of("bxiv3-hybrid");
    let estimate = json_of(folder.path(), &["estimate", "port.toml"]);
    assert_eq!(
        estimate["table5_printed"],
        json!({
            "resolution_ns": [1, 10, 100, 1000],
            "16": ["65.54 μs", "655.36 μs", "6.554 ms", "66 ms"],
            "32": ["4.295 s", "43 s", "429 s", "4×10^3 s"],
            "48": ["2.81×10^5 s", "3×10^6 s", "28×10^6 s", "2.81×10^8 s"],
            "64": ["1.8×10^10 s", "1.84×10^11 s", "2×10^12 s", "1.8×10^13 s"],
            "128": ["3.4×10^29 s", "3×10^30 s", "3.4×10^31 s", "3.4×10^32 s"],
        })
    );
    // The same as numbers: 2^width times the resolution.
    let table = &estimate["table5_max_time_s"];
    for width in [16, 32, 48, 64, 128] {
        for (column, resolution) in [1e-9, 1e-8, 1e-7, 1e-6].into_iter().enumerate() {
            let seconds = table[width.to_string()][column].as_f64().unwrap();
            let exact = f64::powi(2.0, width) * resolution;
            assert!(
                (seconds / exact - 1.0).abs() < 1e-12,
                "{width}, {resolution}"
            );
        }
    }
}

/// The registers and memories that the estimate counts are those of the emitted files.
#[test]
fn the_census_is_that_of_the_verilog() {
    for preset in PRESETS {
        let folder = folder_of(preset);
        let estimate = json_of(folder.path(), &["estimate", "port.toml"]);
        let census = &estimate["census"];
        let (mut registers, mut memories, mut outputs) = (0, 0, 0);
        for (name, text) in files(&project("rtl").join(preset)) {
            if !name.ends_with(".v") || name == "ram_1r1w.v" {
                continue;
            }
            let text = String::from_utf8(text).unwrap();
            // Of an instance of the memories' module, its parameters.
            let parameter = |instance: &str, name: &str| -> u64 {
                let at = instance.find(&format!(".{name} ")).unwrap();
                let value = instance[at..].split(['(', ')']).nth(1).unwrap();
                value.parse().unwrap()
            };
            for instance in text.split("\n  ram_1r1w #(").skip(1) {
                let width = parameter(instance, "WIDTH");
                outputs += width;
                memories += width * parameter(instance, "DEPTH");
            }
            for line in text.lines().filter_map(|line| line.strip_prefix("  reg ")) {
                let declaration = line.split(';').next().unwrap().trim();
                let (width, rest) = match declaration.strip_prefix('[') {
                    Some(rest) => {
                        let (high, rest) = rest.split_once(":0]").unwrap();
                        (high.parse::<u64>().unwrap() + 1, rest.trim())
                    }
                    None => (1, declaration),
                };
                if rest.ends_with("_q") {
                    registers += width;
                }
            }
        }
        assert!(registers > 100 && memories > 100, "{preset}");
        assert_eq!(census["register_bits"], registers, "{preset}");
        assert_eq!(census["memory_bits"], memories, "{preset}");
        assert_eq!(census["memory_output_bits"], outputs, "{preset}");
        let entries = census["entries"].as_array().unwrap();
        let sum: u64 = entries
            .iter()
            .map(|entry| entry["bits"].as_u64().unwrap())
            .sum();
        assert_eq!(sum, registers + memories + outputs, "{preset}");
    }
}

/// The registers that Yosys finds on gates are those of the census, less what it proves
/// constant or equal, plus what memories without an output register need.
#[test]
fn synthesis_counts_cells() {
    let folder = folder_of("100gbase-r");
    let estimate = json_of(folder.path(), &["estimate", "port.toml"]);
    let census = estimate["census"]["register_bits"].as_u64().unwrap();
    let synth = ["synth", "port.toml", "--target", "xilinx"];
    let counted = json_of(folder.path(), &synth);
    let resources = &counted["mappings"][0]["resources"];
    let count = |name: &str| resources[name].as_u64().unwrap();
    assert!(counted["yosys"].as_str().unwrap().starts_with("Yosys "));
    assert!(
        count("flip_flops") <= census && 2 * count("flip_flops") > census,
        "{} flip-flops for {census} register bits",
        count("flip_flops")
    );
    assert!(
        count("luts") > 100 && count("memory_blocks") + count("lut_memories") >= 1,
        "{resources}"
    );
    let types = resources["cell_types"].as_object().unwrap();
    let sum: u64 = types.values().map(|number| number.as_u64().unwrap()).sum();
    assert_eq!(sum, count("cells"));
}

#[test]
fn synthesis_says_which_program_is_missing() {
    let folder = folder_of("100gbase-r");
    let synth = ["synth", "port.toml", "--target", "ice40", "--seeds", "1"];
    let missing = |variable: &str| {
        let (out, err) = run(
            linkdoze(folder.path())
                .args(synth)
                .env(variable, "/nowhere/tool"),
            2,
        );
        assert_eq!(out, "");
        err
    };
    let err = missing("YOSYS");
    assert!(
        err.contains("apt-get install yosys") && err.contains("/nowhere/tool"),
        "{err}"
    );
    let err = missing("NEXTPNR_ICE40");
    assert!(err.contains("NEXTPNR_ICE40"), "{err}");
}

#[test]
fn what_is_no_liberty_file_is_refused() {
    let folder = folder_of("100gbase-r");
    let path = folder.path();
    fs::write(path.join("packed.lib"), [0x1f, 0x8b, 8, 0]).unwrap();
    fs::write(path.join("empty.lib"), "").unwrap();
    for (file, problem) in [
        ("absent.lib", "cannot read: No such file"),
        ("port.toml", "does not begin with `library`"),
        ("packed.lib", "unpack it first"),
        ("empty.lib", "no `library` group"),
        (".", "not a regular file"),
    ] {
        let target = format!("liberty:{file}");
        let (out, err) = run(
            linkdoze(path).args(["synth", "port.toml", "--target", &target]),
            2,
        );
        assert_eq!(out, "");
        let err = without_notes(&err);
        assert!(
            err.starts_with(&format!("error: {file}: {problem}"))
                || err.contains(&format!("{file}: no Liberty file: it {problem}"))
                || err.contains(&format!("{file}: no Liberty file: it has {problem}"))
                || err.contains(&format!("{file}: compressed: {problem}")),
            "{err}"
        );
        assert!(
            err.contains("liberty:FILE takes the Liberty file (.lib)"),
            "{err}"
        );
    }
}

#[test]
fn seeds_are_refused_where_nothing_is_placed() {
    let folder = folder_of("100gbase-r");
    fs::write(folder.path().join("cells.lib"), "library(x) {}\n").unwrap();
    for target in ["xilinx", "liberty:cells.lib"] {
        let synth = ["synth", "port.toml", "--target", target, "--seeds", "2"];
        let (out, err) = run(linkdoze(folder.path()).args(synth), 2);
        assert_eq!(out, "");
        let says = format!("leave it out with --target {target}");
        assert!(
            err.contains("--seeds is for place and route") && err.contains(&says),
            "{err}"
        );
    }
}

/// The waveform of a run without mismatch is as long as it says, however much idle time is leapt over.
#[test]
fn a_waveform_counts_the_cycles_that_are_clocked() {
    let folder = folder_of("bxiv3-deep-sleep");
    let path = folder.path();
    let cosim = ["cosim", "port.toml", "--random", "--cycles", "120000"];
    let wave = ["--wave", "run.vcd", "--json"];
    let (json, _) = run(linkdoze(path).args(cosim).args(wave), 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["leapt_cycles"].as_u64() > Some(1_000_000), "{json}");
    let text = fs::read_to_string(path.join("run.vcd")).unwrap();
    // Two edges of the clock in each cycle, and the end.
    let times = text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(times, 2 * 100_000 + 1);
}
