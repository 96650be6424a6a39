//! Purge methods and the choice among them.
//!
//! Each method is one file and one line in `PURGE_METHODS`. The methods for each interface are listed best first, in
//! the PTS's order of preference. The choice is a pure function of the device's capabilities. If a method fails, the
//! purge ends with an error; a weaker method is never substituted.

mod ata;
mod ata_sanitize_block;
mod ata_sanitize_crypto;
mod ata_sanitize_overwrite;
mod ata_security_erase;
mod ata_security_erase_enhanced;
mod discard;
mod method;
mod nvme;
mod nvme_format_crypto;
mod nvme_format_user;
mod nvme_sanitize_block;
mod nvme_sanitize_crypto;
mod nvme_sanitize_overwrite;
mod overwrite;
mod scsi;
mod scsi_format_unit;
mod scsi_sanitize_block;
mod scsi_sanitize_crypto;
mod scsi_sanitize_overwrite;
mod verify;
mod write_zeroes;

pub use ata::unlock;
pub use method::Purging;
use method::{Job, Method, Offer};
pub(crate) use nvme::{FORMAT_NVM, FORMATTING, format_settings};
use record::{OtherNamespace, PurgeEvidence, Purged, WhyNot};
use stdx::Flow;

use crate::capability::{Capabilities, Protocol};
use crate::command::Admin;
use crate::error::{AdminError, PassedOver};

/// All methods, best first. The order matters only among methods for the same interface.
const PURGE_METHODS: &[Method] = &[
    nvme_format_user::METHOD,
    nvme_sanitize_block::METHOD,
    nvme_sanitize_crypto::METHOD,
    nvme_format_crypto::METHOD,
    ata_security_erase::METHOD,
    ata_security_erase_enhanced::METHOD,
    ata_sanitize_block::METHOD,
    ata_sanitize_crypto::METHOD,
    scsi_format_unit::METHOD,
    scsi_sanitize_block::METHOD,
    scsi_sanitize_crypto::METHOD,
    discard::METHOD,
    nvme_sanitize_overwrite::METHOD,
    ata_sanitize_overwrite::METHOD,
    scsi_sanitize_overwrite::METHOD,
    write_zeroes::METHOD,
    overwrite::METHOD,
];

/// Options for a purge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgeOptions {
    /// Name of the method; `None` for the best method that is known to work.
    pub method: Option<String>,
    /// Whether to write samples before the purge and read them afterwards. The PTS forbids reads between
    /// purge and test.
    pub verify: bool,
    /// Identities of other namespaces that may also be erased.
    pub also_erase: Vec<String>,
}

/// A purge method and its availability on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeMethod {
    /// Name on the command line.
    pub name: &'static str,
    /// Name in a report.
    pub label: &'static str,
    /// Whether the PTS accepts the method as a purge.
    pub is_pts: bool,
    /// Whether the device supports the method.
    pub available: bool,
    /// Whether the method is used by default.
    pub is_chosen: bool,
    /// Why the method is not used by default.
    pub why_not: Option<WhyNot>,
}

/// Returns every method for the drive's interface with its availability, best first.
#[must_use]
pub fn methods(can: &Capabilities) -> Vec<PurgeMethod> {
    let chosen = choose(can, &PurgeOptions::default()).ok().map(|choice| choice.method.name);
    let described = |method: &Method| {
        let offer = (method.offer)(can);
        let others = others_hit(method, can);
        let erases_others = (!others.is_empty()).then_some(WhyNot::ErasesOthers(others));
        let why_not = offer.clone().why_not().or(erases_others);
        let available = offer.is_available();
        let is_chosen = chosen == Some(method.name);
        PurgeMethod {
            name: method.name,
            label: method.label,
            is_pts: method.is_pts,
            available,
            is_chosen,
            why_not,
        }
    };
    let of_its_interface = |method: &&Method| (method.offer)(can) != Offer::OtherInterface;
    PURGE_METHODS.iter().filter(of_its_interface).map(described).collect()
}

/// Returns the label of a method and whether the PTS accepts it as a purge.
#[must_use]
pub fn words_of(name: &str) -> Option<(&'static str, bool)> {
    PURGE_METHODS.iter().find(|method| method.name == name).map(|method| (method.label, method.is_pts))
}

