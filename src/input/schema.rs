//! JSON Schemas and tables of keys, made from the keys themselves.

use serde_json::{json, Map, Value};

use super::keys::{Key, Table, Type, HOP_COUNTS};
use super::{Decimal, Unit};

/// The version of JSON Schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The JSON Schema (draft 2020-12) of a file with these tables.
pub fn json(title: &str, about: &str, tables: &[Table]) -> Value {
    let mut schema = json!({"$schema": DIALECT, "title": title});
    for (key, value) in object(about, tables, "") {
        schema[key] = value;
    }
    schema
}

/// What [`json()`] has for a file that is the table of another.
pub fn inner(about: &str, tables: &[Table]) -> Value {
    Value::Object(object(about, tables, ""))
}

/// The object of the tables that are in `path`, and of its own keys.
fn object(about: &str, tables: &[Table], path: &str) -> Map<String, Value> {
    let own: Vec<&Table> = tables.iter().filter(|table| table.path == path).collect();
    let mut below: Vec<&str> = Vec::new();
    for table in tables {
        let rest = match path {
            "" => Some(table.path),
            path => table
                .path
                .strip_prefix(path)
                .and_then(|it| it.strip_prefix('.')),
        };
        let name = rest.and_then(|rest| rest.split('.').next()).unwrap_or("");
        if !name.is_empty() && !below.contains(&name) {
            below.push(name);
        }
    }
    let mut schemas: Vec<Map<String, Value>> = own.iter().map(|table| keys(table)).collect();
    if schemas.len() > 1 {
        // One for each kind.
        let kinds: Vec<Value> = schemas.into_iter().map(Value::Object).collect();
        return map(json!({"description": about, "oneOf": kinds}));
    }
    let mut schema = schemas
        .pop()
        .unwrap_or_else(|| map(json!({"type": "object", "properties": {}})));
    schema.insert("description".into(), about.into());
    schema.insert("additionalProperties".into(), false.into());
    for name in below {
        let full = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let about = tables.iter().find(|table| table.path == full);
        let about = about.map_or("", |table| table.about);
        schema["properties"][name] = Value::Object(object(about, tables, &full));
    }
    schema
}

/// The schema of a table with its keys.
fn keys(table: &Table) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for key in &table.keys {
        let mut schema = value(&key.value);
        schema["description"] = key.about.into();
        if let Some(default) = key.literal_default().and_then(default_json) {
            schema["default"] = default;
        }
        if key.name == "kind" && !table.kind.is_empty() {
            // The first kind is the one without the key.
            let default = key
                .literal_default()
                .map(|default| default.trim_matches('"'));
            if default != Some(table.kind) {
                required.push("kind");
            }
            schema = json!({"const": table.kind, "description": table.about});
        }
        if key.is_required() {
            required.push(key.name);
        }
        properties.insert(key.name.into(), schema);
    }
    let mut schema = map(json!({
        "type": "object",
        "description": table.about,
        "properties": properties,
        "additionalProperties": false,
    }));
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A default as JSON.
fn default_json(text: &str) -> Option<Value> {
    let table: toml::Table = format!("value = {text}").parse().ok()?;
    serde_json::to_value(&table["value"]).ok()
}

/// A number as JSON: exact where it is whole, else the nearest.
fn decimal(number: Decimal) -> Value {
    match number.scaled_to_integer(1) {
        Some(whole) => whole.into(),
        None => number.to_f64().into(),
    }
}

/// What a quoted value with a unit looks like.
fn with_unit(unit: Unit) -> Option<Value> {
    let symbols = unit.symbols();
    if symbols.is_empty() {
        return None;
    }
    let pattern = format!(
        "^\\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\\s*({})\\s*$",
        symbols.join("|")
    );
    Some(json!({"type": "string", "pattern": pattern}))
}

/// `number`, or a text with a number and its unit.
fn or_with_unit(number: Value, unit: Unit) -> Value {
    match with_unit(unit) {
        Some(text) => json!({"anyOf": [number, text]}),
        None => number,
    }
}

fn value(of: &Type) -> Value {
    match of {
        Type::Integer { low, high, unit } => or_with_unit(
            json!({"type": "integer", "minimum": low, "maximum": high}),
            *unit,
        ),
        Type::Number {
            low,
            high,
            digits,
            unit,
        } => or_with_unit(
            json!({
                "type": "number",
                "minimum": decimal(Decimal::scaled(*low, *digits)),
                "maximum": decimal(Decimal::scaled(*high, *digits)),
            }),
            *unit,
        ),
        Type::Fraction => or_with_unit(
            json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
            Unit::Fraction,
        ),
        Type::Choice { names, .. } => json!({"enum": names}),
        Type::Switch => json!({"type": "boolean"}),
        Type::Text { pattern, .. } => json!({"type": "string", "pattern": pattern}),
        Type::List(of) => json!({"type": "array", "items": value(of)}),
        Type::HopGroups => json!({
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "array",
                "prefixItems": [
                    {"type": "integer", "minimum": HOP_COUNTS.0, "maximum": HOP_COUNTS.1},
                    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                ],
                "minItems": 2,
                "maxItems": 2,
            },
        }),
        Type::Tables(of) => {
            let table = Table {
                path: "",
                kind: "",
                about: "",
                keys: of.clone(),
            };
            json!({"type": "array", "minItems": 1, "items": keys(&table)})
        }
        Type::Or(types) => json!({"anyOf": types.iter().map(value).collect::<Vec<_>>()}),
    }
}

/// The tables as a table in Markdown: a row for each key, in the order in which they are.
pub fn markdown(tables: &[Table]) -> String {
    let mut text = String::from("| key | default | range | meaning |\n| --- | --- | --- | --- |\n");
    let mut last: Vec<(&str, &str)> = Vec::new();
    for table in tables {
        let title = match (table.path, table.kind) {
            ("", _) => String::new(),
            (path, "") => format!("**[{path}]**"),
            (path, kind) => format!("**[{path}]** of kind `{kind}`"),
        };
        if !title.is_empty() {
            text += &format!("| {title} | | | {} |\n", cell(table.about));
        }
        // What is the same for every kind of a table stands with the first.
        let same_table = last.first().is_some_and(|(path, _)| *path == table.path);
        if !same_table {
            last.clear();
        }
        for key in &table.keys {
            if last.contains(&(table.path, key.name)) && !table.kind.is_empty() {
                continue;
            }
            last.push((table.path, key.name));
            text += &row(key);
            if let Type::Tables(keys) = &key.value {
                text += &format!(
                    "| **[[{}.{}]]** | | | {} |\n",
                    table.path, key.name, key.about
                );
                for key in keys {
                    text += &row(key);
                }
            }
        }
    }
    text
}

fn row(key: &Key) -> String {
    format!(
        "| `{}` | {} | {} | {} |\n",
        key.name,
        cell(&key.default),
        cell(&key.value.legal().replace('"', "`")),
        cell(key.about)
    )
}

/// A text in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
