//! A module around the unchanged top of a design, for surroundings that want other pins: vectors in the
//! place of numbered pins, a reset that is active low, and a clock of its own for AXI4-Lite.
//!
//! It has no logic but an inverter for the reset and, if AXI4-Lite has a clock of its own, the crossing
//! `axi_lite_crossing.v` and its `synchroniser.v`, which are the same for every design
//! (`docs/evidence/proofs.md`).

use std::fmt::Write as _;

use crate::hdl::sim::{Pin, PinDirection};
use crate::hdl::verilog::{self, Header};
use crate::hdl::{described_pins, Design, Type};

/// What a wrapper changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Feature {
    /// AXI4-Lite has a clock and a reset of its own
    AxiClock,
    /// The reset is `aresetn`, active low, in the place of `rst`
    Aresetn,
    /// Pins of the ports of a switch are vectors
    Vectors,
}

/// A design cannot have what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrapperError {
    /// There is one port.
    #[error(
        "--wrapper vectors: a single port has no vectors: leave out `vectors`, or give --ports N \
         (without --ethernet)"
    )]
    NoVectors,
    /// There is no AXI4-Lite.
    #[error(
        "--wrapper axi-clock: without registers there is no AXI4-Lite: leave out `axi-clock`, set \
         port.registers = true, or give --ports N"
    )]
    NoAxi,
}

/// The reset of a design, and that of its wrapper.
const RESET: &str = "rst";
const RESET_LOW: &str = "aresetn";

/// How the names of the pins of AXI4-Lite begin, and of the wires between the crossing and the top.
const AXI: &str = "s_axi_";
const BEHIND: &str = "m_axi_";

/// Clock and reset of AXI4-Lite.
const AXI_CLOCK: &str = "s_axi_aclk";
const AXI_RESET: &str = "s_axi_aresetn";

/// The module of the crossing, and what is said of it.
const CROSSING: &str = "axi_lite_crossing";
const CROSSING_TEXT: &str = include_str!("axi_lite_crossing.v");
const CROSSING_SAYS: &str = "AXI4-Lite from one clock to another: a write and a read at a time, each \
    on its own. What is asked is held still in registers of the manager's side, s_axi_*, while a bit \
    that changes passes two flip-flops of the subordinate's side, m_axi_*; the answer comes back in the \
    same way. The clocks may have any ratio and phase. No path leads from pin to pin. Protection \
    (awprot, arprot) is not passed on.\n\
    \n\
    Both sides must be reset at power-up, in any order. Later either may be reset alone. A reset must \
    last 16 cycles of the slower clock, while both clocks run. After the reset of the manager's side \
    nothing of before is answered; a write or a read that the subordinate has begun is ended there, so \
    that no half of it is left. The reset of the subordinate's side must reset the subordinate, too; \
    what it had not answered is answered with SLVERR (2) and may have been done or not. What is \
    asked during a reset of the subordinate's side waits until it has ended.\n\
    \n\
    Constraints: the clocks are asynchronous, and a path between them must take less than a period of \
    the clock that it leads to.";

/// The module of the flip-flops that a bit of the other side passes, and what is said of it.
const SYNCHRONISER: &str = "synchroniser";
const SYNCHRONISER_TEXT: &str = include_str!("synchroniser.v");
const SYNCHRONISER_SAYS: &str = "Two flip-flops in a row for a bit of another clock. The first may come to rest \
    late, the second is read. No other bit passes between the clocks. For an ASIC replace this file by one \
    with the synchroniser cell of the library, under the same name of the module and with the same pins; one \
    with more flip-flops works, too, and makes every access longer.";

/// The pins of the top that the crossing does not pass on: no design reads them.
const UNREAD: [&str; 2] = ["s_axi_awprot", "s_axi_arprot"];

/// A wrapper of a design.
#[derive(Debug)]
pub struct Wrapper {
    /// The name of its module.
    pub module: String,
    /// Its files: name and text.
    pub files: Vec<(String, String)>,
    /// Its pins by their clocks: that of the design, then that of AXI4-Lite if there is one. Each
    /// has its clock among them.
    pub domains: Vec<Vec<Pin>>,
}

/// A pin of the wrapper, and how it is connected.
struct Connected {
    pin: Pin,
    doc: String,
    /// Pins of the top, and the bits that they are connected to.
    to: Vec<(String, String)>,
}

impl Connected {
    /// A pin that is called as that of the top.
    fn alike(pin: Pin, doc: String) -> Connected {
        let to = vec![(pin.name.clone(), pin.name.clone())];
        Connected { pin, doc, to }
    }

