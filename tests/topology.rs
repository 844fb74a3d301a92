//! `linkdoze topology`: networks of the papers, and files that name none.

use std::path::Path;

use crate::common::{linkdoze, run};

fn describe(folder: &Path, network: &str) -> serde_json::Value {
    let (out, err) = run(linkdoze(folder).args(["topology", network, "--json"]), 0);
    assert_eq!(err, "");
    serde_json::from_str(&out).unwrap()
}

/// Element counts by kind: nodes, switches, `switches * radix + NICs`, cables between
/// switches. PerfBound Tables 6 and 7 (Megafly, RLFT); POWAR 4.1 (torus); Alonso 2 (tree); Zahn
/// III.A (Dragonfly); Georgakoudis Table V (row-column Dragonfly, HyperX).
#[test]
fn every_kind_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, nodes, switches, links, switch_links) in [
        ("single-switch", 16, 1, 32, 0),
        ("megafly", 4160, 1040, 20_800, 6240),
        ("rlft", 4394, 845, 26_364, 8788),
        ("torus", 64, 64, 1856, 768),
        ("k-ary-n-tree", 64, 48, 448, 128),
        ("dragonfly", 1056, 264, 5016, 1452),
        ("rc-dragonfly", 4608, 576, 32_256, 11_520),
        ("hyperx", 4608, 384, 23_040, 3648),
    ] {
        let json = describe(folder.path(), kind);
        assert_eq!(json["kind"], kind);
        assert_eq!(json["nodes"], nodes, "{kind}");
        assert_eq!(json["switches"], switches, "{kind}");
        assert_eq!(json["links"], links, "{kind}");
        assert_eq!(json["switch_links"], switch_links, "{kind}");
        let hops = json["hops"].as_object().unwrap();
        let pairs: u64 = hops.values().map(|pairs| pairs.as_u64().unwrap()).sum();
        assert_eq!(pairs, nodes * (nodes - 1), "{kind}");
        let diameter = hops
            .keys()
            .filter_map(|hops| hops.parse::<u64>().ok())
            .max();
        assert_eq!(json["diameter"].as_u64(), diameter, "{kind}");
        // NICs and the switch ports to them send every packet.
        let classes = json["classes"].as_array().unwrap();
        let whole = |class: &&serde_json::Value| class["packets"] == pairs;
        assert!(classes.iter().filter(whole).count() >= 2, "{kind}");
    }
}

/// Alonso 3: "For a 4-ary 3-tree, |MT_S| = 21, |MT_L| = 168, and p_min = 0.4375".
#[test]
fn the_minimal_tree() {
    let folder = tempfile::tempdir().unwrap();
    let tree = ["topology", "k-ary-n-tree", "--minimal"];
    let (out, _) = run(linkdoze(folder.path()).args(tree).arg("--json"), 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["minimal_switches"], 21);
    assert_eq!(json["minimal_links"], 168);
    assert_eq!(json["p_min"], 0.4375);
    let (out, _) = run(linkdoze(folder.path()).args(tree), 0);
    assert!(out.contains("168 of one direction each"), "{out}");
    // POWAR 4.1: four cables between neighbours, of which one stays on; 64 nodes have one each.
    let torus = ["topology", "torus", "--minimal", "--json"];
    let (out, _) = run(linkdoze(folder.path()).args(torus), 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["minimal_links"], 64 * (1 + 1 + 6));
    let dragonfly = ["topology", "dragonfly", "--minimal"];
    let (_, err) = run(linkdoze(folder.path()).args(dragonfly), 2);
    assert!(
        err.contains("in this dragonfly no link could be off"),
        "{err}"
    );
    assert!(describe(folder.path(), "k-ary-n-tree")["p_min"].is_null());
}

