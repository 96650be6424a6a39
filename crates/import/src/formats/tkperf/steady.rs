//! Compares the steady-state verdict in a test element with the matrix in the same element.

use pts::steady::{WINDOW_ROUNDS, WindowStats};
use record::{ImportedTest, Reading};
use roxmltree::Node;

use super::elements::leaf;

/// Adds the window and the verdict to the test. `value` converts a reading to the file's unit.
pub(super) fn judged(
    node: Node<'_, '_>,
    test: ImportedTest,
    tracked_block: u32,
    version: Option<&str>,
    remarks: &mut Vec<String>,
    value: fn(&Reading) -> Option<f64>,
) -> Result<ImportedTest, String> {
    let is_tracked = |r: &&Reading| r.read_percent == 0 && r.block_bytes == tracked_block;
    let values: Vec<f64> = test.readings.iter().filter(is_tracked).filter_map(value).collect();
    let rounds: Option<Vec<u64>> = leaf(node, "stdyrounds")?;
    let window = match rounds.as_deref() {
        Some(rounds) if !rounds.is_empty() => Some(reported_window(rounds, values.len())?),
        _ => values.len().checked_sub(WINDOW_ROUNDS).map(|first| (first as u32 + 1, values.len() as u32)),
    };
    let test = ImportedTest {
        tracked_block_bytes: Some(tracked_block),
        window,
        steady: leaf(node, "reachstdystate")?,
        ..test
    };
    if let Some((first, last)) = window
        && let Ok(in_window) = <[f64; WINDOW_ROUNDS]>::try_from(&values[first as usize - 1..last as usize])
    {
        // `WindowStats` counts rounds from 0.
        let found = WindowStats::of(last - 1, &in_window);
        compare(node, &test.test, &in_window, &found, version, remarks)?;
        if test.steady.is_some_and(|reported| reported != found.steady) {
            let word = |steady| if steady { "steady" } else { "not steady" };
            let (reported, now) = (word(!found.steady), word(found.steady));
            remarks.push(format!("{}: the file says {reported}, but its values are {now}", test.test));
        }
    }
    Ok(test)
}

/// Converts the five rounds of `<stdyrounds>`, numbered from 0, to the first and last round, numbered from 1.
fn reported_window(rounds: &[u64], finished: usize) -> Result<(u32, u32), String> {
    let follow = rounds.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let (first, last) = (rounds[0], rounds[rounds.len() - 1]);
    if rounds.len() != WINDOW_ROUNDS || !follow {
        return Err(format!("<stdyrounds> are not {WINDOW_ROUNDS} consecutive rounds"));
    }
    if last >= finished as u64 {
        return Err(format!(
            "<stdyrounds> refers to round {last} (from 0), but <roundmat> has only {finished} rounds"
        ));
    }
    Ok((first as u32 + 1, last as u32 + 1))
}

fn compare(
    node: Node<'_, '_>,
    test: &str,
    values: &[f64; WINDOW_ROUNDS],
    found: &WindowStats,
    version: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<(), String> {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-9);
    let mut differs = |what: &str, reported: String, now: String| {
        remarks.push(format!("{test}: the file's {what} is {reported}, but its rounds yield {now}"));
    };
    if let Some(reported) = leaf::<Vec<f64>>(node, "stdyvalues")?
        && (reported.len() != values.len() || reported.iter().zip(values).any(|(a, b)| !close(*a, *b)))
    {
        differs("list of values in the window", format!("{reported:?}"), format!("{values:?}"));
    }
    if let Some(reported) = leaf::<f64>(node, "stdyavg")?
        && !close(reported, found.mean)
    {
        // Python 2 truncates the average of integers; this does not invalidate the figures.
        let is_truncated = version.is_some_and(|v| ["2.0", "2.1", "2.2"].contains(&v)) && test != "lat";
        let why =
            if is_truncated && reported == found.mean.floor() { " (truncated to an integer)" } else { "" };
        differs("average", format!("{reported}{why}"), found.mean.to_string());
    }
    if let Some((slope, intercept)) = leaf::<(f64, f64)>(node, "stdyslope")?
        && !(close(slope, found.slope) && close(intercept, found.intercept))
    {
        let now = format!("{} x + {}", found.slope, found.intercept);
        differs("fitted line", format!("{slope} x + {intercept}"), now);
    }
    Ok(())
}
