//! Memories of another make in the place of `ram_1r1w.v`: those that keep its promises make no
//! difference, whatever they do where a read meets a write; those that break them are found. And
//! memories with a code, whose bits are made wrong: what a code puts right makes no difference, and
//! what it cannot put right is told before it makes one.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use crate::common::{linkdoze, run, share};

/// Every memory that there is: the ring, the counters and their groups of a circular histogram, the
/// outcomes and ratios of a long history, the packets of every hop count.
const CONFIG: &str = "\
[clock]
tick_ns = 3
[port]
time_width = 16
policy = \"perfbound-correct\"
sleep = \"deep-sleep\"
t_pdt_init_ns = 600
sync = \"levels\"
registers = true
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
[histogram]
kind = \"circular\"
bins = 32
bin_ns = 48
counter_bits = 8
max_samples = 40
max_value_ns = 1536
[perfbound]
bound = 0.2
hops = \"measured\"
hop_window = 16
[correction]
history = 130
";

/// The statement of the emitted file that reads.
const READS: &str = "\
    if (write_enable & (write_address == read_address)) begin
      read_data <= {WIDTH{1'bx}};
    end else begin
      read_data <= words[read_address];
    end
";

/// The one that writes.
const WRITES: &str = "      words[write_address] <= write_data;\n";

#[test]
fn memories_of_another_make_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), CONFIG).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let meets = "(write_enable & (write_address == read_address)) ?";
    let makes = [
        (
            "gives neither",
            READS,
            format!("    read_data <= {meets} ~write_data : words[read_address];\n"),
            0,
        ),
        (
            "gives the old word",
            READS,
            "    read_data <= words[read_address];\n".to_owned(),
            0,
        ),
        ("never writes", WRITES, String::new(), 1),
        (
            "gives the new word",
            READS,
            format!("    read_data <= {meets} write_data : words[read_address];\n"),
            0,
        ),
        (
            "loses the highest bit",
            WRITES,
            "      words[write_address] <= write_data & ({WIDTH{1'b1}} >> (WIDTH > 1));\n"
                .to_owned(),
            1,
        ),
    ];
    let makes = share(&makes, 2);
    makes.par_iter().for_each(|(make, from, to, status)| {
        let own = make.replace(' ', "-");
        let edit = ("ram_1r1w.v", (*from).to_owned(), to.clone());
        edited(path, "rtl", &own, &[edit]);
        let found = cosim(path, "port.toml", &own);
        assert_eq!(found["mismatches"], *status, "{make}");
    });
}

/// A text of a file, and what is to be in its place.
type Edit = (&'static str, String, String);

/// Copies the Verilog of a folder to another one, with edits.
fn edited(path: &Path, from: &str, to: &str, edits: &[Edit]) {
    let own = path.join(to);
    fs::create_dir(&own).unwrap();
    let mut done = 0;
    for file in fs::read_dir(path.join(from)).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|it| it != "v") {
            continue;
        }
        let mut text = fs::read_to_string(&file).unwrap();
        for (_, from, to) in edits.iter().filter(|(name, ..)| file.ends_with(name)) {
            assert_eq!(text.matches(from).count(), 1, "{from}\n{text}");
            text = text.replace(from, to);
            done += 1;
        }
        fs::write(own.join(file.file_name().unwrap()), text).unwrap();
    }
    assert_eq!(done, edits.len());
}

/// What the co-simulation of a configuration with the Verilog of a folder finds.
fn cosim(path: &Path, config: &str, rtl: &str) -> serde_json::Value {
    let mut command = linkdoze(path);
    command.args(["cosim", config, "--random", "--cycles", "2000000"]);
    command.args(["--no-wave", "--json", "--rtl", rtl]);
    let output = command.output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let failed = i32::from(found["mismatches"] != 0);
    assert_eq!(output.status.code(), Some(failed), "{output:?}");
    found
}

/// The configuration with a code, and a histogram of that kind.
fn coded(code: &str, kind: &str) -> String {
    let circular = "kind = \"circular\"";
    assert!(CONFIG.contains(circular));
    CONFIG
        .replace(
            "[states.deep",
            &format!("memory_code = \"{code}\"\n[states.deep"),
        )
        .replace(circular, &format!("kind = \"{kind}\""))
}