#[test]
fn the_megafly_in_figures() {
    let folder = tempfile::tempdir().unwrap();
    let json = describe(folder.path(), "megafly");
    assert_eq!(
        json["hops"],
        serde_json::json!({"2": 4160 * 7, "4": 4160 * 56, "5": 4160 * 4096})
    );
    assert_eq!(
        json["parameters"],
        serde_json::json!({"groups": 65, "radix": 16})
    );
    assert_eq!(
        (&json["lanes"], &json["free_ports"]),
        (&1.into(), &0.into())
    );
    let across = &json["classes"][4];
    assert_eq!(across["name"], "between groups");
    assert_eq!(across["ports"], 4160);
    assert_eq!(across["hops"], serde_json::json!([[5, 1.0]]));
    assert_eq!(across["hop_factor"], 0.2);
    let (text, _) = run(linkdoze(folder.path()).args(["topology", "megafly"]), 0);
    for line in [
        "link ends (switches * radix + NICs)  20800",
        "cables between switches              6240",
        "    5                17039360  98.485 %",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
}

#[test]
fn a_network_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.toml");
    // Zahn III.A.
    let network = "[topology]\nkind = \"torus\"\ndims = [12, 11, 8]\nports_per_link = 1\n";
    for rest in [
        "",
        "[traffic]\nfile = \"not-there.goal\"\n[run]\nseed = 3\n",
    ] {
        std::fs::write(&path, format!("{network}{rest}")).unwrap();
        let json = describe(folder.path(), "network.toml");
        assert_eq!((&json["nodes"], &json["radix"]), (&1056.into(), &7.into()));
        assert_eq!((&json["lanes"], &json["diameter"]), (&2.into(), &17.into()));
        assert_eq!(json["parameters"]["dims"], serde_json::json!([12, 11, 8]));
    }
    std::fs::write(&path, "").unwrap();
    assert_eq!(
        describe(folder.path(), "network.toml")["kind"],
        "single-switch"
    );
    // What is a parameter and a result of it stands once.
    let (text, _) = run(
        linkdoze(folder.path()).args(["topology", "network.toml"]),
        0,
    );
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    assert_eq!(names.filter(|name| *name == "nodes").count(), 1, "{text}");
}

#[test]
fn what_is_no_network_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |network: &str, parts: &[&str]| {
        let (out, err) = run(linkdoze(folder.path()).args(["topology", network]), 2);
        assert_eq!(out, "");
        for part in parts {
            assert!(err.contains(part), "{err}");
        }
    };
    refuse(
        "megafyl",
        &["neither a file nor a kind", "the nearest is megafly;"],
    );
    // Kinds that have other names elsewhere, and one that is misspelt.
    for (name, nearest) in [
        ("fat-tree", "rlft and k-ary-n-tree"),
        ("Fat_Tree", "rlft and k-ary-n-tree"),
        ("dragonfly+", "megafly"),
        ("dragonflly", "dragonfly"),
        ("flattened-butterfly", "hyperx"),
    ] {
        refuse(name, &[&format!("the nearest is {nearest};")]);
    }
    for (text, place, what) in [
        (
            "[topology]\nkind = \"megafyl\"\n",
            "2:8",
            "the nearest is \"megafly\"",
        ),
        (
            "[topology]\nkind = \"fat-tree\"\n",
            "2:8",
            "the nearest is \"rlft\" and \"k-ary-n-tree\"",
        ),
        (
            "[topology]\nkind = \"megafly\"\ngroups = 66\n",
            "3:10",
            "66 take radix = 18",
        ),
        (
            "[topology]\nkind = \"megafly\"\nrdaix = 16\n",
            "3:1",
            "the nearest known one is `radix`",
        ),
        (
            "[topology]\nkind = \"torus\"\ndims = [4, 4, 65]\n",
            "3:15",
            "the nearest legal value is 64",
        ),
        ("[topolgy]\n", "1:2", "the nearest known one is [topology]"),
        ("topology = 3\n", "1:12", "must be a table"),
    ] {
        std::fs::write(folder.path().join("bad.toml"), text).unwrap();
        refuse("bad.toml", &[&format!("error: bad.toml:{place}: "), what]);
    }
}
