//! Edits of texts, which libFuzzer's own edits of bytes seldom come to: lines, numbers, keys.

use linkdoze::{config, input, network, sweep};

/// A generator of random numbers (xorshift64*): libFuzzer gives a seed for each edit.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        bits as usize % most.max(1)
    }

    fn any<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Numbers at which something may begin or end.
const NUMBERS: [&str; 34] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "100",
    "255",
    "256",
    "1000",
    "4096",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0.5",
    "1e30",
    "0.0000000001",
];

/// Values of keys.
const VALUES: [&str; 16] = [
    "\"off\"",
    "\"measured\"",
    "true",
    "false",
    "nan",
    "inf",
    "-0.0",
    "\"1 us\"",
    "\"2 %\"",
    "\"500 mW\"",
    "\"48 KiB\"",
    "[]",
    "[1, 2]",
    "[[4, 0.7], [6, 0.3]]",
    "{}",
    "1979-05-27",
];

/// One edit of the first `size` of `bytes`, which has room for `most`; the new size.
pub fn mutate(target: &str, bytes: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = Random((u64::from(seed) << 1 | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let text = match target {
        "goal-binary" | "dumpi" | "chakra" | "archive" | "axi" | "control-bytes" => None,
        _ if random.below(3) == 0 => None,
        _ => std::str::from_utf8(&bytes[..size]).ok(),
    };
    let Some(text) = text else {
        return libfuzzer_sys::fuzzer_mutate(bytes, size, most);
    };
    let mut edited = text.to_owned();
    for _ in 0..=random.below(3) {
        edited = edit(target, &edited, &mut random);
    }
    let edited = edited.as_bytes();
    let length = edited.len().min(most).min(bytes.len());
    bytes[..length].copy_from_slice(&edited[..length]);
    length
}

fn edit(target: &str, text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let at = random.below(lines.len());
    match random.below(8) {
        0 => {
            lines.remove(at);
        }
        1 => {
            let line = lines[at].clone();
            lines.insert(random.below(lines.len() + 1), line);
        }
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        3 | 4 => lines[at] = with_number(&lines[at], random),
        5 => lines[at] = with_word(&lines[at], text, random),
        _ => match tables(target) {
            Some(tables) => insert_key(&mut lines, tables, random),
            None => lines[at] = with_number(&lines[at], random),
        },
    }
    lines.join("\n")
}

/// The line with another number in the place of one.
fn with_number(line: &str, random: &mut Random) -> String {
    let runs = runs(line, |c| c.is_ascii_digit());
    let Some(&(begin, end)) = random.any(&runs) else {
        return line.to_owned();
    };
    let old: u64 = line[begin..end].parse().unwrap_or(0);
    let new = match random.below(4) {
        0 => old.wrapping_add(1).to_string(),
        1 => old.wrapping_sub(1).to_string(),
        _ => random.any(&NUMBERS).copied().unwrap_or("0").to_owned(),
    };
    format!("{}{new}{}", &line[..begin], &line[end..])
}

/// The line with another word of the text in the place of one.
fn with_word(line: &str, text: &str, random: &mut Random) -> String {
    let is_word = |c: char| !c.is_whitespace() && !"=,:;[]{}()\"".contains(c);
    let (here, all) = (runs(line, is_word), runs(text, is_word));
    match (random.any(&here), random.any(&all)) {
        (Some(&(begin, end)), Some(&(from, to))) => {
            format!("{}{}{}", &line[..begin], &text[from..to], &line[end..])
        }
        _ => line.to_owned(),
    }
}

/// Where characters of a kind stand side by side.
fn runs(text: &str, belongs: impl Fn(char) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| belongs(*c)) {
        let end = at + c.len_utf8();
        match runs.last_mut() {
            Some(last) if last.1 == at => last.1 = end,
            _ => runs.push((at, end)),
        }
    }
    runs
}

fn tables(target: &str) -> Option<&'static [input::Table]> {
    match target {
        "configuration" => Some(&config::TABLES),
        "scenario" | "simulation" => Some(&network::scenario::TABLES),
        "sweep" => Some(&sweep::TABLES),
        _ => None,
    }
}

/// Gives any key of a table some value: in its table if the text has it, else in a new one.
fn insert_key(lines: &mut Vec<String>, tables: &[input::Table], random: &mut Random) {
    let ports: &[input::Table] = &config::TABLES;
    let (within, tables) = match tables[0].path {
        // A scenario may have the tables of a configuration in [power].
        "topology" if random.below(3) == 0 => ("power.", ports),
        _ => ("", tables),
    };
    let Some(table) = random.any(tables) else {
        return;
    };
    let Some(key) = random.any(&table.keys) else {
        return;
    };
    let value = match (key.value.clone(), random.below(4)) {
        (_, 0) => random.any(&VALUES).copied().unwrap_or("0").to_owned(),
        (input::Type::Choice { names, .. }, _) => {
            format!("\"{}\"", random.any(&names).copied().unwrap_or_default())
        }
        (input::Type::Switch, _) => "true".to_owned(),
        (input::Type::Fraction, _) => format!("0.{}", random.below(1000)),
        (input::Type::Integer { low, high, .. }, 1) => [low, high][random.below(2)].to_string(),
        _ => random.any(&NUMBERS).copied().unwrap_or("0").to_owned(),
    };
    let written = format!("{} = {value}", key.name);
    let head = match table.path {
        "" => return lines.insert(0, written),
        path => format!("[{within}{path}]"),
    };
    let of_key = |line: &String| {
        line.split('=')
            .next()
            .is_some_and(|it| it.trim() == key.name)
    };
    match lines.iter().position(|line| line.trim() == head) {
        Some(at) => match lines[at..].iter().position(of_key) {
            Some(behind) => lines[at + behind] = written,
            None => lines.insert(at + 1, written),
        },
        None => lines.extend([head, written]),
    }
}
