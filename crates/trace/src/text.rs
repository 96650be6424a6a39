//! Results in words.

use stdx::units::{amount_base10, grouped, span};

use crate::{Imported, Summary};

impl Summary {
    /// Returns the number of I/Os, duration and amounts in one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_about("the volume")
    }

    fn text_about(&self, volume: &str) -> String {
        format!(
            "{} I/Os in {}: {} read, {} written, on the first {} of {volume}",
            grouped(self.ios as f64, 0),
            span(self.end_ns),
            amount_base10(self.read_bytes),
            amount_base10(self.written_bytes),
            amount_base10(self.end_bytes),
        )
    }
}

impl Imported {
    /// Returns what was imported, in one line.
    #[must_use]
    pub fn text(&self) -> String {
        let volume = format!("volume {}", stdx::text::on_one_line(&self.volume));
        format!("{} ({})", self.summary.text_about(&volume), self.format.name)
    }

    /// Returns the notes on the input: bad lines, other volumes, missing events.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self.complaints.iter().map(ToString::to_string).collect();
        let count = |count: u64| grouped(count as f64, 0);
        if self.bad_lines > self.complaints.len() as u64 {
            all.push(format!("... {} bad lines in total", count(self.bad_lines)));
        }
        if self.bad_lines > 0 {
            all.push(format!("{} of {} lines were skipped", count(self.bad_lines), count(self.lines)));
        }
        if let Some((name, ios)) = self.others.iter().max_by_key(|(_, ios)| **ios) {
            let plural = if self.other_volumes == 1 { "" } else { "s" };
            all.push(format!(
                "skipped {} I/O{plural} on other volumes, {} of them on volume {}",
                count(self.other_volumes),
                count(*ios),
                stdx::text::on_one_line(name)
            ));
        }
        if self.summary.lost_events > 0 {
            all.push(format!("the tracer lost {} events", count(self.summary.lost_events)));
        }
        if self.unmatched > 0 {
            all.push(format!("{} completions have no issue event and were skipped", count(self.unmatched)));
        }
        if self.summary.moved > 0 {
            all.push(format!(
                "{} I/Os were so far out of order in the file that they were given the time of a later I/O",
                count(self.summary.moved)
            ));
        }
        all
    }
}
