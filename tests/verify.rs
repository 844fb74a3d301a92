//! `verify`: what the emitted Verilog claims is proved; what is wrong with an edited one is
//! found. `make verify` proves every preset, with its links and with guards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use linkdoze::config::Config;
use linkdoze::rtl;
use linkdoze::verify::{faults, ProofTask, Tools, Verdict};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{every_case, linkdoze, run, share};

/// Times so short that a search sees several transitions.
const CONFIG: &str = "\
[port]
time_width = 16
policy = \"fixed\"
sleep = \"hybrid\"
t_pdt_ns = 2
t_backstop_ns = 20
hybrid_hold_ns = 3
sync = \"levels\"
[states.fast-wake]
t_w_ns = 4
t_s_ns = 3
[states.deep-sleep]
t_w_ns = 6
t_s_ns = 5
t_q_ns = 8
t_r_ns = 2
";

fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), config).unwrap();
    folder
}

fn with_messages() -> String {
    let messages = "sync = \"messages\"\nsync_timeout_ns = 12";
    let config = CONFIG.replace("sync = \"levels\"", messages);
    assert_ne!(config, CONFIG);
    config
}

fn verify(path: &Path, words: &[&str], status: i32) -> Value {
    let verify = ["verify", "port.toml", "--json"];
    let (json, _) = run(linkdoze(path).args(verify).args(words), status);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["proved"], status == 0, "{json}");
    json
}

