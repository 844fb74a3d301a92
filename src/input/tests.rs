use super::*;
use crate::config::Config;
use crate::network::scenario::Scenario;
use crate::sweep::{self, Sweep};

fn port(text: &str) -> String {
    match Config::parse(text, "p.toml") {
        Ok(config) => config.canonical(),
        Err(error) => error.to_string(),
    }
}

fn scenario(text: &str) -> String {
    match Scenario::parse(text, Path::new("s.toml")) {
        Ok(scenario) => format!("{scenario:?}"),
        Err(error) => error.to_string(),
    }
}

fn sweep(text: &str) -> String {
    match Sweep::parse(text, Path::new("w.toml")) {
        Ok(sweep) => format!("{sweep:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_percentage_that_was_meant_as_a_fraction_is_told() {
    for (text, hint) in [
        (
            "bound = 2",
            "p.toml:2:9: perfbound.bound = 2: must be a fraction above 0 and below 1 \
                       (0.01 is 1 %); 2 % is 0.02",
        ),
        ("bound = 0.5\nhop_factor = 2.5", "2.5 % is 0.025"),
        (
            "hops = [[4, 70], [6, 30]]",
            "perfbound.hops, proportion 70: must be a proportion above \
                                       0 and at most 1; 70 % is 0.7",
        ),
    ] {
        let message = port(&format!("[perfbound]\n{text}"));
        assert!(message.contains(hint), "{text}: {message}");
    }
    let load = |load: &str| scenario(&format!("[traffic]\nkind = \"uniform\"\nload = {load}"));
    let message = load("30");
    let expected = "s.toml:3:8: traffic.load = 30: must be a number from 0.000001 to 1 with at \
                    most 6 decimals; the nearest legal value is 1 (30 % is 0.3)";
    assert_eq!(message, expected);
    let message = sweep("scenario = \"s\"\n[perfbound]\nbounds = [1, 2]\n[vary]\nload = [30]");
    for hint in ["2 % is 0.02", "30 % is 0.3"] {
        assert!(message.contains(hint), "{message}");
    }
    // What is no percentage either, is one already, or is told by what is legal.
    for text in [
        "bound = 0",
        "bound = -1",
        "bound = 100",
        "bound = 1e9",
        "bound = \"200 %\"",
        "bound = 1",
    ] {
        let message = port(&format!("[perfbound]\n{text}"));
        assert!(message.ends_with("below 1 (0.01 is 1 %)"), "{message}");
    }
}

#[test]
fn a_key_in_another_unit_is_told_in_the_key_s_own() {
    for (table, text, hint) in [
        (
            "states.fast-wake",
            "t_w_us = 4.5",
            "p.toml:2:1: states.fast-wake.t_w_us = 4.5: unknown key; 4.5 us is `t_w_ns = 4500`",
        ),
        ("clock", "period_ns = 1.25", "1.25 ns is `period_ps = 1250`"),
        ("states.wake", "power_mw = 500", "500 mW is `power_w = 0.5`"),
        ("perfbound", "bound_percent = 2", "2 % is `bound = 0.02`"),
        (
            "port",
            "t_pdt_ms = \"a\"",
            "t_pdt_ms = \"a\": unknown key; write `t_pdt_ns`",
        ),
        (
            "port",
            "t_pdx_us = 3",
            "unknown key; the nearest known one is `t_pdt_ns`",
        ),
    ] {
        let message = port(&format!("[{table}]\n{text}"));
        assert!(message.contains(hint), "{text}: {message}");
    }
    let message = scenario("[switch]\nqueue_kib = 48\ncable_us = 0.1\n[run]\nduration_s = 1");
    for hint in [
        "48 KiB is `queue_bytes = 49152`",
        "0.1 us is `cable_ns = 100`",
        "1 s is `duration_ns = 1000000000`",
    ] {
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn values_may_carry_their_units() {
    let same = |table: &str, one: &str, other: &str| {
        let text = |value| port(&format!("[{table}]\n{value}"));
        assert_eq!(text(one), text(other), "{one}");
        assert!(text(one).starts_with("[clock]"), "{}", text(one));
    };
    same("states.fast-wake", "t_w_ns = \"4.5 us\"", "t_w_ns = 4500");
    same("states.fast-wake", "t_w_ns = \"4.5us\"", "t_w_ns = 4500");
    same("states.fast-wake", "t_w_ns = \"4.5 µs\"", "t_w_ns = 4500");
    same(
        "states.fast-wake",
        "t_w_ns = \"4500000 ps\"",
        "t_w_ns = 4500",
    );
    same(
        "clock",
        "period_ps = \"0.8 ns\"\ntick_ns = 0.8",
        "period_ps = 800\ntick_ns = 0.8",
    );
    same("port", "t_pdt_ns = \"1e-3 s\"", "t_pdt_ns = 1e6");
    same(
        "port",
        "t_backstop_ns = \"1 ms\"",
        "t_backstop_ns = 1000000",
    );
    same("states.wake", "power_w = \"20500 mW\"", "power_w = 20.5");
    same("perfbound", "bound = \"2 %\"", "bound = 0.02");
    let base = "[traffic]\nkind = \"uniform\"\n";
    let switch = |value: &str| scenario(&format!("{base}[switch]\n{value}"));
    assert_eq!(
        switch("queue_bytes = \"64 KiB\""),
        switch("queue_bytes = 65536")
    );
    assert_eq!(
        switch("link_gbps = \"0.2 Tb/s\""),
        switch("link_gbps = 200")
    );
    let run = |value: &str| scenario(&format!("{base}[run]\n{value}"));
    assert_eq!(run("duration_ns = \"1ms\""), run("duration_ns = 1e6"));
    let vary = |value: &str| {
        let sweep = Sweep::parse(&format!("scenario = \"s\"\n{value}"), Path::new("w.toml"));
        let sweep = sweep.unwrap();
        let experiments: Vec<_> = sweep.experiments(0).copied().collect();
        (sweep.variations.clone(), experiments)
    };
    assert_eq!(
        vary("[vary]\nload = [\"30 %\"]\n[fixed]\nt_pdt_ns = [\"1 us\"]"),
        vary("[vary]\nload = [0.3]\n[fixed]\nt_pdt_ns = [1000]")
    );
    for (table, value, wrong) in [
        (
            "states.fast-wake",
            "t_w_ns = \"4.5 parsecs\"",
            "must be a time from 0.001 to 1000000000 ns in whole picoseconds, as a number, or in \
             quotes with a unit such as \"4.5 us\" (ps, ns, us, µs, ms, s); this is neither",
        ),
        ("states.fast-wake", "t_w_ns = \"4500\"", "this is neither"),
        (
            "states.fast-wake",
            "t_w_ns = \"2 s\"",
            "the nearest legal value is 1000000000",
        ),
        ("states.fast-wake", "t_w_ns = \"us\"", "this is neither"),
        (
            "clock",
            "period_ps = \"0.8005 ns\"",
            "not 800.5 ps; the nearest legal values are 800 and 801",
        ),
        (
            "clock",
            "period_ps = \"-1 ns\"",
            "the nearest legal value is 1",
        ),
        ("port", "time_width = \"32 bits\"", "not a string"),
    ] {
        let message = port(&format!("[{table}]\n{value}"));
        assert!(message.contains(wrong), "{value}: {message}");
    }
}

#[test]
fn a_file_of_another_kind_is_told_with_its_command() {
    let configuration = "[clock]\nperiod_ps = 1000\n[perfbound]\nbound = 0.01\n";
    let network = "# A network.\n[topology]\nkind = \"torus\"\n[traffic]\nkind = \"uniform\"\n";
    let matrix = "scenario = \"s.toml\"\nstates = [\"hybrid\"]\n[perfbound]\nbounds = [0.1]\n";
    for (message, place, what) in [
        (
            port(network),
            "p.toml:2:2: ",
            "a scenario: run `linkdoze simulate p.toml`; the",
        ),
        (
            port(matrix),
            "p.toml:1:1: ",
            "a sweep: run `linkdoze sweep p.toml -o DIR`",
        ),
        (
            scenario(configuration),
            "s.toml:1:2: ",
            "the configuration of a port: run `linkdoze estimate s.toml`; a scenario names it \
             with `controller` in [power]",
        ),
        (
            scenario(matrix),
            "s.toml:1:1: ",
            "a sweep: run `linkdoze sweep s.toml -o DIR`; it names its scenario with `scenario`",
        ),
        (
            sweep(network),
            "w.toml:2:2: ",
            "a scenario: run `linkdoze simulate w.toml`; a sweep names it with `scenario`",
        ),
        (
            sweep("[clock]\ntick_ns = 1\n[port]\nsleep = \"hybrid\"\n"),
            "w.toml:1:2: ",
            "the configuration of a port: run `linkdoze estimate w.toml`",
        ),
        (
            port("num_ranks 2\nrank 0 {\n}\n"),
            "p.toml:1:1: ",
            "a trace in the format GOAL, not a TOML text; if it is a trace: `linkdoze trace info \
             p.toml`",
        ),
    ] {
        let expected = format!("{place}this is {what}");
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    // A table in the wrong place does not make it another kind of file.
    let mixed = port("[port]\ntime_width = 32\n[traffic]\nload = 1\n");
    assert!(
        mixed.contains("p.toml:3:2: traffic: unknown table"),
        "{mixed}"
    );
}

/// Of what is no TOML at all every line is wrong.
#[test]
fn one_syntax_error_is_told_and_the_others_counted() {
    let message = port("[clock]\ntick_ns = \n");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.starts_with("p.toml:2:"), "{message}");
    assert!(message.contains("not valid TOML: "), "{message}");
    for (text, more) in [
        ("tick_ns = \nbins = \n", "1 more syntax error from"),
        (
            &"c3RyYW5nZSBkYXRh\n".repeat(1000),
            " more syntax errors from",
        ),
    ] {
        let message = port(text);
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines.len(), 2, "{message}");
        assert!(lines[0].starts_with("p.toml:1:"), "{message}");
        assert!(lines[0].contains("not valid TOML: "), "{message}");
        assert!(lines[1].starts_with("p.toml:2:"), "{message}");
        assert!(lines[1].contains(more), "{message}");
        assert!(lines[1].ends_with("the file may not be TOML"), "{message}");
    }
    // Names that are there twice are faults of their own.
    let message = port("[clock]\ntick_ns = 1\ntick_ns = 2\n[port]\n[port]\n");
    let places: Vec<&str> = message
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(places, ["p.toml:3:1", "p.toml:5:2"], "{message}");
    assert_eq!(message.matches("remove one of the two").count(), 2);
}

#[test]
fn a_default_that_does_not_fit_is_told_with_its_value() {
    let uniform = "[traffic]\nkind = \"uniform\"\n";
    let message = scenario(&format!("{uniform}[switch]\nmtu_bytes = 1\n"));
    let expected = "switch.min_packet_bytes, left to its default 64: must be 1 to mtu_bytes (1)";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_pattern_has_to_end() {
    let uniform = "[traffic]\nkind = \"uniform\"\n[run]\nduration_ns = ";
    let message = scenario(&format!("{uniform}0\n"));
    let expected = "s.toml:4:15: run.duration_ns = 0: the traffic is a pattern, which never ends: \
                    give a time above 0";
    assert!(message.starts_with(expected), "{message}");
    // A sweep may give it; whoever runs the scenario is told.
    assert!(scenario("[traffic]\nkind = \"uniform\"\n").starts_with("Scenario"));
}

#[test]
fn a_trace_in_the_place_of_a_text_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.zst");
    std::fs::write(&path, [0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2]).unwrap();
    let name = path.display();
    for message in [
        Config::load(&path).unwrap_err().to_string(),
        Scenario::load(&path).unwrap_err().to_string(),
        Sweep::load(&path).unwrap_err().to_string(),
    ] {
        let expected = format!(
            ":1:2: this is a file compressed with zstd, not a TOML text; if it is a trace: \
             `linkdoze trace info {name}`"
        );
        assert!(
            message.starts_with(&format!("{name}{expected}")),
            "{message}"
        );
    }
}

#[test]
fn the_names_of_every_kind_of_file_are_those_of_its_keys() {
    let names = |tables: &[Table]| {
        let mut names: Vec<&str> = Vec::new();
        for table in tables {
            match table.path {
                "" => names.extend(table.keys.iter().map(|key| key.name)),
                path => names.extend(path.split('.').next()),
            }
        }
        names.dedup();
        names
    };
    let scenario = &crate::network::scenario::TABLES;
    assert_eq!(names(&crate::config::TABLES), Kind::Port.names());
    assert_eq!(names(scenario), Kind::Scenario.names());
    assert_eq!(names(&sweep::TABLES), Kind::Sweep.names());
}

#[test]
fn every_key_says_what_it_means() {
    let scenario = &crate::network::scenario::TABLES;
    for table in crate::config::TABLES
        .iter()
        .chain(scenario.iter())
        .chain(sweep::TABLES.iter())
    {
        assert!(!table.about.is_empty(), "{table:?}");
        for key in &table.keys {
            let place = format!("{}.{}", table.path, key.name);
            assert!(!key.about.is_empty() && !key.default.is_empty(), "{place}");
            let literal = key
                .literal_default()
                .map(|default| format!("a = {default}"));
            let literal = literal.map(|text| text.parse::<toml::Table>());
            assert!(literal.is_none_or(|table| table.is_ok()), "{place}");
        }
    }
}

#[test]
fn all_faults_of_a_sweep_come_at_once() {
    let message = sweep(
        "states = [\"asleep\", \"hybrid\", \"hybrid\"]\n[fixed]\nt_pdt_ns = [-1]\n[vary]\nseed = \
         [1, 1]\nlod = [1]\n",
    );
    let places: Vec<&str> = message
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    let expected = ["w.toml:1:11", "w.toml:3:13", "w.toml:5:12", "w.toml:6:1"];
    assert_eq!(places, expected, "{message}");
}

#[test]
fn a_name_is_similar_only_if_it_was_probably_meant() {
    assert_eq!(similar("megafyl", &["megafly", "torus"]), Some("megafly"));
    assert_eq!(similar("fat-tree", &["megafly", "torus"]), None);
    assert_eq!(similar("x", &[]), None);
}

proptest::proptest! {
    /// No text makes a reader panic, and none is refused without a fault.
    #[test]
    fn arbitrary_text_is_no_panic(
        lines in proptest::collection::vec((0usize..64, 0usize..24, "-?[0-9]{1,22}(\\.[0-9]{1,4})?|\"[a-z% ]{0,9}\"|\\[[0-9, ]{0,9}\\]|true"), 0..9),
        kind in 0usize..3,
    ) {
        let all: [&[Table]; 3] = [
            &crate::config::TABLES,
            &crate::network::scenario::TABLES,
            &sweep::TABLES,
        ];
        let mut text = String::new();
        for (table, key, value) in lines {
            let table = &all[kind][table % all[kind].len()];
            // A table without keys has tables of its own.
            let key = table.keys.get(key % table.keys.len().max(1));
            let key = key.map_or("name.topology.k", |key| key.name);
            let path = if table.path.is_empty() { "top" } else { table.path };
            if !text.contains(&format!("[{path}]")) {
                text += &format!("[{path}]\n");
                if !table.kind.is_empty() {
                    text += &format!("kind = \"{}\"\n", table.kind);
                }
            }
            text += &format!("{key} = {value}\n");
        }
        let messages = [port(&text), scenario(&text), super::tests::sweep(&text)];
        proptest::prop_assert!(messages.iter().all(|messages| !messages.is_empty()), "{}", text);
    }
}
