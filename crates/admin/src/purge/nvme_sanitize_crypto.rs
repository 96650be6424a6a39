//! NVMe Sanitize with cryptographic erase; erases all namespaces in the subsystem.

use super::method::Method;
use super::nvme;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-sanitize-crypto",
    label: "NVMe Sanitize, cryptographic erase",
    is_pts: true,
    offer: |can| nvme::offer(can, |drive| drive.controller.sanitize.crypto),
    hits_others: nvme::sanitize_hits_others,
    run: |job| nvme::sanitize(job, nvme::Action::Crypto),
};
