//! All charts as standalone SVG images.

use super::format::{Files, Format, Make, Source};
use charts::Size;
use charts::markup::escape;
use stdx::text::slug;

/// The SVG format.
pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "every chart as a standalone SVG image",
    extensions: &[],
    make: Make::Folder(folder),
};

fn folder(source: Source<'_>) -> Result<Files, String> {
    let file = |chart: Chart| (format!("{}.svg", chart.name), chart.svg.into_bytes());
    Ok(charts(source).into_iter().map(file).collect())
}

/// A chart of the report.
pub(super) struct Chart {
    /// File name without extension: `iops-3-steady-state`, `lat-b1-average` beyond the pages of the specification.
    pub name: String,
    pub svg: String,
}

/// All charts of the report.
pub(super) fn charts(source: Source<'_>) -> Vec<Chart> {
    let mut all = Vec::new();
    for outcome in &source.document.outcomes {
        let label = label(source, Some(outcome));
        let pages = (1..).zip(&outcome.pages).map(|(number, page)| (format!("{number:02}"), page));
        let beyond = (1..).zip(&outcome.beyond).map(|(number, page)| (format!("b{number}"), page));
        for (number, page) in pages.chain(beyond) {
            let drawn: Vec<String> = page
                .exhibits
                .iter()
                .filter_map(|exhibit| charts::picture(exhibit, &page.title, Size::DEFAULT))
                .collect();
            for (index, svg) in drawn.iter().enumerate() {
                let part = if drawn.len() > 1 { format!("-{}", index + 1) } else { String::new() };
                let name = format!("{}-{number}-{}{part}", outcome.test, slug(&page.title));
                all.push(Chart { name, svg: labelled(svg, Size::DEFAULT, &label) });
            }
        }
    }
    for test in &source.document.supplements {
        let svg = charts::timeline(&test.timeline, &format!("{}: the whole test", test.title));
        let name = format!("{}-whole-test", test.test);
        let outcome = source.document.outcomes.iter().find(|outcome| outcome.test == test.test);
        let svg = labelled(&svg, test.timeline.size(), &label(source, outcome));
        all.push(Chart { name, svg });
    }
    all
}

/// Label of a picture that may be separated from its report: simulated, imported or host-limited results must
/// not be mistaken for measurements of the drive.
fn label(source: Source<'_>, outcome: Option<&pts::Outcome>) -> String {
    let limited = outcome.and_then(|outcome| outcome.host_limited.as_deref());
    let limited = limited.map(|count| format!("HOST-LIMITED: {count}"));
    source.document.label().into_iter().chain(limited).collect::<Vec<_>>().join(" · ")
}

fn labelled(svg: &str, size: Size, label: &str) -> String {
    if label.is_empty() {
        return svg.to_owned();
    }
    let (x, y) = (size.width - 10.0, size.height - 4.0);
    let label = format!(
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" font-size=\"13\" font-weight=\"600\" fill=\"#b26a00\">\
         {}</text>\n</svg>\n",
        escape(label)
    );
    svg.strip_suffix("</svg>\n").map_or_else(|| svg.to_owned(), |open| format!("{open}{label}"))
}
