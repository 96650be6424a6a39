//! Two traces side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stdx::units::grouped;

use crate::characteristics::{Characteristics, StreamKind};
use crate::pages::{TOP_STREAMS, facts};

/// Returns the share of I/Os that both workloads have in common: 100 % if the shares of all streams are equal,
/// 0 % if no stream occurs in both.
#[must_use]
pub fn overlap_percent(a: &Characteristics, b: &Characteristics) -> f64 {
    shares(a, b).values().map(|[a, b]| a.min(*b)).sum()
}

/// Returns the shares of each stream in both traces, in percent.
fn shares(a: &Characteristics, b: &Characteristics) -> BTreeMap<StreamKind, [f64; 2]> {
    let mut all: BTreeMap<StreamKind, [f64; 2]> = BTreeMap::new();
    for (place, of) in [a, b].into_iter().enumerate() {
        for stream in &of.streams {
            let share = 100.0 * stream.ios as f64 / of.summary.ios.max(1) as f64;
            all.entry(stream.kind).or_default()[place] += share;
        }
    }
    all
}

/// Returns the facts and streams of both traces as text.
#[must_use]
pub fn compared(names: [&str; 2], of: [&Characteristics; 2]) -> String {
    let [a, b] = of.map(|of| facts(of).items);
    let mut rows: Vec<[String; 3]> = vec![["".into(), names[0].into(), names[1].into()]];
    let value = |items: &[(String, String)], name: &str| {
        items
            .iter()
            .find(|(other, _)| other == name)
            .map_or_else(|| "-".to_owned(), |(_, value)| value.clone())
    };
    for (name, first) in &a {
        rows.push([name.clone(), first.clone(), value(&b, name)]);
    }
    for (name, second) in b.iter().filter(|(name, _)| !a.iter().any(|(other, _)| other == name)) {
        rows.push([name.clone(), "-".into(), second.clone()]);
    }
    let mut streams: Vec<(StreamKind, [f64; 2])> = shares(of[0], of[1]).into_iter().collect();
    streams.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum::<f64>()));
    for (kind, shares) in streams.iter().take(TOP_STREAMS) {
        let [first, second] = shares.map(|share| format!("{} % of I/Os", grouped(share, 1)));
        rows.push([kind.to_string(), first, second]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, first) = (width(0), width(1));
    let mut out = String::new();
    for row in &rows {
        let line = format!("{:name$}  {:first$}  {}", row[0], row[1], row[2]);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = write!(
        out,
        "\nThe streams of both traces have {} % of their I/Os in common.",
        grouped(overlap_percent(of[0], of[1]), 1)
    );
    out
}
