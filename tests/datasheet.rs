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

/// The sheet has every pin of the emitted module, with its direction and its meaning.
fn check_pins(sheet: &str, file: &Path) {
    let verilog = fs::read_to_string(file).unwrap();
    let declared = verilog.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("input ") || line.starts_with("output ")
    });
    let mut pins = 0;
    for line in declared {
        let (pin, meaning) = line.split_once("//").unwrap();
        let name = pin.trim().trim_end_matches(',').rsplit(' ').next().unwrap();
        let row = cells(sheet, &format!("`{name}`"));
        let direction = pin.trim().split_once("put ").unwrap().0;
        assert_eq!(row[2], direction, "{name}");
        assert_eq!(row[3], meaning.trim(), "{name}");
        pins += 1;
    }
    assert!(pins > 10);
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

        check_pins(&sheet, &path.join("verilog/port.v"));
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

/// The data sheet of a port of Ethernet says what `generate --ethernet` emits and what `estimate
/// --ethernet` counts, and its diagrams, which are simulated, have the latencies that it prints.
#[test]
fn the_sheet_of_a_port_of_ethernet() {
    let folder = folder_of("10gbase-t");
    let path = folder.path();
    for (mac_latency, interface) in [("8", "xgmii64"), ("0", "xgmii32")] {
        let with = |command: &str| {
            let words = format!("-q {command} --ethernet {interface} --mac-latency {mac_latency}");
            output(path, &words)
        };
        with("generate port.toml -o verilog");
        let sheet = with("datasheet port.toml");
        let estimate: Value = serde_json::from_str(&with("estimate port.toml --json")).unwrap();
        let port = &estimate["ethernet"];

        let lines: Vec<&str> = sheet.lines().collect();
        assert_eq!(lines[0], "# Data sheet: `ethernet_port`");
        assert!(lines[2].starts_with("A port of Ethernet"), "{}", lines[2]);
        check_pins(&sheet, &path.join("verilog/ethernet_port.v"));
        for pin in ["`mac_tx_data`", "`phy_rx_control`", "`t_w_sys`"] {
            cells(&sheet, pin);
        }
        for block in ["u_port (port)", "u_lpi_tx (lpi_tx)", "u_lpi_rx (lpi_rx)"] {
            assert!(sheet.contains(&format!("\n    {block}")), "{block}");
        }
        let registers = estimate["census"]["register_bits"].to_string();
        assert_eq!(cells(&sheet, "registers")[1], format!("{registers} bits"));
        let rate = &port["rate_gbps"];
        assert_eq!(rate, if interface == "xgmii64" { 10.0 } else { 5.0 });
        assert!(
            cells(&sheet, "interface")[1].contains(&format!("{:.0} Gb/s", rate.as_f64().unwrap()))
        );

        // t_w of 10GBASE-T is 700 words, t_s 450.
        let (wake, late) = (&port["wakes"][0], mac_latency.parse::<u64>().unwrap());
        assert_eq!(port["wakes"].as_array().unwrap().len(), 1);
        assert_eq!(wake["state"], "deep-sleep");
        let row = |name: &str| cells(&sheet, name)[1].clone();
        for (name, figure, by_hand) in [
            (
                "a word of the MAC to the PHY, through `lpi_tx`",
                &port["transmit_delay_cycles"],
                1,
            ),
            (
                "a word of the PHY to the MAC, through `lpi_rx`",
                &port["receive_delay_cycles"],
                1,
            ),
            (
                "a frame waits in deep sleep for `mac_tx_enable`",
                &wake["mac_tx_enable_cycles"],
                701,
            ),
            (
                "a frame waits for `mac_tx_enable`",
                &port["wait_cycles"],
                450 + 700 + late,
            ),
            (
                "from `lpi_request` to LPI to the PHY",
                &port["lpi_begins_cycles"],
                late + 1,
            ),
        ] {
            assert_eq!(row(name), figure.to_string(), "{name}");
            assert_eq!(*figure, by_hand, "{name}");
        }
        let at_most = wake["to_wire_at_most_cycles"].as_u64().unwrap();
        assert_eq!(at_most, 702 + late);
        assert!(
            cells(&sheet, "from deep sleep")[1].starts_with(&format!("at most {at_most} cycles"))
        );

        let [_, wakes, received]: [Value; 3] = diagrams(&sheet).try_into().unwrap();
        assert_eq!(
            wakes["signal"][3]["data"],
            serde_json::json!(["idle", "start", "data", "end", "idle"])
        );
        assert_eq!(received["signal"][1]["data"][1], "LPI");
        let mut tables = sheet.split("\n### ").skip(1);
        let [sleep, wakes, received] = [(); 3].map(|()| tables.next().unwrap());
        let at = |table: &str, change: &str| -> u64 {
            let mut rows = table.lines().filter(|line| line.starts_with("| "));
            let row = rows.find(|line| line.contains(change)).unwrap();
            row.split('|').nth(1).unwrap().trim().parse().unwrap()
        };
        let begins = at(sleep, "`lpi_active` 1") - at(sleep, "`lpi_request` 1");
        assert_eq!(port["lpi_begins_cycles"], begins);
        assert_eq!(wake["mac_tx_enable_cycles"], at(wakes, "`mac_tx_enable` 1"));
        assert_eq!(wake["to_wire_cycles"], at(wakes, "`phy_tx word` start"));
        let delay = at(received, "`rx_lpi` 1");
        assert_eq!(port["receive_delay_cycles"], delay);
        for item in [
            format!("may still start one for {mac_latency} clock cycles").as_str(),
            "The MAC looks at `mac_tx_enable` before each frame",
            "until `transmitting` is 1",
            "`link_fault` is 1 while",
            match interface {
                "xgmii64" => "starts frames in lane 0 or 4",
                _ => "starts frames in lane 0,",
            },
            "a `t_s` of 450 words (2.88 us) and a `t_w` of 700 words",
        ] {
            let listed = |line: &&str| line.starts_with("- [ ] ") && line.contains(item);
            assert_eq!(
                lines.iter().filter(|line| listed(line)).count(),
                1,
                "{item}"
            );
        }
    }
}

