//! From a formula of PerfBound 3.3 to the bits of the hardware that was elaborated: what the
//! formula counts, and what the hardware has more or less of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::plan::{HistogramKind, GENERATIONS};
use crate::config::Config;
use crate::hdl::census::{self, Census, Storage};
use crate::rtl;

/// The instances in a port controller that are a histogram.
const HISTOGRAMS: [&str; 5] = ["regular", "clearing", "circular", "decaying", "map"];

/// The bits of one histogram by the formula and in hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// `histogram.kind` as the configuration writes it.
    pub kind: &'static str,
    /// Number of bins.
    pub n_bins: u32,
    /// `h_maxN`.
    #[serde(rename = "h_maxN")]
    pub h_max_n: u32,
    /// `w_counter` in bits.
    pub w_counter_bits: u32,
    /// `s_elem` in bits.
    pub s_elem_bits: u32,
    /// What the histogram holds, as a formula of PerfBound 3.3.
    pub formula: String,
    /// Its value.
    pub formula_bits: u64,
    /// What the hardware has besides, or less: with them the formula makes up
    /// `hardware_bits`.
    pub differences: Vec<Difference>,
    /// Bits of all registers and memories of the histogram; `None` if there is no hardware.
    pub hardware_bits: Option<u64>,
}

/// One reason why the hardware has other bits than the formula.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The memory or register.
    pub name: String,
    /// Bits more than the formula counts, or less.
    pub bits: i64,
    /// Why.
    pub because: String,
}

/// A term of a formula: so many words of a memory, or of registers of one name.
struct Term {
    formula: &'static str,
    words: u64,
    width: u32,
    /// The name in the hardware.
    name: &'static str,
    /// Why the hardware has another number of words, or words of another width.
    because: [&'static str; 2],
}

/// Registers or memories of one name and width, in however many blocks.
struct Group {
    name: String,
    storage: Storage,
    purpose: String,
    words: u64,
    width: u32,
    /// Of a memory with a code, besides.
    check_bits: u32,
}

impl Account {
    /// The account of a configuration's histogram beside the census of its hardware.
    pub fn new(config: &Config, census: Option<&Census>) -> Account {
        let histogram = &config.histogram;
        let terms = terms(config);
        let formula: Vec<&str> = terms.iter().map(|term| term.formula).collect();
        let mut account = Account {
            kind: histogram.kind.name(),
            n_bins: histogram.bins,
            h_max_n: histogram.max_samples,
            w_counter_bits: histogram.counter_bits,
            s_elem_bits: config.port.time_width,
            formula: formula.join(" + "),
            formula_bits: terms
                .iter()
                .map(|term| term.words * u64::from(term.width))
                .sum(),
            differences: Vec::new(),
            hardware_bits: None,
        };
        let Some(census) = census else {
            return account;
        };
        let groups = groups(census);
        let mut hardware = 0;
        let mut outputs = 0;
        let mut checks = 0;
        for group in &groups {
            let bits = group.words * u64::from(group.width);
            let check = group.words * u64::from(group.check_bits);
            hardware += bits + check;
            checks += check;
            if group.storage == Storage::MemoryOutput {
                outputs += bits;
                continue;
            }
            match terms.iter().find(|term| term.name == group.name) {
                Some(term) => account.compare(term, group),
                None => account.differ(&group.name, bits as i64, describe(group)),
            }
        }
        for term in &terms {
            if groups.iter().all(|group| group.name != term.name) {
                let bits = term.words * u64::from(term.width);
                account.differ(term.name, -(bits as i64), "not stored".into());
            }
        }
        account.differ(
            "memory outputs",
            outputs as i64,
            "output registers of the memories; a block RAM contains them".into(),
        );
        account.differ(
            "check bits",
            checks as i64,
            "of the words of memories, and of their output registers".into(),
        );
        account.hardware_bits = Some(hardware);
        account
    }

