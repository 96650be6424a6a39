//! The comparisons of a published site: the latest complete run of every drive that was tested with the same tests and
//! the same profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};

use super::edition::{Edition, comparison_file};
use super::frame::Page;
use crate::catalogue::{Row, State};
use crate::drives::Drive;

/// Number of drives in a comparison; more would be unreadable.
const MOST_DRIVES: usize = 20;

/// Runs that can be compared, one per drive.
#[derive(Debug, Clone)]
pub struct Group {
    /// What the drives have in common, such as `pts-e-2.0: iops, latency`.
    pub settings: String,
    pub runs: Vec<Arc<Row>>,
    /// Number of drives that were left out because there were too many.
    pub left_out: usize,
}

impl Group {
    /// Returns the path of the comparison.
    pub fn file(&self) -> String {
        comparison_file(&self.settings)
    }
}

/// Compares drives whose runs are ordered from newest to oldest. A single drive is not compared.
pub fn groups(drives: &[Drive]) -> Vec<Group> {
    let mut groups: BTreeMap<String, Vec<Arc<Row>>> = BTreeMap::new();
    for drive in drives {
        let mut latest: BTreeMap<String, &Arc<Row>> = BTreeMap::new();
        for row in drive.runs.iter().filter(|row| is_complete(row)) {
            latest.entry(settings(row)).or_insert(row);
        }
        for (settings, row) in latest {
            groups.entry(settings).or_default().push(Arc::clone(row));
        }
    }
    groups.retain(|_, runs| runs.len() > 1);
    let group = |(settings, mut runs): (String, Vec<Arc<Row>>)| {
        let left_out = runs.len().saturating_sub(MOST_DRIVES);
        runs.truncate(MOST_DRIVES);
        Group { settings, runs, left_out }
    };
    groups.into_iter().map(group).collect()
}

const fn is_complete(row: &Row) -> bool {
    use pts::Standing::{Complete, Steady, Unsteady};
    matches!(row.state, State::Known(Steady | Unsteady | Complete))
}

/// Simulated drives with different scales are not compared, because the scale changes the figures.
fn settings(row: &Row) -> String {
    let mut tests = row.file.tests.clone();
    tests.sort();
    let scale = row.file.scale_divisor();
    let scale = if scale == 1 { String::new() } else { format!(", scale 1/{scale}") };
    format!("{}: {}{scale}", row.file.profile, tests.join(", "))
}

/// The list of comparisons.
pub fn page(groups: &[Group]) -> Markup {
    let edition = Edition::Site { up: "" };
    let content = html! {
        h1 { "Comparisons" }
        @if groups.is_empty() {
            p.empty { "No two drives were tested with the same tests and the same profile." }
        } @else {
            p.soft { "The latest complete run of each drive. The first drive is the baseline." }
        }
        @for group in groups {
            section {
                h2 { a href=(group.file()) { (group.settings) } }
                ul.plain {
                    @for row in &group.runs {
                        li { a href=(edition.run(&row.file.id)) { (row.file.target_line()) } }
                    }
                    @if group.left_out > 0 { li.soft { (group.left_out) " more drives are not compared" } }
                }
            }
        }
    };
    Page { title: "Comparisons", section: "Comparisons", follows: None, edition, content }.html()
}