/// Registers in the place of the pins of times; a port that never sleeps; and a threshold of a minute,
/// whose cycles are not clocked one by one.
#[test]
fn sheets_of_other_ports_of_ethernet() {
    let folder = folder_of("10gbase-t");
    let path = folder.path();
    let sheet = |text: &str| {
        fs::write(path.join("port.toml"), text).unwrap();
        output(path, "-q datasheet port.toml --ethernet cgmii")
    };
    let followed =
        "[port]\nsync = \"lpi\"\nregisters = true\ncontrol_pins = true\ntiming_range = 4\n";
    let text = sheet(followed);
    assert!(!text.contains("| `t_w_sys` |"), "{text}");
    assert!(
        text.contains("(EEE TLV) into `t_w` of the sleep state"),
        "{text}"
    );
    assert!(text.contains("## Registers"), "{text}");
    assert!(text.contains("starts frames in lane 0, and"), "{text}");
    // Four times the times of deep sleep, 2,000 and 4,480, and a mac_latency of 16.
    let wait = cells(&text, "a frame waits for `mac_tx_enable`");
    assert_eq!(wait[1], (4 * (2_000 + 4_480) + 16).to_string());
    assert_eq!(diagrams(&text).len(), 3);
    // A second (IEEE 802.3, 78.1.2.1.2) at 1 GHz.
    assert!(
        text.contains("`hold_off` is tied to 1000000000 clock cycles"),
        "{text}"
    );
    // Without the shims their pins are inputs.
    assert!(!text.contains("| `rx_lpi` | in "), "{text}");
    let alone = output(path, "-q datasheet port.toml");
    assert!(
        alone.contains("`rx_lpi` is 1 while the other end sends"),
        "{alone}"
    );

    let text = sheet("[port]\nsync = \"lpi\"\npolicy = \"always-on\"\n");
    assert!(text.contains("never goes to sleep by itself"), "{text}");
    assert_eq!(diagrams(&text).len(), 1);

    let minute =
        "[port]\nsync = \"lpi\"\ntime_width = 48\npolicy = \"fixed\"\nt_pdt_ns = \"60 s\"\n\
                  [states.deep-sleep]\nt_q_ns = 10000\nt_r_ns = 100\n";
    let text = sheet(minute);
    let goes = text
        .lines()
        .find(|line| line.contains("`power_state` going-down"));
    let cycle = goes.unwrap().split('|').nth(1).unwrap().trim();
    assert!(
        cycle.parse::<u64>().unwrap().abs_diff(60_000_000_000) <= 2,
        "{cycle}"
    );

    let page = {
        fs::write(path.join("port.toml"), followed).unwrap();
        output(
            path,
            "-q datasheet port.toml --ethernet cgmii -o sheet.html",
        );
        fs::read_to_string(path.join("sheet.html")).unwrap()
    };
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for mark in ["http", "src=", "href=", "<script", "url(", "@import"] {
        assert!(!outside.contains(mark), "{mark}");
    }
    // Blocks, and three diagrams.
    assert_eq!(page.matches("<svg ").count(), 4);

    // What is no port of Ethernet is refused.
    let refused = |words: &str| run(linkdoze(path).args(words.split(' ')), 2).1;
    for command in ["datasheet port.toml", "estimate port.toml"] {
        let said = refused(&format!("{command} --mac-latency 3"));
        assert!(said.contains("--ethernet"), "{said}");
        fs::write(path.join("messages.toml"), "[port]\nsync = \"messages\"\n").unwrap();
        let command = command.replace("port.toml", "messages.toml");
        let said = refused(&format!("{command} --ethernet xgmii64"));
        assert!(
            said.contains("needs \"lpi\", which the presets 10gbase-t"),
            "{said}"
        );
    }
    let said = refused("datasheet port.toml --ethernet xgmii64 --ports 2");
    assert!(said.contains("cannot be used with"), "{said}");
}
