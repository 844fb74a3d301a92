//! The page: HTML without a reference to anything outside of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::figure::{cell, Figure, Table};
use crate::config::plan::Policy;
use crate::experiment::Measured;
use crate::sweep::{self, contests, percent_label, time_label, Description, Row, Spread, LIMITS};
use crate::words::escaped;

/// In the place of a figure that there is not.
const NONE: &str = "\u{2013}";

const STYLE: &str = include_str!("page.css");

/// The page of a sweep; each figure comes with its SVG, if it has values. `unfinished` says that
/// the sweep has not ended.
pub fn html(
    rows: &[Row],
    description: &Description,
    unfinished: Option<&str>,
    figures: &[(Figure, Option<String>)],
    commands: &[String],
) -> String {
    let mut page = String::new();
    let scenario = escaped(&description.scenario.display().to_string());
    // Writing to a string does not fail.
    let mut put = |text: std::fmt::Arguments| {
        let _ = page.write_fmt(text);
    };
    put(format_args!(
        "{}<main>\n<h1>Power saving: {scenario}</h1>\n{}{}\
         <p>{}; {} experiments, computed by linkdoze {}. Percentages are against the run \
         whose links never sleep{}.</p>\n",
        begin(&format!("{scenario}: power saving")),
        unfinished.map_or(String::new(), |sentence| format!(
            "<p class=\"note\">{}</p>\n",
            escaped(sentence)
        )),
        sweep::bounds_kept(rows).map_or(String::new(), |verdict| format!(
            "<p class=\"verdict\">{}</p>\n",
            escaped(&verdict)
        )),
        escaped(&description.network),
        rows.len(),
        escaped(&description.linkdoze),
        match (
            rows.iter().any(is_based_on_another),
            rows.iter().any(|row| !row.setting.variation().is_empty())
        ) {
            (true, _) =>
                ", with the same values of what varies; of a configuration that is based on another \
                 one, in the network of that one",
            (false, true) => ", with the same values of what varies",
            (false, false) => "",
        },
    ));
    let seeds: BTreeSet<u64> = rows.iter().filter_map(|row| row.setting.seed).collect();
    if seeds.len() > 1 {
        put(format_args!(
            "<p>Values are means over {} seeds; where these differ, the least and the greatest \
             stand below them in tables and as thin lines in figures.</p>\n",
            seeds.len()
        ));
    }
    let saturated = rows.iter().filter(|row| row.measured.may_be_saturated());
    match saturated.count() {
        0 => {}
        count => put(format_args!(
            "<p class=\"note\">In {count} of {} experiments more than 5 % of the bytes that nodes \
             sent had not arrived at the end: latencies grow with the length of the run, or it is \
             too short to tell.</p>\n",
            rows.len()
        )),
    }
    for note in cut(rows) {
        put(format_args!("<p class=\"note\">{note}</p>\n"));
    }
    let best = best(rows);
    if !best.rows.is_empty() {
        put(format_args!(
            "<section id=\"best\">\n<h2>What saves most of the network's energy</h2>\n\
             <p class=\"source\">Of all configurations that are compared with the same links that \
             never sleep: the setting that saves most of the energy of links and switches while \
             execution takes at most so much longer. Score: what it saves, divided by what the \
             offline optimum saves with as many wake-ups.</p>\n{}</section>\n",
            table(&best)
        ));
    }
    let judged = verdicts(rows);
    if !judged.rows.is_empty() {
        put(format_args!(
            "<section id=\"verdict\">\n<h2>Bounds kept, and what could have been saved</h2>\n\
             <p class=\"source\">The execution time decides whether a bound was kept. The budget of \
             a port is the time that its packets may wait for its link, l times the run (PerfBound 2.4). \
             Optimum: the longest idle periods of links that never sleep, slept through with as \
             many wake-ups as the bound admits, or as the run had. Score: what the run saved against \
             links that never sleep in its own network, divided by that. Ideal: links that sleep \
             whenever they are idle, for nothing.</p>\n\
             <details>\n<summary>Table</summary>\n{}</details>\n</section>\n",
            table(&judged)
        ));
    }
    put(format_args!(
        "<h2>Links that never sleep</h2>\n{}",
        table(&baseline(rows))
    ));
    let lacking = match unfinished {
        None => "the sweep has no such experiments, or its runs were cut before the program's end",
        Some(_) => "none of these experiments is done, or the sweep has none",
    };
    put(format_args!("{}", sections(figures, lacking)));
    put(format_args!(
        "<section id=\"all\">\n<h2>All experiments</h2>\n<details>\n<summary>Table</summary>\n\
         {}</details>\n</section>\n",
        table(&everything(rows))
    ));
    put(format_args!(
        "<section id=\"sources\">\n<h2>Made by</h2>\n<pre>{}</pre>\n<p>Scenario: SHA-256 \
         {}.</p>\n",
        escaped(&commands.join("\n")),
        description.scenario_sha256
    ));
    for (trace, digest) in &description.traces {
        let mut files = description.trace_files_sha256.iter();
        let file = files.find(|(file, _)| file == trace);
        let file = file.map_or(String::new(), |(_, of_file)| {
            format!("SHA-256 of its files {of_file}, ")
        });
        let trace = escaped(&trace.display().to_string());
        put(format_args!(
            "<p>Trace {trace}: {file}SHA-256 of the program read from it {digest}.</p>\n"
        ));
    }
    for skeleton in &description.skeletons {
        put(format_args!("<p>Skeleton: {}.</p>\n", escaped(skeleton)));
    }
    put(format_args!(
        "<p>the PerfBound paper: M. S\u{e1}nchez de la Rosa, F. J. And\u{fa}jar, J. Escudero-Sahuquillo, \
         J. L. S\u{e1}nchez, F. J. Alfaro-Cort\u{e9}s: <cite>On the Power Saving in High-Speed \
         Ethernet-based Networks for Supercomputers and Data Centers</cite>. The matrix of \
         settings is that of its section 4.3.</p>\n</section>\n</main>\n</body>\n</html>\n"
    ));
    page
}

