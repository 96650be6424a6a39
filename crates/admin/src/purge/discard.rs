//! Discard of the whole device. Not a PTS purge: its effect depends on the drive.

use super::method::{Method, Offer, hits_no_others};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "discard",
    label: "discard (not a PTS purge)",
    is_pts: false,
    offer: |can| {
        if can.discard { Offer::Yes } else { Offer::No("the device does not support discard".into()) }
    },
    hits_others: hits_no_others,
    run: |job| {
        job.recheck()?;
        job.admin
            .discard()
            .map_err(|fault| fault.during("discard", "choose another method with --method"))?;
        Ok(Vec::new())
    },
};
