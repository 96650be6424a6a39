//! The share of the drive's rated endurance that a run consumes.

use record::Health;
use stdx::units::{amount_base10, grouped};

/// The rated number of bytes written, and the source of that number.
#[derive(Debug, Clone, PartialEq)]
pub struct Endurance {
    pub rated_bytes: f64,
    pub source: String,
}

impl Endurance {
    /// Uses the specified value, or derives one from the wear that the drive reports; `None` if neither is
    /// available.
    ///
    /// # Errors
    /// Returns an error if the specified value is out of range.
    pub fn of(typed_terabytes: Option<f64>, health: &Health) -> Result<Option<Self>, String> {
        match typed_terabytes {
            Some(terabytes) if terabytes > 0.0 && terabytes < 1e9 => {
                Ok(Some(Self { rated_bytes: terabytes * 1e12, source: "as given".into() }))
            }
            Some(terabytes) => Err(format!(
                "--tbw {terabytes}: specify the drive's rated endurance in terabytes, such as 600"
            )),
            None => Ok(Self::derived(health)),
        }
    }

    /// Derives the rating from the drive's wear. The drive reports whole percentages, so half a percent is added.
    fn derived(health: &Health) -> Option<Self> {
        let (used, written) = (health.percentage_used?, health.host_written_bytes?);
        // No rating can be derived from 0 %, and the counter saturates at 255 %.
        if used == 0 || used == u8::MAX || written == 0 {
            return None;
        }
        let source = format!(
            "derived from the drive's health: {used} % used, {} written; specify the rated value with --tbw",
            amount_base10(written)
        );
        Some(Self { rated_bytes: written as f64 / ((f64::from(used) + 0.5) / 100.0), source })
    }

    pub fn share_percent(&self, written_bytes: u64) -> f64 {
        written_bytes as f64 / self.rated_bytes * 100.0
    }
}

/// Formats the endurance for the plan.
pub fn line(endurance: Option<&Endurance>, least_bytes: u64, most_bytes: u64) -> String {
    let Some(endurance) = endurance else {
        return "unknown: the drive does not report it; specify the rated terabytes with --tbw".into();
    };
    let percent = |bytes| grouped(endurance.share_percent(bytes), 2);
    let (low, high) = (percent(least_bytes), percent(most_bytes));
    let share = if low == high { low } else { format!("{low} to {high}") };
    let terabytes = endurance.rated_bytes / 1e12;
    let rated = grouped(terabytes, if terabytes < 100.0 { 1 } else { 0 });
    format!("{share} % of {rated} TB rated ({})", endurance.source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(used: u8, written: u64) -> Health {
        Health { percentage_used: Some(used), host_written_bytes: Some(written), ..Health::default() }
    }

    #[test]
    fn typed_values_take_precedence_and_are_validated() {
        let typed = Endurance::of(Some(600.0), &health(3, 1)).unwrap().unwrap();
        assert!((typed.share_percent(6_000_000_000_000) - 1.0).abs() < 1e-9);
        for wrong in [0.0, -1.0, f64::NAN, 1e12] {
            assert!(Endurance::of(Some(wrong), &Health::default()).unwrap_err().contains("--tbw"));
        }
    }

    #[test]
    fn wear_and_amount_written_give_the_rated_endurance() {
        // At 35 TB and 3 %, the rating is between 35 / 4 % and 35 / 3 %; the midpoint, 3.5 %, yields 1,000 TB.
        let derived = Endurance::of(None, &health(3, 35_000_000_000_000)).unwrap().unwrap();
        assert!((derived.rated_bytes / 1e15 - 1.0).abs() < 1e-9);
        assert!(derived.source.contains("3 % used, 35 TB written"), "{}", derived.source);
        assert!(
            line(Some(&derived), 1_000_000_000_000, 5_000_000_000_000)
                .starts_with("0.10 to 0.50 % of 1,000 TB rated")
        );
    }

    #[test]
    fn without_wear_data_it_is_requested() {
        for nothing in [Health::default(), health(0, 9), health(255, 9), health(3, 0)] {
            assert_eq!(Endurance::of(None, &nothing).unwrap(), None);
        }
        assert!(line(None, 1, 2).contains("--tbw"));
    }
}
