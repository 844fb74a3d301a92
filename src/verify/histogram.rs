//! A small histogram with its counters: `testbench/histogram.v`. Of a clearing one and of a map the
//! search, of a circular one its ring, of a regular one how its counters are halved.

use super::bound::{insert, insert_with_words};
use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use super::tools::ToolError;
use crate::blocks::histogram::{map, Shape};
use crate::config::plan::{BinScale, HistogramKind, PortPlan};
use crate::hdl::{ClaimText, Design};

/// Bits of all counters that a proof still knows one by one.
const MOST_BITS: u32 = 64;

/// The same of the lengths in a ring: sums of many of them are hard for a solver.
const MOST_RING_BITS: u32 = 32;

/// The claims that are wanted for themselves; the others make them inductive.
pub(super) const PROPERTIES: [&str; 13] = [
    "counters_count",
    "sums_add_up",
    "no_wrap",
    "ring_counted",
    "window_summed",
    "halved_together",
    "search_exact",
    "window_counted",
    "map_ordered",
    "map_covers",
    "map_counted",
    "map_window_counted",
    "map_search_exact",
];

pub(super) const TEXT: &str = include_str!("../../testbench/histogram.v");

/// The claim that a regular histogram does not make: the width of its counters rests on how often a
/// threshold comes out.
const NOT_OF_REGULAR: &str = "no_wrap";

/// The instance that finds the bin of a sample.
const BIN_METER: &str = "u_bin_meter";

/// Where the instances that a map consists of are.
const ENTRIES_OF_MAP: &str = "histogram_map/";

/// The instances of the modules of [`TEXT`] in a port with a histogram of that kind.
fn instances(kind: HistogramKind) -> Vec<(&'static str, &'static str)> {
    match kind {
        HistogramKind::Clearing => vec![
            ("counter_claims", "u_clearing.u_store.u_claims."),
            ("search_claims", "u_search_claims."),
        ],
        HistogramKind::Circular => vec![
            ("counter_claims", "u_circular.u_store.u_claims."),
            ("ring_claims", "u_circular.u_ring_claims."),
        ],
        HistogramKind::Regular => vec![
            ("counter_claims", "u_regular.u_store.u_claims."),
            ("aging_claims", "u_regular.u_aging_claims."),
        ],
        HistogramKind::Map => vec![
            ("map_claims", "u_map.u_map_claims."),
            ("key_claims", "u_key_claims."),
        ],
        HistogramKind::Decaying => Vec::new(),
    }
}

/// The histogram of a port of `plan`, if it is so small that all its counters can be part of the
/// proof, none of them stops counting, and its memories have no code.
///
/// # Errors
/// If the modules are not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    let shape = Shape::of(plan);
    let kind = plan.histogram.kind;
    let claimed = plan.predicts() && !instances(kind).is_empty();
    let provable = match kind {
        HistogramKind::Map => is_small_map(plan),
        HistogramKind::Circular => {
            is_small(&shape) && Ring::of(plan, &shape).bits() <= MOST_RING_BITS
        }
        _ => is_small(&shape),
    };
    // That a memory with a code is a memory is proved by itself (`coding.v`).
    if !claimed || !provable || plan.registers.is_some() || plan.codes_memories() {
        return Ok(None);
    }
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let mut all = files.to_vec();
    if kind != HistogramKind::Map {
        let (counts, groups) = (1 << shape.index(), 1 << shape.group);
        let memories = [
            ("counters", counts, shape.counter),
            ("groups", groups, shape.group_size() + shape.sum),
        ];
        let text = counters(plan, &shape);
        insert_with_words(&mut all, prefix, "counter_store", &memories, &text)?;
    }
    if kind == HistogramKind::Circular {
        let ring = Ring::of(plan, &shape);
        let memory = ("lengths", ring.words, ring.word);
        let text = self::ring(plan, &shape);
        insert_with_words(&mut all, prefix, "histogram_circular", &[memory], &text)?;
    }
    let mut into = |module: &str, text: &str| insert(&mut all, &format!("{prefix}{module}"), text);
    let (histogram, says) = match kind {
        HistogramKind::Circular => (
            "u_circular",
            "a small histogram with all its counters, and its ring",
        ),
        HistogramKind::Regular => {
            into("histogram_regular", &aging(&shape))?;
            (
                "u_regular",
                "a small histogram with all its counters, and their halving",
            )
        }
        HistogramKind::Map => {
            into("histogram_map", &map(plan))?;
            into("port", &keys(plan))?;
            ("u_map", "a small map with all its entries, and the search")
        }
        _ => {
            into("port", &search(plan, &shape))?;
            (
                "u_clearing",
                "a small histogram with all its counters, and the search",
            )
        }
    };
    let mut text = TEXT.to_owned();
    if kind == HistogramKind::Regular {
        let lines = TEXT
            .lines()
            .filter(|line| !line.contains(&format!(") {NOT_OF_REGULAR}: ")));
        text = lines.flat_map(|line| [line, "\n"]).collect();
    }
    all.push(("histogram.v".into(), text));
    let ours = |checker: &str| {
        ["u_idle_meter", histogram, "u_perfbound"]
            .contains(&checker.split('.').next().unwrap_or_default())
    };
    let checkers = || design.checkers().into_iter();
    let mut cuts = design.instances_without_claims(ours);
    if kind != HistogramKind::Clearing {
        // These make no claims: what says in which bin a sample belongs, and the entries of a map.
        cuts.retain(|instance| !instance.contains(BIN_METER) && !instance.contains(ENTRIES_OF_MAP));
    }
    Ok(Some(ProofTask {
        top: design.top().into(),
        says: says.into(),
        files: all,
        parameters: Vec::new(),
        induction: super::INDUCTION,
        cuts,
        // They are proved of the prediction, whatever the rest does.
        assumed: checkers().filter(|it| ours(it)).collect(),
        left_out: checkers().filter(|it| !ours(it)).collect(),
        claims: claims(kind),
        others_given: false,
    }))
}

