//! Power and efficiency: the performance of a workload per watt, with its uncertainty.
//!
//! All values come from the journal (the power of each segment, and the idle power before the first test) and
//! from the properties of the meter in `run.json`. Quantities that were not measured are absent.

use record::{Entry, Event, Power, PowerFacts, PowerSubject, RunFile, Segment};
use stdx::units::{grouped, span};

/// Number of standard errors in the uncertainty, which covers 95 % of a normal distribution.
const STANDARD_ERRORS: f64 = 2.0;

/// A value with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity {
    pub value: f64,
    /// Uncertainty due to the scatter of the samples: twice the standard error; None if there are too few
    /// samples.
    scatter: Option<f64>,
    /// Uncertainty due to tolerance and resolution of the meter; None if its tolerance is not known.
    tolerance: Option<f64>,
}

impl Quantity {
    fn watts(power: &Power) -> Self {
        let watts = |microwatts: u64| microwatts as f64 / 1e6;
        Self {
            value: watts(power.mean_microwatts),
            scatter: power.standard_error_microwatts.map(|error| STANDARD_ERRORS * watts(error)),
            tolerance: power.tolerance_microwatts.map(watts),
        }
    }

    /// Total uncertainty from scatter and, if it is known, tolerance; None if the scatter is not known.
    pub(crate) fn uncertainty(&self) -> Option<f64> {
        self.scatter.map(|scatter| scatter + self.tolerance.unwrap_or(0.0))
    }

    /// The difference. Scatter adds in quadrature; tolerances of one meter add linearly.
    fn minus(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| a.zip(b);
        Self {
            value: self.value - other.value,
            scatter: both(self.scatter, other.scatter).map(|(a, b)| a.hypot(b)),
            tolerance: both(self.tolerance, other.tolerance).map(|(a, b)| a + b),
        }
    }

    /// Converts the value to another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        let scaled = |uncertainty: Option<f64>| uncertainty.map(|uncertainty| uncertainty * factor);
        Self { value: self.value * factor, scatter: scaled(self.scatter), tolerance: scaled(self.tolerance) }
    }

    /// Divides `amount` by this power, so that the result is per watt.
    fn under(self, amount: f64) -> Self {
        let value = amount / self.value;
        let scaled =
            |uncertainty: Option<f64>| uncertainty.map(|uncertainty| value * uncertainty / self.value);
        Self { value, scatter: scaled(self.scatter), tolerance: scaled(self.tolerance) }
    }

    /// Returns the mean of several values; None if there are none. The scatter of the mean shrinks with the number
    /// of values; the tolerance of the meter does not.
    fn mean(all: &[Self]) -> Option<Self> {
        let count = all.len() as f64;
        let mean = |of: &dyn Fn(&Self) -> Option<f64>| {
            all.iter().map(of).sum::<Option<f64>>().map(|sum| sum / count)
        };
        let squares = all.iter().map(|one| one.scatter.map(|scatter| scatter * scatter)).sum::<Option<f64>>();
        (!all.is_empty()).then(|| Self {
            value: all.iter().map(|one| one.value).sum::<f64>() / count,
            scatter: squares.map(|squares| squares.sqrt() / count),
            tolerance: mean(&|one| one.tolerance),
        })
    }

    /// Formats the value with its uncertainty: `1,234 ± 56`, with two significant digits of the uncertainty.
    pub(crate) fn text(&self) -> String {
        printed(self.value, self.uncertainty())
    }
}

/// Formats a value, with its uncertainty if that is known.
#[must_use]
pub fn printed(value: f64, uncertainty: Option<f64>) -> String {
    let decimals = |of: f64, digits: i32| {
        let magnitude = if of > 0.0 { of.log10().floor() as i32 } else { 0 };
        (digits - 1 - magnitude).clamp(0, 3) as usize
    };
    match uncertainty {
        Some(uncertainty) => {
            // If the uncertainty is not known, as for an upper bound, the value has three significant digits.
            let decimals = if uncertainty > 0.0 { decimals(uncertainty, 2) } else { decimals(value, 3) };
            format!("{} ± {}", grouped(value, decimals), grouped(uncertainty, decimals))
        }
        None => format!("{} (uncertainty not known)", grouped(value, decimals(value, 3))),
    }
}