    fn is_axi(&self) -> bool {
        self.pin.name.starts_with(AXI)
    }
}

impl Wrapper {
    /// A wrapper of the controller of one port, or of those of several, whose modules have the prefix
    /// `prefix`.
    ///
    /// # Errors
    /// If the design cannot have what is asked for.
    pub fn new(
        design: &Design,
        ports: Option<u32>,
        features: &[Feature],
        prefix: &str,
        header: &Header,
    ) -> Result<Wrapper, WrapperError> {
        let has = |feature| features.contains(&feature);
        let top = described_pins(design);
        let vectors = match (has(Feature::Vectors), ports) {
            (false, _) => 0,
            (true, Some(ports)) => ports,
            (true, None) => return Err(WrapperError::NoVectors),
        };
        if has(Feature::AxiClock) && !top.iter().any(|(pin, _)| pin.name.starts_with(AXI)) {
            return Err(WrapperError::NoAxi);
        }
        let mut pins = joined(&top, vectors);
        if has(Feature::Aresetn) {
            for it in pins.iter_mut().filter(|it| it.pin.name == RESET) {
                it.pin.name = RESET_LOW.into();
                it.doc = "synchronous reset, active low".into();
            }
        }
        if has(Feature::AxiClock) {
            let first = pins.iter().position(Connected::is_axi).unwrap_or(0);
            let added = [
                (AXI_CLOCK, Type::Clock, "clock of all pins s_axi_*"),
                (AXI_RESET, Type::Bit, "their synchronous reset, active low"),
            ];
            let added = added.map(|(name, kind, doc)| Connected {
                pin: Pin {
                    name: name.into(),
                    width: 1,
                    direction: PinDirection::Input,
                    kind,
                },
                doc: doc.into(),
                to: Vec::new(),
            });
            pins.splice(first..first, added);
        }
        let module = format!("{}_wrapper", design.top());
        let crossing = has(Feature::AxiClock).then(|| format!("{prefix}{CROSSING}"));
        let text = text(&module, design.top(), &top, &pins, crossing.as_deref());
        let says = says(design.top(), features);
        let text = verilog::head(&module, &[&says, ""], header) + "\n" + &text;
        let mut files = vec![(format!("{module}.v"), text)];
        if crossing.is_some() {
            for (module, body, says) in [
                (CROSSING, CROSSING_TEXT, CROSSING_SAYS),
                (SYNCHRONISER, SYNCHRONISER_TEXT, SYNCHRONISER_SAYS),
            ] {
                let name = format!("{prefix}{module}");
                let body = with_prefix(body, prefix);
                let text = verilog::head(&name, &[says, ""], header) + "\n" + &body;
                files.push((format!("{name}.v"), text));
            }
        }
        let (axi, own): (Vec<_>, Vec<_>) = pins
            .into_iter()
            .partition(|it: &Connected| crossing.is_some() && it.is_axi());
        let domains = [own, axi].map(|pins| pins.into_iter().map(|it| it.pin).collect());
        let domains = domains
            .into_iter()
            .filter(|pins: &Vec<Pin>| !pins.is_empty());
        Ok(Wrapper {
            module,
            files,
            domains: domains.collect(),
        })
    }
}

/// The text of a module of the crossing, with the prefix before the names of modules, where they are defined and
/// where they are instantiated.
fn with_prefix(body: &str, prefix: &str) -> String {
    [CROSSING, SYNCHRONISER]
        .iter()
        .fold(body.to_owned(), |text, module| {
            text.replace(&format!("{module} "), &format!("{prefix}{module} "))
        })
}

/// What the wrapper is, for its head.
fn says(top: &str, features: &[Feature]) -> String {
    let mut text =
        format!("{top} with other pins, and without any logic of its own but what is said here.");
    for (feature, says) in [
        (
            Feature::Vectors,
            " The pins of its ports are vectors: bits i*W to i*W+W-1, of a pin of W bits, are port i's.",
        ),
        (Feature::Aresetn, " Its reset is aresetn, active low."),
        (
            Feature::AxiClock,
            " The pins s_axi_* have a clock and a reset of their own, with a crossing behind them.",
        ),
    ] {
        if features.contains(&feature) {
            text += says;
        }
    }
    text
}

