//! The matrix of the round being measured; cells without values show the values from the previous round.

use std::collections::BTreeSet;

use estimate::phase::Phase;
use maud::{Markup, html};
use record::{Entry, Event, Note, Segment};
use stdx::units::block_size;

use super::plot::short;
use crate::live::{Live, segment};
use crate::snapshot::Snapshot;

/// Relative change below which a value counts as unchanged.
const UNCHANGED: f64 = 0.02;

/// Maximum number of cells shown; of a larger round, only the row with the current cell is shown.
const MOST_CELLS: usize = 256;

/// Block size and read share, which distinguish the cells of a round.
type Key = (u32, u8);

/// The matrix of the current round; nothing if the phase has no rounds or the cells also differ in other parameters.
pub fn round(snapshot: &Snapshot, live: &Live<'_>) -> Markup {
    let Phase::Round { round, cell, .. } = &live.phase else { return html! {} };
    let name = live.fixed_rounds.map_or("round", |fixed| fixed.name);
    let (current, previous) = rounds(&snapshot.loaded.entries);
    let order: Vec<Key> = previous.iter().chain(&current).map(|each| key(each)).collect();
    let distinct: BTreeSet<Key> = order.iter().copied().collect();
    let longest = previous.len().max(current.len());
    // Cells that differ only in demand, for example, would share a position.
    if distinct.len() < longest || longest < 2 {
        return html! {};
    }
    let (mut blocks, mixes) =
        (in_order(order.iter().map(|key| key.0)), in_order(order.iter().map(|key| key.1)));
    let now = previous.get(*cell as usize - 1).map(|next| key(next));
    if blocks.len() * mixes.len() > MOST_CELLS {
        let row = now.or_else(|| current.last().map(|latest| key(latest))).or(order.first().copied());
        blocks.retain(|block| row.is_some_and(|row| row.0 == *block));
    }
    let find =
        |all: &[&Segment], wanted: Key| all.iter().find(|each| key(each) == wanted).map(|each| each.iops());
    html! {
        section.box {
            h2 { "IOPS by block size and R/W mix, " (name) " " (round) @if !previous.is_empty() { " (outlined: previous " (name) ")" } }
            div.scroll tabindex="0" role="region" aria-label=(format!("Cells of the {name}")) {
                table.matrix {
                    thead { tr { th { "Block size" } @for mix in &mixes { th.number { (mix) "/" (100 - mix.min(&100)) } } } }
                    tbody {
                        @for block in &blocks {
                            tr {
                                th scope="row" { (block_size(u64::from(*block))) }
                                @for mix in &mixes {
                                    @let key = (*block, *mix);
                                    @match (find(&current, key), find(&previous, key)) {
                                        (Some(value), before) => td.measured { (short(value)) " " (change(value, before, name)) },
                                        (None, _) if now == Some(key) => td.now { "now" },
                                        (None, Some(before)) => td.before { (short(before)) },
                                        (None, None) => td {},
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The change since the previous round, which is called `name`, as a symbol with a description.
fn change(value: f64, before: Option<f64>, name: &str) -> Markup {
    let share = before.filter(|before| *before > 0.0).map(|before| value / before - 1.0);
    html! {
        @match share {
            Some(share) if share > UNCHANGED => abbr title=(format!("higher than in the previous {name}")) { "\u{25b2}" },
            Some(share) if share < -UNCHANGED => abbr title=(format!("lower than in the previous {name}")) { "\u{25bc}" },
            Some(_) => span.soft title=(format!("within 2 % of the previous {name}")) { "\u{b7}" },
            None => "",
        }
    }
}

/// Returns the segments of the latest round and of the round before it.
fn rounds(entries: &[Entry]) -> (Vec<&Segment>, Vec<&Segment>) {
    let (mut current, mut previous) = (Vec::new(), Vec::new());
    for entry in entries {
        match &entry.event {
            Event::TestStarted { .. } | Event::Restarted { .. } | Event::Noted(Note::RoundsEnded) => {
                current.clear();
                previous.clear();
            }
            Event::Noted(Note::RoundStarted { .. }) => previous = std::mem::take(&mut current),
            Event::Measured(_) => current.extend(segment(entry)),
            _ => {}
        }
    }
    (current, previous)
}

fn key(segment: &Segment) -> Key {
    (segment.workload.block_bytes, segment.workload.read_percent)
}

/// Returns the distinct values, in the order of first occurrence.
fn in_order<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for value in values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}
