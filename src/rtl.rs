//! From a configuration to its Verilog and its constraints: elaborates the port controller and
//! prints it.

use crate::blocks::ethernet_port::{shim_width, EthernetPort};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::lane_controller::LaneController;
use crate::blocks::lpi_hold_off::LpiHoldOff;
use crate::blocks::lpi_rx::LpiRx;
use crate::blocks::lpi_tx::LpiTx;
use crate::blocks::mii::Mii;
use crate::blocks::port::Port;
use crate::blocks::port_choice::PortChoice;
use crate::blocks::selectable_ports::SelectablePorts;
use crate::blocks::switch_ports::SwitchPorts;
use crate::blocks::tree_links::TreeLinks;
use crate::config::plan::{LanePlan, PortPlan, SelectionPlan};
use crate::config::{Config, PlanError};
use crate::constraints;
use crate::handover::{fusesoc, smoke};
use crate::hdl::{self, verilog, Design, ElabError};
use crate::registers::Space;
use crate::wrapper::{Feature, Wrapper, WrapperError};

/// The RTL of a configuration could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RtlError {
    /// The configuration has no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan has no hardware; the text names the key and the values that have.
    #[error("{0}")]
    Unsupported(String),
    /// The hardware has no such wrapper.
    #[error(transparent)]
    Wrapper(#[from] WrapperError),
    /// The plan has hardware whose description is wrong.
    #[error("the description of the port controller is wrong (a defect of linkdoze): {0}")]
    Elaboration(#[from] ElabError),
}

/// The plan of a configuration whose hardware exists.
///
/// # Errors
/// If the configuration has no plan, or asks for what has no hardware yet.
pub fn plan(config: &Config) -> Result<PortPlan, RtlError> {
    let plan = config.plan()?;
    match plan.unsupported_in_hardware() {
        Some(what) => Err(RtlError::Unsupported(what)),
        None if plan.corrects() => match Arithmetic::new(&plan).too_wide() {
            Some(what) => Err(RtlError::Unsupported(what)),
            None => Ok(plan),
        },
        None => Ok(plan),
    }
}

/// The checked design of the port controller.
///
/// # Errors
/// As [`plan`].
pub fn design(config: &Config) -> Result<Design, RtlError> {
    elaborate(config, &plan(config)?)
}

fn elaborate(config: &Config, plan: &PortPlan) -> Result<Design, RtlError> {
    let design = hdl::elaborate(&Port::new(plan))?;
    Ok(design.prefixed(&config.verilog.module_prefix))
}

/// The files of a configuration's Verilog: name and text; the same configuration gives
/// the same bytes.
///
/// # Errors
/// As [`plan`].
pub fn emit(config: &Config) -> Result<Vec<(String, String)>, RtlError> {
    emit_plan(config, &plan(config)?)
}

/// The same of another plan than that of the configuration, which it names in its headers.
///
/// # Errors
/// If the description is wrong.
pub fn emit_plan(config: &Config, plan: &PortPlan) -> Result<Vec<(String, String)>, RtlError> {
    let header = verilog::Header {
        config_text: config.canonical(),
        hash: config.hash(),
    };
    Ok(verilog::print(&elaborate(config, plan)?, &header))
}

/// All that is handed over for a configuration: files, name and text.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The Verilog, then what software reads of the registers, if there are any.
    pub sources: Vec<(String, String)>,
    /// The checkers of the Verilog and their file list, to be beside it: for simulation and
    /// proof, no hardware.
    pub checkers: Vec<(String, String)>,
    /// The smoke test, to be beside the Verilog, too; none of a part of a switch.
    pub smoke: Option<(String, String)>,
    /// The timing constraints of the top.
    pub constraints: Vec<(String, String)>,
    /// The name of the top module.
    top: String,
    /// The module around it, or the top itself.
    toplevel: String,
    /// SHA-256 of the configuration in hexadecimal.
    hash: String,
}

