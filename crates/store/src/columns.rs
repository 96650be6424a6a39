//! The columns of a run list, for people and for programs.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::listing::ListedRun;

/// A run with the data that lists show about it.
#[derive(Debug, Clone, Copy)]
pub struct RunRow<'a> {
    /// The run.
    pub run: &'a ListedRun,
    /// State of the run, in one word.
    pub state: &'a str,
    /// State of the run in words: what it is doing, or why it cannot be read.
    pub verdict: &'a str,
    /// Path of its directory.
    pub path: &'a str,
}

/// One column.
#[derive(Debug)]
pub struct RunColumn {
    /// Name on the command line and in documents.
    pub name: &'static str,
    /// Content of the column.
    pub about: &'static str,
    value: fn(&RunRow<'_>) -> Value,
}

/// All columns. A document contains the columns up to `notes` if the user chose none.
pub const RUN_COLUMNS: &[RunColumn] = &[
    RunColumn { name: "run", about: "Id", value: |row| json!(row.run.id) },
    RunColumn {
        name: "created",
        about: "Start, in UTC; to the minute in text",
        value: |row| json!(row.run.created.to_string()),
    },
    RunColumn { name: "tests", about: "Names of the tests", value: |row| json!(row.run.tests) },
    RunColumn { name: "profile", about: "Profile", value: |row| json!(row.run.profile) },
    RunColumn {
        name: "target",
        about: "Description of the target, with the label of simulated and imported results",
        value: |row| json!(row.run.target),
    },
    RunColumn {
        name: "verdict",
        about: "Description of the state: the verdict, the phase of a run in progress, or why a run cannot be read",
        value: |row| json!(row.verdict),
    },
    RunColumn { name: "path", about: "Path of the run's directory or archive", value: |row| json!(row.path) },
    RunColumn { name: "state", about: "State as one word", value: |row| json!(row.state) },
    RunColumn { name: "name", about: "Name", value: |row| json!(row.run.name) },
    RunColumn { name: "tags", about: "Tags", value: |row| json!(row.run.tags) },
    RunColumn { name: "notes", about: "Notes", value: |row| json!(row.run.notes) },
    RunColumn { name: "serial", about: "Serial number of the drive", value: |row| json!(row.run.serial) },
    RunColumn {
        name: "identities",
        about: "Identities of the target and of an array's members",
        value: |row| json!(row.run.identities),
    },
    RunColumn {
        name: "models",
        about: "Models of the drive, of the simulated drive, or of the members of an array",
        value: |row| json!(distinct(&row.run.models)),
    },
];

/// Name of a document's last column if the user chose no columns.
const LAST_OF_ALL: &str = "notes";

/// Columns in the order in which they are shown.
#[derive(Debug, Clone)]
pub struct RunColumns(Vec<&'static RunColumn>);

impl Default for RunColumns {
    /// Returns a document's columns if the user chose none.
    fn default() -> Self {
        let last = RUN_COLUMNS.iter().position(|column| column.name == LAST_OF_ALL);
        Self(RUN_COLUMNS.iter().take(last.map_or(0, |last| last + 1)).collect())
    }
}

impl RunColumns {
    /// Returns the columns in a comma-separated list of names.
    ///
    /// # Errors
    /// Returns a message with the problem and suggested names if a name is unknown, empty or repeated.
    pub fn named(list: &str) -> Result<Self, String> {
        let mut columns: Vec<&'static RunColumn> = Vec::new();
        for name in list.split(',').map(str::trim) {
            let known = RUN_COLUMNS.iter().find(|column| column.name.eq_ignore_ascii_case(name));
            let column = known.ok_or_else(|| unknown(name))?;
            if columns.iter().any(|other| other.name == column.name) {
                return Err(format!("column '{}' is named twice", column.name));
            }
            columns.push(column);
        }
        Ok(Self(columns))
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn heading(&self) -> Vec<String> {
        self.0.iter().map(|column| column.name.to_owned()).collect()
    }

    /// Returns a run as text, one cell per column.
    #[must_use]
    pub fn cells(&self, row: &RunRow<'_>) -> Vec<String> {
        self.0.iter().map(|column| column.cell(row)).collect()
    }

    /// Returns a run as an object whose keys are the column names, in order.
    #[must_use]
    pub fn document(&self, row: &RunRow<'_>) -> impl Serialize + use<> {
        Document(self.0.iter().map(|column| (column.name, (column.value)(row))).collect())
    }
}

/// An object that keeps the order of its keys.
#[derive(Debug)]
struct Document(Vec<(&'static str, Value)>);

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Removes empty and repeated names: a simulated drive reports its model's name as its own model.
fn distinct(names: &[String]) -> Vec<&str> {
    let mut seen = Vec::new();
    for name in names.iter().map(String::as_str).filter(|name| !name.is_empty()) {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn unknown(name: &str) -> String {
    let names = || RUN_COLUMNS.iter().map(|column| column.name);
    match stdx::nearest(name, names()) {
        Some(meant) => format!("no column '{name}'; did you mean '{meant}'?"),
        None => format!("no column '{name}'; columns: {}", names().collect::<Vec<_>>().join(", ")),
    }
}

impl RunColumn {
    fn cell(&self, row: &RunRow<'_>) -> String {
        let text = match (self.name, (self.value)(row)) {
            ("created", _) => row.run.created.strftime("%Y-%m-%d %H:%M").to_string(),
            (_, Value::Array(items)) => {
                items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
            }
            (_, value) => value.as_str().unwrap_or_default().to_owned(),
        };
        stdx::text::on_one_line(&text).into_owned()
    }
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Number of the page, from 1.
    pub number: usize,
    /// Number of entries per page; `None` if the list is one page.
    pub size: Option<usize>,
}

impl Page {
    /// Returns the positions of the page's entries in a list of `total` entries; empty if the page is beyond
    /// the end.
    #[must_use]
    pub fn range(&self, total: usize) -> std::ops::Range<usize> {
        let size = self.size.unwrap_or(total);
        let start = self.number.saturating_sub(1).saturating_mul(size).min(total);
        start..start.saturating_add(size).min(total)
    }

    /// Returns the number of entries after the page.
    #[must_use]
    pub fn more(&self, total: usize) -> usize {
        total - self.range(total).end
    }

    /// Returns the number of the last page, from 1, for `total` entries.
    #[must_use]
    pub fn last(&self, total: usize) -> usize {
        total.div_ceil(self.size.unwrap_or(total).max(1)).max(1)
    }

    /// Returns the entries on the page as a document; `total` is the number of entries on all pages.
    #[must_use]
    pub fn document<T: Serialize>(&self, runs: Vec<T>, total: usize) -> impl Serialize + use<T> {
        PageDocument { runs, page: self.number, matching: total, more: self.more(total) }
    }
}

/// A page as a document.
#[derive(Debug, Serialize)]
struct PageDocument<T> {
    runs: Vec<T>,
    page: usize,
    matching: usize,
    more: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_a_list_once_and_count_what_is_left() {
        for total in 0..12_usize {
            for size in 1..5_usize {
                let mut seen = Vec::new();
                for number in 1..=total.div_ceil(size) + 1 {
                    let page = Page { number, size: Some(size) };
                    seen.extend(page.range(total));
                    assert_eq!(page.more(total), total - seen.len());
                }
                assert_eq!(seen, (0..total).collect::<Vec<_>>());
            }
        }
        assert_eq!(Page { number: 1, size: None }.range(7), 0..7);
        let far = Page { number: usize::MAX, size: Some(usize::MAX) };
        assert_eq!((far.range(7), far.more(7)), (7..7, 0));
    }

    #[test]
    fn a_page_says_how_many_more_there_are() {
        let last = |size, total| Page { number: 1, size }.last(total);
        assert_eq!((last(Some(5), 12), last(Some(5), 10), last(Some(5), 0), last(None, 12)), (3, 2, 1, 1));
        let page = Page { number: 2, size: Some(2) };
        let document = serde_json::to_string(&page.document(vec!["c", "d"], 7)).expect("JSON");
        assert_eq!(document, r#"{"runs":["c","d"],"page":2,"matching":7,"more":3}"#);
    }

    #[test]
    fn columns_are_those_named_in_that_order() {
        let columns = RunColumns::named("state, RUN,tags").expect("columns");
        assert_eq!(columns.heading(), ["state", "run", "tags"]);
        for (list, problem) in [
            ("run,stat", "no column 'stat'; did you mean 'state'?"),
            ("run,run", "column 'run' is named twice"),
            ("", "no column ''; columns: run, created,"),
            ("run,", "no column ''; columns: "),
        ] {
            let error = RunColumns::named(list).expect_err("refused");
            assert!(error.starts_with(problem), "{error}");
        }
        assert_eq!(RunColumns::default().heading().len(), 11);
    }

    #[test]
    fn cells_and_values_are_those_of_the_run() {
        let run = ListedRun {
            id: "mg4-iops".into(),
            created: "2026-03-02T08:15:30Z".parse().expect("a time"),
            tests: vec!["iops".into(), "lat".into()],
            profile: "pts-e-2.0".into(),
            target: "a drive".into(),
            name: None,
            tags: vec!["a".into(), "b".into()],
            notes: vec!["two\u{1b}lines".into()],
            serial: Some("S1".into()),
            identities: Vec::new(),
            models: vec!["M".into(), "N".into(), "M".into()],
        };
        let row = RunRow { run: &run, state: "steady", verdict: "steady state", path: "/runs/mg4-iops" };
        let columns = RunColumns::named("verdict,created,tests,name,notes,models").expect("columns");
        let cells = columns.cells(&row);
        assert_eq!(cells[..4], ["steady state", "2026-03-02 08:15", "iops,lat", ""]);
        assert!(!cells[4].contains('\u{1b}') && cells[5] == "M,N", "{cells:?}");
        let document = serde_json::to_string(&columns.document(&row)).expect("JSON");
        let expected = r#"{"verdict":"steady state","created":"2026-03-02T08:15:30Z","tests":["iops","lat"],"name":null,"notes":["two\u001blines"],"models":["M","N"]}"#;
        assert_eq!(document, expected);
    }
}
