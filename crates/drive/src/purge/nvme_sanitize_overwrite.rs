//! NVMe Sanitize with overwrite; all namespaces of the subsystem are hit; the PTS names no overwrite among its purges.

use super::{Method, nvme};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-sanitize-overwrite",
    label: "NVMe Sanitize, overwrite",
    is_pts: false,
    offer: |can| nvme::offer(can, |drive| drive.controller.sanitize.overwrite),
    hits_others: nvme::sanitize_hits_others,
    run: |job| nvme::sanitize(job, nvme::Action::Overwrite),
};
