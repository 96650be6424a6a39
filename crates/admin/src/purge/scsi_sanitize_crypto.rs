//! SCSI SANITIZE with cryptographic erase.

use super::method::{Method, hits_no_others};
use super::scsi;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "scsi-sanitize-crypto",
    label: "SCSI Sanitize, cryptographic erase",
    is_pts: true,
    offer: |can| scsi::offer(can, |drive| drive.sanitize_crypto),
    hits_others: hits_no_others,
    run: |job| scsi::sanitize(job, scsi::Action::Crypto),
};
