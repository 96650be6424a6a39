//! Serialized form of response times over time: the non-empty rows of each column, with delta-encoded row
//! numbers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use stdx::histogram::coarse::Columns;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    intervals_per_column: u64,
    /// For each column: the distance from the previous non-empty row and the count, alternating.
    columns: Vec<Vec<u64>>,
}

pub fn serialize<S: Serializer>(columns: &Option<Columns>, serializer: S) -> Result<S::Ok, S::Error> {
    let wire = columns.as_ref().map(|columns| Wire {
        intervals_per_column: columns.intervals_per_column(),
        columns: columns.iter().map(column).collect(),
    });
    wire.serialize(serializer)
}

fn column(rows: impl Iterator<Item = (usize, u64)>) -> Vec<u64> {
    let mut previous = 0;
    let mut written = Vec::new();
    for (row, count) in rows {
        written.extend([(row - previous) as u64, count]);
        previous = row;
    }
    written
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Columns>, D::Error> {
    let Some(wire) = Option::<Wire>::deserialize(deserializer)? else { return Ok(None) };
    let columns: Option<Vec<_>> = wire.columns.iter().map(|written| rows(written)).collect();
    let columns = columns.ok_or_else(|| D::Error::custom("a row has no count, or its number overflows"))?;
    Columns::from_parts(wire.intervals_per_column, &columns).map(Some).map_err(D::Error::custom)
}

fn rows(written: &[u64]) -> Option<Vec<(usize, u64)>> {
    let (pairs, rest) = written.as_chunks::<2>();
    let mut row = 0usize;
    let mut numbered = |&[distance, count]: &[u64; 2]| {
        row = row.checked_add(usize::try_from(distance).ok()?)?;
        Some((row, count))
    };
    if rest.is_empty() { pairs.iter().map(&mut numbered).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use crate::Series;

    const OLD: &str = r#"{"interval_ns":1,"read_ios":[3,0],"write_ios":[1,0],"latency_mean_ns":[5,0],"latency_max_ns":[9,0]}"#;

    fn with_times(times: &str) -> Result<Series, serde_json::Error> {
        serde_json::from_str(&OLD.replace("[9,0]}", &format!("[9,0],\"times\":{times}}}")))
    }

    #[test]
    fn a_series_without_times_is_read_and_written_as_it_was() {
        let old: Series = serde_json::from_str(OLD).expect("an older journal is read");
        assert_eq!(old.times, None);
        assert_eq!(serde_json::to_string(&old).expect("can be written"), OLD);
    }

    #[test]
    fn times_are_written_as_they_were_read() {
        let text = r#"{"intervals_per_column":2,"columns":[[0,3,12,1],[]]}"#;
        let series = with_times(text).expect("is read");
        let times = series.times.as_ref().expect("has times");
        assert_eq!((times.len(), times.intervals_per_column()), (2, 2));
        assert_eq!(times.column(0).collect::<Vec<_>>(), [(0, 3), (12, 1)]);
        assert!(serde_json::to_string(&series).expect("can be written").contains(text));
    }

    #[test]
    fn invalid_times_are_refused() {
        let refused = |columns: &str, why: &str| {
            let text = format!(r#"{{"intervals_per_column":1,"columns":{columns}}}"#);
            let error = with_times(&text).expect_err(columns).to_string();
            assert!(error.contains(why), "{error}");
        };
        refused("[[1]]", "has no count");
        refused("[[5,1,18446744073709551615,1]]", "overflows");
        refused("[[5,1,0,1]]", "are not in ascending order");
        refused("[[232,1]]", "out of range");
        refused("[[1,0]]", "out of range or empty");
    }
}
