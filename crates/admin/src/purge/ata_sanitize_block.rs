//! ATA SANITIZE with block erase.

use super::ata;
use super::method::{Method, hits_no_others};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "ata-sanitize-block",
    label: "ATA Sanitize, block erase",
    is_pts: true,
    offer: |can| ata::offer(can, |drive| drive.sanitize.block),
    hits_others: hits_no_others,
    run: |job| ata::sanitize(job, ata::Action::Block),
};