/// Whether all counters of that shape can be in a proof, and none of them stops counting.
fn is_small(shape: &Shape) -> bool {
    let stops = shape.saturates || shape.counts_enough || shape.sums_enough;
    !stops && shape.index() < 6 && shape.counter << shape.index() <= MOST_BITS
}

/// The same of a map: a counter for every key, entries beside them.
fn is_small_map(plan: &PortPlan) -> bool {
    let shape = map::Shape::of(plan).entry;
    let bits = samples_width(plan).checked_shl(shape.key);
    shape.largest_count.is_none() && shape.key < 6 && bits.is_some_and(|it| it <= MOST_BITS)
}

/// Bits of the samples that the window can hold.
fn samples_width(plan: &PortPlan) -> u32 {
    crate::hdl::clog2(u128::from(plan.histogram.max_samples) + 1)
}

/// Bits of every number of samples in the claims: none of them wraps.
fn wide(plan: &PortPlan, shape: &Shape) -> u32 {
    (shape.counter + shape.index())
        .max(plan.budget.width)
        .max(shape.sum)
        + 1
}

/// What is put into the memory of counters.
fn counters(plan: &PortPlan, shape: &Shape) -> String {
    let bins = 1 << shape.index();
    let groups = 1 << shape.group;
    let kind = plan.histogram.kind;
    let (removes, halves) = (
        kind == HistogramKind::Circular,
        kind == HistogramKind::Regular,
    );
    let pin = |there: bool, name: &'static str| if there { name } else { "1'b0" };
    format!(
        "  wire [{}:0] claims_recorded;\n  wire [{}:0] claims_samples;\n  \
         counter_claims #(.BINS({bins}), .GROUPS({groups}), .INDEX({}), .PLACE({}), .COUNT({}), \
         .SUM({}), .WIDE({}), .SUCCESSIVE({}), .REMOVES({})) u_claims (.clk(clk), .rst(rst), .counters(\\u_counters.claims_words ), \
         .groups(\\u_groups.claims_words ), .populated(populated_q), .at(at_q), .changing(changing_q), .removing({}), \
         .down({}), .shrinks({}), .doubles({}), .rounds({}), .read_counter(counters_read_data), .read_word(groups_read_data), .here(here_q), \
         .writing(writing_q), .word(group_word_q), .count(count), .new_count(new_count), \
         .new_sum(new_sum), .last(last_q), .wrote(wrote_q), .last_word(last_word_q), \
         .last_count(last_count_q), .clearing(clearing_q), .recorded(claims_recorded), \
         .samples(claims_samples));\n",
        bins * (shape.counter + u32::from(removes)) - 1,
        wide(plan, shape) - 1,
        shape.index(),
        shape.place,
        shape.counter,
        shape.sum,
        wide(plan, shape),
        u32::from(removes || halves),
        u32::from(removes),
        pin(removes, "removing_q"),
        pin(removes, "down_q"),
        pin(halves, "shrinks_q"),
        pin(halves, "doubles_q"),
        pin(halves, "rounds_q"),
    )
}

/// Registers of the memory of counters, as wires that Yosys joins with them, and their pins.
fn store_pins(pins: &[(&str, &str, u32)]) -> (String, String) {
    let wires = pins.iter().map(|(_, name, width)| {
        format!(
            "  (* hierconn *) wire [{}:0] \\u_store.{name} ;\n",
            width - 1
        )
    });
    let connections = pins.iter();
    let connections = connections.map(|(pin, name, _)| format!(", .{pin}(\\u_store.{name} )"));
    (wires.collect(), connections.collect())
}