/// The performance of a workload per watt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Efficiency {
    /// Power attributed to the workload.
    pub watts: Quantity,
    pub iops_per_watt: Quantity,
    pub megabytes_per_second_per_watt: Quantity,
}

impl Efficiency {
    /// Returns the mean over several rounds; None if there are none.
    pub(crate) fn mean(all: &[Self]) -> Option<Self> {
        let of = |part: fn(&Self) -> Quantity| Quantity::mean(&all.iter().map(part).collect::<Vec<_>>());
        Some(Self {
            watts: of(|one| one.watts)?,
            iops_per_watt: of(|one| one.iops_per_watt)?,
            megabytes_per_second_per_watt: of(|one| one.megabytes_per_second_per_watt)?,
        })
    }
}

/// The meter of a run, and the idle power.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meter<'a> {
    pub facts: Option<&'a PowerFacts>,
    /// The length of the idle measurement in ns, and the power during it.
    idle: Option<(u64, &'a Power)>,
    is_simulated: bool,
}

impl<'a> Meter<'a> {
    pub(crate) fn of(run: &'a RunFile, entries: &'a [Entry]) -> Self {
        let idle = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::IdlePower { length_ns, power } => Some((*length_ns, power)),
            _ => None,
        });
        Self { facts: run.power.as_ref(), idle, is_simulated: run.target.simulated.is_some() }
    }

    /// What the meter measures, as named in exported files (drive, host or upper bound); None if there is no meter.
    pub(crate) fn subject_name(&self) -> Option<&'static str> {
        Some(match self.facts?.subject {
            PowerSubject::Drive => "drive",
            PowerSubject::Host => "host",
            PowerSubject::UpperBound => "upper_bound",
        })
    }

    /// The idle power in watts.
    pub(crate) fn idle(&self) -> Option<Quantity> {
        self.facts.and(self.idle).map(|(_, power)| Quantity::watts(power))
    }

    /// Power caused by the workload, as far as the meter can determine it; None if it was not measured, or if it
    /// exceeds the idle power of the host by no more than the uncertainty.
    fn attributed(&self, segment: &Segment) -> Option<Quantity> {
        let power = Quantity::watts(segment.power.as_ref()?);
        let attributed = match self.facts?.subject {
            PowerSubject::Drive | PowerSubject::UpperBound => power,
            PowerSubject::Host => {
                let above = power.minus(self.idle()?);
                above.uncertainty().is_some_and(|uncertainty| above.value > uncertainty).then_some(above)?
            }
        };
        (attributed.value > 0.0).then_some(attributed)
    }

    /// The performance per watt of the workload of a segment.
    pub(crate) fn efficiency(&self, segment: &Segment) -> Option<Efficiency> {
        let watts = self.attributed(segment)?;
        Some(Efficiency {
            watts,
            iops_per_watt: watts.under(segment.iops()),
            megabytes_per_second_per_watt: watts.under(segment.megabytes_per_second()),
        })
    }

    /// Whether values per watt are lower bounds, because the power is an upper bound.
    pub(crate) fn is_bound(&self) -> bool {
        self.facts.is_some_and(|facts| facts.subject == PowerSubject::UpperBound)
    }

    /// States how power was measured, and what its uncertainty includes.
    pub(crate) fn statement(&self) -> String {
        let Some(facts) = self.facts else {
            let why = if self.is_simulated { ": a simulated drive has no power source" } else { "" };
            return format!("Power and efficiency: not measured{why}.");
        };
        let idle = match self.idle {
            Some((length_ns, power)) => {
                format!(
                    "{} W, measured for {} before the first test",
                    Quantity::watts(power).text(),
                    span(length_ns)
                )
            }
            None => "not measured".into(),
        };
        let subject = match facts.subject {
            PowerSubject::Drive => "",
            PowerSubject::Host => {
                " This is not the power of the drive: the part above the idle power is attributed to the workload, \
                 including the work of the host. A difference within the uncertainty is shown as not measured."
            }
            PowerSubject::UpperBound => {
                " This is the most that the drive can draw, not what it drew, so values per watt are lower bounds."
            }
        };
        let tolerance = match (facts.subject, facts.tolerance_ppm) {
            (PowerSubject::UpperBound, _) => "",
            (_, Some(_)) => {
                " After ±: tolerance of the meter, half its resolution, and twice the standard error of the mean."
            }
            (_, None) => {
                " After ±: twice the standard error of the mean; the tolerance of the meter is not known."
            }
        };
        format!("Power: {} ({}). Idle: {idle}.{subject}{tolerance}", facts.meter, facts.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples;
    use record::Direction;

    fn power(watts: f64, error: Option<f64>, tolerance: Option<f64>) -> Power {
        let micro = |watts: f64| (watts * 1e6) as u64;
        Power {
            mean_microwatts: micro(watts),
            min_microwatts: micro(watts),
            max_microwatts: micro(watts),
            samples: 60,
            standard_error_microwatts: error.map(micro),
            tolerance_microwatts: tolerance.map(micro),
        }
    }

    fn facts(subject: PowerSubject) -> PowerFacts {
        PowerFacts {
            source: "rapl".into(),
            meter: "the meter".into(),
            subject,
            resolution_microwatts: None,
            tolerance_ppm: None,
        }
    }

    /// 60,000 writes of 4 KiB in a minute: 1,000 IOPS.
    fn segment(power: Power) -> Segment {
        let write = Direction { ios: 60_000, bytes: 60_000 * 4096, ..Direction::default() };
        Segment { write, power: Some(power), ..samples::segment(0) }
    }

    fn meter<'a>(facts: &'a PowerFacts, idle: Option<&'a Power>) -> Meter<'a> {
        Meter { facts: Some(facts), idle: idle.map(|idle| (30_000_000_000, idle)), is_simulated: false }
    }

    #[test]
    fn values_per_watt_have_the_relative_uncertainty_of_the_power() {
        let facts = facts(PowerSubject::Drive);
        let segment = segment(power(5.0, Some(0.05), Some(0.15)));
        let found = meter(&facts, None).efficiency(&segment).expect("measured");
        assert_eq!(found.watts.text(), "5.00 ± 0.25");
        assert_eq!(found.iops_per_watt.text(), "200 ± 10");
        assert_eq!(found.megabytes_per_second_per_watt.text(), "0.819 ± 0.041");
    }

    #[test]
    fn only_host_power_above_idle_counts() {
        let facts = facts(PowerSubject::Host);
        let idle = power(30.0, Some(0.3), None);
        let loaded = segment(power(35.0, Some(0.4), None));
        let found = meter(&facts, Some(&idle)).efficiency(&loaded).expect("measured");
        assert_eq!(found.watts.text(), "5.0 ± 1.0");
        let hardly = segment(power(30.5, Some(0.4), None));
        assert_eq!(meter(&facts, Some(&idle)).efficiency(&hardly), None, "within the uncertainty");
        assert_eq!(meter(&facts, None).efficiency(&loaded), None, "without an idle power");
    }

    #[test]
    fn scatter_shrinks_over_rounds_and_tolerance_does_not() {
        let facts = facts(PowerSubject::Drive);
        let each =
            meter(&facts, None).efficiency(&segment(power(5.0, Some(0.05), Some(0.05)))).expect("measured");
        let mean = Efficiency::mean(&[each; 4]).expect("four rounds");
        assert_eq!(mean.watts.text(), "5.00 ± 0.10");
        assert_eq!(Efficiency::mean(&[]), None);
    }

    #[test]
    fn one_sample_has_no_uncertainty() {
        let facts = facts(PowerSubject::Drive);
        let found = meter(&facts, None).efficiency(&segment(power(5.0, None, Some(0.15)))).expect("measured");
        assert_eq!(found.iops_per_watt.text(), "200 (uncertainty not known)");
    }

    #[test]
    fn missing_measurements_are_reported() {
        let none = Meter { facts: None, idle: None, is_simulated: false };
        assert_eq!(none.statement(), "Power and efficiency: not measured.");
        assert_eq!(none.efficiency(&segment(power(5.0, None, None))), None);
        let simulated = Meter { is_simulated: true, ..none };
        assert!(simulated.statement().contains("a simulated drive has no power source"));
        let facts = facts(PowerSubject::UpperBound);
        assert!(
            meter(&facts, None)
                .statement()
                .contains("Idle: not measured. This is the most that the drive can draw")
        );
    }
}
