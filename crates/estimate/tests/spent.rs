//! Computes the actual cost of a run from its journal.

#[path = "../../pts/tests/support/recording.rs"]
mod recording;
#[path = "../../pts/tests/support/mod.rs"]
mod support;

use pts::{Profile, Test};
use record::{Event, Note};
use recording::{recorded_by, run_file};
use support::Fake;

#[test]
fn a_load_after_the_rounds_fills_no_round() {
    let (test, profile) = (Test::named("wsat").unwrap(), Profile::named("pts-c-2.0").unwrap());
    let fake = Fake::new(|cycle, _| 100 * u64::from(1 + cycle % 2));
    let (run, entries, outcome) = recorded_by(fake, test, run_file(test, profile, profile.settings(1)));
    assert_eq!(outcome.stop, None);
    // 360 minutes is 11 cycles of 31 minutes plus 19 minutes; the histogram follows.
    let spent = estimate::cost::of_run(&run, &entries);
    assert_eq!((spent[0].taken.rounds, spent[0].cells_missing), (12, 12));
    let tail: Vec<bool> =
        entries.iter().rev().take(2).map(|e| matches!(e.event, Event::Measured(_))).collect();
    assert_eq!(
        (tail, &entries[entries.len() - 2].event),
        (vec![true, false], &Event::Noted(Note::RoundsEnded))
    );
}
