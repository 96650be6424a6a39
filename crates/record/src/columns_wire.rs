//! Serialized form of response times over time: the non-empty rows of each column, with delta-encoded row
//! numbers.

use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stdx::histogram::stored::{Building, StoredColumns};

use crate::plain_array::{ARRAYS, integer};

#[derive(Serialize)]
struct Wire {
    intervals_per_column: u64,
    /// For each column, alternating distances from the previous non-empty row and counts.
    columns: Vec<Vec<u64>>,
}

/// A journal has millions of columns, so they are not collected before they are stored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    intervals_per_column: u64,
    columns: ReadColumns,
}

struct ReadColumns(Building);

pub fn serialize<S: Serializer>(columns: &Option<StoredColumns>, serializer: S) -> Result<S::Ok, S::Error> {
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

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<StoredColumns>, D::Error> {
    let Some(read) = Option::<Read>::deserialize(deserializer)? else { return Ok(None) };
    read.columns.0.finish(read.intervals_per_column).map(Some).map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for ReadColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(ARRAYS, AllColumns)
    }
}

struct AllColumns;

impl<'de> Visitor<'de> for AllColumns {
    type Value = ReadColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of columns")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<ReadColumns, E> {
        // A row takes at least two digits and two commas.
        let mut all = Building::with_room(text.len() / 4);
        read(text.as_bytes(), &mut all).map_err(E::custom)?;
        Ok(ReadColumns(all))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<ReadColumns, D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut columns: A) -> Result<ReadColumns, A::Error> {
        let mut all = Building::default();
        while columns.next_element_seed(OneColumn(&mut all))?.is_some() {}
        Ok(ReadColumns(all))
    }
}

/// Reads columns from the text between the brackets of their array.
fn read(text: &[u8], all: &mut Building) -> Result<(), &'static str> {
    const OTHER: &str = "not plain integers";
    let expect = |at: usize, byte: u8| if text.get(at) == Some(&byte) { Ok(at + 1) } else { Err(OTHER) };
    let mut at = 0;
    while at < text.len() {
        // There is another column after a comma.
        at = if at == 0 { expect(at, b'[')? } else { expect(expect(at, b',')?, b'[')? };
        let mut row = 0;
        let mut is_first = true;
        while text.get(at) != Some(&b']') {
            at = if is_first { at } else { expect(at, b',')? };
            let (distance, end) = integer(text, at).ok_or(OTHER)?;
            let (count, end) = integer(text, expect(end, b',')?).ok_or(OTHER)?;
            row = add(all, row, distance, count)?;
            (at, is_first) = (end, false);
        }
        all.end_column();
        at += 1;
    }
    Ok(())
}

/// Adds the row at this distance from the previous one, and returns its number.
#[inline]
fn add(all: &mut Building, row: usize, distance: u64, count: u64) -> Result<usize, &'static str> {
    let next = usize::try_from(distance).ok().and_then(|distance| row.checked_add(distance));
    let row = next.ok_or("a row number overflows")?;
    all.add(row, count)?;
    Ok(row)
}

/// Appends a column.
struct OneColumn<'a>(&'a mut Building);

impl<'de> DeserializeSeed<'de> for OneColumn<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OneColumn<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of distances and counts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        let mut row = 0;
        while let Some(distance) = numbers.next_element()? {
            let count = numbers.next_element()?.ok_or_else(|| A::Error::custom("a row has no count"))?;
            row = add(self.0, row, distance, count).map_err(A::Error::custom)?;
        }
        self.0.end_column();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
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
        refused("[[5,1,4]]", "has no count");
        refused("[[true,1]]", "expected u64");
        refused("[5]", "an array of distances and counts");
        refused("[[5,1,18446744073709551615,1]]", "overflows");
        refused("[[5,1,0,1]]", "are not in ascending order");
        refused("[[232,1]]", "out of range");
        refused("[[1,0]]", "out of range or empty");
    }

    /// Reads the columns in the text between the brackets of their array.
    fn columns(text: &str) -> Option<StoredColumns> {
        let read = AllColumns.visit_borrowed_str::<serde::de::value::Error>(text);
        read.ok()?.0.finish(1).ok()
    }

    proptest! {
        #[test]
        fn columns_are_read_as_by_the_other_parser(
            numbers in prop::collection::vec(prop::collection::vec(0u64..30, 0..7), 0..5),
            other in "(\\[[1-9](,[0-9]{1,2}){0,4}\\],?){0,3}",
            noise in "[\\[\\],0-9]{0,20}",
        ) {
            let numbers = serde_json::to_string(&numbers).expect("can be written");
            for text in [&numbers[1..numbers.len() - 1], &other, &noise] {
                let theirs = serde_json::from_str::<ReadColumns>(&format!("[{text}]")).ok();
                let theirs = theirs.and_then(|read| read.0.finish(1).ok());
                prop_assert_eq!(columns(text), theirs, "{}", text);
            }
        }
    }
}
