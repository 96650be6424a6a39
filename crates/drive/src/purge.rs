//! The methods of purging a drive, and the choice among them.
//!
//! One file per method and one line in [`PURGE_METHODS`], best first: the PTS's order of preference for each
//! interface. The choice is a pure function of what the device reports. A method that fails ends the purge with an
//! error; a weaker one is never substituted silently.

mod ata;
mod ata_sanitize_block;
mod ata_sanitize_crypto;
mod ata_sanitize_overwrite;
mod ata_security_erase;
mod ata_security_erase_enhanced;
mod discard;
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

use std::time::Duration;

pub(crate) use ata::unlock;
pub(crate) use nvme::{FORMAT_NVM, FORMATTING, format_settings};
use record::Purged;

use crate::Flow;
use crate::admin::Admin;
use crate::capability::{Capabilities, Other, Protocol};
use crate::error::DriveError;

/// Every method, best first. Methods of different interfaces do not compete.
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

/// A purge method.
struct Method {
    /// As typed: `nvme-format-user`.
    name: &'static str,
    /// As printed in a report.
    label: &'static str,
    /// Whether the PTS accepts it as a purge.
    is_pts: bool,
    offer: fn(&Capabilities) -> Offer,
    /// Whether it also erases the other namespaces.
    hits_others: fn(&Capabilities) -> bool,
    /// Performs the purge and waits until it completes; returns the evidence that it was done.
    run: fn(&mut Job<'_>) -> Result<Vec<String>, DriveError>,
}

/// Whether a device supports a method.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Offer {
    Yes,
    /// It may work, but is only used if requested by name; reason.
    Unsure(String),
    /// The drive does not report support for it.
    NotReported,
    /// The method belongs to another interface than the drive's.
    OtherInterface,
    /// Supported in principle; why not now.
    No(String),
}

impl Offer {
    fn reported(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::NotReported }
    }

    /// Whether it may be used when requested by name.
    fn is_available(&self) -> bool {
        matches!(self, Self::Yes | Self::Unsure(_))
    }

    /// Why it is not used by default.
    fn why_not(&self) -> Option<&str> {
        match self {
            Self::Yes => None,
            Self::Unsure(why) | Self::No(why) => Some(why),
            Self::NotReported => Some("the drive does not report support for this"),
            Self::OtherInterface => Some("the drive has a different interface"),
        }
    }
}

fn hits_no_others(_: &Capabilities) -> bool {
    false
}

/// Options of a purge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgeOptions {
    /// Name of the method; by default the best one that certainly works.
    pub method: Option<String>,
    /// Whether to write samples before and read them afterwards. The PTS forbids reads between purge and test.
    pub verify: bool,
    /// Identities of other namespaces that may be erased as well.
    pub also_erase: Vec<String>,
}

/// Progress of a purge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purging<'a> {
    /// The current step.
    Step(&'a str),
    /// Share completed, 0 to 1.
    ShareDone(f64),
    /// In progress, without a known share.
    Waiting,
    /// The drive's estimate for the current step.
    Expected(Duration),
}

/// A purge method and its availability on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeMethod {
    /// Name on the command line.
    pub name: &'static str,
    /// Name in a report.
    pub label: &'static str,
    /// Whether the PTS accepts it as a purge.
    pub is_pts: bool,
    /// Whether the device supports it.
    pub available: bool,
    /// Whether it is used by default.
    pub is_chosen: bool,
    /// Why it is not used by default.
    pub why_not: Option<String>,
}

/// A purge in progress.
struct Job<'a> {
    admin: &'a mut dyn Admin,
    can: &'a Capabilities,
    all_namespaces: bool,
    on_progress: &'a mut dyn FnMut(Purging<'_>) -> Flow,
}

/// Status of a command that the drive executes in the background.
enum Polled {
    Done,
    Running(Option<f64>),
}

const POLL_EVERY: Duration = Duration::from_secs(1);
/// No drive needs longer; one that does is hung.
const POLL_AT_MOST: Duration = Duration::from_secs(48 * 3600);