    /// The accounts of every kind with the PerfBound paper's settings: 200 bins (section 1, Figure
    /// 1), times of 32 bits and 1 ns (3.3), and 250 samples (4.5.2) or 20 000 (3.3). The PerfBound
    /// paper counts `w_counter` in bytes (Table 4) and names no number: here as few as hold
    /// `h_maxN`.
    pub fn of_the_perfbound_paper() -> Vec<Account> {
        let settings = [(250, 8), (20_000, 16)];
        let kinds = settings
            .iter()
            .flat_map(|setting| HistogramKind::ALL.map(|kind| (setting, kind)));
        kinds
            .map(|((samples, counter_bits), kind)| {
                let text = format!(
                    "[clock]\nperiod_ps = 1000\ntick_ns = 1\n\
                     [port]\ntime_width = 32\npolicy = \"perfbound\"\n\
                     [histogram]\nkind = \"{}\"\nbins = 200\nmax_samples = {samples}\n\
                     counter_bits = {counter_bits}\n",
                    kind.name()
                );
                let config = Config::parse(&text, "the PerfBound paper")
                    .expect("the PerfBound paper's settings are legal");
                let design = rtl::design(&config).ok();
                Account::new(
                    &config,
                    design.map(|design| census::count(&design)).as_ref(),
                )
            })
            .collect()
    }

    fn differ(&mut self, name: &str, bits: i64, because: String) {
        if bits != 0 {
            self.differences.push(Difference {
                name: name.into(),
                bits,
                because,
            });
        }
    }

    fn compare(&mut self, term: &Term, group: &Group) {
        let [words, width] = term.because;
        self.differ(
            &format!("{}: words", group.name),
            (group.words as i64 - term.words as i64) * i64::from(term.width),
            format!("{} instead of {}: {words}", group.words, term.words),
        );
        self.differ(
            &format!("{}: width", group.name),
            group.words as i64 * (i64::from(group.width) - i64::from(term.width)),
            format!("{} bits instead of {}: {width}", group.width, term.width),
        );
    }
}

/// The formula of a kind. The first two are the PerfBound paper's; the map's "number of populated
/// bins" is the number of entries, and a decaying histogram is ours.
fn terms(config: &Config) -> Vec<Term> {
    let histogram = &config.histogram;
    let bins = u64::from(histogram.bins);
    let width = match histogram.kind {
        HistogramKind::Regular => "room for the samples that come until a full one is halved",
        _ => "as many as count h_maxN samples, or one more than the largest budget has",
    };
    let counters = |formula, words| Term {
        formula,
        words,
        width: histogram.counter_bits,
        name: "counters",
        because: [
            "a bin's index is split into group and place, powers of two",
            width,
        ],
    };
    match histogram.kind {
        HistogramKind::Regular | HistogramKind::Clearing => {
            vec![counters("w_counter * n_bins", bins)]
        }
        HistogramKind::Decaying => vec![counters(
            "4 generations * w_counter * n_bins",
            u64::from(GENERATIONS) * bins,
        )],
        HistogramKind::Circular => vec![
            counters("w_counter * n_bins", bins),
            Term {
                formula: "s_elem * h_maxN",
                words: histogram.max_samples.into(),
                width: config.port.time_width,
                name: "lengths",
                because: ["places in the ring", "a length is at most h_maxval"],
            },
        ],
        HistogramKind::Map => vec![Term {
            formula: "w_counter * map_entries",
            words: histogram.map_entries.into(),
            width: histogram.counter_bits,
            name: "tail_held",
            because: [
                "no more can be in use",
                "tail sums of up to h_maxN samples, not counters",
            ],
        }],
    }
}

/// The histogram's registers and memories, those of one name taken together.
fn groups(census: &Census) -> Vec<Group> {
    // The controller is the top, or a part of a port of Ethernet.
    let within = |block: &str| {
        let mut instances = block.split('.').skip(1);
        instances.any(|instance| HISTOGRAMS.contains(&instance))
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut places = BTreeMap::new();
    for entry in census.entries.iter().filter(|entry| within(&entry.block)) {
        let is_output = entry.storage == Storage::MemoryOutput;
        let width = entry.width - entry.check_bits;
        let place = *places
            .entry((&entry.name, is_output, width))
            .or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                name: entry.name.clone(),
                storage: entry.storage,
                purpose: entry.purpose.clone(),
                words: 0,
                width,
                check_bits: entry.check_bits,
            });
        }
        groups[place].words += entry.depth as u64;
    }
    groups
}

fn describe(group: &Group) -> String {
    let Group {
        purpose,
        words,
        width,
        ..
    } = group;
    match (words, width) {
        (1, 1) => purpose.clone(),
        (1, width) => format!("{width} bits: {purpose}"),
        (words, width) => format!("{words} of {width} bits: {purpose}"),
    }
}
