//! The results of a sweep as a page to read: the figures of PerfBound 4.4 to 4.7, drawn from the
//! table of results, and PNG files of them; and those of one run over time.

mod draw;
mod figure;
mod page;
pub mod series;

use std::path::{Path, PathBuf};

use crate::files::{self, FileError};
use crate::sweep::{self, Results, DESCRIPTION, IDLE_PERIODS, RESULTS};
use figure::Figure;
use series::{Columns, SeriesError, SERIES, SERIES_ALWAYS_ON};

/// A report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the sweep has left.
    #[error("{0}; `linkdoze sweep` writes this folder, or `linkdoze simulate -o` with sample_ns")]
    Results(#[from] sweep::Error),
    /// What a run has left.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// There is nothing to compare with.
    #[error("{0}: the table has no run without power saving")]
    NoBaseline(PathBuf),
    /// A figure cannot be drawn.
    #[error("figure {figure}: {problem}")]
    Draw {
        /// Its name.
        figure: String,
        /// Why.
        problem: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The page, and the files beside it.
    pub files: Vec<PathBuf>,
    /// Files beside it that are named like a figure of this page and were not written: of an earlier
    /// report with other figures.
    pub left: Vec<PathBuf>,
    /// That the sweep has not ended, if it has not, as a sentence.
    pub unfinished: Option<String>,
}

/// Writes the report of the folder of a sweep, or of a run with samples, as `page`, an HTML file that
/// needs no other, and a PNG file of each figure beside it. Of a sweep that has not ended it has
/// what is done, and says so.
///
/// # Errors
/// If the folder has no results, or a file cannot be written.
pub fn write(folder: &Path, page: &Path) -> Result<Written, Error> {
    let results = [RESULTS, DESCRIPTION, IDLE_PERIODS, SERIES, SERIES_ALWAYS_ON];
    files::refuse_to_replace([page], results.map(|name| folder.join(name)))?;
    let (files, unfinished) = match folder.join(SERIES).exists() && !folder.join(RESULTS).exists() {
        true => (write_run(folder, page)?, None),
        false => write_sweep(folder, page)?,
    };
    Ok(Written {
        left: left_over(page, &files),
        files,
        unfinished,
    })
}

/// What the name of a figure's file begins with: that of its page.
fn figure_stem(page: &Path) -> String {
    format!(
        "{}-",
        page.file_stem().unwrap_or_default().to_string_lossy()
    )
}

/// Files that are named like figures of the page, and are not among those of its report.
fn left_over(page: &Path, written: &[PathBuf]) -> Vec<PathBuf> {
    let folder = page.parent().unwrap_or(Path::new(""));
    // The empty path is that of this folder, which cannot be read under that name.
    let there = match folder.as_os_str().is_empty() {
        true => std::fs::read_dir("."),
        false => std::fs::read_dir(folder),
    };
    let stem = figure_stem(page);
    let names = there.into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let figures = names.filter(|name| name.starts_with(&stem) && name.ends_with(".png"));
    let mut left: Vec<PathBuf> = figures.map(|name| folder.join(name)).collect();
    left.retain(|path| !written.contains(path));
    left.sort();
    left
}

/// The report of a run over time.
fn write_run(folder: &Path, page: &Path) -> Result<Vec<PathBuf>, Error> {
    let run = Columns::read(&folder.join(SERIES))?;
    let beside = folder.join(SERIES_ALWAYS_ON);
    let always_on = beside.exists().then(|| Columns::read(&beside));
    let always_on = always_on.transpose()?;
    let figures = series::figures(&run, always_on.as_ref());
    write_page(page, figures, |drawn| {
        let commands = [
            format!(
                "linkdoze simulate {} -o {}",
                files::shell_word(Path::new(&run.scenario)),
                files::shell_word(folder)
            ),
            command(folder, page),
        ];
        page::of_run(&run.version, &run.scenario, run.len(), drawn, &commands)
    })
}

/// The command that makes a report.
fn command(folder: &Path, page: &Path) -> String {
    let [folder, page] = [folder, page].map(files::shell_word);
    format!("linkdoze report {folder} -o {page}")
}

/// The report of a sweep; with the sentence that it has not ended, if it has not.
fn write_sweep(folder: &Path, page: &Path) -> Result<(Vec<PathBuf>, Option<String>), Error> {
    let results = Results::read(folder)?;
    let missing = results.missing();
    let Results {
        description,
        rows,
        idle,
    } = results;
    let unfinished = (missing > 0).then(|| {
        format!(
            "UNFINISHED: {} of {} experiments are done; the sweep goes on with the command that \
             began it.",
            rows.len(),
            rows.len() + missing
        )
    });
    if !rows.iter().any(|row| row.setting.policy == "always-on") {
        return Err(Error::NoBaseline(folder.join(RESULTS)));
    }
    let files = write_page(page, figure::figures(&rows, &idle), |drawn| {
        let commands = [
            format!(
                "linkdoze sweep {} -o {}",
                files::shell_word(&description.sweep),
                files::shell_word(folder)
            ),
            command(folder, page),
        ];
        page::html(&rows, &description, unfinished.as_deref(), drawn, &commands)
    })?;
    Ok((files, unfinished))
}

/// Draws the figures and writes them, with the page that `html` makes of them.
fn write_page(
    page: &Path,
    figures: Vec<Figure>,
    html: impl FnOnce(&[(Figure, Option<String>)]) -> String,
) -> Result<Vec<PathBuf>, Error> {
    let stem = figure_stem(page);
    let mut files = Vec::new();
    let mut drawn = Vec::new();
    for figure in figures {
        let fault = |problem| Error::Draw {
            figure: figure.id.clone(),
            problem,
        };
        let svg = match &figure.plot {
            Some(plot) => {
                let png = draw::png(plot).map_err(fault)?;
                files.push((page.with_file_name(format!("{stem}{}.png", figure.id)), png));
                Some(draw::svg(plot).map_err(fault)?)
            }
            None => None,
        };
        drawn.push((figure, svg));
    }
    files.insert(0, (page.to_owned(), html(&drawn).into_bytes()));
    let contents: Vec<(PathBuf, &[u8])> = files
        .iter()
        .map(|(path, content)| (path.clone(), content.as_slice()))
        .collect();
    files::write_together(&contents)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::event::idle::{IdleBin, IdleTable};
    use crate::sweep::{plausible_row, to_parquet, Description, Row, Setting, Sweep};

    /// The report of rows that measured nothing but have every figure.
    fn report(sweep: &str, change: fn(&mut Row)) -> (tempfile::TempDir, String, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("scenario = \"s.toml\"\n{sweep}");
        let sweep = Sweep::parse(&text, Path::new("sweep.toml")).unwrap();
        let mut rows = Vec::new();
        for (place, variation) in sweep.variations.iter().enumerate() {
            let against = &sweep.variations[sweep.against(place)];
            rows.extend(
                (0..)
                    .zip(sweep.experiments(place))
                    .map(|(number, experiment)| Row {
                        setting: Setting::new(experiment, variation, against),
                        bound_kept: None,
                        ..plausible_row(experiment, f64::from(number % 7))
                    }),
            );
        }
        rows.iter_mut().for_each(change);
        let description = Description {
            linkdoze: "0".into(),
            sources_sha256: String::new(),
            sweep: "sweep.toml".into(),
            scenario: "<s>.toml".into(),
            scenario_sha256: "0".repeat(64),
            network: "2 nodes".into(),
            experiments: Vec::new(),
            compared_with: Vec::new(),
            traces: vec![("a.goal".into(), "1".repeat(64))],
            skeletons: vec!["lammps, 2 ranks, 1 step".into()],
            trace_files_sha256: vec![("a.goal".into(), "2".repeat(64))],
            ports_sha256: Default::default(),
        };
        let description = serde_json::to_vec(&description).unwrap();
        std::fs::write(folder.path().join(DESCRIPTION), description).unwrap();
        let digest = files::sha256(&folder.path().join(DESCRIPTION)).unwrap();
        let table = to_parquet(&rows, &digest).unwrap();
        std::fs::write(folder.path().join(RESULTS), table).unwrap();
        let bins = [(1, 90), (2, 0), (20, 10)].map(|(from, periods)| IdleBin {
            from_ns: f64::from(from),
            to_ns: f64::from(from) * 2.5,
            periods,
            idle_ns: f64::from(from) * periods as f64,
        });
        let idle = IdleTable {
            bins: bins.into(),
            periods: 100,
            idle_ns: 290.0,
            busy_ns: 10.0,
            before_first_ns: 0.0,
            after_last_ns: 0.0,
        };
        let mut idle = serde_json::to_value(&idle).unwrap();
        idle["sweep_sha256"] = digest.into();
        let idle = serde_json::to_vec(&idle).unwrap();
        std::fs::write(folder.path().join(IDLE_PERIODS), idle).unwrap();
        let page = folder.path().join("page.html");
        let files = write(folder.path(), &page).unwrap().files;
        let html = std::fs::read_to_string(&page).unwrap();
        (folder, html, files)
    }

    const FIGURES: [&str; 13] = [
        "idle-periods",
        "trade",
        "fixed-time",
        "fixed-system",
        "fixed-links",
        "fixed-network",
        "fixed-latency",
        "predicted-time",
        "predicted-system",
        "predicted-links",
        "predicted-network",
        "predicted-latency",
        "correction",
    ];

    #[test]
    fn every_figure_and_nothing_from_outside() {
        let (folder, html, files) = report("", |_| ());
        for figure in FIGURES {
            let section = html
                .split(&format!("<section id=\"{figure}\">"))
                .nth(1)
                .unwrap();
            let section = section.split("</section>").next().unwrap();
            assert!(
                section.contains("<svg ") && section.contains("<table>"),
                "{figure}"
            );
            let labels = [" overhead, %", " saved, %", "shorter than a length, %"];
            assert!(labels.iter().any(|label| section.contains(label)));
            let png = folder.path().join(format!("page-{figure}.png"));
            assert!(files.contains(&png));
            let pixels = std::fs::read(&png).unwrap();
            assert_eq!(pixels[..8], *b"\x89PNG\r\n\x1a\n");
            // An empty canvas of this size takes less than 5 kB.
            assert!(pixels.len() > 10_000, "{figure}: {}", pixels.len());
        }
        for outside in ["http", "src=", "href=", "url(", "@import"] {
            assert!(!html.contains(outside), "{outside}");
        }
        for digest in ["1", "2"] {
            assert!(html.contains(&digest.repeat(64)));
        }
        // Names are text, not HTML; figures take the page's colour.
        assert!(html.contains("&lt;s&gt;.toml") && !html.contains("<s>"));
        assert!(html.contains("fill=\"currentColor\"") && !html.contains("#1F2933"));
        // 90 of 100 periods with 90 of 290 ns; then 10 with 200 ns.
        let row = |cells: [&str; 6]| -> String {
            let class = |place| if place == 0 { "" } else { " class=\"n\"" };
            let cells = cells.iter().enumerate();
            cells
                .map(|(place, cell)| format!("<td{}>{cell}</td>", class(place)))
                .collect()
        };
        for cells in [
            [
                "1 ns to 2.5 ns",
                "90",
                "90.000",
                "90.000",
                "31.034",
                "31.034",
            ],
            [
                "20 ns to 50 ns",
                "10",
                "10.000",
                "100.000",
                "68.966",
                "100.000",
            ],
        ] {
            assert!(html.contains(&row(cells)), "{}", row(cells));
        }
        for label in [
            "100 ns",
            "1 \u{b5}s",
            "10 ms",
            "1 s",
            "deep-sleep",
            "circular",
            "5 %",
        ] {
            assert!(html.contains(label), "{label}");
        }
    }

    #[test]
    fn text_stays_within_its_figure_and_apart() {
        // The fullest figures: all states, all histograms.
        let sweep = "states = [\"fast-wake\", \"deep-sleep\", \"hybrid\"]\n[perfbound]\n\
                     histograms = [\"regular\", \"clearing\", \"circular\", \"map\", \"decaying\"]\n";
        let (_folder, mut html, _) = report(sweep, |_| ());
        let loads = format!("{sweep}[vary]\nload = [0.1, 0.2]\n");
        html += &report(&loads, |_| ()).1;
        // Five configurations with names of wide letters beside each other: more than a row holds.
        let based = ["one", "two", "six", "ten"]
            .map(|name| format!("[configurations.mmwwmmww-{name}]\nbased_on = \"mmwwmmww\"\n"));
        let contest = format!(
            "[workloads.a]\n[configurations.mmwwmmww]\n{}",
            based.concat()
        );
        let contest = report(&contest, |_| ()).1;
        assert!(contest.contains("<section id=\"a_mmwwmmww-contest\">"));
        let told = "of a configuration that is based on another one, in the network of that one.";
        assert!(contest.contains(told) && !html.contains(told));
        html += &contest;
        let number = |text: &str, key: &str| -> f64 {
            let value = text.split(&format!(" {key}=\"")).nth(1).unwrap();
            value.split('"').next().unwrap().parse().unwrap()
        };
        for svg in html.split("<svg ").skip(1) {
            let svg = svg.split("</svg>").next().unwrap();
            // Legends: text from the left at one height; the next one begins after it.
            let mut ends: Vec<(f64, f64)> = Vec::new();
            for text in svg.split("<text ").skip(1) {
                let text = format!(" {text}");
                if !text.contains("text-anchor=\"start\"") {
                    continue;
                }
                let label = text
                    .split(">\n")
                    .nth(1)
                    .unwrap()
                    .split('\n')
                    .next()
                    .unwrap();
                let (x, y) = (number(&text, "x"), number(&text, "y"));
                // Letters of DejaVu Sans, wider than most, take 0.62 of their height.
                let end = x + 0.55 * 14.0 * label.chars().count() as f64;
                assert!(end < f64::from(draw::SIZE.0), "{label} ends at {end}");
                assert!(
                    ends.iter().all(|&(row, last)| row != y || last < x),
                    "{label}"
                );
                ends.push((y, end));
            }
            assert!(!ends.is_empty());
        }
    }

    /// The cells of a row of a table.
    fn cells(html: &str, section: &str, names: &[&str]) -> Vec<String> {
        let section = html.split(&format!("<section id=\"{section}\">")).nth(1);
        let section = section.unwrap().split("</section>").next().unwrap();
        let names: String = names
            .iter()
            .map(|name| format!("<td>{name}</td>"))
            .collect();
        let row = section.split(&format!("<tr>{names}")).nth(1).unwrap();
        let row = row.split("</tr>").next().unwrap();
        let cells = row.split("<td class=\"n\">").skip(1);
        cells.map(|cell| cell.replace("</td>", "")).collect()
    }

    /// Before anything else, and line by line: the figures of each experiment.
    #[test]
    fn the_verdict_stands_at_the_top() {
        let change = |row: &mut Row| {
            row.bound_kept = row.setting.bound.map(|bound| bound < 0.05);
            if row.setting.policy == "fixed" {
                (row.measured.ports_over_budget, row.measured.worst_port_use) = (None, None);
            }
            row.against.time_overhead_percent = Some(1.25);
            row.against.energy_links_saved_percent = Some(40.0);
            row.against.energy_network_saved_percent = Some(26.5);
            row.potential.optimum_at_bound_saved_percent = Some(50.0);
            row.potential.score_at_bound = Some(0.8);
            row.potential.optimum_at_own_wake_ups_saved_percent = Some(64.0);
            row.potential.score_at_own_wake_ups = Some(0.625);
            row.potential.ideal_links_saved_percent = Some(81.25);
        };
        let sweep = "states = [\"deep-sleep\"]\n[fixed]\nt_pdt_ns = [0]\n\
                     [perfbound]\nhistograms = [\"map\"]\n";
        let (_folder, html, _) = report(sweep, change);
        let verdict = "<p class=\"verdict\">BOUND NOT KEPT in 2 of 6 experiments that have one: \
                       perfbound-deep-sleep-map-0.05, perfbound-correct-deep-sleep-map-0.05.</p>";
        let heading = html.find("</h1>\n").unwrap() + "</h1>\n".len();
        assert!(
            html[heading..].starts_with(verdict),
            "{}",
            &html[heading..][..300]
        );
        let figures = [
            "40.000", "26.500", "50.000", "0.800", "64.000", "0.625", "81.250",
        ];
        let line = |names: &[&str]| cells(&html, "verdict", names);
        let kept = line(&["perfbound", "deep-sleep", "map, 1 %", "kept"]);
        assert_eq!(kept[..3], ["1.250", "1", "1.50"]);
        assert_eq!(kept[3..], figures);
        let missed = line(&["perfbound-correct", "deep-sleep", "map, 5 %", "NOT KEPT"]);
        assert_eq!(missed, kept);
        let fixed = line(&["fixed", "deep-sleep", "0", "\u{2013}"]);
        assert_eq!(fixed[..3], ["1.250", "\u{2013}", "\u{2013}"]);
        // Nothing to judge.
        let (_folder, html, _) = report("states = []\n", |_| ());
        assert!(!html.contains("class=\"verdict\"") && !html.contains("id=\"verdict\""));
    }

    #[test]
    fn loads_have_lines_and_seeds_a_mean() {
        let sweep = "[perfbound]\nhistograms = [\"map\"]\n[vary]\nload = [0.1, 0.35]\n\
                     seed = [1, 2, 6]\n";
        let change = |row: &mut Row| {
            let (load, seed) = (row.setting.load.unwrap(), row.setting.seed.unwrap() as f64);
            let slower = match row.setting.t_pdt_ns {
                Some(ns) => 1000.0 + ns,
                None => 0.0,
            };
            row.measured.latency_mean_ns = Some(slower + 1000.0 * load + seed);
            row.against.energy_links_saved_percent = Some(100.0 * load);
        };
        let (_folder, html, files) = report(sweep, change);
        // Nothing that would mix loads.
        assert!(!html.contains("<section id=\"fixed-") && !html.contains("id=\"correction\""));
        assert_eq!(html.matches("<section id=\"load-").count(), 10);
        assert_eq!(files.len(), 1 + 1 + 10);
        let row = |section, names: &[&str]| cells(&html, section, names);
        // Means of 1, 2 and 6 on top of 1000 times the load.
        assert_eq!(
            row("load-fixed-latency", &["", "always-on"]),
            ["103.0\n101.0 to 106.0", "353.0\n351.0 to 356.0"]
        );
        assert_eq!(
            row("load-fixed-latency", &["deep-sleep", "100 ns"]),
            ["1203.0\n1201.0 to 1206.0", "1453.0\n1451.0 to 1456.0"]
        );
        let predicted = ["fast-wake", "perfbound, map, 2 %"];
        assert_eq!(
            row("load-predicted-links", &predicted),
            ["10.000", "35.000"]
        );
        assert!(html.contains("means over 3 seeds"));
        assert!(html.contains("never sleep: load 0.1, seed 1<"));
        // One load is no line: the matrix, with means of the seeds.
        let one = "[vary]\nload = [0.1]\nseed = [1, 5]\n";
        let change = |row: &mut Row| {
            row.against.time_overhead_percent = row.setting.seed.map(|seed| seed as f64);
        };
        let (_folder, html, _) = report(one, change);
        let means = cells(&html, "fixed-time", &["1 ms"]);
        assert_eq!(means, ["3.000\n1.000 to 5.000"; 2]);
        let means = cells(&html, "predicted-time", &["fast-wake", "1 %", "regular"]);
        assert_eq!(means[1..], ["3.000\n1.000 to 5.000", "0.000"]);
    }

    #[test]
    fn mappings_have_figures_of_their_own() {
        let change = |row: &mut Row| {
            let random = row.setting.mapping.as_deref() == Some("random");
            row.against.time_overhead_percent = Some(if random { 8.0 } else { 2.0 });
        };
        let (_folder, html, files) = report("[vary]\nmapping = [\"random\", \"linear\"]\n", change);
        // Idle periods and all runs together once, and each of the others twice.
        assert_eq!(files.len(), 1 + 2 + 2 * (FIGURES.len() - 1));
        assert!(html.contains("<section id=\"all-trade\""));
        for (mapping, value) in [("linear", "2.000"), ("random", "8.000")] {
            let section = format!("{mapping}_fixed-time");
            assert_eq!(cells(&html, &section, &["1 ms"]), [value; 2]);
        }
        assert!(html.contains("<th class=\"n\">random mapping</th>"));
    }

    #[test]
    fn what_is_varied_is_in_the_names_of_files() {
        let vary = "[vary]\npower.histogram.max_samples = [64, 250]\nload = [0.1]\n";
        let (_folder, html, files) = report(vary, |_| ());
        let names: Vec<String> = files
            .iter()
            .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        for samples in ["64", "250"] {
            let scene = format!("max_samples-{samples}_fixed-time");
            assert!(
                html.contains(&format!("<section id=\"{scene}\">")),
                "{html}"
            );
            let ends = |name: &String| name.ends_with(&format!("-{scene}.png"));
            assert_eq!(
                names.iter().filter(|name| ends(name)).count(),
                1,
                "{names:?}"
            );
        }
        assert!(html.contains("power.histogram.max_samples = 250"));
    }

    #[test]
    fn what_is_missing_is_said() {
        let cut = |row: &mut Row| {
            row.measured.ended = "duration".into();
            row.measured.time_ns = 1e9;
            row.measured.operations = 0;
            row.against.time_overhead_percent = None;
        };
        let (_folder, html, files) = report("", cut);
        assert!(html.contains("Runs were cut after 1 s"));
        assert!(html.contains("energies are those of the same time"));
        assert_eq!(html.matches("<svg ").count(), 11);
        assert_eq!(html.matches("No values").count(), 2);
        // Patterns, programs that are cut, and programs that are not.
        let mixed = |row: &mut Row| {
            match row.setting.workload.as_deref() {
                Some("pattern") => row.measured.operations = 0,
                Some("program") => row.measured.operations = 9,
                _ => return,
            }
            row.measured.ended = "duration".into();
            row.measured.time_ns = 1e9;
        };
        let workloads = "[perfbound]\npolicies = []\n[workloads.whole]\n[workloads.pattern]\n\
                         [workloads.program]\n";
        let html = report(workloads, mixed).1;
        let notes = [
            ("energies are those of the same time", 19),
            ("no energies: a slower run has done less", 19),
        ];
        for (energies, count) in notes {
            let note = format!(
                "{count} of 57 runs were cut after 1 s: there are no execution times to compare, and \
                 {energies}."
            );
            assert!(html.contains(&note), "{note}");
        }
        assert_eq!(files.len(), 1 + 11);
        // Only the runs with power saving.
        let late = |row: &mut Row| {
            if row.setting.policy != "always-on" {
                row.measured.ended = "duration".into();
            }
        };
        let (_folder, html, _) = report("", late);
        assert!(html.contains("no energies: a slower run has done less"));
        let (folder, html, _) = report("[fixed]\nt_pdt_ns = []\n", |_| ());
        assert_eq!(html.matches("<svg ").count(), 8);
        std::fs::remove_file(folder.path().join(IDLE_PERIODS)).unwrap();
        let error = write(folder.path(), &folder.path().join("r.html")).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(IDLE_PERIODS) && error.contains("`linkdoze sweep` writes this folder"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_without_results_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path(), &folder.path().join("r.html")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`linkdoze sweep` writes this folder"),
            "{error}"
        );
    }
}
