//! NVMe Sanitize with overwrite; erases all namespaces of the subsystem, and the PTS does not list it as a purge.

use super::method::Method;
use super::nvme;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-sanitize-overwrite",
    label: "NVMe Sanitize, overwrite",
    is_pts: false,
    offer: |can| nvme::offer(can, |drive| drive.controller.sanitize.overwrite),
    hits_others: nvme::sanitize_hits_others,
    run: |job| nvme::sanitize(job, nvme::Action::Overwrite),
};
