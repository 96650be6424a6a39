//! Allowed differences between the tools, depending on how repeatable the results of both tools are.

use std::fmt;

/// If both tools have at most this coefficient of variation (standard deviation divided by mean), their results
/// must agree closely.
const REPEATS_CLOSELY: f64 = 0.015;
/// Largest allowed difference between IOPS in that case.
pub const CLOSE_IOPS: f64 = 0.03;
/// Largest allowed difference between percentiles in that case: the slot width of fio's histogram plus that of
/// ours.
pub const CLOSE_PERCENTILES: f64 = 0.023;
/// Up to this coefficient of variation, the results must agree roughly; above it, no conclusion is drawn.
const REPEATS_ROUGHLY: f64 = 0.05;
/// Largest allowed difference between figures of any kind in that case.
const ROUGH: f64 = 0.10;
/// Below this idle fraction, the CPUs were the bottleneck, so a difference shows only the overhead of the tools.
const HOST_LIMITED_BELOW: f64 = 0.05;

/// Results of one tool for one cell over all rounds.
pub struct Spread {
    pub mean: f64,
    pub deviation_share: f64,
}

/// Returns the mean and the relative deviation of the values.
pub fn spread(values: &[f64]) -> Spread {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0);
    Spread { mean, deviation_share: variance.sqrt() / mean }
}

/// Conclusion from a pair of figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finding {
    /// The figures differ by at most this fraction, as required.
    Agrees(f64),
    /// The figures differ by more than this fraction.
    Disagrees(f64),
    HostLimited,
    DoesNotRepeat,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agrees(within) => write!(f, "agrees within {:.1} %", within * 100.0),
            Self::Disagrees(within) => write!(f, "DISAGREES by more than {:.1} %", within * 100.0),
            Self::HostLimited => write!(f, "host-limited"),
            Self::DoesNotRepeat => write!(f, "does not repeat"),
        }
    }
}

fn finding(ours: &Spread, fios: &Spread, idle_share: f64, close: f64) -> Finding {
    let repeats = |within| ours.deviation_share <= within && fios.deviation_share <= within;
    let within = match (repeats(REPEATS_CLOSELY), repeats(REPEATS_ROUGHLY)) {
        (true, _) => close,
        (false, true) => ROUGH,
        // This also applies if a value is NaN.
        (false, false) => return Finding::DoesNotRepeat,
    };
    if (ours.mean / fios.mean - 1.0).abs() <= within {
        Finding::Agrees(within)
    } else if idle_share < HOST_LIMITED_BELOW {
        Finding::HostLimited
    } else {
        Finding::Disagrees(within)
    }
}

/// Findings for one kind of figure.
pub struct Tally {
    what: &'static str,
    close: f64,
    findings: Vec<Finding>,
}

impl Tally {
    /// Creates a tally for figures named `what`; `close` is the largest allowed difference for repeatable figures.
    pub fn of(what: &'static str, close: f64) -> Self {
        Self { what, close, findings: Vec::new() }
    }

    /// Compares the results of both tools for one figure.
    pub fn find(&mut self, ours: &Spread, fios: &Spread, idle_share: f64) -> Finding {
        let finding = finding(ours, fios, idle_share, self.close);
        self.findings.push(finding);
        finding
    }

    fn count(&self, is: impl Fn(&Finding) -> bool) -> u32 {
        self.findings.iter().filter(|finding| is(finding)).count() as u32
    }

    /// Returns the number of disagreements.
    pub fn wrong(&self) -> u32 {
        self.count(|finding| matches!(finding, Finding::Disagrees(_)))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0;
        writeln!(f, "{} {}:", self.findings.len(), self.what)?;
        for (repeats, within) in [(REPEATS_CLOSELY, self.close), (REPEATS_ROUGHLY, ROUGH)] {
            let agree = self.count(|finding| *finding == Finding::Agrees(within));
            let wrong = self.count(|finding| *finding == Finding::Disagrees(within));
            let (repeats, within) = (percent(repeats), percent(within));
            writeln!(
                f,
                "  repeatable to within {repeats:.1} % with both tools: {agree} agree within {within:.1} \
                  %, {wrong} disagree"
            )?;
        }
        let limited = self.count(|finding| *finding == Finding::HostLimited);
        let loose = self.count(|finding| *finding == Finding::DoesNotRepeat);
        write!(
            f,
            "  {limited} differ, but left the CPUs no idle time; {loose} are not repeatable, so they are inconclusive"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ours: &[f64], fios: &[f64], idle_share: f64) -> Finding {
        finding(&spread(ours), &spread(fios), idle_share, CLOSE_IOPS)
    }

    #[test]
    fn repeatable_results_must_agree_more_closely() {
        let (close, rough, loose) = ([99.0, 100.0, 101.0], [97.0, 100.0, 103.0], [90.0, 100.0, 110.0]);
        let times = |values: [f64; 3], factor: f64| values.map(|value| value * factor);
        assert_eq!(found(&close, &times(close, 1.028), 0.5), Finding::Agrees(CLOSE_IOPS));
        assert_eq!(found(&close, &times(close, 1.04), 0.5), Finding::Disagrees(CLOSE_IOPS));
        assert_eq!(found(&close, &times(rough, 1.04), 0.5), Finding::Agrees(ROUGH));
        assert_eq!(found(&rough, &times(close, 1.12), 0.5), Finding::Disagrees(ROUGH));
        assert_eq!(found(&rough, &times(close, 1.12), 0.04), Finding::HostLimited);
        assert_eq!(found(&close, &loose, 0.5), Finding::DoesNotRepeat);
        assert_eq!(found(&close, &[f64::NAN; 3], 0.5), Finding::DoesNotRepeat);
    }

    #[test]
    fn a_tally_reports_the_bound_it_applied() {
        let mut tally = Tally::of("cells", CLOSE_IOPS);
        let flat = |mean| spread(&[mean; 3]);
        tally.find(&flat(100.0), &flat(102.0), 0.5);
        tally.find(&flat(100.0), &flat(105.0), 0.5);
        tally.find(&spread(&[97.0, 100.0, 103.0]), &flat(105.0), 0.5);
        assert_eq!(tally.wrong(), 1);
        let text = tally.to_string();
        assert!(text.contains("within 1.5 % with both tools: 1 agree within 3.0 %, 1 disagree"), "{text}");
        assert!(text.contains("within 5.0 % with both tools: 1 agree within 10.0 %, 0 disagree"), "{text}");
    }
}
