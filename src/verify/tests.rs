//! What the tools say is understood; the proofs themselves are in `tests/verify.rs`.

use std::collections::BTreeSet;

use super::tools::{asserted, read, z3_version, Search, Violation};
use super::{bound, coding, faults, histogram, history, pair, recovery, voting, Claim};
use crate::config::plan::HistogramKind;

fn violation(name: &str, step: u32, trace: Option<&str>) -> Violation {
    Violation {
        name: name.into(),
        step,
        trace: trace.map(|text| text.as_bytes().to_vec()),
    }
}

#[test]
fn versions_of_z3() {
    assert_eq!(z3_version("Z3 version 4.8.12 - 64 bit"), Some((4, 8)));
    assert_eq!(z3_version("Z3 version 4.13.0 - 64 bit"), Some((4, 13)));
    assert_eq!(z3_version("This is cvc5 version 1.0.3"), None);
    assert_eq!(z3_version(""), None);
}

#[test]
fn the_claims_of_a_translated_design() {
    let design = "; yosys-smt2-module port\n; yosys-smt2-assert 0 same_state pair.v:1.2-3.4\n\
                  ; yosys-smt2-assert 12 u_end_a.no_error\n(define-fun |port_a| () Bool true)\n";
    let claims: Vec<(String, usize)> = asserted(design).into_iter().collect();
    assert_eq!(
        claims,
        [("same_state".into(), 0), ("u_end_a.no_error".into(), 12)]
    );
}

/// With `--keep-going` a claim is printed again at every later violation; the first counts.
#[test]
fn violations_with_their_waveforms() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t0.vcd"), "first").unwrap();
    std::fs::write(folder.path().join("t1.vcd"), "second").unwrap();
    let text = "\
##   0:00:00  Solver: cvc4
##   0:00:00  Checking assumptions in step 2..
##   0:00:00  Checking assertions in step 2..
##   0:00:00  BMC failed!
##   0:00:00  Assert failed in lpi_fsm: transmits_awake_only
##   0:00:00  Writing trace to VCD file: t0.vcd
##   0:00:00  Checking remaining assertions..
##   0:00:00  Checking assertions in step 15..
##   0:01:00  waiting for solver (1 minute)
##   0:01:00  Assert failed in lpi_fsm: transmits_awake_only [failed before]
##   0:01:00  Assert failed in lpi_fsm: wait_bounded
##   0:01:00  Writing trace to VCD file: t1.vcd
##   0:01:02  Status: FAILED
";
    let found = read(text, folder.path()).unwrap();
    assert_eq!(
        found,
        Search {
            violations: vec![
                violation("transmits_awake_only", 2, Some("first")),
                violation("wait_bounded", 15, Some("second")),
            ],
            gave_up: false,
        }
    );
}

#[test]
fn a_search_that_finds_nothing() {
    let text = "##   0:00:00  Checking assertions in step 1..\n##   0:00:00  Status: PASSED\n";
    let nothing = Search::default();
    assert_eq!(read(text, "".as_ref()), Some(nothing));
}

/// A solver that gives up has not shown anything; what it found before stands.
#[test]
fn a_search_without_an_end() {
    for answer in [
        "Unexpected response from solver: unknown",
        "Unexpected response from solver: timeout",
        "Unexpected EOF response from solver.",
    ] {
        let text = format!(
            "##   0:00:00  Checking assertions in step 3..\n\
             ##   0:00:00  Assert failed in pair: u_end_b.no_error\n##   0:00:07  {answer}\n"
        );
        let found = Search {
            violations: vec![violation("u_end_b.no_error", 3, None)],
            gave_up: true,
        };
        assert_eq!(read(&text, "".as_ref()), Some(found), "{answer}");
    }
}

/// Whatever else is printed is no proof.
#[test]
fn what_is_not_understood() {
    for text in [
        "",
        "##   0:00:00  Checking assertions in step 1..\n",
        "##   0:00:00  Status: FAILED\n",
        "##   0:00:00  Status: PREUNSAT\n",
        "##   0:00:00  Assert failed in port: legal_state\n##   0:00:00  Status: PASSED\n",
        "##   0:00:00  Unexpected response from solver: (error \"line 3\")\n",
    ] {
        assert_eq!(read(text, "".as_ref()), None, "{text}");
    }
}

/// Yosys sees the checker where the `bind` puts it, and a wire for what it reads inside.
#[test]
fn checkers_are_put_where_they_are_bound() {
    let files = |bind: &str| {
        [
            ("top.f", "top.v\nleaf.v\n"),
            ("leaf.v", "module leaf (input clk);\nendmodule\n"),
            (
                "top.v",
                "// module top\nmodule top (\n  input clk\n);\nendmodule // top\n",
            ),
            (
                "checkers/top_checker.sv",
                "module top_checker (\n  input wire       clk,  // the clock, (1)\n  \
                 input wire [3:0] u_leaf_age_q\n);\nendmodule\n",
            ),
            ("checkers/bind.sv", bind),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
    };
    let bind = "// bind\n\n`default_nettype none\n\nbind top top_checker u_checker (\n    \
                .clk          (clk),  // the clock\n    .u_leaf_age_q (u_leaf.age_q)\n);\n";
    let sources = bound(&files(bind), "top").unwrap();
    let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["leaf.v", "top.v", "top_checker.sv"]);
    assert_eq!(
        sources[1].1,
        "// module top\nmodule top (\n  input clk\n);\n  \
         (* hierconn *) wire [3:0] \\u_leaf.age_q ;\n  \
         top_checker u_checker (.clk(clk), .u_leaf_age_q(u_leaf.age_q));\n  \
         initial assume (rst);\nendmodule // top\n"
    );
    // Without a `bind` there is no checker; what is no `bind` is not taken for one.
    assert!(!bound(&files(""), "top").unwrap()[1].1.contains("checker"));
    for wrong in [
        format!("/*{bind}*/"),
        format!("`ifdef NEVER\n{bind}`endif\n"),
        bind.replace("(clk)", "(clk & 1'b1)"),
        bind.replace("bind top ", "bind top : u_top "),
    ] {
        let error = bound(&files(&wrong), "top").unwrap_err().to_string();
        assert!(error.contains("cannot be understood"), "{error}");
    }
}