/// The ring of a circular histogram, as it is emitted.
struct Ring {
    words: u32,
    length: u32,
    word: u32,
    total: u32,
}

impl Ring {
    fn of(plan: &PortPlan, shape: &Shape) -> Ring {
        let histogram = &plan.histogram;
        let length = crate::hdl::clog2(u128::from(histogram.max_value) + 1);
        let logarithmic = histogram.scale != BinScale::Linear;
        let most = u128::from(histogram.max_value) * u128::from(histogram.max_samples);
        Ring {
            words: histogram.max_samples.max(2),
            length,
            word: length + if logarithmic { shape.index() } else { 0 },
            total: crate::hdl::clog2(most + 1),
        }
    }

    fn bits(&self) -> u32 {
        self.words.saturating_mul(self.word)
    }
}

/// What is put into a circular histogram.
fn ring(plan: &PortPlan, shape: &Shape) -> String {
    let histogram = &plan.histogram;
    let ring = Ring::of(plan, shape);
    let (index, bins) = (shape.index(), 1 << shape.index());
    let sums = histogram.sums_lengths();
    let clamps = plan.max_time() > histogram.max_value;
    let (wires, connections) = store_pins(&[
        ("at", "at_q", index),
        ("changing", "changing_q", 1),
        ("removing", "removing_q", 1),
        ("here", "here_q", index),
        ("writing", "writing_q", 1),
        ("down", "down_q", 1),
        ("recorded", "claims_recorded", bins * (shape.counter + 1)),
    ]);
    format!(
        "{wires}  ring_claims #(.PLACES({}), .WORDS({}), .WORD({}), .LENGTH({}), .AT({}), \
         .BINS({bins}), .INDEX({index}), .COUNT({}), .WIDE({}), .TIME({}), .SHIFT({}), .TOP_BIN({}), \
         .MAX_VALUE({}), .CLAMPS({}), .LOGARITHMIC({}), .SUMS({}), .TOTAL({})) u_ring_claims \
         (.clk(clk), .rst(rst), .ended(ended), .ticks(ticks), .too_long({}), .lengths(\\u_lengths.claims_words ), \
         .read_data(lengths_read_data), .head(head_q), .full(full_q), .window_sum({}), \
         .evicts(evicts_q), .evicted_bin(evicted_bin_q){connections});\n",
        histogram.max_samples,
        ring.words,
        ring.word,
        ring.length,
        crate::hdl::clog2(ring.words.into()),
        shape.counter,
        wide(plan, shape),
        plan.time_width,
        histogram.bin_shift,
        shape.top_bin,
        histogram.max_value,
        u32::from(clamps),
        u32::from(histogram.scale != BinScale::Linear),
        u32::from(sums),
        ring.total,
        if clamps { "too_long_q" } else { "1'b0" },
        if sums { "total_q" } else { "1'b0" },
    )
}

/// What is put into a regular histogram.
fn aging(shape: &Shape) -> String {
    let (index, bins) = (shape.index(), 1 << shape.index());
    let (wires, connections) = store_pins(&[
        ("at", "at_q", index),
        ("changing", "changing_q", 1),
        ("shrinking", "halving_q", 1),
        ("doubling", "doubling_q", 1),
        ("rounding", "rounding_q", 1),
        ("here", "here_q", index),
        ("writing", "writing_q", 1),
        ("shrinks", "shrinks_q", 1),
        ("doubles", "doubles_q", 1),
        ("rounds", "rounds_q", 1),
        ("recorded", "claims_recorded", bins * shape.counter),
    ]);
    format!(
        "{wires}  aging_claims #(.BINS({bins}), .TOP_BIN({}), .INDEX({index}), .COUNT({})) \
         u_aging_claims (.clk(clk), .rst(rst), .ended(ended), .sample_bin(sample_bin), \
         .starts(starts), .halving(halving_q), .next_bin(next_bin_q), .odd(odd_q){connections});\n",
        shape.top_bin, shape.counter,
    )
}

