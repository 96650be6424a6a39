//! ATA SECURITY ERASE UNIT, the PTS's preferred purge for SATA.

use super::ata;
use super::method::{Method, hits_no_others};

/// The method.
pub(super) const METHOD: Method = Method {
    name: "ata-security-erase",
    label: "ATA Security Erase Unit",
    is_pts: true,
    offer: |can| ata::offer_security_erase(can, false),
    hits_others: hits_no_others,
    run: |job| ata::security_erase(job, false),
};
