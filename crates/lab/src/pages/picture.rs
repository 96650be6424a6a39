//! Exhibits of a test as markup.

use charts::Size;
use maud::{Markup, PreEscaped, html};
use pts::exhibit::{Cell, Exhibit, Facts, Page, Table};
use stdx::units::grouped;

/// All exhibits on a test's page, with the title of the page.
pub fn page(page: &Page) -> Markup {
    html! {
        section.exhibits {
            h3 { (page.title) }
            @for exhibit in &page.exhibits { (self::exhibit(exhibit, &page.title)) }
            @for remark in &page.remarks { p.soft { (remark) } }
        }
    }
}

fn exhibit(exhibit: &Exhibit, title: &str) -> Markup {
    match exhibit {
        Exhibit::Table(table) => self::table(table),
        Exhibit::Facts(facts) => self::facts(facts),
        // Columns are several times as large as a map of the same values, and hide each other.
        Exhibit::Columns3d(columns) => html! {
            (self::exhibit(&Exhibit::HeatMap(columns.clone()), title))
            p.soft { "Shown as a map; the report also shows the columns." }
        },
        chart => {
            // The picture is drawn by `charts`, which escapes all text.
            let picture = charts::picture(chart, title, Size::DEFAULT).unwrap_or_default();
            // On narrow screens, the picture can be scrolled, including by keyboard.
            html! { figure.picture tabindex="0" aria-label=(title) { (PreEscaped(picture)) } }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.heading) {
            table {
                caption { (table.heading) }
                thead {
                    tr { th { (table.row_heading) } @for column in &table.columns { th.number { (column) } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" { (row.name) }
                            @for cell in &row.cells { td.number { (self::cell(cell, table.decimals)) } }
                        }
                    }
                }
            }
        }
    }
}

fn cell(cell: &Cell, decimals: usize) -> Markup {
    match cell {
        Cell::Value(value) => html! { (grouped(*value, decimals)) },
        Cell::HostLimited(value) => html! {
            (grouped(*value, decimals)) abbr title="The host may have limited this figure" { "*" }
        },
        Cell::Absent(why) => html! { span.soft { (why) } },
    }
}

fn facts(facts: &Facts) -> Markup {
    html! {
        h4 { (facts.heading) }
        dl.facts { @for (name, value) in &facts.items { div { dt { (name) } dd { (value) } } } }
    }
}
