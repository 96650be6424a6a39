//! Marks: the caveats that must accompany every number of a run or of a test.

use pts::Outcome;
use stdx::units::count_of;

use super::contents::Document;
use crate::facts::conformance::Verdict;
use crate::facts::interruptions;

/// A caveat that must accompany every number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The kind of this caveat.
    pub kind: MarkKind,
    /// Banner text, in capitals.
    pub title: &'static str,
    /// The texts of the caveat; never empty.
    pub details: Vec<String>,
}

pub use record::MarkKind;

impl Document {
    /// Returns the marks on the pages of `outcome`, or of the whole run, most severe first.
    #[must_use]
    pub fn marks(&self, outcome: Option<&Outcome>) -> Vec<Mark> {
        let concerned: Vec<&Outcome> =
            outcome.map_or_else(|| self.outcomes.iter().collect(), |one| vec![one]);
        let is_whole_run = outcome.is_none();
        let mut marks = Vec::new();
        for kind in MarkKind::ALL {
            let own = match kind {
                MarkKind::Imported => self.imported_from().into_iter().collect(),
                MarkKind::Simulated => self.simulated_by().into_iter().collect(),
                MarkKind::NotAchieved => not_achieved(&concerned, is_whole_run),
                MarkKind::NotComplete => self.not_complete(&concerned, is_whole_run),
                MarkKind::Interrupted if self.interruptions.is_empty() => Vec::new(),
                MarkKind::Interrupted => vec![interruptions::in_short(&self.interruptions)],
                MarkKind::Modified => pts::texts(&self.modified),
            };
            let details = self.with_stated(kind, own);
            if !details.is_empty() {
                marks.push(Mark { kind, title: kind.title(), details });
            }
        }
        marks
    }

    /// Returns the marks for a picture that is used outside the report. They include the marks of the test and
    /// everything else that qualifies its values, so that the picture is not mistaken for a valid measurement of a
    /// drive.
    pub(crate) fn picture_marks(&self, outcome: &Outcome) -> Vec<String> {
        let marks = self.marks(Some(outcome));
        let is_marked = |kind| marks.iter().any(|mark| mark.kind == kind);
        let revision = self.profile.revision;
        let in_short = |mark: &Mark| match mark.kind {
            // The label contains more detail.
            MarkKind::Imported | MarkKind::Simulated => None,
            MarkKind::NotAchieved => Some(format!("NOT STEADY: {}", mark.details.join("; "))),
            MarkKind::NotComplete | MarkKind::Interrupted => {
                Some(format!("{}: {}", mark.title, mark.details.join("; ")))
            }
            MarkKind::Modified => {
                let count = u32::try_from(mark.details.len()).unwrap_or(u32::MAX);
                Some(format!("MODIFIED: {} from {revision}", count_of(count, "deviation")))
            }
        };
        let verdict = match self.verdict(Some(outcome)) {
            Verdict::DoesNotConform => Some(format!("DOES NOT CONFORM to {revision}")),
            Verdict::Modified if !is_marked(MarkKind::Modified) => Some(format!("MODIFIED from {revision}")),
            Verdict::Modified | Verdict::Conforms => None,
        };
        let limited = outcome.host_limited.as_deref().map(|count| format!("HOST-LIMITED: {count}"));
        let failed = (!self.invalidating.is_empty()).then(|| "HOST CHECK FAILED".to_owned());
        self.label()
            .into_iter()
            .chain(marks.iter().filter_map(in_short))
            .chain([verdict, limited, failed].into_iter().flatten())
            .collect()
    }

    /// Adds what an imported file says about all of its results. They replace Plateau's own explanations of the same
    /// marks, which are less detailed. Only Plateau's explanation of the import itself is kept.
    fn with_stated(&self, kind: MarkKind, own: Vec<String>) -> Vec<String> {
        let marks = self.run.origin.iter().flat_map(|origin| &origin.marks);
        let mut stated = marks.filter(|stated| stated.mark == kind).peekable();
        if stated.peek().is_none() {
            return own;
        }
        let explained: Vec<String> = stated.flat_map(|mark| mark.details.iter().cloned()).collect();
        match (kind, explained.is_empty(), own.is_empty()) {
            (MarkKind::Imported, ..) => own.into_iter().chain(explained).collect(),
            (_, false, _) => explained,
            (_, true, false) => own,
            (_, true, true) => vec!["stated in the file".to_owned()],
        }
    }

    fn imported_from(&self) -> Option<String> {
        let origin = self.run.origin.as_ref()?;
        if let Some(run) = &origin.exported_run {
            return Some(format!(
                "read from an export of run {run} ({}), measured by {}; its journal is not available",
                origin.file, origin.tool
            ));
        }
        let (source, transcribed) =
            if origin.transcribed { ("published figures", ", transcribed") } else { ("result file", "") };
        Some(format!(
            "not measured by Plateau and not a PTS run: {source} of {}{transcribed} ({})",
            origin.tool, origin.file
        ))
    }

    fn simulated_by(&self) -> Option<String> {
        let label = self.run.origin.as_ref().and_then(|origin| origin.simulated.clone());
        let Some(sim) = &self.run.target.simulated else {
            return label.map(|label| format!("not a real device: {label}"));
        };
        Some(format!(
            "not a real device: model {} version {}, scale 1/{}, seed {}",
            sim.model, sim.model_version, sim.scale_divisor, sim.seed
        ))
    }

    fn not_complete(&self, concerned: &[&Outcome], is_whole_run: bool) -> Vec<String> {
        let stopped = concerned.iter().filter_map(|o| Some((o, o.stop.as_ref()?)));
        let mut all: Vec<String> = stopped
            .map(|(o, stop)| {
                // Some tests call rounds zones or cycles.
                let round = pts::Test::named(&o.test).map_or("round", |test| test.round_name);
                let rounds = count_of(o.rounds, &format!("completed {round}"));
                titled(o, format!("{stop} after {rounds}"), is_whole_run)
            })
            .collect();
        if is_whole_run {
            all.extend(self.not_begun.iter().map(|title| format!("{title}: not started")));
            if all.is_empty() && !self.closed {
                all.push("the journal is still open".to_owned());
            }
        }
        all
    }
}

fn not_achieved(concerned: &[&Outcome], is_whole_run: bool) -> Vec<String> {
    let missed = concerned.iter().filter(|o| o.converged == Some(false));
    missed.map(|o| titled(o, format!("no steady state in {}", o.missed_rounds()), is_whole_run)).collect()
}

/// Puts the title of the test in front if the mark covers several tests.
fn titled(outcome: &Outcome, text: String, is_whole_run: bool) -> String {
    if is_whole_run { format!("{}: {text}", outcome.title) } else { text }
}
