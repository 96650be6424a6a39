//! All charts as standalone SVG images.

use super::format::{Files, Format, Make, Source, slug};
use charts::Size;
use charts::markup::escape;

/// The SVG format.
pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "every chart as a standalone SVG image",
    extensions: &[],
    make: Make::Folder(folder),
};

fn folder(source: Source<'_>) -> Result<Files, String> {
    Ok(charts(source).into_iter().map(|(name, svg)| (format!("{name}.svg"), svg.into_bytes())).collect())
}

/// All charts of the report with their file names without extension: `iops-3-steady-state`.
pub(super) fn charts(source: Source<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for outcome in &source.document.outcomes {
        let label = label(source, Some(outcome));
        for (number, page) in outcome.pages.iter().enumerate() {
            let drawn: Vec<String> =
                page.exhibits.iter().filter_map(|e| charts::picture(e, &page.title, Size::DEFAULT)).collect();
            for (index, svg) in drawn.iter().enumerate() {
                let part = if drawn.len() > 1 { format!("-{}", index + 1) } else { String::new() };
                let name = format!("{}-{:02}-{}{part}", outcome.test, number + 1, slug(&page.title));
                all.push((name, labelled(svg, Size::DEFAULT, &label)));
            }
        }
    }
    for test in &source.document.supplements {
        let svg = charts::timeline(&test.timeline, &format!("{}: the whole test", test.title));
        let name = format!("{}-whole-test", test.test);
        let outcome = source.document.outcomes.iter().find(|outcome| outcome.test == test.test);
        all.push((name, labelled(&svg, test.timeline.size(), &label(source, outcome))));
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
