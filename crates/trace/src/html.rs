//! The content of an HTML file with the pages of a trace, or of two traces side by side.

use chartdata::exhibit::{Cell, Exhibit, Facts, Page, Table};
use charts::Size;
use charts::markup::escape;
use stdx::units::grouped;

/// Size of charts on wide screens.
const CHART: Size = Size { width: 900.0, height: 360.0 };
const BESIDE: Size = Size { width: 620.0, height: 340.0 };

/// Style of the file, in addition to the frame's style.
pub const STYLE: &str = include_str!("html.css");

/// Returns the content of the body. Each trace is passed with its name.
#[must_use]
pub fn content(title: &str, traces: &[(String, Vec<Page>)]) -> String {
    let mut out = format!("<main class=\"traces\">\n<h1>{}</h1>\n", escape(title));
    let Some((_, first)) = traces.first() else { return out };
    for page in first {
        out.push_str(&format!("<section><h2>{}</h2>\n<div class=\"beside\">\n", escape(&page.title)));
        for (name, pages) in traces {
            let Some(page) = pages.iter().find(|other| other.key == page.key) else { continue };
            let caption =
                if traces.len() > 1 { format!("<h3>{}</h3>\n", escape(name)) } else { String::new() };
            let exhibits: String =
                page.exhibits.iter().map(|one| exhibit(one, &page.title, traces.len())).collect();
            let remarks: String = page
                .remarks
                .iter()
                .map(|text| format!("<p class=\"remark\">{}</p>\n", escape(text)))
                .collect();
            out.push_str(&format!("<div>{caption}{exhibits}{remarks}</div>\n"));
        }
        out.push_str("</div></section>\n");
    }
    out + "</main>\n"
}

fn exhibit(exhibit: &Exhibit, title: &str, traces: usize) -> String {
    match exhibit {
        Exhibit::Table(data) => table(data),
        Exhibit::Facts(data) => facts(data),
        chart => {
            let size = if traces > 1 { BESIDE } else { CHART };
            let reading = chart.reading().map_or("", charts::sentence);
            format!(
                "<figure><div class=\"wide\">{}</div><div class=\"narrow\">{}</div><figcaption>{}</figcaption></figure>\n",
                charts::picture(chart, title, size).unwrap_or_default(),
                charts::narrow_picture(chart, title).unwrap_or_default(),
                escape(reading)
            )
        }
    }
}

fn facts(facts: &Facts) -> String {
    let row = |(name, value): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value))
    };
    format!(
        "<table class=\"facts\"><tbody>{}</tbody></table>\n",
        facts.items.iter().map(row).collect::<String>()
    )
}

fn table(table: &Table) -> String {
    let head: String = table.columns.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
    let rows: String = table
        .rows
        .iter()
        .map(|row| {
            let cells: String =
                row.cells.iter().map(|cell| format!("<td>{}</td>", text(cell, table.decimals))).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&row.name))
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table><thead><tr><th>{}</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n",
        escape(&table.row_heading)
    )
}

/// Returns a cell as text; whole numbers have no decimals.
pub fn text(cell: &Cell, decimals: usize) -> String {
    match cell {
        Cell::Value(value) | Cell::HostLimited(value) if value.fract() == 0.0 => grouped(*value, 0),
        Cell::Value(value) | Cell::HostLimited(value) => grouped(*value, decimals),
        Cell::Absent(why) => why.clone(),
    }
}
