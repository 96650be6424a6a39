//! Conditions on figures, for firmware regression tests: `iops.rnd4k.w < -5%`, `iops.rnd4k.w < 500000`.

use crate::candidate::Candidate;
use crate::comparison::Comparison;
use crate::noise::Finding;
use report::parts::Figure;

/// Prefix of the keys whose values may be negative: drive temperatures.
const MAY_BE_NEGATIVE: &str = "health.";

/// How a value is compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Operator {
    /// Longer symbols come first, because shorter ones are prefixes of them.
    const ALL: [(&'static str, Self); 4] =
        [("<=", Self::AtMost), (">=", Self::AtLeast), ("<", Self::Below), (">", Self::Above)];

    /// Returns whether the value meets the condition.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }
}

/// The limit in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// A difference from the baseline in percent.
    Percent(f64),
    /// A value, with the unit that was typed after it; without one, the value is in the unit of the figure.
    Value(f64, Option<String>),
}

/// A condition: a figure, or any of the figures matched by `*`, is above or below a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// Key of the figure, in which `*` matches any text.
    pub key: String,
    /// The comparison with the limit.
    pub operator: Operator,
    /// The limit.
    pub limit: Limit,
}

/// A figure that meets a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdMatch {
    /// Key of the figure.
    pub key: String,
    /// Difference from the baseline in percent; None if the condition is absolute.
    pub percent: Option<f64>,
    /// Value of the figure.
    pub value: f64,
    /// Number of decimal places with which the difference, or the value, still meets the condition when printed.
    pub decimals: usize,
    /// Unit of the value.
    pub unit: &'static str,
    /// Name of the run.
    pub run: String,
}

impl std::str::FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "'{text}' is not a condition; use one such as `iops.rnd4k.w < -5%` or `lat.rnd4k.* > 0.5 ms`"
            )
        };
        let at = text.find(['<', '>']).ok_or_else(invalid)?;
        let (symbol, operator) =
            Operator::ALL.iter().find(|(symbol, _)| text[at..].starts_with(symbol)).ok_or_else(invalid)?;
        let (key, limit) = (text[..at].trim(), text[at + symbol.len()..].trim());
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(invalid());
        }
        let typed = limit.split_whitespace().next().unwrap_or(limit);
        let limit = parse_limit(limit).ok_or_else(invalid)?;
        if matches!(limit, Limit::Value(value, _) if value < 0.0) && !key.starts_with(MAY_BE_NEGATIVE) {
            return Err(format!("'{text}': no figure is negative; did you mean '{key} {symbol} {typed}%'?"));
        }
        Ok(Self { key: key.to_owned(), operator: *operator, limit })
    }
}

