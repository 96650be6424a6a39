//! NVMe Sanitize with block erase; erases all namespaces in the subsystem.

use super::method::Method;
use super::nvme;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-sanitize-block",
    label: "NVMe Sanitize, block erase",
    is_pts: true,
    offer: |can| nvme::offer(can, |drive| drive.controller.sanitize.block),
    hits_others: nvme::sanitize_hits_others,
    run: |job| nvme::sanitize(job, nvme::Action::Block),
};
