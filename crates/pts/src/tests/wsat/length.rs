//! The length of the test: the profile's end conditions, and those that the tester chooses.

use record::SaturationUntil;

use crate::Context;
use crate::method::profile::SaturationEnd;

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
}

impl Length {
    /// Returns the profile's conditions.
    pub fn required(context: &Context<'_>) -> Self {
        Self {
            conditions: context.profile.saturation_end,
            until: SaturationUntil::First,
            capacity_bytes: context.target.capacity_bytes,
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

    /// Formats the time, such as `24 h`.
    pub fn time(&self) -> String {
        format!("{} h", self.conditions.minutes / 60)
    }

    /// Describes the conditions, and how steady state is evaluated.
    pub fn words(&self) -> String {
        self.worded(
            "five samples 31 minutes apart whose range is within 20 % and whose slope is within 10 % of their mean",
        )
    }

    /// Describes the conditions for the test's outline.
    pub fn in_short(&self) -> String {
        self.worded("five samples 31 minutes apart that are steady")
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
    pub fn met(&self, end: End, minute: u32) -> String {
        let amount = self.amount();
        match end {
            End::Written => format!("{amount} written after {minute} min"),
            End::Time => self.time(),
            End::Steady => format!("steady state after {minute} min"),
            End::Both => format!("{amount} written and {} elapsed after {minute} min", self.time()),
            End::Limit => format!("the hard limit of {HARD_LIMIT_HOURS} h without {amount} written"),
        }
    }
}