/// Of a word in eight that is written, `bits` bits are wrong, anywhere in it; in memories of so many
/// words and bits, if they are given.
fn wrong_bits(bits: u32, shape: Option<(u64, u64)>) -> [Edit; 2] {
    let of_shape = shape.map_or(String::new(), |(words, width)| {
        format!(" & DEPTH == {words} & WIDTH == {width}")
    });
    let second = if bits == 1 { "" } else { " | one << also" };
    let declared = "  reg [WIDTH-1:0] words [0:DEPTH-1];\n";
    let with_wrong = format!(
        "{declared}  reg [15:0] random = 16'hace1;
  wire [WIDTH-1:0] one = {{{{(WIDTH-1){{1'b0}}}}, 1'b1}};
  wire [31:0] draw = {{16'd0, random}};
  wire [31:0] at = draw % WIDTH;
  wire [31:0] also = (at + 1 + draw / WIDTH % (WIDTH - 1)) % WIDTH;
  wire hit = random[15:13] == 3'd0{of_shape};
  wire [WIDTH-1:0] wrong = hit ? one << at{second} : {{WIDTH{{1'b0}}}};
  always @(posedge clk) begin
    if (write_enable) random <= {{random[14:0], ^(random & 16'hb400)}};
  end
"
    );
    let with = WRITES.replace("write_data", "write_data ^ wrong");
    [
        ("ram_1r1w.v", declared.into(), with_wrong),
        ("ram_1r1w.v", WRITES.into(), with),
    ]
}

/// Nothing is told of wrong bits.
fn silent() -> Edit {
    let told = "read_valid ? {wrong, odd & ~wrong} : 2'b00";
    let silent = "read_valid & 1'b0 ? {wrong, odd & ~wrong} : 2'b00";
    ("secded_ram_1r1w.v", told.into(), silent.into())
}

/// A word that is not said to be one that was written is given out with every bit wrong.
fn spoiled_unless_valid() -> Edit {
    let given = "(odd & (place == OWN_PLACE[PLACE-1:0]))";
    let spoiled = format!("{given} ^ ~read_valid");
    ("secded_ram_1r1w.v", given.into(), spoiled)
}

/// The signals in which a run differed first, with what the hardware said.
fn first_difference(found: &serde_json::Value) -> Vec<(String, u64)> {
    let signals = found["mismatch"]["signals"].as_array();
    let signals = signals.map(Vec::as_slice).unwrap_or_default();
    let named = signals.iter().map(|it| {
        let hardware = it["hardware"].as_u64().unwrap();
        (it["signal"].as_str().unwrap().to_owned(), hardware)
    });
    named.collect()
}

/// Single wrong bits in all memories at once make no difference with a code that puts them right.
#[test]
fn single_wrong_bits_are_put_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), coded("secded", "circular")).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let [declared, written] = wrong_bits(1, None);
    edited(path, "rtl", "silent", &[declared, written, silent()]);
    let found = cosim(path, "port.toml", "silent");
    assert_eq!(found["mismatches"], 0, "{found}");
    // Two at once do make one.
    let [declared, written] = wrong_bits(2, None);
    edited(path, "rtl", "two", &[declared, written, silent()]);
    let found = cosim(path, "port.toml", "two");
    assert_ne!(first_difference(&found), []);
}

/// The pin tells of wrong bits in every single memory, before they make any other difference: of one
/// that is put right, of two, and with parity of one.
#[test]
fn wrong_bits_of_every_memory_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut cases = Vec::new();
    for code in ["secded", "parity"] {
        let config = format!("{code}.toml");
        fs::write(path.join(&config), coded(code, "circular")).unwrap();
        run(linkdoze(path).args(["generate", &config, "-o", code]), 0);
        let (json, _) = run(linkdoze(path).args(["estimate", &config, "--json"]), 0);
        let estimate: serde_json::Value = serde_json::from_str(&json).unwrap();
        let entries = estimate["census"]["entries"].as_array().unwrap();
        let memories = entries.iter().filter(|it| it["storage"] == "memory");
        let mut shapes: Vec<(u64, u64)> = memories
            .map(|it| (it["depth"].as_u64().unwrap(), it["width"].as_u64().unwrap()))
            .collect();
        shapes.sort_unstable();
        shapes.dedup();
        // Two of the eight memories hold the same.
        assert_eq!(shapes.len(), 7);
        let told: &[(u32, u64)] = if code == "secded" {
            &[(1, 1), (2, 2)]
        } else {
            &[(1, 2)]
        };
        for shape in shapes {
            cases.extend(told.iter().map(|&(bits, told)| (code, shape, bits, told)));
        }
    }
    share(&cases, 7)
        .par_iter()
        .for_each(|&&(code, shape, bits, told)| {
            let (words, width) = shape;
            let own = format!("{code}-{words}-{width}-{bits}");
            edited(path, code, &own, &wrong_bits(bits, Some(shape)));
            let found = cosim(path, &format!("{code}.toml"), &own);
            let expected = [("memory_upset".to_owned(), told)];
            assert_eq!(first_difference(&found), expected, "{own}");
        });
}

/// What `read_valid` says: no other word is ever used, and no other word is checked, with every kind of
/// histogram. Where it says too much, or too little, that is found.
#[test]
fn words_that_are_used_are_checked_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let kinds = ["circular", "regular", "clearing", "decaying", "map"];
    // A kind, and what of which file says too much (`true`) or too little.
    type Case<'a> = (&'a str, Option<(&'a str, &'a str)>, bool);
    let mut cases: Vec<Case> = Vec::new();
    for kind in kinds {
        let config = format!("{kind}.toml");
        fs::write(path.join(&config), coded("secded", kind)).unwrap();
        run(linkdoze(path).args(["generate", &config, "-o", kind]), 0);
        cases.push((kind, None, false));
    }
    for (file, signal) in [
        ("counter_store.v", "groups_read_valid"),
        ("counter_store.v", "counters_read_valid"),
        ("histogram_circular.v", "lengths_read_valid"),
        ("outcomes.v", "misses_read_valid"),
        ("miss_history.v", "ratios_read_valid"),
        ("hop_monitor.v", "counts_read_valid"),
        ("hop_monitor.v", "counts_to_read_read_valid"),
        ("event_counters.v", "counts_read_valid"),
    ] {
        cases.extend([false, true].map(|says| ("circular", Some((file, signal)), says)));
    }
    share(&cases, 7)
        .par_iter()
        .for_each(|&&(kind, edit, says)| {
            let mut edits = vec![spoiled_unless_valid()];
            if let Some((file, signal)) = edit {
                let from = format!("  assign {signal} = ");
                let to = match says {
                    true => format!("{from}1'b1 | "),
                    false => format!("{from}1'b0 & "),
                };
                edits.push((file, from, to));
            }
            let own = format!(
                "{kind}-{}-{says}",
                edit.map_or("as-it-is".to_owned(), |(file, signal)| format!(
                    "{file}-{signal}"
                ))
            );
            edited(path, kind, &own, &edits);
            let found = cosim(path, &format!("{kind}.toml"), &own);
            assert_eq!(
                found["mismatches"],
                u64::from(edit.is_some()),
                "{own}: {found}"
            );
        });
}
