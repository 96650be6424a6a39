//! Power and efficiency: the performance of a workload per watt, with its uncertainty.
//!
//! All values come from the journal (the power of each segment, and the idle power before the first test) and
//! from the properties of the meter in `run.json`. Quantities that were not measured are absent. In an
//! imported run, both contain the values stated in the file, with only their total uncertainty.

use record::{
    CellPower, Efficiency, Entry, Event, ExportedMeter, Power, PowerFacts, PowerSubject, RunFile, Segment,
    Uncertain,
};
use stdx::units::{grouped, span};

/// Uncertainty as a number of standard errors; ±2 covers 95 % of a normal distribution.
const STANDARD_ERRORS: f64 = 2.0;

/// A measured value with the parts of its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity {
    value: f64,
    /// Uncertainty due to the scatter of the samples: twice the standard error; None if there are too few
    /// samples.
    scatter: Option<f64>,
    /// Uncertainty due to the tolerance and resolution of the meter; None if its tolerance is not known.
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

    /// Returns the total uncertainty from scatter and, if it is known, tolerance; None if the scatter is not
    /// known.
    fn uncertainty(&self) -> Option<f64> {
        self.scatter.map(|scatter| scatter + self.tolerance.unwrap_or(0.0))
    }

    /// Returns the difference. Scatter adds in quadrature; tolerances add linearly, because both readings come
    /// from the same power meter.
    fn minus(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| a.zip(b);
        Self {
            value: self.value - other.value,
            scatter: both(self.scatter, other.scatter).map(|(a, b)| a.hypot(b)),
            tolerance: both(self.tolerance, other.tolerance).map(|(a, b)| a + b),
        }
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

    /// Returns the value with its total uncertainty.
    fn stated(self) -> Uncertain {
        Uncertain { value: self.value, uncertainty: self.uncertainty() }
    }
}

/// Formats a value with its uncertainty: `1,234 ± 56`, with two significant digits of the uncertainty.
pub(crate) fn text(quantity: Uncertain) -> String {
    printed(quantity.value, quantity.uncertainty)
}

/// Converts a value to another unit.
pub(crate) fn times(quantity: Uncertain, factor: f64) -> Uncertain {
    Uncertain {
        value: quantity.value * factor,
        uncertainty: quantity.uncertainty.map(|uncertainty| uncertainty * factor),
    }
}

/// Formats a value with its uncertainty, or with a note that the uncertainty is not known.
#[must_use]
pub fn printed(value: f64, uncertainty: Option<f64>) -> String {
    let decimals = |of: f64, digits: i32| {
        let magnitude = if of > 0.0 { of.log10().floor() as i32 } else { 0 };
        (digits - 1 - magnitude).clamp(0, 3) as usize
    };
    match uncertainty {
        Some(uncertainty) => {
            // If the uncertainty is zero, as for an upper bound, the value has three significant digits.
            let decimals = if uncertainty > 0.0 { decimals(uncertainty, 2) } else { decimals(value, 3) };
            format!("{} ± {}", grouped(value, decimals), grouped(uncertainty, decimals))
        }
        None => format!("{} (uncertainty not known)", grouped(value, decimals(value, 3))),
    }
}

/// The measured performance of a workload per watt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasuredEfficiency {
    /// Power attributed to the workload.
    watts: Quantity,
    iops_per_watt: Quantity,
    bytes_per_second_per_watt: Quantity,
}

impl MeasuredEfficiency {
    /// Returns the mean over several rounds; None if there are none.
    pub(crate) fn mean(all: &[Self]) -> Option<Self> {
        let of = |part: fn(&Self) -> Quantity| Quantity::mean(&all.iter().map(part).collect::<Vec<_>>());
        Some(Self {
            watts: of(|one| one.watts)?,
            iops_per_watt: of(|one| one.iops_per_watt)?,
            bytes_per_second_per_watt: of(|one| one.bytes_per_second_per_watt)?,
        })
    }