impl Job<'_> {
    fn step(&mut self, text: &str) {
        // The answer is ignored: steps cannot be cancelled, only the waits after them.
        (self.on_progress)(Purging::Step(text));
    }

    /// Reports the drive's own estimate for the next command, if any.
    fn expects(&mut self, length: Option<Duration>) {
        if let Some(length) = length {
            (self.on_progress)(Purging::Expected(length));
        }
    }

    fn waits(&mut self, share: Option<f64>) -> Flow {
        (self.on_progress)(share.map_or(Purging::Waiting, |share| Purging::ShareDone(share.clamp(0.0, 1.0))))
    }

    /// Reports how much the host has written; an error if a stop is requested.
    fn written(&mut self, bytes: u64, all: u64) -> Result<(), DriveError> {
        match self.waits(Some(bytes as f64 / all as f64)) {
            Flow::Stop if bytes < all => Err(DriveError::Stopped(format!(
                "stopped after {bytes} of {all} bytes; the remaining bytes are unchanged"
            ))),
            Flow::Stop | Flow::Continue => Ok(()),
        }
    }

    /// The last check before something is destroyed.
    fn recheck(&mut self) -> Result<(), DriveError> {
        self.admin.recheck(self.all_namespaces)
    }

    /// Polls until the command completes.
    fn poll(
        &mut self,
        what: &str,
        ask: fn(&mut dyn Admin) -> Result<Polled, DriveError>,
    ) -> Result<(), DriveError> {
        let begun_ns = self.admin.now_ns();
        loop {
            match ask(self.admin)? {
                Polled::Done => return Ok(()),
                Polled::Running(share) if self.waits(share) == Flow::Stop => {
                    return Err(DriveError::Stopped(format!(
                        "stopped waiting for {what}, which the drive continues on its own; it accepts no \
                         other command until it completes, and plateau purge reports whether it is still \
                         running"
                    )));
                }
                Polled::Running(_) => {}
            }
            if u128::from(self.admin.now_ns() - begun_ns) > POLL_AT_MOST.as_nanos() {
                return Err(DriveError::device(format!(
                    "{what} has not completed after {} hours; the drive hangs: power-cycle it and look at it \
                     again with plateau info",
                    POLL_AT_MOST.as_secs() / 3600
                )));
            }
            self.admin.pause(POLL_EVERY);
        }
    }
}

/// Returns every method of the drive's interface with its availability, best first.
pub(crate) fn methods(can: &Capabilities) -> Vec<PurgeMethod> {
    let chosen = choose(can, &PurgeOptions::default()).ok().map(|choice| choice.method.name);
    let told = |method: &Method| {
        let offer = (method.offer)(can);
        let others = others_hit(method, can);
        let erases_others = || (!others.is_empty()).then(|| would_also_erase(&others));
        let why_not = offer.why_not().map(str::to_owned).or_else(erases_others);
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
    PURGE_METHODS.iter().filter(of_its_interface).map(told).collect()
}

/// Returns the label of a method, and whether the PTS accepts it as a purge.
pub(crate) fn words_of(name: &str) -> Option<(&'static str, bool)> {
    PURGE_METHODS.iter().find(|method| method.name == name).map(|method| (method.label, method.is_pts))
}

/// The error for an unknown method, with those that may have been meant.
pub(crate) fn unknown(name: &str) -> DriveError {
    let names = || PURGE_METHODS.iter().map(|method| method.name);
    let lower = name.to_lowercase();
    // What other programs call it.
    let meant = match &*lower {
        "trim" | "unmap" | "deallocate" | "blkdiscard" => vec!["discard"],
        "zero" | "zeroes" | "zeros" => vec!["write-zeroes"],
        _ => names().filter(|known| !lower.is_empty() && known.contains(&lower)).collect(),
    };
    let meant = if meant.is_empty() { stdx::nearest(name, names()).into_iter().collect() } else { meant };
    let hint = match &meant[..] {
        [] => String::new(),
        [only] => format!("did you mean {only}? "),
        [first @ .., last] => format!("did you mean {} or {last}? ", first.join(", ")),
    };
    DriveError::Invalid(format!(
        "unknown purge method '{name}'; {hint}`plateau info TARGET` lists the methods of a target"
    ))
}

/// The chosen method, and why better ones were passed over.
struct Choice {
    method: &'static Method,
    passed_over: Vec<String>,
}

/// Returns the other namespaces that the method would erase.
fn others_hit<'a>(method: &Method, can: &'a Capabilities) -> Vec<&'a Other> {
    match &can.protocol {
        Protocol::Nvme(nvme) if (method.hits_others)(can) => nvme.others.iter().collect(),
        _ => Vec::new(),
    }
}

