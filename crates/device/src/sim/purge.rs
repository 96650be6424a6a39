//! Purges a simulated drive with its interface's methods, which have the same names as on real drives.

use admin::purge::{self, PurgeMethod, PurgeOptions};
use nandsim::{Interface, Ssd};
use record::{PurgeEvidence, Purged};

use super::Simulated;
use crate::error::{DriveError, PurgeError};

/// A purge method.
struct Method {
    /// Name on the command line. The label and PTS acceptance are taken from the real method with this name.
    name: &'static str,
    /// Label in reports, if it differs from the label of the real method.
    label: Option<&'static str>,
    effect: Effect,
}

/// Effect on the flash.
#[derive(Clone, Copy)]
enum Effect {
    /// Erases all flash in the time that the model specifies for a purge.
    Renewed,
    /// Erases all flash in the time that the individual erases take.
    Erased,
    /// Unmaps all data and leaves the erases to garbage collection. Takes no time.
    Forgotten,
}

const fn of(name: &'static str, effect: Effect) -> Method {
    Method { name, label: None, effect }
}

const fn first(name: &'static str, label: &'static str) -> Method {
    Method { name, label: Some(label), effect: Effect::Renewed }
}

/// The first method is the best one and the default.
const NVME: &[Method] = &[
    first("nvme-format-user", "Format NVM (simulated)"),
    of("nvme-sanitize-block", Effect::Erased),
    of("nvme-sanitize-crypto", Effect::Forgotten),
    of("nvme-format-crypto", Effect::Forgotten),
    of("discard", Effect::Forgotten),
];
const SATA: &[Method] = &[
    first("ata-security-erase", "Security Erase (simulated)"),
    of("ata-sanitize-block", Effect::Erased),
    of("ata-sanitize-crypto", Effect::Forgotten),
    of("discard", Effect::Forgotten),
];
const SAS: &[Method] = &[
    first("scsi-format-unit", "Format Unit (simulated)"),
    of("scsi-sanitize-block", Effect::Erased),
    of("scsi-sanitize-crypto", Effect::Forgotten),
    of("discard", Effect::Forgotten),
];

impl Method {
    fn words(&self) -> (&'static str, bool) {
        purge::words_of(self.name).expect("a method of real drives")
    }

    /// Returns the label as recorded in a journal.
    fn label(&self) -> String {
        self.label.map_or_else(|| format!("{} (simulated)", self.words().0), str::to_owned)
    }
}

fn methods_of(interface: Interface) -> &'static [Method] {
    match interface {
        Interface::Sas(_) => SAS,
        Interface::Sata(_) => SATA,
        Interface::Nvme(_) => NVME,
    }
}

fn apply(ssd: &mut Ssd, effect: Effect) {
    match effect {
        Effect::Renewed => ssd.purge(),
        Effect::Erased => ssd.sanitize(),
        Effect::Forgotten => ssd.format(),
    }
}

impl Simulated {
    /// Returns the drive's methods, best first.
    pub(super) fn purge_methods(&self) -> Vec<PurgeMethod> {
        let described = |(place, method): (usize, &Method)| PurgeMethod {
            name: method.name,
            label: method.words().0,
            is_pts: method.words().1,
            available: true,
            is_chosen: place == 0,
            why_not: None,
        };
        methods_of(self.model.interface).iter().enumerate().map(described).collect()
    }

    fn method(&self, options: &PurgeOptions) -> Result<&'static Method, DriveError> {
        let methods = methods_of(self.model.interface);
        if options.verify {
            return Err(PurgeError::SimulatedVerification.into());
        }
        let Some(name) = options.method.as_deref() else { return Ok(&methods[0]) };
        if purge::words_of(name).is_none() {
            return Err(purge::unknown(name).into());
        }
        methods.iter().find(|method| method.name == name).ok_or_else(|| {
            let supported = methods.iter().map(|method| method.name).collect();
            PurgeError::NotSimulated { name: name.to_owned(), supported }.into()
        })
    }

    /// Checks whether the drive supports the requested purge.
    pub(crate) fn check_purge(&self, options: &PurgeOptions) -> Result<(), DriveError> {
        self.method(options).map(drop)
    }

    /// Purges the drive. If the method was requested by name, the result says how many map units were in use
    /// before and after.
    pub(crate) fn purge(&mut self, options: &PurgeOptions) -> Result<Purged, DriveError> {
        let method = self.method(options)?;
        Ok(self.purge_by(method, options.method.is_some()))
    }

    /// Repeats a purge recorded in a journal.
    pub(crate) fn purge_again(&mut self, purged: &Purged) -> Result<Purged, DriveError> {
        let mut known = methods_of(self.model.interface).iter();
        let known = known.find(|method| Some(method.name) == purged.name.as_deref());
        let method = known.ok_or_else(|| PurgeError::NotRecorded(purged.method.clone()))?;
        Ok(self.purge_by(method, !purged.evidence.is_empty()))
    }

    fn purge_by(&mut self, method: &Method, with_evidence: bool) -> Purged {
        let (start_ns, mapped, erases) =
            (self.ssd.now_ns(), self.ssd.mapped_units(), self.ssd.health().erases);
        apply(&mut self.ssd, method.effect);
        let left = self.ssd.mapped_units();
        let erased = self.ssd.health().erases - erases;
        let erased_superblocks = match method.effect {
            Effect::Renewed | Effect::Erased => Some(erased),
            Effect::Forgotten => None,
        };
        let evidence =
            PurgeEvidence::MapUnits { before: mapped.into(), after: left.into(), erased_superblocks };
        Purged {
            method: method.label(),
            name: Some(method.name.into()),
            pts_purge: method.words().1,
            start_ns,
            end_ns: self.ssd.now_ns(),
            evidence: with_evidence.then_some(evidence).into_iter().collect(),
            samples_read: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_of_real_drives_and_every_label_names_one_way() {
        for methods in [NVME, SATA, SAS] {
            let labels: std::collections::BTreeSet<_> = methods.iter().map(Method::label).collect();
            assert_eq!(labels.len(), methods.len(), "a report names them by their labels");
            assert!(methods[0].label.is_some() && methods[0].words().1, "{}", methods[0].name);
            assert!(labels.iter().all(|label| label.ends_with("(simulated)")), "{labels:?}");
        }
    }
}
