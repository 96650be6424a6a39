//! Writes tables, with the columns that all of them share.

use super::super::format::Source;

/// Content of the `unit` column in tables whose columns have different units.
pub(super) const NAMED: &str = "in the column names";

/// A row without the columns that all tables share, and the unit of its values.
pub(super) type Record = (Vec<String>, String);

/// Adds columns for the run, the unit, the origin of simulated or imported results, and the run's marks.
/// These columns are needed because a table may be separated from its report, and a row from its table.
pub(super) fn table(
    source: Source<'_>,
    rows: impl IntoIterator<Item = Record>,
    heading: &[&str],
) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| error.to_string();
    let shared = ["unit", "simulated", "imported", "marks"];
    writer.write_record(["run"].iter().chain(heading).chain(&shared)).map_err(failed)?;
    let document = source.document;
    let origin = [document.simulated(), document.imported(), document.mark_keys()];
    for (row, unit) in rows {
        let fields = [&document.run.id].into_iter().chain(&row).chain([&unit]).chain(&origin);
        writer.write_record(fields.map(|field| without_formula(field))).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

/// Guards against formula injection: spreadsheets interpret text with these prefixes as formulas, and a leading quote
/// prevents that. Numbers stay unchanged.
fn without_formula(field: &str) -> String {
    let suspicious = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    if suspicious && field != "-" { format!("'{field}") } else { field.to_owned() }
}

pub(super) fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_formula_and_numbers_are_never_text() {
        assert_eq!(without_formula("=cmd()"), "'=cmd()");
        assert_eq!(without_formula("@x"), "'@x");
        assert_eq!(without_formula("-54.407"), "-54.407");
        assert_eq!(without_formula("-"), "-");
        assert_eq!(without_formula("65/35"), "65/35");
    }
}
