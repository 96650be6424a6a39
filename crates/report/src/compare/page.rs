//! The comparison as one HTML file that needs nothing else.

use pts::exhibit::{Columns3d, Exhibit, Facts, Lines, Page, Scale, Table};
use stdx::units::amount_base10;

use super::export::{difference, letter, value};
use super::{Candidate, Comparison, Figure, Line};
use crate::chart::{self, Size};
use crate::markup::escape;
use crate::text::cell_text;

const STYLE: &str = include_str!("style.css");
const CHART: Size = Size { width: 900.0, height: 430.0 };

/// The whole comparison.
#[must_use]
pub fn html(comparison: &Comparison) -> String {
    let names: Vec<&str> = comparison.names().collect();
    let title = format!("Comparison: {}", names.join(", "));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"Plateau\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{}</h1>\n{}{}<h2>Selected performance</h2>\n{}{}\
         <h2>Every figure</h2>\n{}</main>\n</body>\n</html>\n",
        escape(&title),
        escape(&title),
        devices(&comparison.runs),
        warnings(comparison),
        figures(comparison, |line| line.selected),
        pages(&comparison.runs),
        figures(comparison, |line| !line.selected),
    )
}

fn devices(runs: &[Candidate]) -> String {
    type Fact = fn(&Candidate) -> String;
    let or_na = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "n/a".into());
    let machine =
        move |c: &Candidate| or_na(&c.document.run.host.board.clone().or(c.document.run.host.cpu.clone()));
    let rows: Vec<(&str, Vec<String>)> = [
        ("Capacity", (|c| amount_base10(c.document.run.target.capacity_bytes)) as Fact),
        ("Interface", |c| c.document.run.target.interface.clone().unwrap_or_else(|| "n/a".into())),
        ("NAND", |c| c.document.run.target.nand.clone().unwrap_or_else(|| "n/a".into())),
        ("Firmware", |c| c.document.run.target.firmware.clone().unwrap_or_else(|| "n/a".into())),
        ("Profile", |c| c.document.run.profile.clone()),
        ("Tests", |c| c.document.outcomes.iter().map(|o| o.title).collect::<Vec<_>>().join(", ")),
        ("Software", |c| format!("Plateau {}", c.document.run.plateau_version)),
        ("Run", |c| c.document.run.id.clone()),
        ("Journal SHA-256", |c| format!("{}…", c.document.digest.get(..16).unwrap_or_default())),
    ]
    .into_iter()
    .map(|(name, fact)| (name, runs.iter().map(fact).collect()))
    .chain([("Machine", runs.iter().map(machine).collect())])
    .collect();
    let head: String = runs
        .iter()
        .enumerate()
        .map(|(i, run)| format!("<th>{} {}</th>", letter(i), escape(&run.name)))
        .collect();
    let body: String = rows
        .iter()
        .map(|(name, cells)| {
            let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
            format!("<tr><th>{name}</th>{cells}</tr>\n")
        })
        .collect();
    format!("<table><thead><tr><th></th>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n")
}

fn warnings(comparison: &Comparison) -> String {
    let items: String =
        comparison.warnings.iter().map(|text| format!("<li>{}</li>\n", escape(text))).collect();
    if items.is_empty() {
        return String::new();
    }
    format!("<section class=\"warnings\"><h2>Before you compare</h2>\n<ul>{items}</ul></section>\n")
}

fn figures(comparison: &Comparison, shown: impl Fn(&Line) -> bool) -> String {
    let runs = comparison.runs.len();
    let head: String = (0..runs)
        .map(|i| format!("<th class=\"n\">{}</th>", letter(i)))
        .chain((1..runs).map(|i| format!("<th>{} against A</th>", letter(i))))
        .collect();
    let body: String = comparison.lines.iter().filter(|line| shown(line)).map(figure_row).collect();
    if body.is_empty() {
        return "<p>None.</p>\n".into();
    }
    format!(
        "<table><thead><tr><th>Figure</th><th>Unit</th>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n\
         <p class=\"remark\">Mean over the rounds of the measurement window, with the standard deviation over them. \
         Differences are against A; in brackets the 95 % confidence interval. Where it holds zero, the difference is \
         within noise.</p>\n"
    )
}

fn figure_row(line: &Line) -> String {
    let figure = |figure: &Option<Figure>| {
        let text = figure.as_ref().and_then(|figure| {
            let spread =
                figure.spread_share().map(|share| format!("<small>&plusmn; {:.1} %</small>", share * 100.0));
            Some(format!("{}{}", value(figure.mean()?), spread.unwrap_or_default()))
        });
        format!("<td class=\"n\">{}</td>", text.unwrap_or_else(|| "n/a".into()))
    };
    let differences = line.differences.iter().skip(1).map(|found| match found {
        None => "<td>n/a</td>".to_owned(),
        Some(found) => {
            let class = crate::export::slug(found.finding.word());
            format!("<td class=\"{class}\">{}</td>", difference(found))
        }
    });
    let cells: String = line.figures.iter().map(figure).chain(differences).collect();
    format!(
        "<tr><th>{}<small>{}</small></th><td>{}</td>{cells}</tr>\n",
        escape(&line.name),
        escape(&line.key),
        line.unit
    )
}

/// The report pages that two runs or more have, each once for every run, with shared axes.
fn pages(runs: &[Candidate]) -> String {
    let mut out = String::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for outcome in runs.iter().flat_map(|run| &run.document.outcomes) {
        for page in outcome.pages.iter().filter(|page| is_result(page)) {
            let key = (outcome.test, page.title.as_str());
            let shown: Vec<(usize, &Page)> =
                runs.iter().enumerate().filter_map(|(i, run)| Some((i, find(run, key)?))).collect();
            if shown.len() < 2 || seen.contains(&key) {
                continue;
            }
            seen.push(key);
            out.push_str(&format!(
                "<section><h2>Comparing {} - {}</h2>\n{}</section>\n",
                escape(outcome.title),
                escape(&page.title),
                exhibits(runs, &shown)
            ));
        }
    }
    out
}