impl Emitted {
    /// The FuseSoC core of the files, to be beside the Verilog; `with_constraints`: so are the
    /// timing constraints. Its targets run the smoke test: without one there is none.
    pub fn core(&self, with_constraints: bool) -> Option<(String, String)> {
        fn chosen(files: &[(String, String)], end: &[impl AsRef<str>]) -> Vec<String> {
            let names = files.iter().map(|(name, _)| name);
            let wanted = names.filter(|name| end.iter().any(|end| name.ends_with(end.as_ref())));
            wanted.cloned().collect()
        }
        let smoke = self.smoke.as_ref()?;
        let files = fusesoc::Files {
            rtl: chosen(&self.sources, &[".v"]),
            checkers: chosen(&self.checkers, &[".sv"]),
            smoke: vec![smoke.0.clone()],
            registers: chosen(&self.sources, &[".rdl", ".h", ".md"]),
            // Those of the outermost module.
            constraints: match with_constraints {
                true => chosen(
                    &self.constraints,
                    &["sdc", "xdc", "lpf"].map(|end| format!("{}.{end}", self.toplevel)),
                ),
                false => Vec::new(),
            },
        };
        Some(fusesoc::core(&self.top, &self.toplevel, &files, &self.hash))
    }
}

/// The controller of one port, or those of several, as [`emit_all`] emits it: the configuration with
/// its registers, its plan, and the checked design.
///
/// # Errors
/// As [`plan`].
pub fn elaborated(
    config: &Config,
    ports: Option<u32>,
) -> Result<(Config, PortPlan, Design), RtlError> {
    let mut config = config.clone();
    config.port.registers |= ports.is_some();
    let plan = plan(&config)?;
    let design = match ports {
        Some(ports) => {
            hdl::elaborate(&SwitchPorts::new(&plan, ports))?.prefixed(&config.verilog.module_prefix)
        }
        None => elaborate(&config, &plan)?,
    };
    Ok((config, plan, design))
}

/// What is handed over for the controller of one port; or for those of several, 1 to
/// [`MAX_PORTS`](crate::blocks::switch_ports::MAX_PORTS), behind one AXI4-Lite port, whatever
/// the configuration says of registers. A wrapper around the top changes its pins as `features` say; without
/// any there is none.
///
/// # Errors
/// As [`plan`], and if the top cannot have what is asked for.
pub fn emit_all(
    config: &Config,
    ports: Option<u32>,
    features: &[Feature],
) -> Result<Emitted, RtlError> {
    let (config, plan, design) = elaborated(config, ports)?;
    let emitted = handed_over(&config, Some(&plan), &design, ports);
    wrapped(emitted, &config, &design, ports, features)
}

/// The same for the controller of a port and its shims for low power idle, connected
/// (`docs/how/ethernet.md`). The MAC may start a frame up to `mac_latency` cycles after it was told
/// not to.
///
/// # Errors
/// As [`ethernet_port`], and if the top cannot have what is asked for.
pub fn emit_ethernet(
    config: &Config,
    mii: Mii,
    mac_latency: u32,
    features: &[Feature],
) -> Result<Emitted, RtlError> {
    let (plan, design) = elaborated_ethernet(config, mii, mac_latency)?;
    let emitted = handed_over(config, Some(&plan), &design, None);
    wrapped(emitted, config, &design, None, features)
}

/// What was emitted of a design, with a wrapper around its top that has these features, if there are any.
fn wrapped(
    mut emitted: Emitted,
    config: &Config,
    design: &Design,
    ports: Option<u32>,
    features: &[Feature],
) -> Result<Emitted, RtlError> {
    if features.is_empty() {
        return Ok(emitted);
    }
    let header = verilog::Header {
        config_text: String::new(),
        hash: config.hash(),
    };
    let prefix = &config.verilog.module_prefix;
    let wrapper = Wrapper::new(design, ports, features, prefix, &header)?;
    let list = format!("{}.f", design.top());
    let lists = emitted.sources.iter_mut().filter(|(name, _)| *name == list);
    for (_, text) in lists {
        text.extend(wrapper.files.iter().map(|(name, _)| format!("{name}\n")));
    }
    emitted.constraints.extend(constraints::of_pins(
        &wrapper.module,
        &wrapper.domains,
        design.leads_through(),
        config.clock.period_ps,
        &header.hash,
    ));
    emitted.sources.extend(wrapper.files);
    emitted.toplevel = wrapper.module;
    Ok(emitted)
}

/// The plan of a port whose directions sleep for themselves.
fn ethernet_plan(config: &Config) -> Result<PortPlan, RtlError> {
    let plan = plan(config)?;
    match plan.per_direction() {
        true => Ok(plan),
        false => Err(RtlError::Unsupported(format!(
            "port.sync = \"{}\": a port of Ethernet needs \"lpi\", which the presets 10gbase-t, 25gbase-r, \
             100gbase-r and 400gbase-r have",
            config.port.sync.name()
        ))),
    }
}

