//! Maps values to positions on an axis, and places the ticks.

use chartdata::exhibit::Scale;
use stdx::units::grouped;

/// For each tick: the N for which one in N I/Os takes longer, and the percentage of I/Os that do not take
/// longer.
const NINES: [(f64, &str); 7] = [
    (2.0, "50"),
    (10.0, "90"),
    (100.0, "99"),
    (1e3, "99.9"),
    (1e4, "99.99"),
    (1e5, "99.999"),
    (1e6, "99.9999"),
];

/// One tick on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    /// Empty for minor ticks.
    pub label: String,
}

/// An axis laid out for a set of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruler {
    low: f64,
    high: f64,
    logarithmic: bool,
    pub ticks: Vec<Tick>,
    pub minor: Vec<f64>,
}

impl Ruler {
    /// Returns the axis's kind and ends, for the script that redraws it.
    pub fn described(&self, scale: Scale) -> String {
        let kind = match scale {
            Scale::Nines => "nines",
            Scale::Log10 | Scale::Log2 => "log",
            Scale::Integer | Scale::Rounds => "whole",
            Scale::LinearFromZero | Scale::LinearZoomed | Scale::Fitted => "linear",
        };
        format!("{kind} {} {}", self.low, self.high)
    }

    /// Returns whether the axis is linear but does not include zero, so that heights are not proportional to
    /// values.
    pub const fn is_cropped(&self) -> bool {
        !self.logarithmic && self.low > 0.0
    }
}

impl Ruler {
    /// Creates an axis with about `tick_count` ticks that includes all of `values`. Values that the scale cannot
    /// represent (not finite, or not positive on a logarithmic scale) are ignored.
    pub fn of(scale: Scale, values: impl Iterator<Item = f64>, tick_count: usize) -> Self {
        let logarithmic = matches!(scale, Scale::Log10 | Scale::Log2 | Scale::Nines);
        let mut values: Vec<f64> = values.filter(|v| v.is_finite() && (!logarithmic || *v > 0.0)).collect();
        values.sort_by(f64::total_cmp);
        let ends = values.first().copied().zip(values.last().copied());
        match scale {
            Scale::LinearFromZero => {
                let (low, high) = ends.unwrap_or((0.0, 0.0));
                Self::linear(low.min(0.0), high.max(0.0), tick_count)
            }
            Scale::LinearZoomed => {
                let (low, high) = ends.unwrap_or((0.0, 1.0));
                let margin = if high > low { (high - low) * 0.06 } else { (high.abs() * 0.1).max(0.5) };
                // The axis does not extend below zero if all values are non-negative, because a rate cannot
                // be negative.
                let floor = if low >= 0.0 { 0.0 } else { f64::MIN };
                Self::linear((low - margin).max(floor), high + margin, tick_count)
            }
            Scale::Integer | Scale::Rounds => Self::whole(ends.unwrap_or((1.0, 5.0)), tick_count),
            Scale::Log10 => Self::decades(ends.unwrap_or((1.0, 10.0)), tick_count),
            Scale::Log2 => Self::one_tick_each(values),
            Scale::Fitted => Self::fitted(ends.unwrap_or((0.0, 1.0)), tick_count),
            Scale::Nines => Self::nines(ends.unwrap_or((2.0, 100.0))),
        }
    }

    /// Like [`Ruler::of`], for a horizontal axis: its labels are beside each other, so it has no steps of 2.5, 0.25 and so on,
    /// which need more digits than others.
    pub fn across(scale: Scale, values: &[f64], tick_count: usize) -> Self {
        let found = Self::of(scale, values.iter().copied(), tick_count);
        let is_quarter = |step: f64| (step / 10f64.powf(step.log10().floor()) - 2.5).abs() < 1e-6;
        let is_even = matches!(scale, Scale::LinearFromZero | Scale::LinearZoomed | Scale::Fitted);
        let is_long = is_even && found.ticks.iter().any(|tick| tick.value.fract() != 0.0);
        match found.ticks.as_slice() {
            [first, second, ..] if is_long && is_quarter(second.value - first.value) => {
                // With fewer ticks than that, the next step could be 10 instead of 5.
                Self::of(scale, values.iter().copied(), tick_count.div_ceil(2))
            }
            _ => found,
        }
    }