fn find<'a>(run: &'a Candidate, (test, title): (&str, &str)) -> Option<&'a Page> {
    let outcome = run.document.outcomes.iter().find(|outcome| outcome.test == test)?;
    outcome.pages.iter().find(|page| page.title == title)
}

/// Results are compared; how steady state was found is each run's own matter.
fn is_result(page: &Page) -> bool {
    let how = |exhibit: &Exhibit| match exhibit {
        Exhibit::Lines(lines) => !lines.guides.is_empty() || lines.x.scale == Scale::Integer,
        _ => false,
    };
    !page.exhibits.is_empty() && !page.exhibits.iter().any(how)
}

fn exhibits(runs: &[Candidate], shown: &[(usize, &Page)]) -> String {
    let of = |i: usize| format!("{} {}", letter(i), runs[i].name);
    let mut out = String::new();
    let count = shown.iter().map(|(_, page)| page.exhibits.len()).min().unwrap_or(0);
    for index in 0..count {
        let each: Vec<(usize, &Exhibit)> =
            shown.iter().map(|(i, page)| (*i, &page.exhibits[index])).collect();
        out.push_str("<div class=\"beside\">\n");
        for (i, exhibit) in &each {
            let others: Vec<&Exhibit> = each.iter().map(|(_, exhibit)| *exhibit).collect();
            let name = of(*i);
            out.push_str(&format!(
                "<figure><figcaption>{}</figcaption>\n{}</figure>\n",
                escape(&name),
                draw(exhibit, &others, &name)
            ));
        }
        out.push_str("</div>\n");
        out.push_str(&rescaled(&each, of));
    }
    out
}

fn draw(exhibit: &Exhibit, all: &[&Exhibit], title: &str) -> String {
    match exhibit {
        Exhibit::Lines(lines) => {
            let all: Vec<&Lines> =
                all.iter().filter_map(|e| if let Exhibit::Lines(l) = e { Some(l) } else { None }).collect();
            chart::lines_beside(lines, &all, title, CHART)
        }
        Exhibit::Columns3d(columns) => {
            let all: Vec<&Columns3d> = all
                .iter()
                .filter_map(|e| if let Exhibit::Columns3d(c) = e { Some(c) } else { None })
                .collect();
            chart::columns3d_beside(columns, &all, title, CHART)
        }
        Exhibit::ResponseTimes(times) => chart::response_times(times, title, CHART),
        Exhibit::Table(data) => table(data),
        Exhibit::Facts(facts) => list(facts),
    }
}

fn list(facts: &Facts) -> String {
    let row = |(label, value): &(String, String)| {
        format!("<tr><th>{}</th><td class=\"n\">{}</td></tr>\n", escape(label), escape(value))
    };
    let rows: String = facts.items.iter().map(row).collect();
    format!("<table><caption>{}</caption><tbody>{rows}</tbody></table>\n", escape(&facts.heading))
}

fn table(table: &Table) -> String {
    let head: String =
        table.columns.iter().map(|name| format!("<th class=\"n\">{}</th>", escape(name))).collect();
    let row = |row: &pts::exhibit::Row| {
        let cells: String = row
            .cells
            .iter()
            .map(|cell| format!("<td class=\"n\">{}</td>", escape(&cell_text(cell, table.decimals))))
            .collect();
        format!("<tr><th>{}</th>{cells}</tr>\n", escape(&row.name))
    };
    format!(
        "<table><caption>{} {}</caption><thead><tr><th>{}</th>{head}</tr></thead>\n<tbody>{}</tbody></table>\n",
        escape(&table.heading),
        escape(&table.column_heading),
        escape(&table.row_heading),
        table.rows.iter().map(row).collect::<String>()
    )
}

/// Says whose axes were stretched to those of another.
fn rescaled(each: &[(usize, &Exhibit)], name: impl Fn(usize) -> String) -> String {
    let mut notes = Vec::new();
    for (axis, extent) in [("x", (|e| extent(e).0) as fn(&Exhibit) -> Option<f64>), ("y", |e| extent(e).1)] {
        let extents: Vec<(usize, f64)> = each.iter().filter_map(|(i, e)| Some((*i, extent(e)?))).collect();
        let Some(&(largest, limit)) = extents.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let smaller: Vec<String> =
            extents.iter().filter(|(_, own)| *own < limit * 0.999).map(|(i, _)| name(*i)).collect();
        if !smaller.is_empty() {
            notes.push(format!("{axis} of {} scaled to match {}", smaller.join(", "), name(largest)));
        }
    }
    if notes.is_empty() {
        return String::new();
    }
    format!("<p class=\"remark\">Shared axes: {}.</p>\n", escape(&notes.join("; ")))
}

/// The largest values on both axes, where they are shared.
fn extent(exhibit: &Exhibit) -> (Option<f64>, Option<f64>) {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite()).reduce(f64::max);
    match exhibit {
        Exhibit::Lines(lines) => {
            let points = || lines.series.iter().flat_map(|series| series.points.iter());
            (largest(&mut points().map(|p| p.0)), largest(&mut points().map(|p| p.1)))
        }
        Exhibit::Columns3d(columns) => {
            (None, largest(&mut columns.heights.iter().flatten().flatten().copied()))
        }
        Exhibit::Table(_) | Exhibit::Facts(_) | Exhibit::ResponseTimes(_) => (None, None),
    }
}
