//! NVMe Sanitize with overwrite, which the PTS does not list as a purge; erases all namespaces in the subsystem.

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