/// The pins of the top in their order. Those that each of `ports` ports has, with `_0`, `_1`, ...
/// behind the name, become one vector; with 0 ports none do.
fn joined(top: &[(Pin, String)], ports: u32) -> Vec<Connected> {
    let named = |name: &str| top.iter().find(|(pin, _)| pin.name == name);
    let vector = |pin: &Pin, name: &str| -> bool {
        let alike = |port: u32| {
            let other = named(&format!("{name}_{port}"));
            other.is_some_and(|(it, _)| (it.width, it.direction) == (pin.width, pin.direction))
        };
        named(name).is_none() && (0..ports).all(alike)
    };
    let mut found: Vec<Connected> = Vec::new();
    for (pin, doc) in top {
        let numbered = pin.name.rsplit_once('_').and_then(|(name, port)| {
            let port: u32 = port.parse().ok()?;
            (port < ports && vector(pin, name)).then_some((name, port))
        });
        let Some((name, port)) = numbered else {
            found.push(Connected::alike(pin.clone(), doc.clone()));
            continue;
        };
        let (width, all) = (pin.width, pin.width * ports);
        let bits = match (all, width) {
            (1, _) => name.to_owned(),
            (_, 1) => format!("{name}[{port}]"),
            _ => format!("{name}[{}:{}]", port * width + width - 1, port * width),
        };
        let to = (pin.name.clone(), bits);
        match found.iter_mut().find(|it| it.pin.name == name) {
            Some(it) => it.to.push(to),
            None => {
                let doc = doc.strip_prefix("port 0: ").unwrap_or(doc);
                let place = match width {
                    1 => "bit i is port i's".to_owned(),
                    _ => format!("bits {width}*i to {width}*i+{} are port i's", width - 1),
                };
                found.push(Connected {
                    pin: Pin {
                        name: name.to_owned(),
                        width: all,
                        direction: pin.direction,
                        kind: if all == 1 { Type::Bit } else { Type::Bits },
                    },
                    doc: format!("{doc}; {place}"),
                    to: vec![to],
                });
            }
        }
    }
    found
}

/// The wrapper's module around `top`; with a crossing of this module, if there is one.
fn text(
    module: &str,
    top: &str,
    top_pins: &[(Pin, String)],
    pins: &[Connected],
    crossing: Option<&str>,
) -> String {
    let mut text = format!("`default_nettype none\n\nmodule {module} (\n");
    let ranges = pins.iter().map(|it| range(it.pin.width).len()).max();
    let ranges = ranges.unwrap_or(0);
    let rows = pins.iter().enumerate().map(|(at, it)| {
        let direction = match it.pin.direction {
            PinDirection::Input => "input ",
            PinDirection::Output => "output",
        };
        let (range, name) = (range(it.pin.width), &it.pin.name);
        let comma = if at + 1 < pins.len() { "," } else { "" };
        (
            format!("{direction} wire {range:>ranges$} {name}{comma}"),
            it.doc.clone(),
        )
    });
    table(&mut text, "    ", &rows.collect::<Vec<_>>());
    text += ");\n\n";

    let low = pins.iter().any(|it| it.pin.name == RESET_LOW);
    if low {
        let _ = writeln!(text, "  wire {RESET} = ~{RESET_LOW};");
    }
    if let Some(crossing) = crossing {
        text += "  // Between the crossing and the top, at the clock of the top.\n";
        let crossed = || top_pins.iter().filter(|(pin, _)| is_crossed(pin));
        let ranges = crossed().map(|(pin, _)| range(pin.width).len()).max();
        let ranges = ranges.unwrap_or(0);
        let rows = crossed().map(|(pin, doc)| {
            let (range, name) = (range(pin.width), behind(&pin.name));
            (format!("wire {range:>ranges$} {name};"), doc.clone())
        });
        table(&mut text, "  ", &rows.collect::<Vec<_>>());
        let address = top_pins.iter().find(|(pin, _)| pin.name == "s_axi_awaddr");
        let address = address.map_or(0, |(pin, _)| pin.width);
        let clock = top_pins.iter().find(|(pin, _)| pin.kind == Type::Clock);
        let clock = clock.map_or("clk", |(pin, _)| pin.name.as_str());
        let reset = if low {
            RESET_LOW.to_owned()
        } else {
            format!("~{RESET}")
        };
        let mut connections = vec![
            (AXI_CLOCK.to_owned(), AXI_CLOCK.to_owned()),
            (AXI_RESET.to_owned(), AXI_RESET.to_owned()),
        ];
        connections.extend(crossed().map(|(pin, _)| (pin.name.clone(), pin.name.clone())));
        connections.push((format!("{BEHIND}aclk"), clock.to_owned()));
        connections.push((format!("{BEHIND}aresetn"), reset));
        connections.extend(crossed().map(|(pin, _)| (behind(&pin.name), behind(&pin.name))));
        let _ = writeln!(
            text,
            "\n  {crossing} #(\n      .ADDRESS ({address}),\n      .DATA    (32)\n  ) u_{CROSSING} ("
        );
        connect(&mut text, &connections);
        text.push('\n');
    }

    let connections = top_pins.iter().map(|(pin, _)| {
        let name = pin.name.as_str();
        let value = if name == RESET {
            RESET.to_owned()
        } else if crossing.is_some() && UNREAD.contains(&name) {
            format!("{}'d0", pin.width)
        } else if crossing.is_some() && is_crossed(pin) {
            behind(name)
        } else {
            let all = pins.iter().flat_map(|it| &it.to);
            let bits = all.into_iter().find(|(to, _)| to == name);
            bits.map_or_else(String::new, |(_, bits)| bits.clone())
        };
        (name.to_owned(), value)
    });
    let _ = writeln!(text, "  {top} u_top (");
    connect(&mut text, &connections.collect::<Vec<_>>());
    if crossing.is_some() {
        text += "\n  // Everybody may read and write.\n";
        for name in UNREAD {
            let _ = writeln!(text, "  wire unused_{name} = &{{1'b0, {name}}};");
        }
    }
    text += "\nendmodule\n\n`default_nettype wire\n";
    text
}

