//! ATA SANITIZE with overwrite, which the PTS does not list as a purge.

use super::ata;
use super::method::{Method, hits_no_others};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "ata-sanitize-overwrite",
    label: "ATA Sanitize, overwrite",
    is_pts: false,
    offer: |can| ata::offer(can, |drive| drive.sanitize.overwrite),
    hits_others: hits_no_others,
    run: |job| ata::sanitize(job, ata::Action::Overwrite),
};
