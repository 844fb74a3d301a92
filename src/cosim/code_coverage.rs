//! Which lines and branches of the Verilog were reached, and which bits have changed.

use std::collections::BTreeMap;

use serde::Serialize;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Lines that are executed together.
    Line,
    /// A side of a condition, or an item of a case.
    Branch,
    /// A bit that changes.
    Toggle,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Line, Kind::Branch, Kind::Toggle];
}

/// A place in the Verilog that can be reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Point {
    /// The module.
    pub module: String,
    /// What is counted there.
    pub kind: Kind,
    /// The line of the module's file.
    pub line: u32,
    /// The column, which tells apart what stands in one line.
    pub column: u32,
    /// The signal of a toggle with its bit, or what Verilator calls the branch.
    pub name: String,
}

/// How often every point was reached, in all instances of its module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeCoverage(BTreeMap<Point, u64>);

impl CodeCoverage {
    /// Reads what Verilator writes: `C '` key and value pairs `'` and a count in each line. `None`
    /// if a line is not understood.
    pub fn read(text: &str) -> Option<CodeCoverage> {
        let mut coverage = CodeCoverage::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (pairs, count) = line.strip_prefix("C '")?.rsplit_once("' ")?;
            let pairs = pairs
                .split('\u{1}')
                .filter_map(|pair| pair.split_once('\u{2}'));
            let pairs: BTreeMap<&str, &str> = pairs.collect();
            // `v_line/MODULE`, with the parameters of the instance behind it.
            let (kind, module) = pairs.get("page")?.split_once('/')?;
            let kind = match kind {
                "v_line" => Kind::Line,
                "v_branch" => Kind::Branch,
                "v_toggle" => Kind::Toggle,
                _ => return None,
            };
            let point = Point {
                module: module.to_owned(),
                kind,
                line: pairs.get("l")?.parse().ok()?,
                column: pairs.get("n").and_then(|at| at.parse().ok()).unwrap_or(0),
                name: (*pairs.get("o").unwrap_or(&"")).to_owned(),
            };
            *coverage.0.entry(point).or_default() += count.trim().parse::<u64>().ok()?;
        }
        Some(coverage)
    }

    /// Adds what another run has reached.
    pub fn merge(&mut self, other: &CodeCoverage) {
        for (point, count) in &other.0 {
            *self.0.entry(point.clone()).or_default() += count;
        }
    }

    /// Nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many points of a kind there are in every module, and how many were reached.
    pub fn modules(&self) -> BTreeMap<&str, BTreeMap<Kind, (usize, usize)>> {
        let mut modules: BTreeMap<&str, BTreeMap<Kind, (usize, usize)>> = BTreeMap::new();
        for (point, count) in &self.0 {
            let kinds = modules.entry(&point.module).or_default();
            let (all, reached) = kinds.entry(point.kind).or_default();
            *all += 1;
            *reached += usize::from(*count > 0);
        }
        modules
    }

    /// The points that were never reached, by module, kind and line.
    pub fn holes(&self) -> impl Iterator<Item = &Point> {
        let points = self.0.iter();
        points
            .filter(|(_, count)| **count == 0)
            .map(|(point, _)| point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# SystemC::Coverage-3\n\
        C '\u{1}f\u{2}a.v\u{1}l\u{2}7\u{1}n\u{2}3\u{1}page\u{2}v_branch/a\u{1}o\u{2}if\u{1}h\u{2}TOP.x' 4\n\
        C '\u{1}f\u{2}a.v\u{1}l\u{2}7\u{1}n\u{2}4\u{1}page\u{2}v_branch/a\u{1}o\u{2}else\u{1}h\u{2}TOP.x' 0\n\
        C '\u{1}f\u{2}a.v\u{1}l\u{2}2\u{1}page\u{2}v_toggle/a\u{1}o\u{2}q[3]\u{1}h\u{2}TOP.x' 1\n";

    #[test]
    fn counts_are_read_by_module_and_kind() {
        let coverage = CodeCoverage::read(TEXT).unwrap();
        let of_a = &coverage.modules()["a"];
        assert_eq!(of_a[&Kind::Branch], (2, 1));
        assert_eq!(of_a[&Kind::Toggle], (1, 1));
        let holes: Vec<_> = coverage.holes().collect();
        assert_eq!(holes.len(), 1);
        assert_eq!((holes[0].line, holes[0].name.as_str()), (7, "else"));
    }

    #[test]
    fn what_one_of_two_runs_reaches_is_reached() {
        let mut coverage = CodeCoverage::read(TEXT).unwrap();
        let other = CodeCoverage::read(&TEXT.replace("' 0", "' 2")).unwrap();
        coverage.merge(&other);
        assert_eq!(coverage.holes().count(), 0);
    }

    #[test]
    fn another_form_is_not_guessed_at() {
        assert_eq!(CodeCoverage::read("C what 3\n"), None);
        assert_eq!(CodeCoverage::read(&TEXT.replace("v_branch", "v_new")), None);
    }
}
