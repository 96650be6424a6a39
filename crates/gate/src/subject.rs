//! A run to evaluate or to use as the baseline.

use compare::{Candidate, Comparison};
use record::{Loaded, RunFile};

use crate::baseline::Baseline;
use crate::decide::decide;
use crate::facts::Facts;
use crate::rules::Rules;
use crate::verdict::Verdict;
use stdx::Mistake;

/// The parts of a run that rules refer to.
#[derive(Debug)]
pub struct Subject {
    candidate: Candidate,
    facts: Facts,
}

/// Why there is no verdict.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The rules are invalid or do not fit the run.
    #[error("the rules cannot be used:\n{}", lines(.0))]
    Mistakes(Vec<Mistake>),
    /// The baseline has no figures.
    #[error("the baseline {run} has no figures to compare with; choose a complete run")]
    EmptyBaseline {
        /// Id of the baseline run.
        run: String,
    },
}

fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Subject {
    /// Evaluates a run with this version of Plateau and extracts its facts.
    ///
    /// # Errors
    /// As for [`report::fold()`].
    pub fn of(run: &RunFile, loaded: &Loaded) -> Result<Self, String> {
        let candidate = Candidate::of(run, loaded)?;
        let facts = Facts::of(&candidate, &loaded.entries);
        Ok(Self { candidate, facts })
    }
}

/// Evaluates a run against rules; `mistakes` are errors in the rules file.
///
/// # Errors
/// Returns an error if a rule cannot be used, or the baseline has no figures.
pub fn judge(
    rules: &Rules,
    mut mistakes: Vec<Mistake>,
    run: Subject,
    baseline: Option<Subject>,
) -> Result<Verdict, Refused> {
    let Subject { candidate, facts } = run;
    let baseline = match baseline {
        None => None,
        Some(baseline) if baseline.candidate.figures().iter().all(|figure| figure.values.is_empty()) => {
            return Err(Refused::EmptyBaseline { run: baseline.facts.run });
        }
        Some(baseline) => {
            // Runs without a common figure cannot be compared, so rules about differences find no value.
            let comparison = Comparison::of(vec![baseline.candidate, candidate]).ok();
            Some(Baseline::of(baseline.facts, comparison.as_ref()))
        }
    };
    match decide(rules, &facts, baseline.as_ref()) {
        Ok(verdict) if mistakes.is_empty() => return Ok(verdict),
        Ok(_) => {}
        Err(more) => mistakes.extend(more),
    }
    mistakes.sort();
    Err(Refused::Mistakes(mistakes))
}