fn would_also_erase(others: &[&Other]) -> String {
    let names: Vec<String> = others.iter().map(|o| format!("{} ('{}')", o.name, o.identity)).collect();
    format!("it would also erase {}", names.join(", "))
}

fn choose(can: &Capabilities, options: &PurgeOptions) -> Result<Choice, DriveError> {
    match &options.method {
        Some(name) => named(can, name, options),
        None => best(can),
    }
}

fn best(can: &Capabilities) -> Result<Choice, DriveError> {
    let mut passed_over = Vec::new();
    for method in PURGE_METHODS {
        let others = others_hit(method, can);
        let why = match (method.offer)(can) {
            Offer::Yes if others.is_empty() => return Ok(Choice { method, passed_over }),
            Offer::Yes => would_also_erase(&others),
            // A command that the drive simply does not support needs no mention.
            Offer::NotReported | Offer::OtherInterface => continue,
            Offer::Unsure(why) | Offer::No(why) => why,
        };
        passed_over.push(format!("not {}: {why}", method.label));
    }
    Err(DriveError::NoPurge(format!(
        "the drive supports no purge method that Plateau implements ({}); purge it with its vendor's tool",
        passed_over.join("; ")
    )))
}

fn named(can: &Capabilities, name: &str, options: &PurgeOptions) -> Result<Choice, DriveError> {
    let method = PURGE_METHODS.iter().find(|method| method.name == name).ok_or_else(|| unknown(name))?;
    let offer = (method.offer)(can);
    if let (false, Some(why)) = (offer.is_available(), offer.why_not()) {
        return Err(DriveError::NoPurge(format!(
            "{name}: {why}; see plateau info for the available methods"
        )));
    }
    let unconfirmed: Vec<_> = others_hit(method, can)
        .into_iter()
        .filter(|other| !options.also_erase.contains(&other.identity))
        .collect();
    if !unconfirmed.is_empty() {
        let also: Vec<_> = unconfirmed.iter().map(|other| format!("--erase '{}'", other.identity)).collect();
        return Err(DriveError::AlsoErased(format!(
            "{name}: {}; if all of that may be lost, add {}",
            would_also_erase(&unconfirmed),
            also.join(" ")
        )));
    }
    Ok(Choice { method, passed_over: Vec::new() })
}

/// Checks whether a purge with these options would start.
pub(crate) fn check(can: &Capabilities, options: &PurgeOptions) -> Result<(), DriveError> {
    choose(can, options).map(drop)
}

/// Purges, waits until it completes, and returns the method with its evidence.
pub(crate) fn perform(
    admin: &mut dyn Admin,
    can: &Capabilities,
    options: &PurgeOptions,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<Purged, DriveError> {
    let Choice { method, passed_over } = choose(can, options)?;
    let all_namespaces = !others_hit(method, can).is_empty();
    let mut job = Job { admin, can, all_namespaces, on_progress };
    job.recheck()?;
    let samples = if options.verify { Some(verify::write(&mut job)?) } else { None };
    job.step(method.label);
    let start_ns = job.admin.now_ns();
    let mut evidence = (method.run)(&mut job)?;
    let end_ns = job.admin.now_ns();
    // A format may change a device; a test must not continue on a different one.
    job.recheck()?;
    let samples_read = samples.is_some();
    if let Some(samples) = samples {
        evidence.push(verify::check(&mut job, &samples)?);
    }
    evidence.extend(passed_over);
    let (method, pts_purge) = (method.label.into(), method.is_pts);
    Ok(Purged { method, pts_purge, start_ns, end_ns, evidence, samples_read })
}

#[cfg(test)]
mod tests;