/// The verdicts on every claim about a top.
fn verdicts<'a>(report: &'a Value, top: &str) -> Vec<(&'a str, &'a str)> {
    let parts = report["parts"].as_array().unwrap();
    let parts: Vec<_> = parts.iter().filter(|it| it["top"] == top).collect();
    assert!(!parts.is_empty(), "{top}");
    let findings = parts
        .iter()
        .flat_map(|it| it["findings"].as_array().unwrap());
    findings
        .map(|it| {
            (
                it["name"].as_str().unwrap(),
                it["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

/// Verifies the emitted Verilog after one change of one file.
fn edited(config: &str, file: &str, from: &str, to: &str, words: &[&str]) -> (TempDir, Value) {
    let folder = folder(config);
    let path = folder.path();
    let generate = ["generate", "port.toml", "-o", "rtl"];
    run(linkdoze(path).args(generate), 0);
    let file = path.join("rtl").join(file);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(from).count(), 1, "`{from}`");
    fs::write(&file, text.replace(from, to)).unwrap();
    let report = verify(path, &[&["--rtl", "rtl"], words].concat(), 1);
    (folder, report)
}

#[test]
fn a_preset_with_level_pins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let init = ["init", "--preset", "bxiv3-hybrid", "-o", "port.toml"];
    run(linkdoze(path).args(init), 0);
    let text = fs::read_to_string(path.join("port.toml")).unwrap();
    assert_eq!(text.matches("sync = \"messages\"").count(), 1);
    let text = text.replace("sync = \"messages\"", "sync = \"levels\"");
    fs::write(path.join("port.toml"), text).unwrap();
    let report = verify(path, &[], 0);
    assert_eq!(report["parts"].as_array().unwrap().len(), 3);
    let verdicts = verdicts(&report, "port");
    for claim in [
        "sends_awake_only",
        "sleeps_in_time",
        "prediction_in_range",
        "u_pdt_timer.t_pdt_kept",
        "u_perfbound.t_pb_in_range",
        "u_perfbound.budget_exact",
        "u_lpi_fsm.down_completes",
        "u_lpi_fsm.up_completes",
        "u_lpi_fsm.wait_bounded",
    ] {
        assert!(verdicts.contains(&(claim, "proved")), "{claim}");
    }
    assert!(verdicts.iter().all(|(_, verdict)| *verdict == "proved"));
}

/// One port and the pair, by the names that the configuration gives to the modules.
#[test]
fn a_link_that_exchanges_messages() {
    let prefix = "[verilog]\nmodule_prefix = \"north_\"\n";
    let folder = folder(&(with_messages() + prefix));
    let one = ["--without-faults", "--claim", "same_state"];
    let report = verify(folder.path(), &one, 0);
    assert_eq!(verdicts(&report, "pair"), [("same_state", "proved")]);
    // All claims about two ports take half a minute.
    if !every_case() {
        return;
    }
    let report = verify(folder.path(), &["--without-faults"], 0);
    for claim in ["wait_bounded", "sleeps_in_time"] {
        assert!(
            verdicts(&report, "north_port").contains(&(claim, "proved")),
            "{claim}"
        );
    }
    let pair = verdicts(&report, "pair");
    for claim in [
        "same_state",
        "sleeps_in_time",
        "u_end_a.wait_bounded",
        "u_end_b.data_meets_awake",
    ] {
        assert!(pair.contains(&(claim, "proved")), "{claim}");
    }
}

/// Two ports with faults. `verify` proves all claims; here are those that take a few seconds.
fn with_faults(claims: &[&str]) -> ProofTask {
    let config = with_messages().replace("\"hybrid\"", "\"fast-wake\"");
    let config = Config::parse(&config, "port.toml").unwrap();
    let mut task = faults::task(&rtl::plan(&config).unwrap()).unwrap().unwrap();
    task.claims.retain(|it| claims.contains(&it.name.as_str()));
    assert_eq!(task.claims.len(), claims.len());
    task
}

fn verdicts_with_faults(task: &ProofTask) -> Vec<Verdict> {
    let tools = Tools::find(None, 100).unwrap();
    let report = faults::prove(task, &tools, &|_| {}).unwrap();
    report.findings.iter().map(|it| it.verdict).collect()
}

#[test]
fn a_link_with_lost_messages_and_resets() {
    let task = with_faults(&[
        "broken_agree_again",
        "reached_data",
        "reached_loss_told",
        "u_end_a.broken_sends_awake_only",
        "u_end_b.broken_commitment_kept",
        "u_end_a.broken_wait_bounded",
        "u_end_b.broken_exchange_ends",
        "u_end_a.broken_silence_ends",
        "u_end_b.broken_gives_up_awake",
    ]);
    for (claim, verdict) in task.claims.iter().zip(verdicts_with_faults(&task)) {
        match claim.name.starts_with("reached_") {
            true => assert!(matches!(verdict, Verdict::Reached { .. }), "{verdict:?}"),
            false => assert_eq!(verdict, Verdict::Proved { induction: None }),
        }
    }
}

/// Every wrong edit breaks a claim about faults, or makes a situation impossible.
#[test]
#[ignore = "long; make test-all runs it"]
fn what_is_wrong_with_faults_is_found() {
    let asleep = "if (is_req_up) begin\n          message_d = ACK;\n          state_d = ";
    let failed = |it| matches!(it, Verdict::Failed { .. });
    for (from, to, claim) in [
        (
            "timed_out = count_q == TIMEOUT;",
            "timed_out = 1'b0;",
            "u_end_b.broken_silence_ends",
        ),
        (
            "if (count_q == START_LAST) begin",
            "if (count_q == TIMEOUT) begin",
            "broken_same_state",
        ),
        (
            asleep,
            &asleep.replace("is_req_up", "is_req_up & awake"),
            "broken_data_meets_awake",
        ),
        (
            "\n      & (state_q != EXCHANGE_AWAIT_DOWN);",
            ";",
            "u_end_a.broken_commitment_kept",
        ),
        // An end that comes out of reset without START never hears that the other one is there.
        (
            "state_q <= EXCHANGE_START;",
            "state_q <= EXCHANGE_IDLE;",
            "reached_asleep",
        ),
    ] {
        let mut task = with_faults(&[claim]);
        let file = task.files.iter_mut().find(|it| it.0 == "link_sync.v");
        let text = &mut file.unwrap().1;
        assert_eq!(text.matches(from).count(), 1, "`{from}`");
        *text = text.replace(from, to);
        let [verdict] = verdicts_with_faults(&task)[..] else {
            panic!("{claim}");
        };
        let found = failed(verdict) || verdict == Verdict::Unreachable;
        assert!(found, "{to}: {verdict:?}");
    }

    // A reset that is shorter than a round trip.
    let mut task = with_faults(&["broken_data_meets_awake"]);
    let mut parameters = task.parameters.iter_mut();
    parameters.find(|it| it.0 == "RESET").unwrap().1 -= 1;
    assert!(verdicts_with_faults(&task).into_iter().all(failed));

    // A claim that is taken out.
    let mut task = with_faults(&["broken_agree_again"]);
    let text = &mut task.files.last_mut().unwrap().1;
    *text = text.replace("broken_agree_again", "agree_again");
    assert_eq!(verdicts_with_faults(&task), [Verdict::Missing]);
}

/// Every wrong edit breaks the claim that speaks of it, and a waveform shows how.
#[test]
#[ignore = "long; make test-all runs it"]
fn what_is_wrong_is_found() {
    for (from, to, claim) in [
        (
            "tx_enable = state_q == LINK_WAKE;",
            "tx_enable = state_q != LINK_DEEP_SLEEP;",
            "sends_awake_only",
        ),
        (
            "over = cycles_q == 3'd0;",
            "over = 1'b0;",
            "u_lpi_fsm.down_completes",
        ),
        (
            "T_W_FAST_WAKE = 3'd3;",
            "T_W_FAST_WAKE = 3'd2;",
            "u_lpi_fsm.up_completes",
        ),
    ] {
        let (folder, report) = edited(CONFIG, "lpi_fsm.v", from, to, &["--depth", "10"]);
        assert!(
            verdicts(&report, "port").contains(&(claim, "failed")),
            "{to}: {report}"
        );
        let trace = folder.path().join(format!("port.{claim}.vcd"));
        let trace = fs::read_to_string(trace).unwrap();
        assert!(trace.contains("$enddefinitions"), "{to}");
    }
}

/// A violation that lies beyond the search is at least no proof.
#[test]
fn what_is_not_proved_is_unknown() {
    let words = ["--depth", "3"];
    let (from, to) = ("over = cycles_q == 3'd0;", "over = 1'b0;");
    let (_, report) = edited(CONFIG, "lpi_fsm.v", from, to, &words);
    let verdicts = verdicts(&report, "port");
    assert!(
        verdicts.contains(&("u_lpi_fsm.down_completes", "unknown")),
        "{report}"
    );
    assert!(
        verdicts.contains(&("sends_awake_only", "proved")),
        "{report}"
    );
}

/// A claim by its name: the others are given, and the report says so.
#[test]
fn one_claim_is_proved_if_the_others_hold() {
    const CLAIM: &str = "u_lpi_fsm.down_completes";
    let words = ["--depth", "3", "--claim", CLAIM];
    let folder = folder(CONFIG);
    let path = folder.path();
    let report = verify(path, &words, 0);
    assert_eq!(verdicts(&report, "port"), [(CLAIM, "proved")]);
    assert_eq!(report["others_given"], true);
    let (text, _) = run(linkdoze(path).args(["verify", "port.toml"]).args(words), 0);
    let first = text.lines().next();
    assert_eq!(first, Some("PROVED, if all other claims hold: 1 of 1"));

    let (from, to) = ("over = cycles_q == 3'd0;", "over = 1'b0;");
    let (_, report) = edited(CONFIG, "lpi_fsm.v", from, to, &words);
    assert_eq!(verdicts(&report, "port"), [(CLAIM, "unknown")]);

    let misspelt = ["verify", "port.toml", "--claim", "u_lpi_fsm.down_complete"];
    let (_, err) = run(linkdoze(path).args(misspelt), 2);
    assert!(err.contains(&format!("did you mean `{CLAIM}`?")), "{err}");
}

/// Whoever takes a claim out of the files has not proved it.
#[test]
fn a_claim_that_is_gone_is_missing() {
    let claim = "down_completes: assert (down_completes_holds);";
    let file = "checkers/lpi_fsm_checker.sv";
    let words = ["u_lpi_fsm.down_completes", "u_lpi_fsm.up_completes"];
    let words = words.map(|name| ["--claim", name]).concat();
    let (_, report) = edited(CONFIG, file, claim, ";", &words);
    let port = verdicts(&report, "port");
    assert!(
        port.contains(&("u_lpi_fsm.down_completes", "missing")),
        "{report}"
    );
    assert!(port.contains(&("u_lpi_fsm.up_completes", "proved")));
}

/// A checker proves what it is connected to, and nothing if it is not bound.
#[test]
fn checkers_are_proved_as_they_are_bound() {
    let folder = folder(CONFIG);
    let path = folder.path();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let file = path.join("rtl/checkers/bind.sv");
    let text = fs::read_to_string(&file).unwrap();
    let (begin, _) = text.split_once("bind lpi_fsm ").unwrap();
    fs::write(&file, begin).unwrap();
    let one = |claim| {
        let words = ["--rtl", "rtl", "--depth", "3", "--claim", claim];
        verify(path, &words, 1)
    };
    let report = one("u_lpi_fsm.legal_state");
    assert!(verdicts(&report, "port").contains(&("u_lpi_fsm.legal_state", "missing")));

    let pin = ".tx_enable (tx_enable)";
    let (pins, name) = text.split_once("bind lpi_fsm ").unwrap();
    assert!(name.contains(pin), "{name}");
    let wrong = name.replace(pin, ".tx_enable (over)");
    fs::write(&file, format!("{pins}bind lpi_fsm {wrong}")).unwrap();
    let report = one("u_lpi_fsm.transmits_awake_only");
    let port = verdicts(&report, "port");
    assert!(!port.contains(&("u_lpi_fsm.transmits_awake_only", "proved")));

    for (from, to, says) in [
        ("u_checker (", "u_checker [1:0] (", "cannot be understood"),
        ("bind lpi_fsm ", "bind lpi ", "there is no module `lpi`"),
        (
            ".u_pdt_timer_passed_q",
            ".u_pdt_timer_over ",
            "has no port `u_pdt_timer_over`",
        ),
    ] {
        let wrong = text.replace(from, to);
        assert_ne!(wrong, text, "{from}");
        fs::write(&file, wrong).unwrap();
        let (_, err) = run(
            linkdoze(path).args(["verify", "port.toml", "--rtl", "rtl"]),
            2,
        );
        assert!(
            err.contains("checkers/bind.sv: ") && err.contains(says),
            "{err}"
        );
    }
    fs::remove_dir_all(path.join("rtl/checkers")).unwrap();
    let (_, err) = run(
        linkdoze(path).args(["verify", "port.toml", "--rtl", "rtl"]),
        2,
    );
    assert!(err.contains("rtl/checkers: cannot read"), "{err}");
}

#[test]
fn the_variable_chooses_yosys() {
    let folder = folder(CONFIG);
    let path = folder.path();
    let program = path.join("own-yosys");
    let script = "#!/bin/sh\necho \"$1\" >> \"$0.calls\"\nexec yosys \"$@\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let verify = ["verify", "port.toml", "--claim", "sends_awake_only"];
    run(linkdoze(path).args(verify).env("YOSYS", &program), 0);
    let calls = fs::read_to_string(path.join("own-yosys.calls")).unwrap();
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls[0], "-V");
    assert!(
        calls.len() > 1 && calls[1..].iter().all(|call| *call == "-q"),
        "{calls:?}"
    );

    let (out, err) = run(
        linkdoze(path).args(verify).env("YOSYS", "/nowhere/yosys"),
        2,
    );
    assert_eq!(out, "");
    assert!(
        err.contains("/nowhere/yosys") && err.contains("variable YOSYS"),
        "{err}"
    );
}

#[test]
fn no_time_is_no_proof() {
    let folder = folder(CONFIG);
    let verify = ["verify", "port.toml", "--timeout", "0"];
    let (out, err) = run(linkdoze(folder.path()).args(verify), 2);
    assert_eq!(out, "");
    assert!(
        err.contains("--timeout") && err.contains("from 1 to 1000000"),
        "{err}"
    );
}

/// The claim is still there, and wrong or undecided.
fn assert_not_proved(report: &Value, claim: &str) {
    assert_not_proved_of(report, "port", claim);
}

/// The same of a claim about this top.
fn assert_not_proved_of(report: &Value, top: &str, claim: &str) {
    let all = verdicts(report, top);
    let verdict = all.iter().find(|(name, _)| *name == claim).unwrap().1;
    assert!(
        ["failed", "unknown"].contains(&verdict),
        "{claim}: {verdict}"
    );
}

/// What is searched of a port that is wrong: not far, and not with another one.
const BRIEFLY: [&str; 3] = ["--depth", "3", "--port-only"];

/// From any state, legal or not, a link wakes by a whole transition up: a fault of the hardware never
/// leads to transmission over a link that may be asleep.
#[test]
#[ignore = "long; make test-all runs it"]
fn no_state_leads_straight_to_wake() {
    const CLAIMS: [&str; 5] = [
        "recovery_sends_awake_only",
        "recovery_wakes_by_going_up",
        "recovery_takes_t_w",
        "recovery_completes",
        "recovery_goes_up",
    ];
    let name = |claim: &str| format!("u_lpi_fsm.u_recovery_claims.{claim}");
    let deep_sleep = CONFIG.replace("\"hybrid\"", "\"deep-sleep\"");
    // A way up from fast wake that takes longer.
    let longer = CONFIG.replace("t_w_ns = 4", "t_w_ns = 7");
    for config in [&longer, &deep_sleep] {
        let folder = folder(config);
        let report = verify(folder.path(), &["--port-only"], 0);
        let port = verdicts(&report, "port");
        for claim in CLAIMS {
            assert!(port.contains(&(&name(claim), "proved")), "{claim}");
        }
    }
    let no_such = "default: begin\n        // No such state: the link may be asleep.\n        ";
    let not_used =
        "LINK_FAST_WAKE: begin\n        // Not used in this configuration: the link may \
                    be asleep.\n        ";
    let up = "state_d = LINK_GOING_UP;\n        cycles_d = LONGEST_UP;";
    for (config, state, instead, claim) in [
        (
            CONFIG,
            no_such,
            "state_d = LINK_WAKE;",
            "recovery_wakes_by_going_up",
        ),
        (
            &deep_sleep,
            not_used,
            "state_d = LINK_WAKE;",
            "recovery_wakes_by_going_up",
        ),
        (CONFIG, no_such, "", "recovery_goes_up"),
        (
            CONFIG,
            no_such,
            "state_d = LINK_GOING_UP;\n        cycles_d = 0;",
            "recovery_takes_t_w",
        ),
    ] {
        let (from, to) = (format!("{state}{up}"), format!("{state}{instead}"));
        let (_, report) = edited(config, "lpi_fsm.v", &from, &to, &BRIEFLY);
        assert_not_proved(&report, &name(claim));
        // The other claims speak of states that can be reached, and hold.
        assert!(verdicts(&report, "port").contains(&("u_lpi_fsm.up_completes", "proved")));
    }
}

/// A register in three copies outvotes one, and tells; where one copy decides, that is not proved.
#[test]
#[ignore = "long; make test-all runs it"]
fn copies_outvote_an_upset() {
    const CLAIMS: [&str; 3] = ["two_outvote_one", "upset_told", "upset_gone"];
    let config = CONFIG.replace("[port]\n", "[port]\ntriple_redundancy = true\n");
    let folder = folder(&config);
    let report = verify(folder.path(), &["--port-only"], 0);
    let voting = verdicts(&report, "voting");
    assert_eq!(voting, CLAIMS.map(|claim| (claim, "proved")));
    let votes = "(copy_1 & copy_2) | (copy_1 & copy_3) | (copy_2 & copy_3)";
    for (from, to, claim) in [
        (votes, "copy_1", "two_outvote_one"),
        ("{(copy_2 != q)", "{(copy_1 != q)", "upset_told"),
        ("copy_3 <= d ^", "copy_3 <= copy_3 ^", "upset_gone"),
    ] {
        let (_, report) = edited(&config, "voted_register.v", from, to, &BRIEFLY);
        assert_not_proved_of(&report, "voting", claim);
    }
}

/// What a memory with a code says of wrong bits holds for words of each width, and wrong edits of the
/// code are not proved.
#[test]
fn a_code_tells_of_wrong_bits() {
    const CLAIMS: [&str; 5] = [
        "whole_word_is_read",
        "wrong_bit_is_told",
        "two_wrong_bits_are_told",
        "zeros_are_told",
        "nothing_told_of_others",
    ];
    let config = |code: &str| {
        let keys = format!("[port]\nmemory_code = \"{code}\"\n");
        let config = CONFIG.replace("[port]\n", &keys);
        let predicting = config.replace("\"fixed\"", "\"perfbound\"");
        assert_ne!(predicting, config);
        predicting + "[histogram]\nbins = 16\ncounter_bits = 4\nmax_samples = 12\n"
    };
    // The counters of bins, and the words of groups of them.
    let names: Vec<String> = CLAIMS
        .iter()
        .flat_map(|claim| ["u_4", "u_8"].map(|word| format!("{word}.{claim}")))
        .collect();
    let mut arguments = vec!["--port-only"];
    arguments.extend(names.iter().flat_map(|name| ["--claim", name.as_str()]));
    for code in ["parity", "secded"] {
        let folder = folder(&config(code));
        let report = verify(folder.path(), &arguments, 0);
        let proved: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "proved")).collect();
        assert_eq!(verdicts(&report, "coding"), proved, "{code}");
    }
    let edits = [
        (
            "secded",
            "(odd & (place == OWN_PLACE[PLACE-1:0]))",
            "1'b0",
            "wrong_bit_is_told",
        ),
        (
            "secded",
            "{wrong, odd & ~wrong}",
            "{odd & wrong, odd}",
            "two_wrong_bits_are_told",
        ),
        (
            "secded",
            "(check < 2) ? 1'b1",
            "1'b0 ? 1'b1",
            "zeros_are_told",
        ),
        ("secded", "read_valid ?", "1'b1 ?", "nothing_told_of_others"),
        (
            "parity",
            "assign read_data = stored",
            "assign read_data = ~stored",
            "whole_word_is_read",
        ),
    ];
    for &(code, from, to, claim) in share(&edits, 3) {
        let claim = format!("u_4.{claim}");
        let file = format!("{code}_ram_1r1w.v");
        let arguments = ["--port-only", "--depth", "1", "--claim", claim.as_str()];
        let (_, report) = edited(&config(code), &file, from, to, &arguments);
        assert_not_proved_of(&report, "coding", &claim);
    }
}