/// A claim of `pair_faults.v` that is declared in another way would be lost.
#[test]
fn every_claim_about_two_ports_with_faults_is_found() {
    let (both, each) = faults::TEXT.split_once("module fault_end").unwrap();
    let named = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let claims = words.filter(|it| {
            let rest = it.strip_prefix("broken_").or(it.strip_prefix("reached_"));
            rest.is_some_and(|rest| rest != "X")
        });
        claims.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let of_an_end = named(each);
    let ends = ["u_end_a.", "u_end_b."].into_iter();
    let ends = ends.flat_map(|end| of_an_end.iter().map(move |name| format!("{end}{name}")));
    let written: BTreeSet<String> = named(both).into_iter().chain(ends).collect();
    let found: BTreeSet<String> = faults::claims().into_iter().map(|it| it.name).collect();
    assert_eq!(found, written);
    assert!(of_an_end.len() > 5 && found.len() > 20);
}

/// A claim of `pair.v` that is written in another way would be lost.
#[test]
fn every_claim_about_the_pair_is_found() {
    let claims = pair::claims();
    let (both, each) = pair::TEXT.split_once("module pair_end").unwrap();
    let asserts = |text: &str| text.matches(": assert").count();
    assert!(asserts(both) > 0 && asserts(each) > 0);
    assert_eq!(claims.len(), asserts(both) + 2 * asserts(each));
    assert_eq!(
        claims.len(),
        pair::TEXT.matches("assert (").count() + asserts(each)
    );
    for claim in &claims {
        assert!(claim.says.ends_with(['.', ':']), "{claim:?}");
    }
    for wanted in pair::PROPERTIES {
        let named = |name: &str| name == wanted || name.ends_with(&format!(".{wanted}"));
        let mut kinds = claims.iter().filter(|claim| named(&claim.name));
        assert!(kinds.next().is_some(), "{wanted}");
        assert!(kinds.all(|claim| claim.kind == Claim::Property), "{wanted}");
    }
}

/// So would one of `histogram.v`.
#[test]
fn every_claim_about_a_small_histogram_is_found() {
    let mut names = BTreeSet::new();
    for kind in HistogramKind::ALL {
        for claim in histogram::claims(kind) {
            assert!(claim.says.ends_with('.'), "{claim:?}");
            let (_, name) = claim.name.split_once("_claims.").unwrap();
            let property = histogram::PROPERTIES.contains(&name);
            assert_eq!(property, claim.kind == Claim::Property, "{claim:?}");
            names.insert(name.to_owned());
        }
    }
    assert_eq!(names.len(), histogram::TEXT.matches("assert (").count());
    for wanted in histogram::PROPERTIES {
        assert!(names.contains(wanted), "{wanted}");
    }
}

/// So would one of `history.v`.
#[test]
fn every_claim_about_the_history_of_misses_is_found() {
    let claims = history::claims(true);
    assert_eq!(claims.len(), history::TEXT.matches("assert (").count());
    assert!(claims.iter().all(|claim| claim.says.ends_with('.')));
    let properties = claims.iter().filter(|it| it.kind == Claim::Property);
    assert_eq!(properties.count(), history::PROPERTIES.len());
}

/// So would one of `voting.v`.
#[test]
fn claims_of_voting_are_read() {
    let claims = voting::claims();
    assert_eq!(claims.len(), voting::TEXT.matches("assert (").count());
    assert!(claims.iter().all(|claim| claim.kind == Claim::Property));
    assert!(claims.iter().all(|claim| !claim.says.is_empty()));
    assert_eq!(claims.len(), voting::PROPERTIES.len());
}

/// So would one of `coding.v`.
#[test]
fn claims_of_coding_are_read() {
    let claims = coding::claims(&[(4, 4), (64, 8)]);
    assert_eq!(claims.len(), 2 * coding::TEXT.matches("assert (").count());
    assert!(claims.iter().all(|claim| claim.kind == Claim::Property));
    assert!(claims.iter().all(|claim| claim.says.ends_with('.')));
    assert_eq!(claims.len(), 2 * coding::PROPERTIES.len());
}

/// So would one of `recovery.v`.
#[test]
fn every_claim_about_any_state_is_found() {
    let claims = recovery::claims();
    assert_eq!(claims.len(), recovery::TEXT.matches("assert (").count());
    assert!(claims.iter().all(|claim| claim.says.ends_with('.')));
    let properties = claims.iter().filter(|it| it.kind == Claim::Property);
    assert_eq!(properties.count(), recovery::PROPERTIES.len());
}