/// What is put into a map.
fn map(plan: &PortPlan) -> String {
    let shape = map::Shape::of(plan);
    let (key, tail, budget) = (shape.entry.key, shape.entry.tail, plan.budget.width);
    let samples = samples_width(plan);
    let entries: Vec<String> = (0..shape.entries - 1)
        .map(|entry| format!("u_entries_{entry}"))
        .chain(["u_lowest".to_owned()])
        .collect();
    let register = |entry: &str, name: &str| format!("{entry}.{name}_held_q");
    let wires = entries.iter().map(|entry| {
        let wire = |name, width: u32| {
            let register = register(entry, name);
            format!("  (* hierconn *) wire [{}:0] \\{register} ;\n", width - 1)
        };
        wire("key", key) + &wire("tail", tail)
    });
    let all = |name: &str| {
        let registers = entries.iter().rev();
        let registers: Vec<_> = registers
            .map(|entry| format!("\\{} ", register(entry, name)))
            .collect();
        registers.join(", ")
    };
    format!(
        "{}  (* hierconn *) wire [{}:0] \\u_window.samples_q ;\n  \
         map_claims #(.ENTRIES({}), .BINS({}), .KEY({key}), .TAIL({tail}), .COUNT({samples}), \
         .BUDGET({budget}), .WIDE({})) u_map_claims (.clk(clk), .rst(rst), .ended(ended), \
         .cleared(cleared), .sample(sample_q), .keys({{{}}}), .tails({{{}}}), \
         .window_samples(\\u_window.samples_q ), .budget(budget), .found(found));\n",
        wires.collect::<String>(),
        samples - 1,
        shape.entries,
        shape.bins,
        budget.max(samples + key) + 1,
        all("key"),
        all("tail"),
    )
}

/// What is put into a port with a map: wires that Yosys joins with the registers of their names.
fn keys(plan: &PortPlan) -> String {
    let map::Shape { bins, entry, .. } = map::Shape::of(plan);
    let (index, key) = (Shape::of(plan).index(), entry.key);
    format!(
        "  (* hierconn *) wire [{}:0] \\u_bin_meter.present_q ;\n  \
         (* hierconn *) wire [{}:0] \\u_map.sample_q ;\n  \
         key_claims #(.BINS({bins}), .INDEX({index}), .KEY({key})) u_key_claims \
         (.rst(rst), .present(\\u_bin_meter.present_q ), .sample(\\u_map.sample_q ));\n",
        index - 1,
        key - 1,
    )
}

/// What is put into the port: wires that Yosys joins with the registers of their names.
fn search(plan: &PortPlan, shape: &Shape) -> String {
    let (index, wide) = (shape.index(), wide(plan, shape));
    let bins = 1 << index;
    let budget = plan.budget.width;
    let samples = samples_width(plan);
    let seen = budget.max(shape.sum).max(shape.counter);
    let store = |name: &str| format!("u_clearing.u_store.{name}");
    let found = |name: &str| format!("u_perfbound.{name}");
    let pins = [
        ("state", found("state_q"), 3),
        ("pending", found("pending_q"), 1),
        ("reading", found("reading_q"), 1),
        ("reading_next", found("reading_d"), 1),
        ("arriving", found("arriving_q"), 1),
        ("looking", found("looking_q"), 1),
        ("exceeds", found("exceeds"), 1),
        ("group", found("group_q"), shape.group),
        ("place", found("place_q"), shape.place),
        ("bin", found("bin_q"), index),
        ("seen", found("samples_q"), seen),
        ("left", found("left_q"), budget),
        ("budget", found("budget_now_q"), budget),
        ("found", found("found_q"), index),
        ("above", found("above_q"), 1),
        ("arrived", store("here_q"), index),
        ("at", store("at_q"), index),
        ("changes", store("changes"), 1),
        ("changing", store("changing_q"), 1),
        ("writing", store("writing_q"), 1),
        ("wrote", store("wrote_q"), 1),
        ("clearing", store("clearing_q"), 1),
        ("recorded", store("claims_recorded"), bins * shape.counter),
        ("samples", store("claims_samples"), wide),
        (
            "window_samples",
            "u_clearing.u_window.samples_q".into(),
            samples,
        ),
    ];
    let wires = pins
        .iter()
        .map(|(_, path, width)| format!("  (* hierconn *) wire [{}:0] \\{path} ;\n", width - 1));
    let connections = pins
        .iter()
        .map(|(pin, path, _)| format!(", .{pin}(\\{path} )"));
    format!(
        "{}  search_claims #(.BINS({bins}), .TOP_GROUP({}), .INDEX({index}), .PLACE({}), \
         .COUNT({}), .WIDE({wide})) u_search_claims (.clk(clk), .rst(rst), \
         .cleared(clearing_cleared), .here(\\{} ){});\n",
        wires.collect::<String>(),
        shape.top_bin >> shape.place,
        shape.place,
        shape.counter,
        store("here_q"),
        connections.collect::<String>(),
    )
}

/// The claims of [`TEXT`] about a histogram of that kind.
pub(super) fn claims(kind: HistogramKind) -> Vec<ClaimText> {
    let mut claims = claims_in(TEXT, &instances(kind), |line| asserted(line, &PROPERTIES));
    if kind == HistogramKind::Regular {
        claims.retain(|claim| !claim.name.ends_with(NOT_OF_REGULAR));
    }
    claims
}