/// What the control pins say holds, and wrong edits of it are not proved.
#[test]
#[ignore = "long; make test-all runs it"]
fn control_pins_are_obeyed() {
    let with_pins = |config: &str| config.replace("[port]\n", "[port]\ncontrol_pins = true\n");
    let messages = with_pins(&(with_messages() + GUARDED));
    let levels = with_pins(CONFIG);
    for (config, sync) in [(&messages, "messages"), (&levels, "levels")] {
        let folder = folder(config);
        let report = verify(folder.path(), &["--port-only"], 0);
        let port = verdicts(&report, "port");
        for claim in [
            "silent_without_link",
            "waits_for_link",
            "held_awake",
            "sleeps_in_time",
        ] {
            assert!(port.contains(&(claim, "proved")), "{sync}: {claim}");
        }
    }
    for (config, file, from, to, claim) in [
        (
            &levels,
            "lpi_fsm.v",
            "still to come.\n      state_d = LINK_GOING_UP;",
            "still to come.",
            "waits_for_link",
        ),
        (
            &levels,
            "port.v",
            "may_sleep = enable & ~force_wake & link_up",
            "may_sleep = ~force_wake & link_up",
            "held_awake",
        ),
        (
            &messages,
            "link_sync.v",
            "message_d = NONE;\n      unheard_d = 1'b1;",
            "unheard_d = 1'b1;",
            "silent_without_link",
        ),
        (
            &messages,
            "port.v",
            "guard_permits & enable",
            "guard_permits",
            "held_awake",
        ),
    ] {
        let (_, report) = edited(config, file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}

/// SPEC 3: an end that did not transmit last goes down by itself, after the backstop.
#[test]
#[ignore = "long; make test-all runs it"]
fn a_backstop_that_never_fires_is_not_proved() {
    for config in [CONFIG.to_string(), with_messages()] {
        let fires = "at_backstop = tick & ";
        let never = "at_backstop = 1'b0 & ";
        let (_, report) = edited(&config, "pdt_timer.v", fires, never, &BRIEFLY);
        assert_not_proved(&report, "sleeps_in_time");
    }
}

/// SPEC 12: the guard keeps the bound, and the link still sleeps in time.
const GUARDED: &str = "[perfbound]\nhop_factor = 0.01\nbound = 0.02\n[guard]\nburst = 4\n";

#[test]
fn a_guard_keeps_its_bound() {
    let folder = folder(&(with_messages() + GUARDED));
    let report = verify(folder.path(), &["--port-only"], 0);
    let port = verdicts(&report, "port");
    for claim in ["guard_kept", "token_in_time", "sleeps_in_time"] {
        assert!(port.contains(&(claim, "proved")), "{claim}");
    }
    assert_eq!(report["parts"].as_array().unwrap().len(), 2);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn a_bucket_that_refills_twice_is_not_proved() {
    let config = with_messages() + GUARDED;
    let once = "refilled = part_q + GAIN";
    let twice = "refilled = part_q + GAIN + GAIN";
    let (_, report) = edited(&config, "guard.v", once, twice, &BRIEFLY);
    assert_not_proved(&report, "guard_kept");
}

/// Prediction in a small histogram: 8 bins of 4 ticks, 10 samples, 200 ticks.
const PREDICTS: &str = "\
[port]
time_width = 16
policy = \"perfbound\"
sleep = \"deep-sleep\"
t_pdt_init_ns = 20
t_backstop_ns = 32
sync = \"levels\"
[states.fast-wake]
t_w_ns = 4
t_s_ns = 3
[states.deep-sleep]
t_w_ns = 6
t_s_ns = 4
[histogram]
kind = \"clearing\"
bins = 8
bin_ns = 4
counter_bits = 4
max_samples = 10
ttl_ns = 200
max_value_ns = 32
map_entries = 3
[perfbound]
bound = 0.9
hop_factor = 0.3
";

/// The same with another kind of histogram, and so many bins. A circular one has 3 samples: sums are
/// hard for a solver.
fn predicts(kind: &str, bins: u32) -> String {
    let mut config = PREDICTS.replace("\"clearing\"", &format!("\"{kind}\""));
    let samples = if kind == "circular" { 3 } else { 10 };
    for (from, to) in [
        ("\nbins = 8\n", format!("\nbins = {bins}\n")),
        ("bin_ns = 4", format!("bin_ns = {}", 32 / bins)),
        ("max_samples = 10", format!("max_samples = {samples}")),
    ] {
        assert_eq!(config.matches(from).count(), 1, "{from}");
        config = config.replace(from, &to);
    }
    config
}

/// So many bins that a proof does not have all counters: that is quicker.
fn many_bins() -> String {
    let config = PREDICTS.replace("\nbins = 8\n", "\nbins = 32\n");
    assert_ne!(config, PREDICTS);
    config
}

/// With a correction from the last idle periods.
fn corrects(history: u32) -> String {
    let predicts = many_bins();
    let config = predicts.replace("policy = \"perfbound\"", "policy = \"perfbound-correct\"");
    assert_ne!(config, predicts);
    format!("{config}[correction]\nhistory = {history}\n")
}

/// SPEC 8: the history holds the last `n_R` idle periods, and the ratios of the misses among them.
#[test]
#[ignore = "long; make test-all runs it"]
fn the_history_of_misses_is_proved() {
    for (history, claims) in [
        (16, &["misses_counted", "queue_follows"][..]),
        (2, &["misses_counted", "queue_follows", "ratios_summed"]),
    ] {
        let folder = folder(&corrects(history));
        let report = verify(folder.path(), &[], 0);
        let port = verdicts(&report, "port");
        for wanted in claims {
            let mut found = port.iter().filter(|(name, _)| name.ends_with(wanted));
            assert!(
                found.next().is_some_and(|it| it.1 == "proved"),
                "{history}: {wanted}"
            );
        }
    }
    for (from, to, claim) in [
        (
            "oldest = taking & outcomes_q[1]",
            "oldest = taking & outcomes_q[0]",
            "u_miss_history.u_history_claims.queue_follows",
        ),
        (
            "<< 1'b1) | 17'd1",
            "<< 1'b1) | 17'd0",
            "u_miss_history.u_ratio_claims.ratios_summed",
        ),
    ] {
        let (_, report) = edited(&corrects(2), "miss_history.v", from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}

/// SPEC 6, 7: what is proved of the prediction, for each kind of histogram.
#[test]
#[ignore = "long; make test-all runs it"]
fn predictions_are_proved() {
    for (kind, claims) in [
        ("clearing", &["budget_exact", "t_pb_in_range"][..]),
        ("map", &["budget_exact", "t_pb_in_range"]),
        ("regular", &["budget_is_product", "t_pb_in_range"]),
        ("circular", &["budget_is_product", "t_pb_in_range"]),
        ("decaying", &["budget_is_product", "t_pb_in_range"]),
    ] {
        let config = predicts(kind, 4);
        let folder = folder(&config);
        let report = verify(folder.path(), &[], 0);
        let port = verdicts(&report, "port");
        for claim in claims {
            let claim = format!("u_perfbound.{claim}");
            assert!(port.contains(&(&claim, "proved")), "{kind}: {claim}");
        }
        // With all counters in the proof.
        let counted: &[&str] = match kind {
            "clearing" => &[
                "u_clearing.u_store.u_claims.counters_count",
                "u_clearing.u_store.u_claims.sums_add_up",
                "u_clearing.u_store.u_claims.no_wrap",
                "u_search_claims.window_counted",
                "u_search_claims.search_exact",
            ],
            "circular" => &[
                "u_circular.u_store.u_claims.counters_count",
                "u_circular.u_store.u_claims.sums_add_up",
                "u_circular.u_store.u_claims.no_wrap",
                "u_circular.u_ring_claims.ring_counted",
                "u_circular.u_ring_claims.window_summed",
            ],
            "regular" => &[
                "u_regular.u_store.u_claims.counters_count",
                "u_regular.u_store.u_claims.sums_add_up",
                "u_regular.u_aging_claims.halved_together",
            ],
            "map" => &[
                "u_map.u_map_claims.map_ordered",
                "u_map.u_map_claims.map_covers",
                "u_map.u_map_claims.map_counted",
                "u_map.u_map_claims.map_window_counted",
                "u_map.u_map_claims.map_search_exact",
            ],
            _ => &[],
        };
        for claim in counted {
            assert!(port.contains(&(claim, "proved")), "{claim}");
        }
    }
}

/// Every wrong edit of what predicts breaks the claim that speaks of it.
#[test]
#[ignore = "long; make test-all runs it"]
fn wrong_predictions_are_not_proved() {
    // So many bins that a proof does not have all counters: that is quicker.
    let mut config = PREDICTS.to_owned();
    for (from, to) in [
        ("\nbins = 8\n", "\nbins = 32\n"),
        ("max_value_ns = 32", "max_value_ns = 128"),
        ("t_backstop_ns = 32", "t_backstop_ns = 128"),
    ] {
        assert_eq!(config.matches(from).count(), 1, "{from}");
        config = config.replace(from, to);
    }
    for (file, from, to, claim) in [
        (
            "perfbound.v",
            "PART_AFTER_CARRY = 6'd45;",
            "PART_AFTER_CARRY = 6'd46;",
            "u_perfbound.credit_exact",
        ),
        (
            "perfbound.v",
            "if (index >= NEVER_FROM) begin",
            "if (index > NEVER_FROM) begin",
            "u_perfbound.t_pb_in_range",
        ),
        (
            "perfbound.v",
            "place_d = place_q - 3'd1;",
            "place_d = place_q - 3'd2;",
            "u_perfbound.bins_in_order",
        ),
        (
            "histogram_window.v",
            "SAMPLES_WANTED = 4'd10;",
            "SAMPLES_WANTED = 4'd15;",
            "u_clearing.u_window.samples_fit",
        ),
        (
            "pdt_timer.v",
            "if (active) begin\n      in_force_d",
            "if (active | tick) begin\n      in_force_d",
            "u_pdt_timer.t_pdt_kept",
        ),
    ] {
        let (_, report) = edited(&config, file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
    let regular = PREDICTS.replace("\"clearing\"", "\"regular\"");
    for (file, from, to, claim) in [
        (
            "perfbound.v",
            "FIXED_RATE = 16'd52429;",
            "FIXED_RATE = 16'd52428;",
            "u_perfbound.budget_is_product",
        ),
        // What hardly ever makes a packet more or less: no co-simulation shows it.
        (
            "digit_step.v",
            "multiple = 20'd0;",
            "multiple = 20'd1;",
            "u_perfbound.digit_added",
        ),
        (
            "digit_step.v",
            "| {total[2:1], 16'd0}",
            "| {total[3:2], 16'd0}",
            "u_perfbound.digit_added",
        ),
        (
            "digit_step.v",
            "next_carry = high & (low | carry)",
            "next_carry = high & low",
            "u_perfbound.digit_added",
        ),
        (
            "perfbound.v",
            "carry_d = digit_step_next_carry;",
            "carry_d = 1'b0;",
            "u_perfbound.product_of_digits",
        ),
        (
            "perfbound.v",
            "multiplier_d = {2'd0, live_window};",
            "multiplier_d = {2'd0, live_window} ^ 18'd1;",
            "u_perfbound.digits_of_window",
        ),
    ] {
        let (_, report) = edited(&regular, file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}

/// SPEC 7: a budget that is added up several ticks at a time is that of the window where it is taken.
#[test]
#[ignore = "long; make test-all runs it"]
fn a_budget_in_steps_is_proved() {
    let config = many_bins() + "budget_step_ticks = 16\n";
    let folder = folder(&config);
    let report = verify(folder.path(), &["--port-only"], 0);
    let port = verdicts(&report, "port");
    for claim in ["budget_exact", "steps_told", "never_behind_a_search"] {
        let claim = format!("u_perfbound.{claim}");
        assert!(port.contains(&(&claim, "proved")), "{claim}");
    }
    for (file, from, to, claim) in [
        (
            "perfbound.v",
            "needed = ended | pending_q;",
            "needed = ended;",
            "u_perfbound.never_behind_a_search",
        ),
        (
            "perfbound.v",
            "{1'b0, ticks_behind} + {4'd0, window_step}",
            "{1'b0, ticks_behind}",
            "u_perfbound.credit_exact",
        ),
        (
            "parts_of_ticks.v",
            "      5'd9: begin\n        value = ",
            "      5'd9: begin\n        value = 6'd1 ^ ",
            "u_perfbound.steps_told",
        ),
    ] {
        let (_, report) = edited(&config, file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}

/// With all counters in the proof: how the histogram counts, and the bin that the search finds.
#[test]
#[ignore = "long; make test-all runs it"]
fn wrong_histograms_and_searches_are_not_proved() {
    for (kind, file, from, to, claim) in [
        (
            "circular",
            "histogram_circular.v",
            "evicted_bin_d = oldest_bin;",
            "evicted_bin_d = sample_bin;",
            "u_circular.u_ring_claims.ring_counted",
        ),
        (
            "regular",
            "histogram_regular.v",
            "store_twice = starts | (halving_q & (sample_bin >= next_bin_q))",
            "store_twice = starts",
            "u_regular.u_aging_claims.halved_together",
        ),
        (
            "map",
            "map_entry.v",
            "tail_held_d = above_tail +",
            "tail_held_d = tail_held_q +",
            "u_map.u_map_claims.map_counted",
        ),
        (
            "map",
            "map_entry.v",
            "key_held_d = above_key;",
            "key_held_d = key_held_q;",
            "u_map.u_map_claims.map_covers",
        ),
        (
            "map",
            "map_entry.v",
            "holds_d = key_held_q == next_sample;",
            "holds_d = key_held_q == sample;",
            "u_map.u_map_claims.map_counted",
        ),
        (
            "map",
            "bin_meter.v",
            "tick & (present_q != TOP_BIN) &",
            "tick &",
            "u_key_claims.key_follows",
        ),
        (
            "map",
            "map_entry.v",
            "answered_d = above_answers & ~above_stays;",
            "answered_d = answers;",
            "u_map.u_map_claims.map_search_exact",
        ),
        (
            "clearing",
            "perfbound.v",
            "rest = {1'b0, left_q} - {1'b0, samples_q}",
            "rest = {1'b0, left_q} - {1'b0, samples_q} - 5'd1",
            "u_search_claims.search_exact",
        ),
        (
            "clearing",
            "counter_store.v",
            "new_mask = mask | (2'd1 << here_place)",
            "new_mask = mask",
            "u_clearing.u_store.u_claims.counters_count",
        ),
    ] {
        let (_, report) = edited(&predicts(kind, 4), file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}

/// IHI 0022: the handshakes of AXI4-Lite, and what comes of a write. `make verify` has four more
/// wrong edits.
#[test]
#[ignore = "long; make test-all runs it"]
fn the_registers_follow_the_rules_of_axi4_lite() {
    let config = many_bins().replace("[states.fast-wake]", "registers = true\n[states.fast-wake]");
    let folder = folder(&config);
    let report = verify(folder.path(), &["--port-only"], 0);
    let port = verdicts(&report, "port");
    for claim in [
        "sleeps_in_time",
        "u_axi_lite.write_answer_kept",
        "u_axi_lite.read_answer_kept",
        "u_axi_lite.writes_answered_once",
        "u_axi_lite.reads_answered_once",
        "u_axi_lite.write_goes_in_time",
        "u_csr.staged_by_writes",
        "u_csr.in_force_together",
        "u_csr.u_event_counters.no_carry_lost",
        "u_csr.u_event_counters.carry_moves",
    ] {
        assert!(port.contains(&(claim, "proved")), "{claim}");
    }
    for (file, from, to, claim) in [
        (
            "axi_lite.v",
            "may_write = aw_full_q & w_full_q & ~b_full_q",
            "may_write = aw_full_q & w_full_q",
            "u_axi_lite.write_answer_kept",
        ),
        (
            "csr.v",
            "commits = pending_q & ready_q & active",
            "commits = pending_q & ready_q",
            "u_csr.in_force_together",
        ),
        (
            "event_counters.v",
            "turn_d = turn_q + 5'd1",
            "turn_d = turn_q + 5'd3",
            "u_csr.u_event_counters.no_carry_lost",
        ),
        // What hardly ever comes together: no co-simulation shows it.
        (
            "event_counters.v",
            "visits_3 = here_3 & (asks_q | (calls_3 & ~visited_else))",
            "visits_3 = here_3 & (asks_q | calls_3)",
            "u_csr.u_event_counters.carry_moves",
        ),
        (
            "event_counters.v",
            "visits_3 = here_3 & (asks_q | (calls_3 & ~visited_else))",
            "visits_3 = here_3 & (calls_3 & ~visited_else)",
            "u_csr.u_event_counters.carry_moves",
        ),
        (
            "event_counters.v",
            "carries = around & (&middle_then)",
            "carries = around & (|middle_then)",
            "u_csr.u_event_counters.carry_reaches_all",
        ),
    ] {
        let (_, report) = edited(&config, file, from, to, &BRIEFLY);
        assert_not_proved(&report, claim);
    }
}