    /// Returns the values with their total uncertainties.
    pub(crate) fn stated(&self) -> Efficiency {
        Efficiency {
            watts: self.watts.stated(),
            iops_per_watt: self.iops_per_watt.stated(),
            bytes_per_second_per_watt: self.bytes_per_second_per_watt.stated(),
        }
    }
}

/// The power meter used in a run, and the idle power.
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

    /// Returns the meter with the idle power, as exported; None if there is no meter.
    pub(crate) fn stated(&self) -> Option<ExportedMeter> {
        let facts = self.facts?;
        Some(ExportedMeter {
            source: Some(facts.source.clone()),
            meter: Some(facts.meter.clone()),
            subject: facts.subject,
            resolution_watts: facts.resolution_microwatts.map(|resolution| resolution as f64 / 1e6),
            tolerance_percent: facts.tolerance_ppm.map(|tolerance| f64::from(tolerance) / 1e4),
            idle_watts: self.idle().map(Quantity::stated),
        })
    }

    /// Returns the idle power in watts.
    fn idle(&self) -> Option<Quantity> {
        self.facts.and(self.idle).map(|(_, power)| Quantity::watts(power))
    }

    /// Returns the power caused by the workload, as far as the meter can determine it; None if power was not
    /// measured, or if the host's power exceeds its idle power by no more than the uncertainty.
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

    /// Returns the performance per watt of a segment's workload.
    pub(crate) fn efficiency(&self, segment: &Segment) -> Option<MeasuredEfficiency> {
        let watts = self.attributed(segment)?;
        Some(MeasuredEfficiency {
            watts,
            iops_per_watt: watts.under(segment.iops()),
            bytes_per_second_per_watt: watts.under(segment.megabytes_per_second() * 1e6),
        })
    }

    /// Returns the power and efficiency of a segment, as exported; None if its power was not measured.
    pub(crate) fn of_cell(&self, segment: &Segment) -> Option<CellPower> {
        let power = segment.power?;
        let watts = |microwatts: u64| microwatts as f64 / 1e6;
        Some(CellPower {
            mean_watts: watts(power.mean_microwatts),
            min_watts: watts(power.min_microwatts),
            max_watts: watts(power.max_microwatts),
            samples: power.samples,
            efficiency: self.efficiency(segment).as_ref().map(MeasuredEfficiency::stated),
        })
    }

    /// Describes how power was measured, and what its uncertainty includes.
    pub(crate) fn statement(&self) -> String {
        match self.stated() {
            Some(meter) => statement(&meter, self.idle.map(|(length_ns, _)| length_ns)),
            None => {
                let why = if self.is_simulated {
                    ": the power of a simulated drive cannot be measured"
                } else {
                    ""
                };
                format!("Power and efficiency: not measured{why}.")
            }
        }
    }
}

/// Returns whether values per watt are lower bounds, because the power is an upper bound.
pub(crate) fn is_bound(meter: &ExportedMeter) -> bool {
    meter.subject == PowerSubject::UpperBound
}

/// Returns what a meter measures, as named in exported files.
pub(crate) const fn subject_name(subject: PowerSubject) -> &'static str {
    match subject {
        PowerSubject::Drive => "drive",
        PowerSubject::Host => "host",
        PowerSubject::UpperBound => "upper_bound",
    }
}