    /// Creates a linear axis that starts at zero and ends exactly at `high` instead of at a tick.
    pub fn ending_at(high: f64, tick_count: usize) -> Self {
        let rounded = Self::linear(0.0, high.max(0.0), tick_count);
        let high = if high > 0.0 { high } else { rounded.high };
        let ticks = rounded.ticks.into_iter().filter(|tick| tick.value <= high * 1.000_001).collect();
        Self { high, ticks, ..rounded }
    }

    /// Returns the same axis with all values divided by `divisor`; the labels remain.
    pub fn divided(self, divisor: f64) -> Self {
        let tick = |tick: Tick| Tick { value: tick.value / divisor, ..tick };
        Self {
            low: self.low / divisor,
            high: self.high / divisor,
            ticks: self.ticks.into_iter().map(tick).collect(),
            minor: self.minor.into_iter().map(|value| value / divisor).collect(),
            ..self
        }
    }

    fn fitted((low, high): (f64, f64), tick_count: usize) -> Self {
        let rounded = Self::linear(low, high, tick_count);
        let high = if high > low { high } else { rounded.high };
        let slack = (high - low) * 1e-6;
        let is_inside = |tick: &Tick| tick.value >= low - slack && tick.value <= high + slack;
        Self { low, high, ticks: rounded.ticks.into_iter().filter(is_inside).collect(), ..rounded }
    }

    /// Creates an axis with ticks at the median and at each further nine.
    fn nines((low, high): (f64, f64)) -> Self {
        let tick = |(value, label): (f64, &str)| Tick { value, label: label.into() };
        let ticks =
            NINES.into_iter().filter(|(value, _)| *value >= low * 0.99 && *value <= high * 1.01).map(tick);
        let margin = 1.12;
        let ticks = ticks.collect();
        Self { low: low / margin, high: high * margin, logarithmic: true, ticks, minor: Vec::new() }
    }

    fn linear(low: f64, high: f64, tick_count: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / tick_count.max(1) as f64);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        // A round step yields at most about twenty ticks, so this limit affects only extreme values.
        let ticks: Vec<f64> =
            (0..=((last - first) as usize).min(40)).map(|i| (first + i as f64) * step).collect();
        let largest = ticks.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        let ticks = ticks.into_iter().map(|value| Tick { value, label: linear_label(value, step, largest) });
        Self {
            low: first * step,
            high: last * step,
            logarithmic: false,
            ticks: ticks.collect(),
            minor: Vec::new(),
        }
    }

    fn whole((low, high): (f64, f64), tick_count: usize) -> Self {
        let (first, last) = (low.floor(), high.ceil());
        let margin = ((last - first) * 0.03).max(0.35).max(last.abs() * 1e-9);
        let step = whole_step((last - first) / tick_count.max(1) as f64);
        let start = (first / step).ceil() * step;
        let count = (((last - start) / step).floor().max(0.0) as usize).min(100);
        let ticks = (0..=count).map(|i| start + i as f64 * step);
        let ticks = ticks.map(|value| Tick { value, label: plain(value) }).collect();
        Self { low: first - margin, high: last + margin, logarithmic: false, ticks, minor: Vec::new() }
    }

    fn decades((low, high): (f64, f64), tick_count: usize) -> Self {
        let steps = |value: f64| [1.0, 2.0, 5.0].map(|m| m * 10f64.powf(value));
        let from = low.log10().floor() - 1.0;
        let to = high.log10().ceil() + 1.0;
        let all: Vec<f64> =
            (0..=((to - from) as usize).min(60)).flat_map(|i| steps(from + i as f64)).collect();
        let bottom = all.iter().copied().filter(|v| *v <= low * 1.000_001).fold(all[0], f64::max);
        let top = all.iter().copied().filter(|v| *v >= high * 0.999_999).fold(f64::INFINITY, f64::min);
        let top = if top.is_finite() && top > bottom { top } else { bottom * 10.0 };
        let inside = |v: &f64| *v >= bottom * 0.999_999 && *v <= top * 1.000_001;
        let is_decade = |v: f64| (v.log10() - v.log10().round()).abs() < 1e-6;
        // Label three ticks per decade if the labels remain legible.
        let is_crowded = (top / bottom).log10() * 3.0 > tick_count as f64 * 1.8;
        let (ticks, minor): (Vec<f64>, Vec<f64>) =
            all.into_iter().filter(inside).partition(|v| !is_crowded || is_decade(*v));
        // Two ticks show neither how far apart values are nor that the axis is logarithmic.
        let ticks = if ticks.len() < 3 && !is_crowded { between(bottom, top) } else { ticks };
        let ticks = ticks.into_iter().map(|value| Tick { value, label: short(value) }).collect();
        Self { low: bottom, high: top, logarithmic: true, ticks, minor }
    }

    fn one_tick_each(mut values: Vec<f64>) -> Self {
        values.dedup();
        let (low, high) = (values.first().copied().unwrap_or(1.0), values.last().copied().unwrap_or(2.0));
        let ticks = values.into_iter().map(|value| Tick { value, label: plain(value) }).collect();
        let margin = (high / low).powf(0.025).max(1.1);
        Self { low: low / margin, high: high * margin, logarithmic: true, ticks, minor: Vec::new() }
    }

    /// Returns the position of `value` from 0 to 1; None if the axis cannot represent it.
    pub fn place(&self, value: f64) -> Option<f64> {
        let spread = |v: f64| if self.logarithmic { v.ln() } else { v };
        if !value.is_finite() || (self.logarithmic && value <= 0.0) {
            return None;
        }
        let (low, high) = (spread(self.low), spread(self.high));
        Some((spread(value) - low) / (high - low))
    }
}

