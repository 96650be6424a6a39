//! SCSI SANITIZE with block erase.

use super::method::{Method, hits_no_others};
use super::scsi;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "scsi-sanitize-block",
    label: "SCSI Sanitize, block erase",
    is_pts: true,
    offer: |can| scsi::offer(can, |drive| drive.sanitize_block),
    hits_others: hits_no_others,
    run: |job| scsi::sanitize(job, scsi::Action::Block),
};
