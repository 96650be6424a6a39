//! NVMe Format NVM with cryptographic erase: deletes the key, which makes the data unreadable.

use super::method::Method;
use super::nvme;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "nvme-format-crypto",
    label: "NVMe Format, cryptographic erase (SES 2)",
    is_pts: true,
    offer: |can| nvme::offer(can, |drive| drive.controller.can_format && drive.controller.crypto_erase),
    hits_others: nvme::format_hits_others,
    run: |job| nvme::format(job, nvme::SecureErase::Cryptographic),
};
