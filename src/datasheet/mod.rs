//! The data sheet of a controller: what an integrator asks before he takes it, in Markdown or as one
//! page of HTML. All of it comes from the configuration: the description, the plan, the census, the
//! estimate, and golden models that are run.

mod checklist;
mod diagram;
mod document;
mod ethernet;
mod link;
mod wave;

use crate::blocks::csr::map;
use crate::blocks::link_sync;
use crate::blocks::mii::Mii;
use crate::config::plan::{LinkTime, PortPlan};
use crate::config::Config;
use crate::estimate::summary::{self, time};
use crate::estimate::Estimate;
use crate::hdl::census::{self, Storage};
use crate::hdl::{described_pins, outline, Design, Outline, PinDirection};
use crate::registers;
use crate::rtl::{self, RtlError};
use document::{Align, Block, Table};
use wave::{Lane, Stretch};

/// The data sheet of a configuration.
#[derive(Clone, Debug)]
pub struct Datasheet {
    title: String,
    blocks: Vec<Block>,
}

/// Said in the place of diagrams.
const NEVER_SLEEPS: &str = "A port of this configuration never goes to sleep by itself.";

/// What the sections are made of.
struct Source<'a> {
    config: &'a Config,
    plan: &'a PortPlan,
    design: &'a Design,
    ports: Option<u32>,
    /// The interface of a port of Ethernet, and how many clock cycles its MAC takes to react.
    ethernet: Option<(Mii, u32)>,
    estimate: &'a Estimate,
    pins: &'a [PinGroup],
    outline: &'a [Outline],
}

impl Datasheet {
    /// The data sheet of the controller of one port, or of those of several, as `generate` emits
    /// them.
    ///
    /// # Errors
    /// As [`rtl::plan`].
    pub fn new(config: &Config, ports: Option<u32>) -> Result<Datasheet, RtlError> {
        let (config, plan, design) = rtl::elaborated(config, ports)?;
        let estimate = Estimate::new(&config, Some(census::count(&design)));
        Ok(Datasheet::of(&Source {
            config: &config,
            plan: &plan,
            design: &design,
            ports,
            ethernet: None,
            estimate: &estimate,
            pins: &pin_groups(&design, ports),
            outline: &outline(&design),
        }))
    }

    /// The data sheet of a port of Ethernet, as `generate --ethernet` emits it: the controller and its
    /// shims, whose MAC may start a frame up to `mac_latency` clock cycles after it was told not to.
    ///
    /// # Errors
    /// As [`rtl::ethernet_port`].
    pub fn of_ethernet(config: &Config, mii: Mii, mac_latency: u32) -> Result<Datasheet, RtlError> {
        let ethernet = (mii, mac_latency);
        let (plan, design) = rtl::elaborated_ethernet(config, mii, mac_latency)?;
        let estimate = Estimate::of_ethernet(config, &plan, census::count(&design), ethernet);
        Ok(Datasheet::of(&Source {
            config,
            plan: &plan,
            design: &design,
            ports: None,
            ethernet: Some(ethernet),
            estimate: &estimate,
            pins: &pin_groups(&design, None),
            outline: &outline(&design),
        }))
    }

    fn of(source: &Source) -> Datasheet {
        let title = format!("Data sheet: `{}`", source.design.top());
        let mut blocks = vec![Block::Heading(1, title.clone())];
        blocks.extend(source.answers());
        blocks.extend(source.structure());
        blocks.extend(source.pins());
        blocks.extend(source.timing());
        blocks.extend(source.latencies());
        blocks.extend(source.area());
        blocks.push(Block::Heading(2, "Integration checklist".into()));
        blocks.push(Block::Checklist(checklist::items(source)));
        blocks.extend(source.registers());
        blocks.push(Block::Heading(2, "Configuration".into()));
        blocks.push(Block::Verbatim(source.config.canonical()));
        Datasheet {
            title: title.replace('`', ""),
            blocks,
        }
    }

    /// The data sheet in Markdown. Timing diagrams are JSON for WaveDrom.
    pub fn markdown(&self) -> String {
        document::markdown(&self.blocks)
    }