fn parse_limit(text: &str) -> Option<Limit> {
    let number = |text: &str| text.trim().replace('_', "").parse().ok().filter(|n: &f64| n.is_finite());
    if let Some(percent) = text.strip_suffix('%') {
        return number(percent).map(Limit::Percent);
    }
    let (value, unit) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let unit = Some(unit.trim()).filter(|unit| !unit.is_empty());
    if unit.is_some_and(|unit| unit.contains(['<', '>']) || unit.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    number(value).map(|value| Limit::Value(value, unit.map(str::to_owned)))
}

impl Threshold {
    /// Returns whether the condition applies to the figure with this key.
    #[must_use]
    pub fn is_about(&self, key: &str) -> bool {
        is_match(&self.key, key)
    }

    /// Checks the unit that was typed after a value.
    ///
    /// # Errors
    /// Returns an error if the figure has a different unit.
    pub fn check_unit(&self, key: &str, unit: &str) -> Result<(), String> {
        match &self.limit {
            Limit::Value(_, Some(typed)) if !typed.eq_ignore_ascii_case(unit) => {
                let has = if unit.is_empty() { "has no unit".to_owned() } else { format!("is in {unit}") };
                Err(format!("{key} {has}, not in {typed}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the figures that meet the condition in any run but the baseline. A difference within the noise
    /// never meets a condition, because it may not be real.
    ///
    /// # Errors
    /// Returns an error if no comparable figure matches the key, if a run lacks such a figure (which must not
    /// look like a pass), or if a figure's unit differs from the condition's.
    pub fn matches(&self, comparison: &Comparison) -> Result<Vec<ThresholdMatch>, String> {
        match &self.limit {
            Limit::Percent(percent) => self.relative(comparison, *percent),
            Limit::Value(limit, _) => self.absolute(comparison, *limit),
        }
    }

    fn relative(&self, comparison: &Comparison, limit: f64) -> Result<Vec<ThresholdMatch>, String> {
        let lines: Vec<_> = comparison.lines.iter().filter(|line| self.is_about(&line.key)).collect();
        let known = lines.iter().any(|line| line.differences.iter().flatten().next().is_some());
        if !known {
            return Err(self.unknown(comparison.lines.iter().map(|line| line.key.as_str())));
        }
        self.none_is_lost(comparison)?;
        let mut found = Vec::new();
        for line in lines {
            let each = comparison.names().zip(line.differences.iter().zip(&line.figures));
            for (name, (difference, figure)) in each {
                let (Some(difference), Some(figure)) = (difference, figure) else { continue };
                let exceeds = self.operator.holds(difference.percent, limit);
                if exceeds && difference.finding != Finding::WithinNoise {
                    let decimals = self.decimals(difference.percent, limit, 1);
                    found.extend(matched(name, figure, Some(difference.percent), decimals));
                }
            }
        }
        Ok(found)
    }

    /// Checks that every run has the figures of the baseline.
    fn none_is_lost(&self, comparison: &Comparison) -> Result<(), String> {
        let Some((baseline, others)) = comparison.runs.split_first() else { return Ok(()) };
        let about = baseline.figures().iter().filter(|figure| self.is_about(&figure.key));
        for figure in about.filter(|figure| figure.mean().is_some()) {
            let has = |of: &Figure| of.key == figure.key && of.mean().is_some();
            if let Some(run) = others.iter().find(|run| !run.figures().iter().any(has)) {
                return Err(format!(
                    "{} has no value of {}, which {} has, so the condition cannot be checked",
                    run.name, figure.key, baseline.name
                ));
            }
        }
        Ok(())
    }

    fn absolute(&self, comparison: &Comparison, limit: f64) -> Result<Vec<ThresholdMatch>, String> {
        let others =
            || comparison.runs.iter().skip(1).flat_map(|run| run.figures().iter().map(move |f| (run, f)));
        let about: Vec<_> = others()
            .filter(|(_, figure)| self.is_about(&figure.key))
            .filter_map(|(run, figure)| Some((run, figure, figure.mean()?)))
            .collect();
        if about.is_empty() {
            return Err(self.unknown(others().map(|(_, figure)| figure.key.as_str())));
        }
        let is_judged = |name: &str| about.iter().any(|(run, ..)| run.name == name);
        if let Some(without) = comparison.names().skip(1).find(|name| !is_judged(name)) {
            return Err(format!(
                "{without} has no value of '{}', so the condition cannot be checked",
                self.key
            ));
        }
        about.iter().try_for_each(|(_, figure, _)| self.check_unit(&figure.key, figure.unit.symbol()))?;
        let met = about.into_iter().filter(|(.., mean)| self.operator.holds(*mean, limit));
        let found = |(run, figure, mean): (&Candidate, &Figure, f64)| {
            matched(&run.name, figure, None, self.decimals(mean, limit, 3))
        };
        Ok(met.filter_map(found).collect())
    }

    /// The smallest number of decimal places, at least `fewest`, with which `value` meets the condition when printed.
    fn decimals(&self, value: f64, limit: f64, fewest: usize) -> usize {
        const MOST: usize = 9;
        let holds = |decimals: &usize| {
            let printed = format!("{value:.*}", *decimals).parse();
            printed.is_ok_and(|printed: f64| self.operator.holds(printed, limit))
        };
        (fewest..MOST).find(holds).unwrap_or(MOST)
    }

    fn unknown<'a>(&self, keys: impl Iterator<Item = &'a str>) -> String {
        let mut keys: Vec<&str> = keys.collect();
        keys.dedup();
        format!("no figure '{}' to compare; available figures: {}", self.key, keys.join(", "))
    }
}

fn matched(run: &str, figure: &Figure, percent: Option<f64>, decimals: usize) -> Option<ThresholdMatch> {
    let (value, unit) = (figure.mean()?, figure.unit.symbol());
    Some(ThresholdMatch { key: figure.key.clone(), percent, value, decimals, unit, run: run.to_owned() })
}

/// Returns whether `key` matches `pattern`, in which `*` matches any text.
fn is_match(pattern: &str, key: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == key };
    let Some(key) = key.strip_prefix(start) else { return false };
    (0..=key.len()).filter(|&i| key.is_char_boundary(i)).any(|i| is_match(rest, &key[i..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_parsed() {
        let of = |key: &str, operator, limit| Ok(Threshold { key: key.into(), operator, limit });
        let percent = Limit::Percent;
        assert_eq!("iops.rnd4k.w < -5%".parse(), of("iops.rnd4k.w", Operator::Below, percent(-5.0)));
        assert_eq!("a>=2.5 %".parse(), of("a", Operator::AtLeast, percent(2.5)));
        assert_eq!("a > 500_000".parse(), of("a", Operator::Above, Limit::Value(500_000.0, None)));
        assert_eq!("a<=5e-1 ms".parse(), of("a", Operator::AtMost, Limit::Value(0.5, Some("ms".into()))));
        let wrong = [
            "",
            "iops",
            "< -5%",
            "a < x%",
            "a <> 5%",
            "a b < 5%",
            "a < inf%",
            "a < inf",
            "a < 5 6",
            "a < 5 < 6",
            "a <",
            "a < 5ms",
            "a > -5 IOPS",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_negative_absolute_limit_suggests_percent() {
        let answer = "'iops.* < -5': no figure is negative; did you mean 'iops.* < -5%'?";
        assert_eq!("iops.* < -5".parse::<Threshold>(), Err(answer.to_owned()));
        assert!("health.temperature < -5".parse::<Threshold>().is_ok());
    }

    #[test]
    fn a_printed_value_meets_its_condition() {
        let decimals = |condition: &str, value: f64, fewest: usize| {
            let condition: Threshold = condition.parse().expect("a condition");
            let (Limit::Percent(limit) | Limit::Value(limit, _)) = condition.limit;
            condition.decimals(value, limit, fewest)
        };
        assert_eq!(decimals("a < -5%", -12.3, 1), 1);
        assert_eq!(decimals("a < -5%", -5.04, 1), 2);
        assert_eq!(decimals("a > 0.002%", 0.0021, 1), 4);
        assert_eq!(decimals("a > 0.5 ms", 0.5004, 3), 4);
    }

    #[test]
    fn a_star_matches_any_text() {
        assert!(is_match("iops.*.w", "iops.rnd4k.w") && is_match("*", "x") && is_match("a*", "a"));
        assert!(!is_match("iops.*.w", "iops.rnd4k.r") && !is_match("a", "ab") && !is_match("*b", "abc"));
    }

    #[test]
    fn a_typed_unit_must_match_the_figure() {
        let condition: Threshold = "lat.rnd4k.r < 0.5 ms".parse().expect("a condition");
        assert_eq!(condition.check_unit("lat.rnd4k.r", "ms"), Ok(()));
        assert_eq!(condition.check_unit("x", "IOPS"), Err("x is in IOPS, not in ms".to_owned()));
        assert_eq!(condition.check_unit("x", ""), Err("x has no unit, not in ms".to_owned()));
    }
}