/// Describes how power was measured, and what its uncertainty includes. `idle_ns` is the length of the measurement of
/// the idle power, if known.
pub(crate) fn statement(meter: &ExportedMeter, idle_ns: Option<u64>) -> String {
    let idle = match (meter.idle_watts, idle_ns) {
        (Some(idle), Some(length_ns)) => {
            format!("{} W, measured for {} before the first test", text(idle), span(length_ns))
        }
        (Some(idle), None) => format!("{} W, measured before the first test", text(idle)),
        (None, _) => "not measured".into(),
    };
    let subject = match meter.subject {
        PowerSubject::Drive => "",
        PowerSubject::Host => {
            " This is not the power of the drive: the part above the idle power is attributed to the workload, \
             including the work of the host. A difference within the uncertainty is shown as not measured."
        }
        PowerSubject::UpperBound => {
            " This is the most that the drive can draw, not what it drew, so values per watt are lower bounds."
        }
    };
    let tolerance = match (meter.subject, meter.tolerance_percent, &meter.source) {
        (PowerSubject::UpperBound, ..) => "",
        (_, Some(_), _) => {
            " After ±: tolerance of the meter, half its resolution, and twice the standard error of the mean."
        }
        (_, None, Some(_)) => {
            " After ±: twice the standard error of the mean; the tolerance of the meter is not known."
        }
        (_, None, None) => " After ±: the uncertainty, as stated in the file.",
    };
    let named = match (&meter.meter, &meter.source) {
        (Some(meter), Some(source)) => format!("{meter} ({source})"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => format!("the meter is {}", pts::ABSENT),
    };
    format!("Power: {named}. Idle: {idle}.{subject}{tolerance}")
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

    /// Returns a segment with 60,000 writes of 4 KiB in a minute: 1,000 IOPS.
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
        let found = meter(&facts, None).efficiency(&segment).expect("measured").stated();
        assert_eq!(text(found.watts), "5.00 ± 0.25");
        assert_eq!(text(found.iops_per_watt), "200 ± 10");
        assert_eq!(text(times(found.bytes_per_second_per_watt, 1e-6)), "0.819 ± 0.041");
    }

    #[test]
    fn only_host_power_above_idle_counts() {
        let facts = facts(PowerSubject::Host);
        let idle = power(30.0, Some(0.3), None);
        let loaded = segment(power(35.0, Some(0.4), None));
        let found = meter(&facts, Some(&idle)).efficiency(&loaded).expect("measured");
        assert_eq!(text(found.watts.stated()), "5.0 ± 1.0");
        let hardly = segment(power(30.5, Some(0.4), None));
        assert_eq!(meter(&facts, Some(&idle)).efficiency(&hardly), None, "within the uncertainty");
        assert_eq!(meter(&facts, None).efficiency(&loaded), None, "without an idle power");
    }

    #[test]
    fn scatter_shrinks_over_rounds_and_tolerance_does_not() {
        let facts = facts(PowerSubject::Drive);
        let each =
            meter(&facts, None).efficiency(&segment(power(5.0, Some(0.05), Some(0.05)))).expect("measured");
        let mean = MeasuredEfficiency::mean(&[each; 4]).expect("four rounds");
        assert_eq!(text(mean.watts.stated()), "5.00 ± 0.10");
        assert_eq!(MeasuredEfficiency::mean(&[]), None);
    }

    #[test]
    fn one_sample_has_no_uncertainty() {
        let facts = facts(PowerSubject::Drive);
        let found = meter(&facts, None).efficiency(&segment(power(5.0, None, Some(0.15)))).expect("measured");
        assert_eq!(text(found.iops_per_watt.stated()), "200 (uncertainty not known)");
    }

    #[test]
    fn missing_measurements_are_reported() {
        let none = Meter { facts: None, idle: None, is_simulated: false };
        assert_eq!(none.statement(), "Power and efficiency: not measured.");
        assert_eq!(none.efficiency(&segment(power(5.0, None, None))), None);
        let simulated = Meter { is_simulated: true, ..none };
        assert!(simulated.statement().contains("the power of a simulated drive cannot be measured"));
        let facts = facts(PowerSubject::UpperBound);
        assert!(
            meter(&facts, None)
                .statement()
                .contains("Idle: not measured. This is the most that the drive can draw")
        );
    }

    #[test]
    fn a_meter_that_the_file_does_not_name_is_not_invented() {
        let of_file = ExportedMeter {
            source: None,
            meter: None,
            subject: PowerSubject::Drive,
            resolution_watts: None,
            tolerance_percent: None,
            idle_watts: Some(Uncertain { value: 2.0, uncertainty: Some(0.04) }),
        };
        assert_eq!(
            statement(&of_file, None),
            "Power: the meter is not in the file. Idle: 2.000 ± 0.040 W, measured before the first test. After ±: the \
             uncertainty, as stated in the file."
        );
    }
}