    /// The data sheet as a page of HTML that refers to nothing outside of it.
    pub fn html(&self) -> String {
        document::html(&self.title, &self.blocks)
    }
}

impl Source<'_> {
    /// A number of clock cycles as a time.
    fn time(&self, cycles: u64) -> String {
        time(u128::from(cycles) * u128::from(self.config.clock.period_ps))
    }

    fn answers(&self) -> Vec<Block> {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        if let Some(ports) = self.ports {
            table.row(["ports".into(), format!("{ports}, sizes are those of all")]);
        }
        for (name, value) in summary::rows(self.config, self.estimate) {
            table.row([name.to_owned(), value]);
        }
        let mut blocks = vec![
            Block::Text(self.outline[0].text.clone()),
            Block::Table(table),
        ];
        let notes = self.estimate.notes.iter();
        blocks.extend(notes.map(|note| Block::Text(format!("Note: {note}"))));
        blocks.push(Block::Text(format!(
            "Made by `linkdoze datasheet` {} of the configuration below, SHA-256 `{}`.",
            env!("CARGO_PKG_VERSION"),
            self.config.hash()
        )));
        blocks
    }

    fn structure(&self) -> Vec<Block> {
        vec![
            Block::Heading(2, "Block diagram".into()),
            // The controllers of several ports, and that of a port of Ethernet, are parts of the top.
            diagram::figure(
                self.outline,
                self.pins,
                self.ports.is_some() || self.ethernet.is_some(),
            ),
        ]
    }

    fn pins(&self) -> Vec<Block> {
        let mut table = Table::new([
            ("pin", Align::Left),
            ("bits", Align::Right),
            ("direction", Align::Left),
            ("meaning", Align::Left),
        ]);
        for pin in self.pins {
            let name = match pin.last {
                None => format!("`{}`", pin.name),
                Some(last) => format!("`{0}_0` to `{0}_{last}`", pin.base()),
            };
            let direction = match pin.direction {
                PinDirection::Input => "in",
                PinDirection::Output => "out",
            };
            table.row([
                name,
                pin.width.to_string(),
                direction.into(),
                pin.meaning.clone(),
            ]);
        }
        vec![Block::Heading(2, "Pins".into()), Block::Table(table)]
    }

    fn timing(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(2, "Timing diagrams".into())];
        if let Some((mii, mac_latency)) = self.ethernet {
            blocks.extend(self.timing_of_ethernet(mii, mac_latency));
            return blocks;
        }
        let Some(story) = link::story(self.plan) else {
            blocks.push(Block::Text(NEVER_SLEEPS.into()));
            return blocks;
        };
        let who = match story.delay {
            Some(delay) => format!(
                "two of them on a link that takes {delay} clock cycles one way; the diagrams show \
                 the end that sent last, and asks"
            ),
            None if self.plan.per_direction() => "one direction, which sleeps for itself".into(),
            None => "one, whose other end has nothing to send".into(),
        };
        blocks.push(self.simulated(&who));
        blocks.extend(self.diagram(
            "The link goes to sleep",
            "Clock cycle 0 is the first idle one after a packet.",
            &link::LANES,
            &story.sleep,
        ));
        blocks.extend(self.diagram(
            "The link wakes",
            "Clock cycle 0 is the first in which a packet is in the queue.",
            &link::LANES,
            &story.wake,
        ));
        blocks
    }

    fn timing_of_ethernet(&self, mii: Mii, mac_latency: u32) -> Vec<Block> {
        let story = ethernet::story(self.plan, mii, mac_latency);
        let pins = match self.plan.adjustable_times().is_empty() {
            true => " `t_s` and `t_w_sys` are the times of the controller.",
            false => "",
        };
        let mut blocks = vec![self.simulated(&format!(
            "the controller and both shims. Words are named after what is in them; `end` is the one in which \
             a frame ends.{pins} The MAC starts a frame in the first cycle in which it may; one that takes \
             longer sends it so much later"
        ))];
        match &story.sent {
            Some([sleep, wake]) => {
                blocks.extend(self.diagram(
                    "The direction goes to sleep",
                    "Clock cycle 0 is the first one after a frame in which the word to the PHY has no part of \
                     it.",
                    &ethernet::SENT,
                    sleep,
                ));
                blocks.extend(self.diagram(
                    "The direction wakes",
                    "Clock cycle 0 is the first in which a frame waits.",
                    &ethernet::SENT,
                    wake,
                ));
            }
            None => blocks.push(Block::Text(NEVER_SLEEPS.into())),
        }
        blocks.extend(self.diagram(
            "The other end sleeps and wakes",
            "Clock cycle 0 is the first in which the word from the PHY is low power idle (LPI).",
            &ethernet::RECEIVED,
            &story.received,
        ));
        blocks
    }

    /// What the diagrams are drawn from; `who` was simulated.
    fn simulated(&self, who: &str) -> Block {
        Block::Text(format!(
            "Simulated with the golden model of this configuration, which equals the Verilog in every \
             pin of every clock cycle: {who}. A gap stands for cycles in which no pin changes. The \
             threshold in force is that from reset, {} ticks.",
            self.plan.t_pdt_init
        ))
    }

    /// A diagram, and what changes in it.
    fn diagram<P>(
        &self,
        title: &str,
        says: &str,
        lanes: &[Lane<P>],
        stretches: &[Stretch<P>],
    ) -> [Block; 4] {
        let diagram = wave::Diagram::new(title.into(), lanes, stretches);
        let mut table = Table::new([
            ("clock cycle", Align::Right),
            ("after the row before", Align::Right),
            ("what changes", Align::Left),
        ]);
        let mut before = None;
        for (cycle, what) in diagram.events() {
            let since = before.map(|before| self.time(cycle.abs_diff(before)));
            table.row([cycle.to_string(), since.unwrap_or_default(), what.clone()]);
            before = Some(*cycle);
        }
        [
            Block::Heading(3, title.into()),
            Block::Text(says.into()),
            Block::Figure {
                svg: diagram.svg(),
                kind: "wavedrom",
                text: diagram.wavedrom(),
                summary: "The same for WaveDrom".into(),
            },
            Block::Table(table),
        ]
    }

    fn latencies(&self) -> Vec<Block> {
        let mut table = Table::new([
            ("what", Align::Left),
            ("clock cycles", Align::Right),
            ("time", Align::Right),
            ("holds", Align::Left),
        ]);
        let mut row = |what: &str, cycles: u64, holds: &str| {
            table.row([
                what.into(),
                cycles.to_string(),
                self.time(cycles),
                holds.into(),
            ]);
        };
        self.waits(&mut row);
        self.transitions(&mut row);
        let mut blocks = vec![
            Block::Heading(2, "Latencies and bounds".into()),
            Block::Table(table),
        ];
        blocks.extend(self.figures());
        blocks
    }

    /// A row for each wait that has a bound: what waits, clock cycles, and when it holds.
    fn waits(&self, row: &mut dyn FnMut(&str, u64, &str)) {
        let estimate = self.estimate;
        if let Some(latency) = estimate.latency {
            row(
                "new threshold after an idle period",
                latency.update_cycles,
                "at most, if no further idle period ends before",
            );
            row(
                "between new thresholds at line rate",
                latency.update_interval_at_line_rate_cycles,
                "at most, if an idle period ends every third cycle",
            );
            if latency.halving_delay_cycles > 0 {
                row(
                    "later, if counters are halved",
                    latency.halving_delay_cycles,
                    "at most",
                );
            }
        }
        if let Some(wait) = estimate.wait {
            row(
                "a packet waits for its link",
                wait.answered_cycles,
                "at most, if the other end answers at once",
            );
            if let Some(cycles) = wait.round_trip_100_cycles {
                row("", cycles, "at most, over a round trip of 100 cycles");
            }
            row(
                "",
                wait.unanswered_cycles,
                "at most, whatever the other end does",
            );
            row("nothing is sent after reset", wait.start_cycles, "always");
            row(
                "delay of the link one way, PHYs included",
                wait.longest_delay_cycles,
                &format!(
                    "at most, for the time-out; as a cable alone {:.1} m",
                    wait.longest_cable_m
                ),
            );
        }
        if let Some(cycles) = estimate.wait_with_levels_cycles {
            row(
                "a packet waits for its link",
                cycles,
                "at most, unless `remote_down` takes it down again",
            );
        }
        if let Some(port) = &estimate.ethernet {
            row(
                "a word of the MAC to the PHY, through `lpi_tx`",
                port.transmit_delay_cycles,
                "always",
            );
            row(
                "a word of the PHY to the MAC, through `lpi_rx`",
                port.receive_delay_cycles,
                "always",
            );
            for wake in &port.wakes {
                let state = wake.state.replace('-', " ");
                row(
                    &format!("a frame waits in {state} for `mac_tx_enable`"),
                    wake.mac_tx_enable_cycles,
                    "with the controller's `t_w` below",
                );
                row(
                    "until its first word is sent to the PHY",
                    wake.to_wire_cycles,
                    "the same, if the MAC starts it at once",
                );
                row(
                    "",
                    wake.to_wire_at_most_cycles,
                    &format!(
                        "the same, if the MAC starts it {} clock cycles after it may",
                        port.mac_latency_cycles
                    ),
                );
            }
            row(
                "a frame waits for `mac_tx_enable`",
                port.wait_cycles,
                "at most, from `t_w_sys` words after a reset on: LPI begins late by what the MAC takes to react, \
                 then one transition down and one up",
            );
            row(
                "until its first word is sent to the PHY",
                port.wait_to_wire_cycles,
                &format!(
                    "the same, if the MAC starts it {} clock cycles after it may",
                    port.mac_latency_cycles
                ),
            );
            row(
                "from `lpi_request` to LPI to the PHY",
                port.lpi_begins_cycles,
                "if the MAC starts no frame, and was not held back before",
            );
        } else if let Some(cycles) = estimate.wait_with_lpi_cycles {
            row(
                "a packet waits for its direction of the link",
                cycles,
                "at most: one transition down and one up",
            );
        }
        if let (Some(sleep), true) = (estimate.time_to_sleep, self.plan.per_direction()) {
            row("an idle direction leaves wake", sleep.end_cycles, "at most");
        } else if let Some(sleep) = estimate.time_to_sleep {
            row(
                "an idle link leaves wake",
                sleep.link_cycles,
                "at most, if both ends stay idle",
            );
            row(
                "an idle end leaves wake, or knows that the other is silent",
                sleep.end_cycles,
                "at most",
            );
        }
    }

    /// A row for each transition of the link.
    fn transitions(&self, row: &mut dyn FnMut(&str, u64, &str)) {
        let link = &self.plan.link;
        let adjustable = self.plan.adjustable_times();
        let of = |time: LinkTime| {
            let range = adjustable.iter().find(|it| it.time == time);
            range.map_or("always".to_owned(), |range| {
                let (least, most) = (range.least, range.most);
                format!("after reset; software may set {least} to {most}")
            })
        };
        if self.plan.uses_fast_wake() {
            let times = link.fast_wake;
            row("to fast wake", times.t_s, &of(LinkTime::SleepFastWake));
            row(
                "from fast wake to wake",
                times.t_w,
                &of(LinkTime::WakeFastWake),
            );
        }
        if self.plan.uses_deep_sleep() {
            let times = link.deep_sleep;
            row("to deep sleep", times.t_s, &of(LinkTime::SleepDeepSleep));
            let from = match link.refresh {
                None => "from deep sleep to wake",
                Some(_) => "from deep sleep or refresh to wake",
            };
            row(from, times.t_w, &of(LinkTime::WakeDeepSleep));
            if let Some(refresh) = link.refresh {
                row(
                    "quiet in deep sleep, then a refresh",
                    refresh.t_q,
                    &of(LinkTime::Quiet),
                );
                row("a refresh", refresh.t_r, &of(LinkTime::Refresh));
            }
        }
        if self.plan.control_pins {
            let states = self.plan.used_sleep_states();
            let t_w = states.iter().map(|times| times.t_w).max().unwrap_or(0);
            let (_, most) = link_sync::longest_transitions(self.plan);
            row(
                "from `link_up` to wake",
                t_w,
                &match adjustable.is_empty() {
                    true => "always".to_owned(),
                    false => format!("after reset; the longest `t_w` in force, at most {most}"),
                },
            );
            if let Some(sync) = self.plan.messages() {
                let start = link_sync::start_cycles(self.plan, &sync);
                row("from `link_up` to `tx_enable`", start, "always");
            }
        }
    }

    /// Thresholds, their error, the guard, and the range of times.
    fn figures(&self) -> Vec<Block> {
        let estimate = self.estimate;
        let mut blocks = Vec::new();
        let tick = self.config.clock.tick_ps;
        let ticks = |count: u64| time(u128::from(count) * u128::from(tick));
        if self.plan.predicts() {
            // Software sets the threshold of the policy fixed alone.
            let longest = self.plan.histogram.max_value;
            // At run time the rate of the budget is rounded (docs/reference/registers.md).
            let exact = match self.plan.budget.rate {
                None => "It, its window and its budget are exact: the integers that the formulas of the \
                         PerfBound paper give.",
                Some(_) => "Its budget takes a rate that is computed at run time, rounded up.",
            };
            let shortest = (1u64 << self.plan.histogram.bin_shift) / 2;
            blocks.push(Block::Text(format!(
                "Thresholds: PerfBound's is the middle of a bin, from {} on, or the longest, {} ({} \
                 ticks). {exact}",
                ticks(shortest),
                ticks(longest),
                longest
            )));
        }
        if let Some(accuracy) = &estimate.accuracy {
            blocks.push(Block::Text(format!(
                "Error: a corrected threshold is within {:.2e} (2^{:.2}) in proportion, and {} tick, of \
                 the real-number result of the same misses and thresholds.",
                accuracy.relative,
                accuracy.relative.log2(),
                accuracy.ticks
            )));
        }
        if let Some(guard) = &estimate.guard {
            blocks.push(Block::Text(format!(
                "Guard: in any time T packets of this end wait for at most {} wake-ups and one more for \
                 each {:.0} ns of T; each takes {} ns.{}",
                guard.burst,
                guard.token_ns,
                guard.t_w_ns,
                match guard.adjustable {
                    true =>
                        " Software that changes the bound, the hop factor or t_w changes these \
                         figures.",
                    false => "",
                }
            )));
        }
        blocks.push(Block::Text(format!(
            "Range: times are counted in {} bits of {} and hold {} s; they saturate.",
            self.plan.time_width,
            time(tick.into()),
            estimate.max_time.exact_seconds
        )));
        blocks
    }

    fn area(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(2, "Area".into())];
        let Some(census) = &self.estimate.census else {
            return blocks;
        };
        blocks.push(Block::Text(format!(
            "Every register and memory of the elaborated hardware, counted: {} bits in registers, {} \
             bits in memories, and {} bits in the output registers of memories, which a block RAM \
             contains. Modules without either are left out. Cells and clock frequency depend on the \
             technology: `linkdoze synth` asks the synthesis tools.",
            census.register_bits, census.memory_bits, census.memory_output_bits
        )));
        // Modules that hold nothing would be rows of zeros.
        let mut modules: Vec<(&str, u64, u64, u64)> = Vec::new();
        let mut memories: Vec<(String, usize, u32, u64, String)> = Vec::new();
        for block in self.outline {
            let place = modules.iter().position(|it| it.0 == block.module);
            let place = place.unwrap_or_else(|| {
                modules.push((&block.module, 0, 0, 0));
                modules.len() - 1
            });
            let (_, instances, registers, outputs) = &mut modules[place];
            *instances += 1;
            for entry in census.entries.iter().filter(|it| it.block == block.path) {
                match entry.storage {
                    Storage::Register => *registers += entry.bits,
                    Storage::MemoryOutput => *outputs += entry.bits,
                    Storage::Memory => {
                        let name = format!("`{}` in `{}`", entry.name, block.module);
                        let known = memories.iter_mut().find(|it| it.0 == name);
                        match known {
                            Some((_, _, _, count, _)) => *count += 1,
                            None => memories.push((
                                name,
                                entry.depth,
                                entry.width,
                                1,
                                entry.purpose.clone(),
                            )),
                        }
                    }
                }
            }
        }
        let mut table = Table::new([
            ("module", Align::Left),
            ("instances", Align::Right),
            ("register bits, all", Align::Right),
            ("output registers of memories, all", Align::Right),
        ]);
        modules.retain(|(_, _, registers, outputs)| registers + outputs > 0);
        for (module, instances, registers, outputs) in modules {
            table.row([
                format!("`{module}`"),
                instances.to_string(),
                registers.to_string(),
                outputs.to_string(),
            ]);
        }
        blocks.push(Block::Table(table));
        if !memories.is_empty() {
            let mut table = Table::new([
                ("memory", Align::Left),
                ("instances", Align::Right),
                ("words", Align::Right),
                ("bits per word", Align::Right),
                ("bits, all", Align::Right),
                ("holds", Align::Left),
            ]);
            for (name, words, width, count, purpose) in memories {
                table.row([
                    name,
                    count.to_string(),
                    words.to_string(),
                    width.to_string(),
                    (words as u64 * u64::from(width) * count).to_string(),
                    purpose,
                ]);
            }
            blocks.push(Block::Table(table));
        }
        blocks
    }

    fn registers(&self) -> Vec<Block> {
        if self.plan.registers.is_none() {
            return Vec::new();
        }
        let mut blocks = vec![
            Block::Heading(2, "Registers".into()),
            Block::Text(format!(
                "Behind the AXI4-Lite pins, 32 bits each. `{}_registers.md`, which `generate` writes, \
                 says how to access them; `{}_registers.rdl` and `.h` have the same for tools and \
                 programs.",
                self.design.top(),
                self.design.top()
            )),
        ];
        let mut page = |title: String, map: &map::Map| {
            let mut table = Table::new([
                ("offset", Align::Left),
                ("register", Align::Left),
                ("bits", Align::Left),
                ("field", Align::Left),
                ("access", Align::Left),
                ("reset", Align::Left),
                ("meaning", Align::Left),
            ]);
            registers::rows(map)
                .into_iter()
                .for_each(|row| table.row(row));
            blocks.extend([Block::Heading(3, title), Block::Table(table)]);
        };
        let port = map::port(self.plan);
        match self.ports {
            None => page("Page of the port, at 0".into(), &port),
            Some(ports) => {
                page(
                    format!(
                        "Page of port k, 0 to {}, at k * {:#x}",
                        ports - 1,
                        map::STRIDE
                    ),
                    &port,
                );
                page(
                    format!("Page of all ports, at {:#x}", map::global_offset(ports)),
                    &map::all_ports(self.plan, ports),
                );
            }
        }
        blocks
    }
}

