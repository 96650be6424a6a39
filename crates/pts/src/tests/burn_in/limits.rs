//! The length and limits of a burn-in: settings with defaults. Values that a drive does not report are not checked.

use record::Health;
use stdx::units::CELSIUS;

use crate::Context;
use crate::conclusions::acceptance::Reason;

/// A run's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Hours of load.
    pub hours: u32,
    media_errors: u64,
    reallocated: u64,
    percentage_used: i64,
    spare_percent: i64,
    celsius: i64,
}

impl Limits {
    /// Returns the limits: the run's settings or, where there are none, the defaults.
    pub fn of(context: &Context<'_>) -> Result<Self, String> {
        let further = &context.settings.further;
        let number = |name: &str, default: u32| match further.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{name} = {text} is not a number")),
        };
        Ok(Self {
            hours: number("burn-in-hours", 24)?,
            media_errors: number("burn-in-media-errors", 0)?.into(),
            reallocated: number("burn-in-reallocated", 0)?.into(),
            percentage_used: number("burn-in-used", 100)?.into(),
            spare_percent: number("burn-in-spare", 10)?.into(),
            celsius: number("burn-in-temperature", 70)?.into(),
        })
    }

    /// Adds the values in `health` that violate the limits, and returns the limits that could not be checked.
    pub fn judge(&self, health: &[Health], reasons: &mut Vec<Reason>) -> Vec<&'static str> {
        let mut unchecked = Vec::new();
        let mut grown = |what, of: fn(&Health) -> Option<u64>, allowed| {
            let values: Vec<u64> = health.iter().filter_map(of).collect();
            // A single reading does not show an increase.
            if values.len() < 2 {
                return unchecked.push(what);
            }
            // A counter that decreased was reset, and has since increased from zero to its new value.
            let growth = |pair: &[u64]| pair[1].checked_sub(pair[0]).unwrap_or(pair[1]);
            let by = values.windows(2).map(growth).fold(0, u64::saturating_add);
            if by > allowed {
                reasons.push(Reason::Grown { what, by, allowed });
            }
        };
        grown("media errors", |health| health.media_errors, self.media_errors);
        grown("reallocated sectors", |health| health.reallocated_sectors, self.reallocated);
        let values = |of: fn(&Health) -> Option<i64>| health.iter().filter_map(of);
        let mut at_most = |what, highest: Option<i64>, limit, unit| match highest {
            None => unchecked.push(what),
            Some(is) if is > limit => reasons.push(Reason::Above { what, is, limit, unit }),
            Some(_) => {}
        };
        let used = values(|health| health.percentage_used.map(i64::from)).max();
        at_most("endurance used", used, self.percentage_used, "%");
        let celsius = values(|health| health.temperature_celsius.map(i64::from)).max();
        at_most("temperature", celsius, self.celsius, CELSIUS);
        let (what, limit, unit) = ("available spare", self.spare_percent, "%");
        match values(|health| health.available_spare_percent.map(i64::from)).min() {
            None => unchecked.push(what),
            Some(is) if is < limit => reasons.push(Reason::Below { what, is, limit, unit }),
            Some(_) => {}
        }
        let bits = health.iter().filter_map(|health| health.critical_warning).fold(0, |all, bits| all | bits);
        reasons.extend((bits != 0).then_some(Reason::Warned { bits }));
        unchecked
    }

    /// Returns descriptions of the limits, in the order of the page.
    pub fn in_words(&self) -> String {
        format!(
            "at most {} more media errors and {} more reallocated sectors, {} % endurance used, {} {CELSIUS}, at least {} % \
             available spare, no critical warning",
            self.media_errors, self.reallocated, self.percentage_used, self.celsius, self.spare_percent
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        hours: 1,
        media_errors: 0,
        reallocated: 2,
        percentage_used: 100,
        spare_percent: 10,
        celsius: 70,
    };

    fn healthy() -> Health {
        Health {
            temperature_celsius: Some(40),
            critical_warning: Some(0),
            available_spare_percent: Some(100),
            percentage_used: Some(3),
            media_errors: Some(7),
            reallocated_sectors: Some(5),
            ..Health::default()
        }
    }

    fn judged(health: &[Health]) -> (String, Vec<&'static str>) {
        let mut reasons = Vec::new();
        let unchecked = LIMITS.judge(health, &mut reasons);
        (reasons.iter().map(Reason::to_string).collect::<Vec<_>>().join("; "), unchecked)
    }

    #[test]
    fn earlier_errors_do_not_count() {
        assert_eq!(judged(&[healthy(), healthy()]), (String::new(), vec![]));
    }

    #[test]
    fn growth_after_a_counter_reset_counts() {
        let with = |media_errors| Health { media_errors: Some(media_errors), ..healthy() };
        let (reasons, unchecked) = judged(&[with(7), with(0), with(3)]);
        assert_eq!((reasons.as_str(), unchecked), ("3 more media errors (0 allowed)", vec![]));
    }

    #[test]
    fn one_reading_shows_no_growth() {
        assert_eq!(judged(&[healthy()]), (String::new(), vec!["media errors", "reallocated sectors"]));
    }

    #[test]
    fn each_limit_has_its_reason() {
        let now = |change: fn(&mut Health)| {
            let mut health = healthy();
            change(&mut health);
            judged(&[healthy(), healthy(), health])
        };
        for (change, expected) in [
            ((|health| health.media_errors = Some(8)) as fn(&mut Health), "1 more media errors (0 allowed)"),
            (|health| health.reallocated_sectors = Some(8), "3 more reallocated sectors (2 allowed)"),
            (|health| health.reallocated_sectors = Some(7), ""),
            (|health| health.percentage_used = Some(101), "endurance used 101 % (at most 100 %)"),
            (|health| health.percentage_used = Some(100), ""),
            (|health| health.temperature_celsius = Some(71), "temperature 71 °C (at most 70 °C)"),
            (|health| health.available_spare_percent = Some(9), "available spare 9 % (at least 10 %)"),
            (|health| health.available_spare_percent = Some(10), ""),
            (|health| health.critical_warning = Some(4), "critical warning 04h"),
        ] {
            assert_eq!(now(change), (expected.to_owned(), vec![]));
        }
    }

    #[test]
    fn unreported_values_are_not_checked() {
        let all = ["media errors", "reallocated sectors", "endurance used", "temperature", "available spare"];
        assert_eq!(judged(&[]), (String::new(), all.to_vec()));
        let warm = Health { temperature_celsius: Some(30), ..Health::default() };
        assert_eq!(
            judged(&[warm]).1,
            ["media errors", "reallocated sectors", "endurance used", "available spare"]
        );
    }
}
