//! The JSON Schemas and the page of keys, both made from the keys that the readers know.
//! `make schema` gives the schemas to a validator that is not ours.

use std::path::{Path, PathBuf};

use linkdoze::input::{schema, Key, Table, Type};
use linkdoze::network::scenario;
use linkdoze::{config, sweep};
use serde_json::Value;

use crate::common;

/// Set to write the page instead of comparing it (`make reference`).
const WRITE: &str = "LINKDOZE_WRITE_BOOK";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

#[test]
fn the_page_of_keys_is_current() {
    let page = format!(
        "# Every key\n\n\
         This page is made from the tables of keys that check the files themselves \
         (`linkdoze schema port --markdown`, `make reference`). Defaults in code font are values; \
         others say what the value follows from. `linkdoze schema port|scenario|sweep` prints the \
         same as JSON Schema, for editors and validators.\n\n\
         A value with a unit may be written as text with another one: `t_w_ns = \"4.5 us\"`, \
         `power_w = \"500 mW\"`, `queue_bytes = \"48 KiB\"`, `link_gbps = \"0.4 Tb/s\"`, `bound = \
         \"2 %\"`.\n\n\
         ## Configuration of a port\n\n{}\n\
         ## Scenario\n\n\
         The keys of `[topology]` and `[traffic]` depend on `kind`; a key that several kinds have \
         stands with the first.\n\n{}\n\
         ## Sweep\n\n{}",
        schema::markdown(&config::TABLES),
        schema::markdown(&scenario::TABLES),
        schema::markdown(&sweep::TABLES)
    );
    let path = root().join("docs/reference/keys.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    for (there, made) in there.lines().zip(page.lines()) {
        assert_eq!(there, made, "{}: `make reference` mends it", path.display());
    }
    assert!(
        there == page,
        "{}: `make reference` mends it",
        path.display()
    );
}

/// Every schema of an object that has this path: one for each kind.
fn objects<'a>(schema: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = vec![schema];
    for name in path.split('.').filter(|name| !name.is_empty()) {
        found = found
            .into_iter()
            .map(|object| &object["properties"][name])
            .flat_map(|table| {
                match ["oneOf", "anyOf"]
                    .iter()
                    .find_map(|of| table[of].as_array())
                {
                    Some(several) => several.iter().collect(),
                    None => vec![table],
                }
            })
            .collect();
    }
    found
}

/// A key that a reader knows and a schema does not would be an error in every editor.
#[test]
fn the_schemas_have_every_key_and_no_other() {
    let documents: [(&[Table], Value); 3] = [
        (&config::TABLES, config::json_schema()),
        (&scenario::TABLES, scenario::json_schema()),
        (&sweep::TABLES, sweep::json_schema()),
    ];
    for (tables, schema) in documents {
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        assert_eq!(schema["$schema"], dialect);
        for table in tables {
            let names: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
            let same = |object: &&Value| {
                let kind = &object["properties"]["kind"]["const"];
                table.kind.is_empty() || kind == table.kind
            };
            let object = objects(&schema, table.path).into_iter().find(same).unwrap();
            // What a sweep varies has any path, and is checked where it is put into the scenario.
            let is_open = ["vary", "workloads", "configurations"].contains(&table.path);
            let others = &object["additionalProperties"];
            assert_eq!(*others != false, is_open, "{}", table.path);
            let properties = object["properties"].as_object().unwrap();
            for name in &names {
                assert!(properties.contains_key(*name), "{}.{name}", table.path);
            }
            let tables_below = |name: &&String| {
                let below = tables.iter().filter(|table| !table.path.is_empty());
                below
                    .map(|table| table.path.split('.').next())
                    .any(|it| it == Some(name.as_str()))
            };
            for name in properties.keys().filter(|name| !tables_below(name)) {
                assert!(names.contains(&name.as_str()), "{}.{name}", table.path);
            }
            for Key { name, value, .. } in &table.keys {
                let schema = &properties[*name];
                let plain = matches!(value, Type::Switch | Type::Choice { .. } | Type::List(_));
                let typed = ["type", "enum", "anyOf", "const"].iter();
                assert!(
                    typed.clone().any(|it| schema.get(it).is_some()),
                    "{name}: {schema}"
                );
                assert!(!plain || schema.get("anyOf").is_none(), "{name}: {schema}");
            }
        }
    }
}

