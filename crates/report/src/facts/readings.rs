//! The readings of an imported test on which its results are based, and their names.

use record::{Access, ImportedTest, Reading};
use stdx::text::slug;
use stdx::units::block_size;

use super::codes::{demand, short};

/// Returns the readings of an imported test on which its results are based.
pub(crate) fn counted_readings(test: &ImportedTest) -> Vec<&Reading> {
    let in_results = |reading: &Reading| reading.exported.as_ref().and_then(|cell| cell.in_results);
    if test.readings.iter().any(|reading| in_results(reading).is_some()) {
        return test.readings.iter().filter(|reading| in_results(reading) == Some(true)).collect();
    }
    // The mean of a curve over time is meaningful only over a window.
    let is_curve = || pts::Test::named(&test.test).is_ok_and(|test| test.timeline);
    let (first, last) = test.window.unwrap_or_else(|| (1, if is_curve() { 0 } else { u32::MAX }));
    let counts = |r: &&Reading| match r.in_window {
        Some(counts) => counts && r.round.is_some(),
        None => test.exported.is_none() && r.round.is_none_or(|round| (first..=last).contains(&round)),
    };
    let all: Vec<&Reading> = test.readings.iter().filter(counts).collect();
    // Older Plateau exports do not distinguish round loops. Without a loop at a single demand, the key figures are
    // sufficient.
    if test.exported.is_some() && !have_one_demand(&all) { Vec::new() } else { all }
}

/// Returns whether all readings have the same TC and QD, in which case their names omit them; also true for jobs,
/// which have their own names.
pub(crate) fn have_one_demand(readings: &[&Reading]) -> bool {
    let demand = |reading: &Reading| (reading.threads, reading.queue_depth);
    readings.iter().any(|reading| reading.name.is_some())
        || readings.windows(2).all(|pair| demand(pair[0]) == demand(pair[1]))
}

/// Returns the key of a reading's figures.
pub(crate) fn reading_key(family: &str, reading: &Reading, one_depth: bool) -> String {
    let depth = reading_depth(reading, one_depth, ".").to_lowercase();
    format!("{family}.{}{}", reading_code(reading), depth.replace(' ', ""))
}

/// Returns a reading's TC and QD; empty if all readings have the same, or if they are not known.
fn reading_depth(reading: &Reading, one_depth: bool, before: &str) -> String {
    match (reading.threads, reading.queue_depth) {
        (Some(threads), Some(queue_depth)) if !one_depth => demand(threads, queue_depth, before),
        _ => String::new(),
    }
}

fn reading_code(reading: &Reading) -> String {
    match &reading.name {
        Some(name) => slug(name),
        None => {
            let kinds =
                if stated_workload(reading).is_some_and(|text| text.contains(" to ")) { "mix" } else { "" };
            short(reading.access, reading.block_bytes, reading.read_percent, kinds)
        }
    }
}

/// Returns the workload as a Plateau export names it.
fn stated_workload(reading: &Reading) -> Option<&str> {
    reading.exported.as_ref()?.workload.as_deref()
}

/// Returns the name of a reading as printed.
pub(crate) fn reading_name(reading: &Reading, one_depth: bool) -> String {
    format!("{}{}", workload_name(reading), reading_depth(reading, one_depth, " "))
}

/// Returns the load and block size of a reading, or the name of its job.
pub(crate) fn workload_name(reading: &Reading) -> String {
    let access = if reading.access == Access::Random { "RND" } else { "SEQ" };
    let mix = match reading.read_percent {
        0 => "W".to_owned(),
        100 => "R".to_owned(),
        read => format!("{read}/{}", 100_u8.saturating_sub(read)),
    };
    if let Some(workload) = stated_workload(reading).filter(|_| reading.name.is_none()) {
        return workload.to_owned();
    }
    let job = reading.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{job}{access} {} {mix}", block_size(reading.block_bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_over_time_counts_only_over_a_window() {
        let round = |round| Reading { round: Some(round), ..Reading::of(Access::Random, 0, 4096) };
        let counted = |test: &str, window| {
            let test = ImportedTest {
                test: test.into(),
                window,
                readings: (1..=9).map(round).collect(),
                ..ImportedTest::default()
            };
            counted_readings(&test).len()
        };
        assert_eq!([counted("wsat", None), counted("wsat", Some((5, 9)))], [0, 5]);
        assert_eq!([counted("iops", None), counted("areas-iops", None)], [9, 9]);
    }
}
