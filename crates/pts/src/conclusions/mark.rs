//! Marks: figures that are read off a curve. The PTS names them without defining them, so the tester may set
//! other values, which are labelled as the tester's.

use record::SaturationMarks;

use crate::exhibits::unit::Unit;

/// A mark on a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Name by which the tester sets the mark, such as `peak-drop`.
    pub key: String,
    /// Name as printed, such as `Peak drop`.
    pub name: String,
    /// Value in IOPS, or in minutes since the start.
    pub unit: Unit,
    /// The computed value.
    pub computed: Option<f64>,
    /// The value that the tester set.
    pub set: Option<f64>,
    /// For a time within the test: bytes written up to that time.
    pub written_bytes: Option<u64>,
}

impl Mark {
    /// Returns the value that applies.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.set.or(self.computed)
    }
}

/// Parses marks in the tester's notation, such as `peak-drop=60`.
///
/// # Errors
/// Returns an error that lists the valid names or shows the valid syntax.
pub fn marks(all: &[String]) -> Result<SaturationMarks, String> {
    let mut marks = SaturationMarks::default();
    for text in all {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let mark = match key {
            "fob" => &mut marks.fresh_iops,
            "steady" => &mut marks.level_iops,
            "peak-drop" => &mut marks.drop_minute,
            "time-to-steady" => &mut marks.settled_minute,
            _ => {
                return Err(format!(
                    "no mark '{key}'; available marks: fob, steady, peak-drop, time-to-steady"
                ));
            }
        };
        let number: Option<u32> = value.parse().ok().filter(|number| *number > 0);
        *mark = Some(number.ok_or_else(|| {
            format!("'{text}': use NAME=VALUE with a whole number of IOPS or minutes, such as peak-drop=60")
        })?);
    }
    Ok(marks)
}

/// Checks that every mark that the tester set is on its curve.
///
/// # Errors
/// Returns an error if there are no marks, or if a mark is after the last minute of the test.
pub fn check_marks<'m>(marks: impl IntoIterator<Item = &'m Mark>) -> Result<(), String> {
    let mut all = marks.into_iter().peekable();
    if all.peek().is_none() {
        return Err("the run has no WSAT test whose marks could be set".into());
    }
    // The amount written is known only for minutes within the test.
    let is_beyond =
        |mark: &&Mark| mark.unit == Unit::Minutes && mark.set.is_some() && mark.written_bytes.is_none();
    match all.find(is_beyond) {
        Some(Mark { key, set: Some(minute), .. }) => {
            Err(format!("{key}={minute} is after the last minute of the test"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_set_by_name_and_the_last_one_counts() {
        let read = |all: &[&str]| marks(&all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let set = read(&["fob=56896", "peak-drop=60", "peak-drop=61"]).unwrap();
        let expected =
            SaturationMarks { fresh_iops: Some(56_896), drop_minute: Some(61), ..Default::default() };
        assert_eq!(set, expected);
        for (wrong, hint) in [
            ("peak=1", "available marks: fob, steady, peak-drop"),
            ("fob", "NAME=VALUE"),
            ("fob=0", "NAME=VALUE"),
            ("fob=-1", "NAME=VALUE"),
            ("fob=1e3", "NAME=VALUE"),
        ] {
            assert!(read(&[wrong]).is_err_and(|text| text.contains(hint)), "{wrong}");
        }
    }
}