/// Returns the error for an unknown method, with suggestions.
#[must_use]
pub fn unknown(name: &str) -> AdminError {
    let names = || PURGE_METHODS.iter().map(|method| method.name);
    let lower = name.to_lowercase();
    // Names for the methods in other programs.
    let meant = match &*lower {
        "trim" | "unmap" | "deallocate" | "blkdiscard" => vec!["discard"],
        "zero" | "zeroes" | "zeros" => vec!["write-zeroes"],
        _ => names().filter(|known| !lower.is_empty() && known.contains(&lower)).collect(),
    };
    let meant = if meant.is_empty() { stdx::nearest(name, names()).into_iter().collect() } else { meant };
    AdminError::UnknownMethod { name: name.to_owned(), meant }
}

/// The chosen method and why better ones were skipped.
struct Choice {
    method: &'static Method,
    passed_over: Vec<PassedOver>,
}

/// Returns the other namespaces that the method would erase.
fn others_hit(method: &Method, can: &Capabilities) -> Vec<OtherNamespace> {
    match &can.protocol {
        Protocol::Nvme(nvme) if (method.hits_others)(can) => nvme.others.clone(),
        _ => Vec::new(),
    }
}

fn choose(can: &Capabilities, options: &PurgeOptions) -> Result<Choice, AdminError> {
    match &options.method {
        Some(name) => named(can, name, options),
        None => best(can),
    }
}

fn best(can: &Capabilities) -> Result<Choice, AdminError> {
    let mut passed_over = Vec::new();
    for method in PURGE_METHODS {
        let others = others_hit(method, can);
        let why = match (method.offer)(can) {
            Offer::Yes if others.is_empty() => return Ok(Choice { method, passed_over }),
            Offer::Yes => WhyNot::ErasesOthers(others),
            // Methods that the drive does not support are not mentioned.
            Offer::NotReported | Offer::OtherInterface => continue,
            Offer::Unsure(why) | Offer::No(why) => why,
        };
        passed_over.push(PassedOver { method: method.label, why });
    }
    Err(AdminError::NoMethod { passed_over })
}

fn named(can: &Capabilities, name: &str, options: &PurgeOptions) -> Result<Choice, AdminError> {
    let method = PURGE_METHODS.iter().find(|method| method.name == name).ok_or_else(|| unknown(name))?;
    let offer = (method.offer)(can);
    if let (false, Some(why)) = (offer.is_available(), offer.why_not()) {
        return Err(AdminError::Unavailable { method: method.name, why });
    }
    let unconfirmed: Vec<_> = others_hit(method, can)
        .into_iter()
        .filter(|other| !options.also_erase.contains(&other.identity))
        .collect();
    if !unconfirmed.is_empty() {
        return Err(AdminError::AlsoErased { method: method.name, others: unconfirmed });
    }
    Ok(Choice { method, passed_over: Vec::new() })
}

/// Checks whether a purge with these options would start.
///
/// # Errors
/// Returns an error if no method is available.
pub fn check(can: &Capabilities, options: &PurgeOptions) -> Result<(), AdminError> {
    choose(can, options).map(drop)
}

/// Purges the device, waits for completion, and returns the method with its evidence.
///
/// # Errors
/// Returns an error if no method is available or if the purge fails.
pub fn perform(
    admin: &mut dyn Admin,
    can: &Capabilities,
    options: &PurgeOptions,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<Purged, AdminError> {
    let Choice { method, passed_over } = choose(can, options)?;
    let all_namespaces = !others_hit(method, can).is_empty();
    let mut job = Job { admin, can, all_namespaces, on_progress };
    job.recheck()?;
    let samples = if options.verify { Some(verify::write(&mut job)?) } else { None };
    job.step(method.label);
    let start_ns = job.admin.now_ns();
    let mut evidence = (method.run)(&mut job)?;
    let end_ns = job.admin.now_ns();
    // A format may change the identity of a device, and a test must not continue on a different device.
    job.recheck()?;
    let samples_read = samples.is_some();
    if let Some(samples) = samples {
        evidence.push(verify::check(&mut job, &samples)?);
    }
    evidence.extend(
        passed_over
            .into_iter()
            .map(|over| PurgeEvidence::NotUsed { method: over.method.to_owned(), why: over.why }),
    );
    Ok(Purged {
        method: method.label.into(),
        name: Some(method.name.into()),
        pts_purge: method.is_pts,
        start_ns,
        end_ns,
        evidence,
        samples_read,
    })
}

#[cfg(test)]
mod tests;