/// It is compared with a run in the network of another configuration, its own run without power saving
/// being compared, too.
fn is_based_on_another(row: &Row) -> bool {
    row.setting.policy == Policy::AlwaysOn.name() && row.setting.compared_with.is_some()
}

/// What there is not, because runs did not come to their end: a sentence for patterns, and one for
/// programs.
fn cut(rows: &[Row]) -> Vec<String> {
    let cut = rows.iter().filter(|row| row.measured.ended != "complete");
    // A pattern never ends, and offers the same in the same time.
    let (patterns, programs): (Vec<&Row>, Vec<&Row>) =
        cut.partition(|row| row.measured.operations == 0);
    let kinds = [
        (patterns, "energies are those of the same time"),
        (programs, "no energies: a slower run has done less"),
    ];
    let kinds = kinds.into_iter().filter(|(of, _)| !of.is_empty());
    kinds
        .map(|(of, energies)| {
            let which = match of.len() {
                count if count == rows.len() => "Runs were".to_owned(),
                1 => format!("1 of {} runs was", rows.len()),
                count => format!("{count} of {} runs were", rows.len()),
            };
            let time = of[0].measured.time_ns;
            let when = match of.iter().all(|row| row.measured.time_ns == time) {
                true => format!(" after {}", time_label(time)),
                false => String::new(),
            };
            format!("{which} cut{when}: there are no execution times to compare, and {energies}.")
        })
        .collect()
}

/// The page of one run over time, which that version of linkdoze made.
pub fn of_run(
    version: &str,
    scenario: &str,
    samples: usize,
    figures: &[(Figure, Option<String>)],
    commands: &[String],
) -> String {
    let scenario = escaped(scenario);
    format!(
        "{}<main>\n<h1>Over time: {scenario}</h1>\n\
         <p>{samples} samples of one run, computed by linkdoze {}. Where a figure has fewer steps \
         than there are samples, a step is the mean of several, and a thin line reaches from the \
         least to the greatest of them.</p>\n{}\
         <section id=\"sources\">\n<h2>Made by</h2>\n<pre>{}</pre>\n</section>\n</main>\n</body>\n\
         </html>\n",
        begin(&format!("{scenario}: over time")),
        escaped(version),
        sections(figures, "no packet has arrived"),
        escaped(&commands.join("\n")),
    )
}