/// One below the least and one above the most: the reader refuses both, and names the key.
#[test]
fn the_reader_refuses_whole_numbers_beyond_the_ranges_of_the_schema() {
    let schema = config::json_schema();
    let mut tried = 0;
    for table in config::TABLES.iter() {
        let parts = table.path.split('.');
        let place: String = parts.map(|part| format!("/properties/{part}")).collect();
        for Key { name, .. } in &table.keys {
            let place = format!("{place}/properties/{name}");
            let of_key = schema.pointer(&place).unwrap_or(&Value::Null);
            for (limit, step) in [("minimum", -1), ("maximum", 1)] {
                let limit = of_key[limit].as_i64();
                let Some(wrong) = limit.and_then(|limit| limit.checked_add(step)) else {
                    continue;
                };
                let text = format!("[{}]\n{name} = {wrong}\n", table.path);
                let error = config::Config::parse(&text, "port.toml").unwrap_err();
                let says = format!("{}.{name} = {wrong}: must be", table.path);
                assert!(error.to_string().contains(&says), "{error}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 20, "{tried}");
}

/// What a scenario needs so that it may have this key: keys of the same table, and other tables.
fn beside(table: &Table, key: &str) -> (&'static str, &'static str) {
    match (table.path, table.kind, key) {
        ("traffic", "goal", _) => ("file = \"a.goal\"\n", ""),
        ("traffic", "skeleton", "atoms_per_rank" | "output_every") => {
            ("program = \"lammps\"\n", "")
        }
        ("traffic", "skeleton", "gradients" | "gradient_bytes") => {
            ("program = \"allreduce-ring\"\n", "")
        }
        ("traffic", "skeleton", "neighbours") => ("program = \"halo3d\"\n", ""),
        ("traffic", "skeleton", "blocks") => ("program = \"sweep3d\"\n", ""),
        ("traffic", "skeleton", _) => ("program = \"fft\"\n", ""),
        ("traffic", "random-jobs", _) => ("", "[topology]\nkind = \"rlft\"\nradix = 16\n"),
        ("traffic", "inactivity", _) => ("shape = \"lammps\"\n", "[run]\nduration_ns = 1000\n"),
        ("traffic", _, _) => ("", "[run]\nduration_ns = 1000\n"),
        ("switch", _, "select_on" | "select_off" | "select_window_ns") => (
            "selection = \"powar\"\n",
            "[traffic]\nfile = \"a.goal\"\n[topology]\nkind = \"rlft\"\n",
        ),
        ("switch", _, "escape_queues") => (
            "queueing = \"h2lq\"\nqueue_bytes = 1000000\n",
            "[traffic]\nfile = \"a.goal\"\n[topology]\nkind = \"dragonfly\"\n",
        ),
        ("switch", _, "low_lanes") => ("link_lanes = 12\n", "[traffic]\nfile = \"a.goal\"\n"),
        _ => ("", "[traffic]\nfile = \"a.goal\"\n"),
    }
}

/// A scenario that says what a table of keys calls the default is the same as one that leaves it out.
#[test]
fn the_defaults_of_a_scenario_are_those_of_the_reader() {
    let mut tried = 0;
    for table in scenario::TABLES.iter() {
        for key in &table.keys {
            let Some(default) = key.literal_default() else {
                continue;
            };
            let kind = match (table.kind, key.name) {
                ("", _) => String::new(),
                (kind, "kind") if default != format!("\"{kind}\"") => continue,
                (_, "kind") => String::new(),
                (kind, _) => format!("kind = \"{kind}\"\n"),
            };
            let (own, others) = beside(table, key.name);
            let without = format!("{others}[{}]\n{kind}{own}", table.path);
            let with = format!("{without}{} = {default}\n", key.name);
            let [without, with] = [without, with].map(|text| {
                let parsed = scenario::Scenario::parse(&text, Path::new("s.toml"));
                parsed.unwrap_or_else(|error| panic!("{text}\n{error}"))
            });
            assert_eq!(with, without, "{}.{} = {default}", table.path, key.name);
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

/// Ranges, kinds and units of some keys, by hand.
#[test]
fn the_schemas_have_the_ranges_of_the_reader() {
    let port = config::json_schema();
    let at = |path: &str| port.pointer(path).unwrap_or(&Value::Null).clone();
    let width = at("/properties/port/properties/time_width");
    assert_eq!(
        (width["minimum"].as_u64(), width["maximum"].as_u64()),
        (Some(8), Some(64))
    );
    assert_eq!(width["default"], 32);
    let t_w = at("/properties/states/properties/fast-wake/properties/t_w_ns/anyOf");
    assert_eq!(t_w[0]["minimum"], 0.001);
    assert!(t_w[1]["pattern"].as_str().unwrap().contains("(ps|ns|us|"));
    let bound = at("/properties/perfbound/properties/bound/anyOf/0");
    assert_eq!(
        (&bound["exclusiveMinimum"], &bound["exclusiveMaximum"]),
        (&0.into(), &1.into())
    );
    let sweep = sweep::json_schema();
    assert_eq!(sweep["required"], serde_json::json!(["scenario"]));
    let scenario = scenario::json_schema();
    let kinds = scenario.pointer("/properties/traffic/oneOf").unwrap();
    let kinds = kinds.as_array().unwrap();
    assert_eq!(kinds.len(), 8);
    // The first is the one without the key.
    assert!(kinds[0].get("required").is_none());
    assert_eq!(kinds[1]["required"], serde_json::json!(["kind"]));
    assert_eq!(kinds[7]["required"], serde_json::json!(["kind", "shape"]));
    let job = &kinds[1]["properties"]["jobs"]["items"]["required"];
    assert_eq!(*job, serde_json::json!(["program", "ranks"]));
}

#[test]
fn the_command_prints_what_the_library_has() {
    let printed = |arguments: &[&str]| common::run(common::linkdoze(&root()).args(arguments), 0).0;
    let port: Value = serde_json::from_str(&printed(&["schema", "port"])).unwrap();
    assert_eq!(port, config::json_schema());
    let scenario: Value = serde_json::from_str(&printed(&["schema", "scenario"])).unwrap();
    assert_eq!(scenario, scenario::json_schema());
    let keys = printed(&["schema", "sweep", "--markdown"]);
    assert_eq!(keys, schema::markdown(&sweep::TABLES));
}