/// The checked design of a port of Ethernet: the controller and both shims.
///
/// # Errors
/// As [`plan`], and if the directions of the link do not sleep for themselves.
pub fn ethernet_port(config: &Config, mii: Mii, mac_latency: u32) -> Result<Design, RtlError> {
    elaborated_ethernet(config, mii, mac_latency).map(|(_, design)| design)
}

/// The same beside the plan of its controller.
///
/// # Errors
/// As [`ethernet_port`].
pub fn elaborated_ethernet(
    config: &Config,
    mii: Mii,
    mac_latency: u32,
) -> Result<(PortPlan, Design), RtlError> {
    let plan = ethernet_plan(config)?;
    let design = hdl::elaborate(&EthernetPort::new(&plan, mii, mac_latency))?;
    Ok((plan, design.prefixed(&config.verilog.module_prefix)))
}

/// The checked designs of the parts of that port beside the controller.
///
/// # Errors
/// As [`ethernet_port`].
pub fn parts_of_ethernet(
    config: &Config,
    mii: Mii,
    mac_latency: u32,
) -> Result<[Design; 3], RtlError> {
    let parts = ethernet_parts(mii, shim_width(&ethernet_plan(config)?), mac_latency)?;
    Ok(parts.map(|part| part.prefixed(&config.verilog.module_prefix)))
}

/// What belongs to a design of `config`; the `plan` is that of a controller, if it is one.
pub(crate) fn handed_over(
    config: &Config,
    plan: Option<&PortPlan>,
    design: &Design,
    ports: Option<u32>,
) -> Emitted {
    let header = verilog::Header {
        config_text: config.canonical(),
        hash: config.hash(),
    };
    let prefix = &config.verilog.module_prefix;
    let mut sources = verilog::print(design, &header);
    if let Some(plan) = plan.filter(|plan| plan.registers.is_some()) {
        let space = Space::new(plan, ports, config.clock.tick_ps, config.hash());
        sources.extend(space.prefixed(prefix).files());
    }
    Emitted {
        sources,
        checkers: verilog::checkers(design, &header),
        smoke: plan.map(|plan| smoke::file(design, plan, ports, &header.hash)),
        constraints: constraints::files(design, config.clock.period_ps, &header.hash),
        top: design.top().to_owned(),
        toplevel: design.top().to_owned(),
        hash: header.hash,
    }
}

/// What a port of Ethernet has beside its controller (`docs/how/ethernet.md`): the shims for low power
/// idle between a MAC and a PHY, transmit side and receive side, and the hold-off after the link has come
/// up. The times of the transmit side have `time_width` bits, 2 to 64; the
/// MAC may start a frame up to `mac_latency` cycles after it was told not to.
///
/// # Errors
/// If times have fewer bits, or more.
pub fn ethernet_parts(
    mii: Mii,
    time_width: u32,
    mac_latency: u32,
) -> Result<[Design; 3], RtlError> {
    if !(2..=64).contains(&time_width) {
        return Err(RtlError::Unsupported(format!(
            "times of {time_width} bits: a shim for low power idle takes 2 to 64"
        )));
    }
    Ok([
        hdl::elaborate(&LpiTx::new(mii, time_width, mac_latency))?,
        hdl::elaborate(&LpiRx::new(mii))?,
        hdl::elaborate(&LpiHoldOff::new())?,
    ])
}

/// A part of a switch that chooses among ports (`docs/how/selection.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchPart {
    /// The selection function, once for every port at which packets come.
    PortChoice,
    /// How many ports the load needs, once for every group of ports (POWAR 3).
    SelectablePorts,
    /// Which links are on, once for a switch of a fat tree (Alonso 3).
    TreeLinks,
}

/// The design of a part of a switch.
///
/// # Errors
/// If the plan has ports, windows or thresholds that no hardware is made for.
pub fn switch_part(plan: &SelectionPlan, part: SwitchPart) -> Result<Design, RtlError> {
    if let Some(problem) = plan.unsupported_in_hardware() {
        return Err(RtlError::Unsupported(problem));
    }
    Ok(match part {
        SwitchPart::PortChoice => hdl::elaborate(&PortChoice::new(plan))?,
        SwitchPart::SelectablePorts => hdl::elaborate(&SelectablePorts::new(plan))?,
        SwitchPart::TreeLinks => hdl::elaborate(&TreeLinks::new(plan))?,
    })
}