/// What comes before the content of a page with this title.
fn begin(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// A section for each figure; `lacking` says why one may have no values.
fn sections(figures: &[(Figure, Option<String>)], lacking: &str) -> String {
    let mut text = String::new();
    for (figure, svg) in figures {
        text += &format!(
            "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"source\">{}.</p>\n",
            figure.id,
            escaped(&figure.title),
            escaped(figure.source)
        );
        text += &match svg {
            Some(svg) => format!("<figure>\n{svg}\n</figure>\n"),
            None => format!("<p class=\"note\">No values: {lacking}.</p>\n"),
        };
        if !figure.table.rows.is_empty() {
            text += &table(&figure.table);
        }
        text += "</section>\n";
    }
    text
}

/// What saves most in each contest, within each limit.
fn best(rows: &[Row]) -> Table {
    let header = [
        "compared with",
        "time at most, + %",
        "setting",
        "scenario",
        "time, + %",
        "network saved, %",
        "score",
    ];
    let mut lines = Vec::new();
    for contest in contests(rows) {
        for limit in LIMITS {
            let Some(best) = contest.best(limit) else {
                continue;
            };
            lines.push(vec![
                contest.base.setting.variation_without_seed(),
                limit.to_string(),
                best.row().setting.in_words(),
                best.row().setting.variation_without_seed(),
                cell(Some(best.cost), 3),
                cell(Some(best.gain), 3),
                real(best.score(), 3),
            ]);
        }
    }
    Table {
        names: 4,
        header: header.map(str::to_owned).into(),
        rows: lines,
    }
}

/// What the runs without power saving measured: a column for each of what varies but the seed.
fn baseline(rows: &[Row]) -> Table {
    let bases: Vec<&Row> = rows
        .iter()
        .filter(|row| row.setting.policy == "always-on")
        .collect();
    let mut columns: Vec<(String, Vec<&Row>)> = Vec::new();
    for base in bases {
        let name = base.setting.variation_without_seed();
        match columns.iter_mut().find(|(there, _)| *there == name) {
            Some((_, seeds)) => seeds.push(base),
            None => columns.push((name, vec![base])),
        }
    }
    type Of = fn(&Measured) -> Option<f64>;
    let figures: [(&str, usize, Of); 18] = [
        ("time, ms", 6, |it| Some(it.time_ns / 1e6)),
        ("messages", 0, |it| Some(it.messages as f64)),
        ("packets", 0, |it| Some(it.packets as f64)),
        ("link hops", 0, |it| Some(it.packet_hops as f64)),
        ("latency, mean, ns", 1, |it| it.latency_mean_ns),
        ("latency, median, ns", 1, |it| it.latency_p50_ns),
        ("latency, p99, ns", 1, |it| it.latency_p99_ns),
        ("latency, longest, ns", 1, |it| it.latency_max_ns),
        ("energy of links, J", 4, |it| Some(it.energy_links_j)),
        ("energy of switches, J", 4, |it| Some(it.energy_switches_j)),
        ("energy of nodes, J", 4, |it| Some(it.energy_nodes_j)),
        ("energy of network, J", 4, |it| Some(it.energy_network_j)),
        ("energy of the system, J", 4, |it| Some(it.energy_total_j)),
        ("powar: power of cluster, part", 6, |it| {
            Some(it.powar_w_cluster_fraction)
        }),
        ("powar: E_cluster, s at full power", 9, |it| {
            Some(it.powar_e_cluster_full_power_s)
        }),
        ("georgakoudis: power of links, W", 4, |it| {
            Some(it.georgakoudis_average_power_w)
        }),
        ("zahn: energy/data, nJ/bit", 4, |it| {
            it.zahn_network_nj_per_bit
        }),
        ("zahn: utilisation of links, part", 6, |it| {
            Some(it.link_utilisation)
        }),
    ];
    let row = |&(name, decimals, of): &(&str, usize, Of)| {
        let cells = columns.iter().map(|(_, seeds)| {
            let values = seeds.iter().map(|row| of(&row.measured));
            cell(Spread::of(values), decimals)
        });
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let header = columns.iter().map(|(name, _)| match &**name {
        "" => "value".into(),
        name => name.to_owned(),
    });
    Table {
        names: 1,
        header: std::iter::once("figure".into()).chain(header).collect(),
        rows: figures.iter().map(row).collect(),
    }
}

/// A figure with so many decimals, if there is one.
fn real(value: Option<f64>, decimals: usize) -> String {
    value.map_or(NONE.into(), |value| format!("{value:.decimals$}"))
}

/// What governed the ports of an experiment: policy, state, threshold or prediction.
fn names(row: &Row) -> [String; 3] {
    let setting = &row.setting;
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    let what = match (setting.t_pdt_ns, setting.bound) {
        (Some(ns), _) => time_label(ns),
        (_, Some(bound)) => format!("{}, {}", name(&setting.histogram), percent_label(bound)),
        _ => String::new(),
    };
    [setting.policy.clone(), name(&setting.state), what]
}

/// What became of every bound, and what every experiment could have saved.
fn verdicts(rows: &[Row]) -> Table {
    let header = [
        "policy",
        "state",
        "setting",
        "bound",
        "time, + %",
        "ports over budget",
        "worst port, times its budget",
        "links saved, %",
        "network saved, %",
        "optimum within the bound, %",
        "score",
        "optimum with as many wake-ups, %",
        "score",
        "ideal, %",
    ];
    let row = |row: &Row| {
        let (measured, against, potential) = (&row.measured, &row.against, &row.potential);
        let over = measured.ports_over_budget.map(|over| over.to_string());
        let mut cells: Vec<String> = names(row).into();
        cells.push(
            match (row.bound_configured, row.bound_kept) {
                (None, _) => NONE,
                (_, None) => "not judged",
                (_, Some(true)) => "kept",
                (_, Some(false)) => "NOT KEPT",
            }
            .into(),
        );
        cells.extend([
            real(against.time_overhead_percent, 3),
            over.unwrap_or(NONE.into()),
            real(measured.worst_port_use, 2),
            real(against.energy_links_saved_percent, 3),
            real(against.energy_network_saved_percent, 3),
            real(potential.optimum_at_bound_saved_percent, 3),
            real(potential.score_at_bound, 3),
            real(potential.optimum_at_own_wake_ups_saved_percent, 3),
            real(potential.score_at_own_wake_ups, 3),
            real(potential.ideal_links_saved_percent, 3),
        ]);
        cells
    };
    let saving: Vec<Row> = rows
        .iter()
        .filter(|row| row.setting.policy != "always-on")
        .cloned()
        .collect();
    with_variations(4, header.map(str::to_owned).into(), &saving, row)
}

/// A table with a line for each experiment; behind the first three names stand the values that
/// are not the scenario's own, if there are any.
fn with_variations(
    mut names: usize,
    mut header: Vec<String>,
    rows: &[Row],
    cells: impl Fn(&Row) -> Vec<String>,
) -> Table {
    const PLACE: usize = 3;
    let mut lines: Vec<Vec<String>> = rows.iter().map(cells).collect();
    if rows.iter().any(|row| !row.setting.variation().is_empty()) {
        header.insert(PLACE, "scenario".into());
        for (line, row) in lines.iter_mut().zip(rows) {
            line.insert(PLACE, row.setting.variation());
        }
        names += 1;
    }
    Table {
        names,
        header,
        rows: lines,
    }
}

/// What every experiment measured.
fn everything(rows: &[Row]) -> Table {
    let header = [
        "policy",
        "state",
        "setting",
        "time, ms",
        "latency: mean, ns",
        "median",
        "p99",
        "longest",
        "links, J",
        "network, J",
        "all, J",
        "hits",
        "misses",
        "transitions",
        "waits for a sleeping link",
        "their time, ms",
        "awake, %",
        "fast wake, %",
        "deep sleep, %",
        "changing, %",
        "powar: E_net, s",
        "E_cluster, s",
        "georgakoudis: links, W",
        "zahn: nJ/bit",
    ];
    let row = |row: &Row| {
        let measured = &row.measured;
        let [policy, state, what] = names(row);
        let part = |part: f64| format!("{:.2}", 100.0 * part);
        vec![
            policy,
            state,
            what,
            format!("{:.6}", measured.time_ns / 1e6),
            real(measured.latency_mean_ns, 1),
            real(measured.latency_p50_ns, 1),
            real(measured.latency_p99_ns, 1),
            real(measured.latency_max_ns, 1),
            format!("{:.4}", measured.energy_links_j),
            format!("{:.4}", measured.energy_network_j),
            format!("{:.4}", measured.energy_total_j),
            measured.hits.map_or(NONE.into(), |hits| hits.to_string()),
            measured.misses.to_string(),
            measured.transitions.to_string(),
            measured.sleep_waits.to_string(),
            format!("{:.6}", measured.sleep_delay_ns / 1e6),
            part(measured.part_wake),
            part(measured.part_fast_wake),
            part(measured.part_deep_sleep),
            part(measured.part_going_down + measured.part_going_up + measured.part_refresh),
            format!("{:.6}", measured.powar_e_net_full_power_s),
            format!("{:.6}", measured.powar_e_cluster_full_power_s),
            format!("{:.4}", measured.georgakoudis_average_power_w),
            real(measured.zahn_network_nj_per_bit, 4),
        ]
    };
    with_variations(3, header.map(str::to_owned).into(), rows, row)
}

fn table(table: &Table) -> String {
    let line = |cells: &[String], tag: &str| {
        let cells = cells.iter().enumerate().map(|(place, cell)| {
            let class = if place < table.names {
                ""
            } else {
                " class=\"n\""
            };
            format!("<{tag}{class}>{}</{tag}>", escaped(cell))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = table.rows.iter().map(|row| line(row, "td")).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        line(&table.header, "th").trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::Table;

    /// A title can hold the value of a key, such as the name of a file.
    #[test]
    fn titles_are_text() {
        let figure = Figure {
            id: "trade".into(),
            title: "traffic.file = \"a<b>&c.goal\"".into(),
            source: "PerfBound Figure 7",
            plot: None,
            table: Table {
                names: 0,
                header: Vec::new(),
                rows: Vec::new(),
            },
        };
        let text = sections(&[(figure, None)], "nothing was run");
        assert!(
            text.contains("a&lt;b&gt;&amp;c.goal") && !text.contains("<b>"),
            "{text}"
        );
        assert!(text.contains("No values: nothing was run."), "{text}");
    }
}
