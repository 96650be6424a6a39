//! A test's conclusions before its measurements are added.

use record::{Purged, Range};

use crate::conclusions::modified;
use crate::{Context, Outcome, Stop, Test, TestHeader};

impl Outcome {
    /// Sets the fields that do not depend on measurements: name, header, and deviations from the profile.
    /// `range` is the test loop's range.
    pub(crate) fn begun(
        test: &Test,
        context: &Context<'_>,
        purge: Option<&Purged>,
        range: Range,
        stop: Option<Stop>,
    ) -> Self {
        let mut modified = Vec::new();
        modified::by_family(test.family, test.title, context.profile, &mut modified);
        modified::by_purge(purge, &mut modified);
        Self {
            test: test.name.into(),
            title: test.title.into(),
            subject: test.subject.into(),
            clause: context.profile.listed(test.family).map(|listed| listed.clause),
            purpose: String::new(),
            outline: String::new(),
            header: TestHeader::of(context, test.family, purge, range),
            rounds: 0,
            converged: None,
            ending: None,
            acceptance: None,
            marks: Vec::new(),
            window: Vec::new(),
            tracked_unit: None,
            loops: Vec::new(),
            explained: Vec::new(),
            pages: Vec::new(),
            beyond: Vec::new(),
            sweeps: Vec::new(),
            key_figures: Vec::new(),
            notes: Vec::new(),
            modified,
            host_limited: None,
            stop,
        }
    }
}