/// The checked design of a lane controller.
///
/// # Errors
/// If no hardware is made for the plan.
pub fn lane_controller(plan: &LanePlan) -> Result<Design, RtlError> {
    match plan.unsupported_in_hardware() {
        Some(problem) => Err(RtlError::Unsupported(problem)),
        None => Ok(hdl::elaborate(&LaneController::new(plan))?),
    }
}

/// What is handed over for a block that stands beside the controllers, a part of a switch
/// ([`switch_part`]) or a lane controller, at the clock of `config`.
pub fn emit_block(config: &Config, block: &Design) -> Emitted {
    handed_over(config, None, block, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::share;
    use crate::config::PRESETS;
    use crate::hdl::check::{self, VerilogSimulator};

    fn preset(name: &str, changes: &[(&str, &str)]) -> Config {
        let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
        let mut text = preset.text.to_string();
        for (key, value) in changes {
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{key} =")))
                .unwrap_or_else(|| panic!("no key {key}"))
                .to_string();
            text = text.replacen(&line, &format!("{key} = {value}"), 1);
        }
        Config::parse(&text, name).unwrap()
    }

    /// The Verilog and its checkers.
    fn with_checkers(config: &Config) -> Vec<(String, String)> {
        let emitted = emit_all(config, None, &[]).unwrap();
        [emitted.sources, emitted.checkers].concat()
    }

    /// Verilator's lint with all warnings, Icarus with all warnings, Yosys' checks, and no
    /// latch, on what every preset emits.
    #[test]
    fn every_preset_is_lint_clean() {
        for preset in PRESETS {
            let files = with_checkers(&Config::parse(preset.text, preset.name).unwrap());
            if let Err(error) = check::lints(&files) {
                panic!("{}: {error}", preset.name);
            }
        }
    }

    /// The same as a port of Ethernet, with and without the correction and registers.
    #[test]
    fn every_port_of_ethernet_is_lint_clean() {
        let changes: [&[(&str, &str)]; 4] = [
            &[],
            &[("policy", "\"perfbound-correct\"")],
            &[("registers", "true\ncontrol_pins = true")],
            &[("policy", "\"always-on\"\ncontrol_pins = true")],
        ];
        let of_ethernet = |config: &Config| plan(config).unwrap().per_direction();
        let mut ports = 0;
        for found in &PRESETS {
            let config = preset(found.name, changes[ports % changes.len()]);
            if !of_ethernet(&config) {
                continue;
            }
            let mii = Mii::ALL[ports % Mii::ALL.len()];
            let emitted = emit_ethernet(&config, mii, 8, &[]).unwrap();
            let mut files = [emitted.sources, emitted.checkers].concat();
            files.retain(|(name, _)| [".v", ".sv", ".f"].iter().any(|it| name.ends_with(it)));
            if let Err(error) = check::lints(&files) {
                panic!("{}, {}: {error}", found.name, mii.name());
            }
            ports += 1;
        }
        assert!(ports >= changes.len());
    }

    #[test]
    fn unusual_shapes_are_lint_clean() {
        let narrow = [
            ("time_width", "16"),
            ("bins", "4"),
            ("bin_ns", "4096"),
            ("max_value_ns", "16384"),
            ("t_pdt_ns", "0"),
            ("t_pdt_init_ns", "0"),
            ("t_backstop_ns", "0"),
            ("ttl_ns", "0"),
            ("counter_bits", "1"),
        ];
        let coarse = [
            ("time_width", "8"),
            ("tick_ns", "100"),
            ("bins", "37"),
            ("bin_ns", "100"),
            ("max_value_ns", "2500"),
            ("t_pdt_ns", "1000"),
            ("t_pdt_init_ns", "2500"),
            ("t_backstop_ns", "25500"),
            ("ttl_ns", "25000"),
            ("max_samples", "1"),
        ];
        let wide = [
            ("time_width", "64"),
            ("bins", "4096"),
            ("max_value_ns", "67108864"),
        ];
        let refreshing = [
            ("t_q_ns", "10000"),
            ("t_r_ns", "100"),
            ("policy", "\"fixed\""),
            ("t_backstop_ns", "\"off\""),
        ];
        let guarded = [("burst", "65535"), ("policy", "\"perfbound-correct\"")];
        let awake = [("policy", "\"always-on\"")];
        let shapes = [&narrow[..], &coarse, &wide, &refreshing, &guarded, &awake];
        for (number, changes) in shapes.into_iter().enumerate() {
            // One preset and the other in turn.
            let mut presets = ["bxiv3-deep-sleep", "bxiv3-hybrid"];
            presets.rotate_left(number % 2);
            for name in share(&presets, 2) {
                let files = with_checkers(&preset(name, changes));
                if let Err(error) = check::lints(&files) {
                    panic!("{name} with {changes:?}: {error}");
                }
            }
        }
    }

    /// Whoever simulates the Verilog with its checkers hears of a broken claim by its name, and of
    /// none if nothing is broken.
    #[test]
    #[ignore = "long; make test-all runs it"]
    fn checkers_work_in_simulation() {
        use rayon::prelude::*;

        let levels = "[port]\ntime_width = 16\npolicy = \"fixed\"\nsleep = \"hybrid\"\n\
                      t_pdt_ns = 2\nt_backstop_ns = 20\nhybrid_hold_ns = 3\nsync = \"levels\"\n\
                      [states.fast-wake]\nt_w_ns = 4\nt_s_ns = 3\n\
                      [states.deep-sleep]\nt_w_ns = 6\nt_s_ns = 5\nt_q_ns = 8\nt_r_ns = 2\n";
        let messages = "sync = \"messages\"\nsync_timeout_ns = 12";
        let guarded = levels.replace("sync = \"levels\"", messages)
            + "[perfbound]\nhop_factor = 0.01\nbound = 0.02\n[guard]\nburst = 4\n";
        let intact = ("", "");
        let always = ("tx_enable = state_q == LINK_WAKE;", "tx_enable = 1'b1;");
        let at_once = ("over = cycles_q == 3'd0;", "over = 1'b1;");
        let runs = [
            (levels, intact, None),
            (guarded.as_str(), intact, None),
            (levels, always, Some("transmits_awake_only")),
            (levels, at_once, Some("down_completes")),
        ];
        runs.into_par_iter()
            .for_each(|(config, (from, to), claim)| {
                let config = Config::parse(config, "port.toml").unwrap();
                let mut files = with_checkers(&config);
                let (_, text) = files.iter_mut().find(|it| it.0 == "lpi_fsm.v").unwrap();
                assert!(text.contains(from), "{from}");
                *text = text.replace(from, to);
                let pins = design(&config).unwrap().pins();
                let stimulus = check::stimulus(&pins, 20_000, 1);
                let folder = tempfile::tempdir().unwrap();
                let run = check::run(
                    VerilogSimulator::Verilator,
                    folder.path(),
                    &files,
                    &pins,
                    &stimulus,
                );
                match (run, claim) {
                    (Ok(_), None) => {}
                    (Err(error), Some(claim)) => {
                        let error = error.to_string();
                        let fired = format!("u_lpi_fsm.u_checker.{claim}");
                        assert!(error.contains("Assertion failed"), "{error}");
                        assert!(error.contains(&fired), "{error}");
                    }
                    (run, claim) => panic!("{claim:?}: {:?}", run.err()),
                }
            });
    }

    #[test]
    fn design_files_know_nothing_of_claims() {
        for preset in PRESETS {
            let config = Config::parse(preset.text, preset.name).unwrap();
            for (name, text) in emit(&config).unwrap() {
                let lower = text.to_lowercase();
                for word in ["formal", "assert", "assume", "checker"] {
                    assert!(!lower.contains(word), "{word} in {name}");
                }
            }
        }
    }

    #[test]
    fn the_same_configuration_gives_the_same_bytes() {
        let config = preset("bxiv3-hybrid", &[]);
        assert_eq!(emit(&config).unwrap(), emit(&config).unwrap());
    }

    #[test]
    fn what_has_no_hardware_is_refused() {
        let map = [("kind", "\"map\""), ("map_entries", "1")];
        let error = emit(&preset("bxiv3-hybrid", &map)).unwrap_err();
        assert!(error.to_string().contains("2 to 256 entries"), "{error}");
    }
}
