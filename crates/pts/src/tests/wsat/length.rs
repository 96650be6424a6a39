//! The length of the test: the profile's end conditions, and those that the tester chooses.

use record::SaturationUntil;
use stdx::units::span;

use crate::Context;
use crate::method::profile::{CELL_NS, SaturationEnd};

/// The condition that ended the saturation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Written,
    Time,
    Steady,
    /// Both the amount and the time limit.
    Both,
    /// The absolute time limit of a test that waits for both.
    Limit,
}

/// Number of hours after which a test that waits for both ends in any case.
pub const HARD_LIMIT_HOURS: u32 = 240;

/// The conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    conditions: SaturationEnd,
    until: SaturationUntil,
    capacity_bytes: u64,
    /// Length of what counts as a minute.
    cell_ns: u64,
}

/// Formats minutes: `155 min`, or `12 min 55 s` if the number is not whole.
pub fn in_words(minutes: f64) -> String {
    if minutes.fract() == 0.0 { format!("{minutes} min") } else { span((minutes * CELL_NS as f64) as u64) }
}

impl Length {
    /// Returns the profile's conditions.
    pub fn required(context: &Context<'_>) -> Self {
        Self {
            conditions: context.profile.saturation_end,
            until: SaturationUntil::First,
            capacity_bytes: context.target.capacity_bytes,
            cell_ns: context.settings.cell_ns,
        }
    }

    /// Returns the profile's conditions without the time limit.
    pub fn untimed(context: &Context<'_>) -> Self {
        let required = Self::required(context);
        Self { conditions: SaturationEnd { minutes: u32::MAX, ..required.conditions }, ..required }
    }

    /// Returns the conditions that the tester chose or, by default, those of the profile.
    pub fn of(context: &Context<'_>) -> Self {
        let (required, chosen) = (Self::required(context), context.settings.wsat);
        let conditions = SaturationEnd {
            capacities: chosen.capacities.unwrap_or(required.conditions.capacities),
            minutes: chosen.hours.map_or(required.conditions.minutes, |hours| hours * 60),
            ..required.conditions
        };
        Self { conditions, until: chosen.until.unwrap_or(required.until), ..required }
    }

    /// Returns the condition that ends the test after `minute`.
    pub fn end(&self, minute: u32, written_bytes: u64, is_steady: bool) -> Option<End> {
        let amount = self.capacity_bytes.saturating_mul(u64::from(self.conditions.capacities));
        let (is_written, is_over) = (written_bytes >= amount, minute >= self.conditions.minutes);
        match self.until {
            SaturationUntil::First if is_steady && self.conditions.when_steady => Some(End::Steady),
            SaturationUntil::First if is_written => Some(End::Written),
            SaturationUntil::First | SaturationUntil::Time => is_over.then_some(End::Time),
            SaturationUntil::All if is_written && is_over => Some(End::Both),
            SaturationUntil::All => (minute >= HARD_LIMIT_HOURS * 60).then_some(End::Limit),
        }
    }

    /// Returns whether a test that continued after `end` until minute `minutes` still follows the specification.
    /// Tests in published reports of 1.0 continued to 29 capacities, and 2.0 allows 24 hours instead of 6.
    pub fn may_continue(&self, end: End, minutes: u32) -> bool {
        self.conditions.may_continue || (end == End::Time && minutes <= self.conditions.most_minutes)
    }

    /// Formats the amount, such as `4 x capacity`.
    pub fn amount(&self) -> String {
        format!("{} x capacity", self.conditions.capacities)
    }

    /// Formats the time limit, such as `24 h`.
    pub fn time(&self) -> String {
        self.hours(self.conditions.minutes / 60)
    }

    /// Formats a time that is specified in hours, as long as it takes with the cells of this run.
    fn hours(&self, hours: u32) -> String {
        match self.cell_ns {
            CELL_NS => format!("{hours} h"),
            cell_ns => span(cell_ns.saturating_mul(u64::from(hours) * 60)),
        }
    }

    /// Describes the conditions as they are specified, and how steady state is evaluated.
    pub fn words(&self) -> String {
        Self { cell_ns: CELL_NS, ..*self }.worded(
            "five samples 31 minutes apart whose range is within 20 % and whose slope is within 10 % of their mean",
        )
    }

    /// Describes the conditions for the test's outline.
    pub fn in_short(&self) -> String {
        let cells = if self.cell_ns == CELL_NS { "minutes" } else { "cells" };
        self.worded(&format!("five samples 31 {cells} apart that are steady"))
    }

    fn worded(&self, steady: &str) -> String {
        let (amount, time) = (self.amount(), self.time());
        match self.until {
            SaturationUntil::Time => time,
            SaturationUntil::All => format!("{amount} written and {time}, whichever comes last"),
            SaturationUntil::First if self.conditions.when_steady => {
                format!("{amount} written, or {time}, or {steady}, whichever comes first")
            }
            SaturationUntil::First => format!("{amount} written, or {time}, whichever comes first"),
        }
    }

    /// Describes the end, as part of a sentence.
    pub fn met(&self, end: End, cell: u32) -> String {
        let amount = self.amount();
        let after = in_words(f64::from(cell) * self.cell_ns as f64 / CELL_NS as f64);
        match end {
            End::Written => format!("{amount} written after {after}"),
            End::Time => self.time(),
            End::Steady => format!("steady state after {after}"),
            End::Both => format!("{amount} written and {} elapsed after {after}", self.time()),
            End::Limit => {
                format!("the hard limit of {} without {amount} written", self.hours(HARD_LIMIT_HOURS))
            }
        }
    }
}