/// Equidistant ticks from 1 to 2, 2 to 5 or 5 to 10 times a power of ten.
fn between(bottom: f64, top: f64) -> Vec<f64> {
    let steps = if top / bottom > 2.2 { 3 } else { 5 };
    (0..=steps).map(|step| bottom + (top - bottom) * f64::from(step) / f64::from(steps)).collect()
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.max(f64::MIN_POSITIVE).log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|f| f * power >= rough * 0.999_999).unwrap_or(10.0);
    factor * power
}

/// Returns a round step for integers.
fn whole_step(rough: f64) -> f64 {
    if rough <= 1.0 {
        return 1.0;
    }
    let step = nice_step(rough);
    if step == 2.5 { 5.0 } else { step }
}

/// Formats a label: all labels of an axis share a unit and the number of decimals required by the step.
fn linear_label(value: f64, step: f64, largest: f64) -> String {
    let (unit, suffix) = unit_of(largest);
    let decimals = (0..4).find(|d| is_whole(step / unit * 10f64.powi(*d))).unwrap_or(4) as usize;
    if value == 0.0 { "0".into() } else { grouped(value / unit, decimals) + suffix }
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

fn unit_of(largest: f64) -> (f64, &'static str) {
    match largest {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// Formats a value with its own unit: `500`, `20k`, `1M`.
fn short(value: f64) -> String {
    let (unit, suffix) =
        if (1e3..1e6).contains(&(value * 1.000_001)) { (1e3, "k") } else { unit_of(value * 1.000_001) };
    let scaled = value / unit;
    // Powers of ten below one are inexact; seven digits hide that.
    let text = format!("{scaled:.7}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn plain(value: f64) -> String {
    format!("{}", value + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64], tick_count: usize) -> Vec<String> {
        Ruler::of(scale, values.iter().copied(), tick_count).ticks.into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_share_a_unit() {
        assert_eq!(
            labels(Scale::LinearFromZero, &[3000.0, 95_924.3], 5),
            ["0", "20k", "40k", "60k", "80k", "100k"]
        );
        assert_eq!(labels(Scale::LinearFromZero, &[100.0], 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(
            labels(Scale::LinearZoomed, &[16_400.0, 16_900.0], 5),
            ["16.2k", "16.4k", "16.6k", "16.8k", "17.0k"]
        );
        assert_eq!(labels(Scale::LinearFromZero, &[], 4), ["0", "0.25", "0.50", "0.75", "1.00"]);
    }

    #[test]
    fn horizontal_ticks_have_few_digits() {
        let across = |highest: f64, tick_count: usize| -> Vec<String> {
            let ruler = Ruler::across(Scale::LinearFromZero, &[highest], tick_count);
            ruler.ticks.into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(across(25.0, 10), ["0", "5", "10", "15", "20", "25"]);
        assert_eq!(across(22.0, 9), ["0", "5", "10", "15", "20", "25"]);
        assert_eq!(across(0.25, 10), ["0", "0.05", "0.10", "0.15", "0.20", "0.25"]);
        assert_eq!(across(100.0, 4), ["0", "25", "50", "75", "100"]);
    }

    #[test]
    fn a_time_axis_ends_with_its_data() {
        let ruler = Ruler::ending_at(720.0, 12);
        assert_eq!((ruler.place(0.0), ruler.place(720.0)), (Some(0.0), Some(1.0)));
        assert_eq!(ruler.ticks.last().map(|tick| tick.label.as_str()), Some("700"));
        assert_eq!(Ruler::ending_at(0.0, 12).place(0.0), Some(0.0));
        assert_eq!(Ruler::ending_at(f64::NAN, 12).place(0.5), Some(0.5));
    }

    #[test]
    fn a_fitted_axis_ends_with_its_data_and_nines_have_equal_room() {
        let ruler = Ruler::of(Scale::Fitted, [207.0, 360.0].into_iter(), 8);
        assert_eq!((ruler.place(207.0), ruler.place(360.0)), (Some(0.0), Some(1.0)));
        assert_eq!(ruler.ticks.first().map(|tick| tick.label.as_str()), Some("220"));
        let nines = Ruler::of(Scale::Nines, [2.0, 1e5].into_iter(), 8);
        let at = |value: f64| nines.place(value).unwrap();
        assert!((at(1e3) - at(1e2) - (at(1e5) - at(1e4))).abs() < 1e-9);
        assert_eq!(nines.ticks.last().map(|tick| tick.label.as_str()), Some("99.999"));
    }

    #[test]
    fn rounds_have_integer_ticks_only() {
        assert_eq!(labels(Scale::Integer, &[1.0, 5.0], 25), ["1", "2", "3", "4", "5"]);
        assert_eq!(labels(Scale::Integer, &[1.0], 25), ["1"]);
        assert_eq!(labels(Scale::Integer, &[1.0, 25.0], 10), ["5", "10", "15", "20", "25"]);
    }

    #[test]
    fn logarithmic_ticks_are_1_2_5_or_decades() {
        assert_eq!(labels(Scale::Log10, &[60.0, 900.0], 5), ["50", "100", "200", "500", "1k"]);
        assert_eq!(labels(Scale::Log10, &[0.5, 1e6], 5), ["1", "10", "100", "1k", "10k", "100k", "1M"]);
        assert_eq!(labels(Scale::Log10, &[0.0, 7.0], 5), ["5", "6", "7", "8", "9", "10"]);
        assert_eq!(labels(Scale::Log10, &[0.23, 0.4], 5), ["0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(
            labels(Scale::Log10, &[1_100.0, 1_900.0], 5),
            ["1k", "1.2k", "1.4k", "1.6k", "1.8k", "2k"]
        );
        assert_eq!(labels(Scale::Log2, &[0.5, 4.0, 1024.0, 4.0], 5), ["0.5", "4", "1024"]);
    }

    #[test]
    fn every_value_lies_on_its_axis() {
        for scale in [
            Scale::LinearFromZero,
            Scale::LinearZoomed,
            Scale::Integer,
            Scale::Log10,
            Scale::Log2,
            Scale::Fitted,
            Scale::Nines,
        ] {
            for values in
                [&[1.0, 2.0, 3.0][..], &[5.0], &[1e-9, 1e12], &[99_999.9, 100_000.1], &[f64::MAX / 1e10]]
            {
                let ruler = Ruler::of(scale, values.iter().copied(), 6);
                for value in values {
                    let place = ruler.place(*value).unwrap();
                    assert!((-1e-5..=1.000_01).contains(&place), "{scale:?} {values:?}: {place}");
                }
            }
        }
        let ruler = Ruler::of(Scale::Log10, [0.0, f64::NAN, -1.0].into_iter(), 6);
        assert_eq!((ruler.place(0.0), ruler.place(f64::NAN)), (None, None));
    }
}
