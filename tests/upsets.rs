//! Registers in three copies: whatever bits an upset changes in one of them, nothing shows but the pin
//! that tells; where two are changed, or one decides alone, it is found.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use crate::common::{linkdoze, run, share, SHORT_TIMES};

/// A port with registers, whose ends exchange messages.
fn config(triple_redundancy: bool) -> String {
    let config = SHORT_TIMES.replace(
        "sync = \"levels\"",
        &format!(
            "sync = \"messages\"\nsync_timeout_ns = 60\nregisters = true\n\
             timing_range = 2\ntriple_redundancy = {triple_redundancy}"
        ),
    );
    assert_ne!(config, SHORT_TIMES);
    config
}

const VOTES: &str = "\
  assign q = (copy_1 & copy_2) | (copy_1 & copy_3) | (copy_2 & copy_3);
";

const TELLS: &str = "\
  assign upset = {(copy_2 != q) | (copy_3 != q), (copy_1 != q) | (copy_3 != q)};
";

/// What is told of tests alone, and bits that change at random: each of 16 bits in one of eight cycles
/// or so (xorshift, with another seed for every width).
const NOISE: &str = "\
  reg [1:0] told;
  reg [31:0] state = 32'h2545_f491 + WIDTH;
  reg [31:0] next;
  always @(*) begin
    next = state ^ (state << 13);
    next = next ^ (next >> 17);
    next = next ^ (next << 5);
  end
  always @(posedge clk) begin
    state <= next;
    told <= rst ? 2'd0 : inject;
  end
  wire [63:0] noise = inject == 2'd0 ? {4{state[31:16] & state[15:0] & next[31:16]}} : 64'd0;
  assign upset = told;
";

fn with_noise(copies: &[u32], text: &str) -> String {
    let mut text = text.replace(TELLS, NOISE);
    for copy in copies {
        let stored = format!("copy_{copy} <= d ^ ");
        assert!(text.contains(&stored), "{text}");
        text = text.replace(&stored, &format!("{stored}noise[WIDTH-1:0] ^ "));
    }
    text
}

fn generate(path: &Path) {
    fs::write(path.join("port.toml"), config(true)).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
}

/// Bits of the registers of a module that are kept in copies.
fn bits_of_copies(text: &str) -> u64 {
    let widths = text.split("voted_register #(\n      .WIDTH (").skip(1);
    let bits_of = |rest: &str| rest.split(')').next().unwrap().parse::<u64>().unwrap();
    widths.map(bits_of).sum()
}

#[test]
fn an_upset_of_one_copy_is_outvoted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    generate(path);
    let register = fs::read_to_string(path.join("rtl/voted_register.v")).unwrap();
    for statement in [VOTES, TELLS] {
        assert!(register.contains(statement), "{register}");
    }
    let versions = [
        ("upsets of copy 1", with_noise(&[1], &register), 0),
        ("as emitted", register.clone(), 0),
        ("upsets of two copies", with_noise(&[2, 3], &register), 1),
        ("upsets of copy 2", with_noise(&[2], &register), 0),
        (
            "an upset is not told",
            register.replace(TELLS, "  assign upset = 2'd0;\n"),
            1,
        ),
        ("upsets of copy 3", with_noise(&[3], &register), 0),
        (
            "copy 1 decides",
            register.replace(VOTES, "  assign q = copy_1;\n"),
            1,
        ),
    ];
    let versions = share(&versions, 2);
    versions.par_iter().for_each(|(version, text, status)| {
        let own = path.join(version.replace(' ', "-"));
        fs::create_dir(&own).unwrap();
        for file in fs::read_dir(path.join("rtl")).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|it| it == "v") {
                fs::copy(&file, own.join(file.file_name().unwrap())).unwrap();
            }
        }
        fs::write(own.join("voted_register.v"), text).unwrap();
        let words = [
            "cosim",
            "port.toml",
            "--random",
            "--cycles",
            "2M",
            "--no-wave",
        ];
        let (out, _) = run(
            linkdoze(path)
                .args(words)
                .args(["--rtl", own.to_str().unwrap()]),
            *status,
        );
        println!("{version}: {}", out.lines().next().unwrap_or_default());
        if *status == 0 {
            assert!(out.contains("mismatches: 0"), "{version}: {out}");
        }
    });
}

/// Every register of the two blocks, and of the third the sleep state and the times in force, is an instance of the module that is proved to vote, and synthesis
/// keeps all copies: there are two flip-flops more for each bit.
#[test]
#[ignore = "long; make test-all runs it"]
fn synthesis_keeps_all_copies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    generate(path);
    let mut bits = 0;
    for file in ["lpi_fsm.v", "link_sync.v"] {
        let text = fs::read_to_string(path.join("rtl").join(file)).unwrap();
        assert!(!text.contains("posedge"), "{text}");
        bits += bits_of_copies(&text);
    }
    assert!(bits > 20, "{bits}");
    let registers = fs::read_to_string(path.join("rtl/csr.v")).unwrap();
    let kept = [
        "sleep_now_q",
        "last_0_q",
        "last_1_q",
        "last_2_q",
        "last_3_q",
        "last_4_q",
        "last_5_q",
    ];
    for name in kept {
        assert!(
            registers.contains(&format!(".q      ({name})")),
            "{name}: {registers}"
        );
    }
    bits += bits_of_copies(&registers);
    let flip_flops = |name: &str| {
        let words = ["synth", name, "--target", "ice40", "--json"];
        let (out, _) = run(linkdoze(path).args(words), 0);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        report["mappings"][0]["resources"]["flip_flops"]
            .as_u64()
            .unwrap_or_else(|| panic!("{report:#}"))
    };
    fs::write(path.join("single.toml"), config(false)).unwrap();
    let (copied, single) = (flip_flops("port.toml"), flip_flops("single.toml"));
    // The flag of the registers is one more. States that are not kept in copies may be given a code of
    // a flip-flop for each.
    let states = 8 + 6;
    let more = copied - single;
    assert!(
        (2 * bits + 1 - states..=2 * bits + 1).contains(&more),
        "{copied} and {single} flip-flops, {bits} bits in copies"
    );
}
