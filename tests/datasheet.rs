//! `linkdoze datasheet`: the same content as Markdown and as HTML, from the configuration alone.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{folder_of, linkdoze, run, without_notes, PRESETS};

fn output(folder: &Path, words: &str) -> String {
    run(linkdoze(folder).args(words.split(' ')), 0).0
}

/// The diagrams of a data sheet in Markdown.
fn diagrams(markdown: &str) -> Vec<Value> {
    let fences = markdown.split("```wavedrom\n").skip(1);
    let texts = fences.map(|rest| rest.split_once("```").unwrap().0);
    texts
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

/// The cells of the rows that begin with `name`.
fn cells(markdown: &str, name: &str) -> Vec<String> {
    let line = markdown
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")));
    let line = line.unwrap_or_else(|| panic!("no row {name} in {markdown}"));
    let cells = line.trim_matches('|').split(" | ");
    cells.map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn it_says_what_generate_and_estimate_say() {
    for preset in PRESETS {
        let folder = folder_of(preset);
        let path = folder.path();
        output(path, "-q generate port.toml -o verilog");
        let sheet = output(path, "datasheet port.toml");
        assert_eq!(sheet, output(path, "datasheet port.toml"), "{preset}");
        let estimate: Value =
            serde_json::from_str(&output(path, "estimate port.toml --json")).unwrap();

        // The answers come first.
        let lines: Vec<&str> = sheet.lines().collect();
        assert_eq!(lines[0], "# Data sheet: `port`");
        assert!(
            lines[2].starts_with("Power controller of one end of a link."),
            "{}",
            lines[2]
        );
        let registers = estimate["census"]["register_bits"].to_string();
        assert_eq!(cells(&sheet, "registers")[1], format!("{registers} bits"));
        assert!(lines
            .iter()
            .take(25)
            .any(|line| line.starts_with("| wait for the link |")));

        let verilog = fs::read_to_string(path.join("verilog/port.v")).unwrap();
        let declared = verilog.lines().filter(|line| {
            let line = line.trim_start();
            line.starts_with("input ") || line.starts_with("output ")
        });
        let mut pins = 0;
        for line in declared {
            let (pin, meaning) = line.split_once("//").unwrap();
            let name = pin.trim().trim_end_matches(',').rsplit(' ').next().unwrap();
            let row = cells(&sheet, &format!("`{name}`"));
            let direction = pin.trim().split_once("put ").unwrap().0;
            assert_eq!(row[2], direction, "{name}");
            assert_eq!(row[3], meaning.trim(), "{name}");
            pins += 1;
        }
        assert!(pins > 10);
        let latency = &estimate["latency"]["update_cycles"];
        let row = cells(&sheet, "new threshold after an idle period");
        assert_eq!(row[1], latency.to_string());
        let hash = estimate["configuration_sha256"].as_str().unwrap();
        assert!(sheet.contains(hash));
    }
}

/// What software can change is not said to be so always: t_w of deep sleep is 4,480 cycles of 1 ns, and
/// an eighth to eight times of that is legal. PerfBound's threshold stays below `h_maxval` (SPEC 7.5),
/// whatever software may set of the policy fixed.
#[test]
fn times_that_software_sets_are_given_with_their_range() {
    let folder = folder_of("bxiv3-deep-sleep");
    let path = folder.path();
    let text = "[port]\nsleep = \"fast-wake\"\nregisters = true\ncontrol_pins = true\n\
                timing_range = 8\n";
    fs::write(path.join("port.toml"), text).unwrap();
    let sheet = output(path, "datasheet port.toml");
    let row = |name: &str| cells(&sheet, name)[1..].join(" | ");
    assert!(
        row("from deep sleep to wake").ends_with("after reset; software may set 560 to 35840"),
        "{sheet}"
    );
    let up = row("from `link_up` to wake");
    assert!(
        up.starts_with("4480 ") && up.contains("at most 35840"),
        "{up}"
    );
    assert!(
        sheet.contains("or the longest, 4.194 ms (4194304 ticks)"),
        "{sheet}"
    );
    assert!(
        sheet.contains("is awake at most 35.84 us after it rises"),
        "{sheet}"
    );
    assert!(
        sheet.contains("in the times that software has set"),
        "{sheet}"
    );

    // The estimate counts the bits of the timer that is built.
    let json = output(path, "estimate port.toml --json");
    let estimate: Value = serde_json::from_str(&json).unwrap();
    let registers = estimate["registers"].as_array().unwrap();
    let timer = registers.iter().find(|it| it["name"] == "transition timer");
    let entries = estimate["census"]["entries"].as_array().unwrap();
    let built = entries.iter().find(|it| {
        it["block"]
            .as_str()
            .is_some_and(|of| of.ends_with("lpi_fsm"))
            && it["name"] == "cycles"
    });
    assert_eq!(timer.unwrap()["bits"], 16, "{json}");
    assert_eq!(timer.unwrap()["bits"], built.unwrap()["width"], "{json}");
}

#[test]
fn its_diagrams_are_of_this_configuration() {
    let folder = folder_of("bxiv3-deep-sleep");
    let path = folder.path();
    let lane = |diagram: &Value, name: &str| -> Value {
        let signal = diagram["signal"].as_array().unwrap();
        let found = signal.iter().find(|lane| lane["name"] == name);
        found
            .unwrap_or_else(|| panic!("{name} in {diagram}"))
            .clone()
    };
    let [sleep, wake]: [Value; 2] = diagrams(&output(path, "datasheet port.toml"))
        .try_into()
        .unwrap();
    for diagram in [&sleep, &wake] {
        let lengths: Vec<usize> = (diagram["signal"].as_array().unwrap().iter())
            .map(|lane| lane["wave"].as_str().unwrap().len())
            .collect();
        assert!(
            lengths.iter().all(|length| *length == lengths[0]),
            "{diagram}"
        );
    }
    assert_eq!(
        lane(&sleep, "message_out")["data"],
        serde_json::json!(["REQ_DOWN", "SYNC"])
    );
    assert_eq!(
        lane(&sleep, "message_in")["data"],
        serde_json::json!(["ACK"])
    );
    let states = &lane(&sleep, "power_state")["data"];
    assert_eq!(
        states,
        &serde_json::json!(["wake", "going-down", "deep-sleep"])
    );
    let states = &lane(&wake, "power_state")["data"];
    assert_eq!(
        states,
        &serde_json::json!(["deep-sleep", "going-up", "wake"])
    );

    // A longer threshold, and a link that takes longer to sleep, are seen.
    let rows = |sheet: &str, what: &str| -> i64 {
        let line = sheet.lines().find(|line| line.contains(what)).unwrap();
        line.split('|').nth(1).unwrap().trim().parse().unwrap()
    };
    let before = output(path, "datasheet port.toml");
    let text = fs::read_to_string(path.join("port.toml")).unwrap();
    let edited = text.replace("t_s_ns = 2000", "t_s_ns = 2500");
    assert_ne!(text, edited);
    fs::write(path.join("port.toml"), edited).unwrap();
    let after = output(path, "datasheet port.toml");
    let took = |sheet: &str| {
        rows(sheet, "`power_state` deep-sleep") - rows(sheet, "`power_state` going-down")
    };
    assert_eq!([took(&before), took(&after)], [2000, 2500]);

    fs::write(path.join("port.toml"), "[port]\npolicy = \"always-on\"\n").unwrap();
    let sheet = output(path, "datasheet port.toml");
    assert!(sheet.contains("never goes to sleep by itself"), "{sheet}");
    assert!(diagrams(&sheet).is_empty());
}

#[test]
fn the_page_refers_to_nothing_outside_and_says_the_same() {
    let folder = folder_of("bxiv3-hybrid");
    let path = folder.path();
    let markdown = output(path, "datasheet port.toml --ports 16");
    run(
        linkdoze(path).args("datasheet port.toml --ports 16 -o sheet.html".split(' ')),
        0,
    );
    run(
        linkdoze(path).args("datasheet port.toml --ports 16 -o sheet.md".split(' ')),
        0,
    );
    assert_eq!(fs::read_to_string(path.join("sheet.md")).unwrap(), markdown);
    let page = fs::read_to_string(path.join("sheet.html")).unwrap();
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for mark in ["http", "src=", "href=", "<script", "url(", "@import"] {
        assert!(!outside.contains(mark), "{mark}");
    }
    assert_eq!(page.matches("<svg ").count(), 3);
    assert_eq!(
        page.matches("<h2>").count(),
        markdown.matches("\n## ").count()
    );
    let rows = markdown
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| --") && *line != "|  |  |");
    assert_eq!(page.matches("<tr>").count(), rows.count());
    for text in [
        "`queue_nonempty_0` to `queue_nonempty_15`",
        "each port: the output queue holds a packet",
        "Page of port k, 0 to 15, at k * 0x1000",
        "Page of all ports, at 0x10000",
        "u_port_0 to u_port_15 (port)",
    ] {
        assert!(markdown.contains(text), "{text}");
    }
    assert!(page.contains("<code>queue_nonempty_0</code> to <code>queue_nonempty_15</code>"));
}

#[test]
fn what_it_cannot_write_it_says() {
    let folder = folder_of("bxiv3-hybrid");
    let path = folder.path();
    let (out, err) = run(
        linkdoze(path).args("datasheet port.toml -o sheet.pdf".split(' ')),
        2,
    );
    let says =
        "error: sheet.pdf: the end of the name tells neither Markdown nor HTML; end it with \
                .md or .html\n";
    assert_eq!((out.as_str(), without_notes(&err).as_str()), ("", says));
    fs::write(
        path.join("port.md"),
        fs::read(path.join("port.toml")).unwrap(),
    )
    .unwrap();
    let (_, err) = run(
        linkdoze(path).args("datasheet port.md -o ./port.md".split(' ')),
        2,
    );
    assert!(
        err.contains("is the same file, and an input of this run"),
        "{err}"
    );
    let left = fs::read_dir(path).unwrap().count();
    assert_eq!(left, 2);
}
