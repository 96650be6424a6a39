//! NVMe Format NVM with user data erase, the PTS's preferred purge for NVMe.

use super::method::Method;
use super::nvme;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-format-user",
    label: "NVMe Format, user data erase (SES 1)",
    is_pts: true,
    offer: |can| nvme::offer(can, |drive| drive.controller.can_format),
    hits_others: nvme::format_hits_others,
    run: |job| nvme::format(job, nvme::SecureErase::UserData),
};
