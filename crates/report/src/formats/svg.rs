//! All charts as standalone SVG images.

use super::format::{Files, Format, Make, Source};
use crate::document::contents::Document;
use crate::pages::titles;
use crate::pages::values::{capacity, fact, model, number};
use charts::{Plate, Size};
use pts::exhibit::Exhibit;
use pts::{Outcome, Phases};
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
    /// File name without extension: `iops-3-steady-state`, or `lat-b1-average` for a page that the
    /// specification does not contain.
    pub name: String,
    /// The chart on its plate.
    pub svg: String,
}

/// Returns all charts of the report.
pub(super) fn charts(source: Source<'_>) -> Vec<Chart> {
    let document = source.document;
    let mut all = Vec::new();
    for outcome in &document.outcomes {
        let pages = (1..).zip(&outcome.pages).map(|(number, page)| (format!("{number:02}"), page));
        let beyond = (1..).zip(&outcome.beyond).map(|(number, page)| (format!("b{number}"), page));
        for (number, page) in pages.chain(beyond) {
            let drawn: Vec<(&Exhibit, String)> = page
                .exhibits
                .iter()
                .filter_map(|exhibit| {
                    let svg = charts::picture_of_page(exhibit, &page.exhibits, &page.title, Size::DEFAULT)?;
                    Some((exhibit, svg))
                })
                .collect();
            for (index, (exhibit, svg)) in drawn.iter().enumerate() {
                let part = if drawn.len() > 1 { format!("-{}", index + 1) } else { String::new() };
                let name = format!("{}-{number}-{}{part}", outcome.test, slug(&page.title));
                let reading = exhibit.reading().map_or("", charts::sentence);
                let finding = charts::finding(exhibit).unwrap_or_default();
                let plate =
                    Plate { reading: reading.into(), finding, ..plate(document, outcome, &page.title) };
                all.push(Chart { name, svg: charts::plate(&plate, svg, Size::DEFAULT).0 });
            }
        }
    }
    for test in &document.supplements {
        let Some(outcome) = document.outcomes.iter().find(|outcome| outcome.test == test.test) else {
            continue;
        };
        let title = format!("{}: the whole test", test.title);
        let svg = charts::timeline(&test.timeline, &title);
        let (svg, _) = charts::plate(&plate(document, outcome, &title), &svg, test.timeline.size());
        all.push(Chart { name: format!("{}-whole-test", test.test), svg });
    }
    all
}

/// Returns the context that a chart needs outside the report.
fn plate(document: &Document, outcome: &Outcome, title: &str) -> Plate {
    let firmware = format!("firmware {}", fact(document, document.run.target.firmware.as_deref()));
    // Next to other facts, an absent capacity needs a name.
    let name = if document.run.target.capacity_bytes == 0 { "capacity " } else { "" };
    let capacity = format!("{name}{}", capacity(document));
    let (begin, end) = document.dates_of(Some(outcome));
    let dates = if begin == end { begin } else { format!("{begin} to {end}") };
    let (header, none) = (&outcome.header, Phases::default());
    // For tests that vary the demand, the context contains its range.
    let demand = match (header.phases.stimulus_1 == none.stimulus_1, header.threads, header.queue_depth) {
        (false, ..) => header.phases.stimulus_1[3].clone(),
        (true, None, None) => format!("TC and QD {}", pts::ABSENT),
        (true, threads, depth) => format!("TC {} QD {}", number(threads), number(depth)),
    };
    Plate {
        title: title.into(),
        device: [model(document), &firmware, &capacity].join(" · "),
        about: [titles::tested(document, outcome), demand, dates].join(" · "),
        marks: document.picture_marks(outcome),
        finding: String::new(),
        reading: String::new(),
        credit: titles::footer(document),
    }
}
