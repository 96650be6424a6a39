//! Charts and pages that several runs have in common.

use charts::Size;
use charts::markup::escape;
use pts::exhibit::Exhibit;

use super::parts::{list, remark, run_class, table};
use crate::candidate::Candidate;
use crate::overlays::Overlay;
use crate::sections;
use crate::sweeps;

const CHART: Size = Size { width: 720.0, height: 400.0 };
/// Size of a chart that contains all runs.
const WIDE_CHART: Size = Size { width: 960.0, height: 400.0 };
/// Size of one of many small charts.
const SMALL: Size = Size { width: 300.0, height: 170.0 };

/// Draws one chart for each workload that several runs measured with different numbers of outstanding I/Os,
/// with all of these runs.
pub(super) fn sweeps(runs: &[Candidate]) -> String {
    let of = |section: &sweeps::SweepSection| {
        let notes: String = section.notes.iter().map(|note| remark(note)).collect();
        format!(
            "<section><h2>{}</h2>\n{}{}{notes}</section>\n",
            escape(&section.title),
            overlay(&section.overlay, &section.title),
            table(&section.table)
        )
    };
    sweeps::sections(runs).iter().map(of).collect()
}

/// Returns the report pages that at least two runs have in common, with shared axes.
pub(super) fn pages(runs: &[Candidate]) -> String {
    let mut out = String::new();
    for section in sections::sections(runs) {
        out.push_str(&format!("<section><h2>{}</h2>\n", escape(&section.title)));
        for chart in &section.overlays {
            out.push_str(&overlay(chart, &section.title));
        }
        for row in &section.rows {
            let wide = row.each.iter().any(|(_, _, exhibit)| is_wide(exhibit));
            out.push_str(if wide { "<div class=\"beside alone\">\n" } else { "<div class=\"beside\">\n" });
            for (run, name, exhibit) in &row.each {
                let picture = |size| sections::picture(exhibit, row, name, size);
                let on_narrow = picture(charts::narrow_size(exhibit));
                let drawn = match (picture(CHART), exhibit) {
                    (Some(svg), _) => svg + &narrow(on_narrow),
                    (None, Exhibit::Table(data)) => table(data),
                    (None, Exhibit::Facts(facts)) => list(facts),
                    (None, _) => String::new(),
                };
                out.push_str(&format!(
                    "<figure class=\"{}\" tabindex=\"0\"><figcaption>{}</figcaption>\n{drawn}</figure>\n",
                    run_class(*run),
                    escape(name)
                ));
            }
            out.push_str("</div>\n");
            out.extend(row.reading().into_iter().chain(row.rescaled.as_deref()).map(remark));
        }
        out.extend(section.notes.iter().map(|note| remark(note)));
        out.push_str("</section>\n");
    }
    out
}

/// Returns a chart of all runs, or one small chart per run.
fn overlay(overlay: &Overlay, section: &str) -> String {
    let caption = match overlay.title.as_str() {
        "" => String::new(),
        title => format!("<h3>{}</h3>\n", escape(title)),
    };
    let charts = if overlay.is_split() {
        let small: String = overlay
            .multiples(SMALL)
            .map(|(run, svg)| format!("<figure class=\"{}\" tabindex=\"0\">{svg}</figure>\n", run_class(run)))
            .collect();
        format!("<div class=\"multiples\">\n{small}</div>\n")
    } else {
        let runs: Vec<String> = overlay.runs.iter().map(usize::to_string).collect();
        let svg = overlay.picture(section, WIDE_CHART);
        let narrow = narrow(Some(overlay.picture(section, Size::NARROW)));
        format!(
            "<figure class=\"overlay\" tabindex=\"0\" data-runs=\"{}\">{svg}{narrow}</figure>\n",
            runs.join(" ")
        )
    };
    format!("{caption}{charts}{}", remark(&overlay.reading()))
}

/// The picture that narrow screens show instead of the first picture, with the legend below the plot.
fn narrow(svg: Option<String>) -> String {
    svg.map(|svg| svg.replacen("<svg ", "<svg class=\"narrow\" ", 1)).unwrap_or_default()
}

/// Whether two of these tables are too wide to fit side by side.
fn is_wide(exhibit: &Exhibit) -> bool {
    matches!(exhibit, Exhibit::Table(table) if table.columns.len() > 4)
}