/// Pins of the top that differ in the number of their port alone, as one.
#[derive(Clone, Debug)]
struct PinGroup {
    /// The name of the first.
    name: String,
    /// Bits of each.
    width: u32,
    direction: PinDirection,
    meaning: String,
    /// The number of the last, if there is one for each port; the first has 0.
    last: Option<u32>,
}

impl PinGroup {
    /// The name without the number.
    fn base(&self) -> &str {
        match self.last {
            Some(_) => self.name.strip_suffix("_0").unwrap_or(&self.name),
            None => &self.name,
        }
    }
}

fn pin_groups(design: &Design, ports: Option<u32>) -> Vec<PinGroup> {
    let mut groups: Vec<PinGroup> = Vec::new();
    for (pin, meaning) in described_pins(design) {
        let number = ports.and_then(|_| pin.name.rsplit_once('_')?.1.parse::<u32>().ok());
        match (number, groups.last_mut()) {
            (Some(number), Some(last)) if number > 0 => last.last = Some(number),
            _ => groups.push(PinGroup {
                meaning: match number {
                    // Said of every port.
                    Some(_) => meaning.replacen("port 0:", "each port:", 1),
                    None => meaning,
                },
                name: pin.name,
                width: pin.width,
                direction: pin.direction,
                last: number,
            }),
        }
    }
    groups
}

/// The text up to the end of its first sentence.
fn first_sentence(text: &str) -> String {
    match text.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => text.to_owned(),
    }
}
