//! ATA SECURITY ERASE UNIT in enhanced mode: writes a vendor-defined pattern, even to reallocated sectors.

use super::ata;
use super::method::{Method, hits_no_others};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "ata-security-erase-enhanced",
    label: "ATA Security Erase Unit, enhanced",
    is_pts: true,
    offer: |can| ata::offer_security_erase(can, true),
    hits_others: hits_no_others,
    run: |job| ata::security_erase(job, true),
};
