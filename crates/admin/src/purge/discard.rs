//! Discards the whole device. This is not a PTS purge: its effect depends on the drive.

use record::WhyNot;

use super::method::{Method, Offer, hits_no_others};
use crate::error::Step;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "discard",
    label: "discard (not a PTS purge)",
    is_pts: false,
    offer: |can| {
        if can.discard { Offer::Yes } else { Offer::No(WhyNot::NoDiscard) }
    },
    hits_others: hits_no_others,
    run: |job| {
        job.recheck()?;
        job.admin.discard().map_err(|fault| fault.during(Step::Discard))?;
        Ok(Vec::new())
    },
};