/// The pins of AXI4-Lite that the crossing passes on.
fn is_crossed(pin: &Pin) -> bool {
    pin.name.starts_with(AXI) && !UNREAD.contains(&pin.name.as_str())
}

/// What a pin of AXI4-Lite is called behind the crossing.
fn behind(name: &str) -> String {
    name.replacen(AXI, BEHIND, 1)
}

fn range(width: u32) -> String {
    match width {
        1 => String::new(),
        _ => format!("[{}:0]", width - 1),
    }
}

/// Lines of code, each with a comment.
fn table(text: &mut String, indent: &str, rows: &[(String, String)]) {
    let width = rows.iter().map(|(code, _)| code.len()).max().unwrap_or(0);
    for (code, doc) in rows {
        let _ = writeln!(text, "{indent}{code:width$}  // {doc}");
    }
}

/// The pins of an instance, and its end.
fn connect(text: &mut String, connections: &[(String, String)]) {
    let width = connections.iter().map(|(pin, _)| pin.len()).max();
    let width = width.unwrap_or(0);
    let lines = connections
        .iter()
        .map(|(pin, value)| format!("      .{pin:width$} ({value})"));
    let _ = writeln!(text, "{}\n  );", lines.collect::<Vec<_>>().join(",\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(name: &str, width: u32, direction: PinDirection) -> (Pin, String) {
        let kind = if width == 1 { Type::Bit } else { Type::Bits };
        let pin = Pin {
            name: name.into(),
            width,
            direction,
            kind,
        };
        (pin, format!("port 0: {name}"))
    }

    /// Pins become a vector if every port has one, and all are alike.
    #[test]
    fn pins_that_every_port_has_are_joined() {
        use PinDirection::{Input, Output};
        let top = [
            pin("hops_0", 6, Input),
            pin("hops_1", 6, Input),
            pin("wake_0", 1, Output),
            pin("wake_1", 1, Output),
            pin("only_0", 1, Input),
            pin("mixed_0", 1, Input),
            pin("mixed_1", 2, Input),
            pin("taken", 1, Input),
            pin("taken_0", 1, Input),
            pin("taken_1", 1, Input),
        ];
        let found = joined(&top, 2);
        let names: Vec<(&str, u32)> = found
            .iter()
            .map(|it| (it.pin.name.as_str(), it.pin.width))
            .collect();
        let expected = [
            ("hops", 12),
            ("wake", 2),
            ("only_0", 1),
            ("mixed_0", 1),
            ("mixed_1", 2),
            ("taken", 1),
            ("taken_0", 1),
            ("taken_1", 1),
        ];
        assert_eq!(names, expected);
        let bits: Vec<&str> = found[0].to.iter().map(|(_, bits)| bits.as_str()).collect();
        assert_eq!(bits, ["hops[5:0]", "hops[11:6]"]);
        assert_eq!(found[0].doc, "hops_0; bits 6*i to 6*i+5 are port i's");
        assert_eq!(found[1].to[1].1, "wake[1]");
        assert_eq!(joined(&top, 0).len(), top.len());
    }

    /// A switch of one port has vectors, too.
    #[test]
    fn a_vector_of_one_bit_has_no_index() {
        let top = [pin("wake_0", 1, PinDirection::Output)];
        let found = joined(&top, 1);
        assert_eq!(found[0].pin.name, "wake");
        assert_eq!(found[0].to, [("wake_0".to_owned(), "wake".to_owned())]);
    }
}
