//! Settings that `--tune` changes for a run and that are restored at its end and after a crash.
//!
//! Device settings are lost when the device is detached, so settings recorded before the device was reattached
//! are stale and are not restored. Host settings affect all runs on the host, so the last tuning run restores
//! them.

mod noted;
mod shared;

use std::path::Path;
use std::sync::Arc;

use device::{DriveError, KnownSettings, Tuning};
use record::{Event, TargetFacts};
use serde_json::{Value, json};

use crate::restore::Note;
use console::printer;
use failure::Done;
use failure::message::of_drive;
use noted::{is_undone, noted, read_all, written};
use shared::Shared;
use state::{Host, State};

const KIND: &str = "tuning";

/// A tuning run. While this value exists, no other run restores host settings.
pub struct Tuner {
    shared: Shared,
    host: Arc<dyn Host>,
}

/// The changed settings.
pub struct Tuned {
    shared: Shared,
    host: Arc<dyn Host>,
    /// Host settings changed by this run or by others.
    of_host: Vec<Tuning>,
    of_device: Option<(Note, Vec<Tuning>)>,
}

impl Tuner {
    /// Registers a tuning run; call this before inspecting the host.
    ///
    /// # Errors
    /// Returns an error if others can write to the state directory or if a system call fails.
    pub fn begin(state: &(impl State + ?Sized)) -> Done<Self> {
        Self::begin_on(state, Arc::new(KnownSettings::of_this_host()))
    }

    /// Registers a tuning run on another host.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_on(state: &(impl State + ?Sized), host: Arc<dyn Host>) -> Done<Self> {
        Ok(Self { shared: Shared::join(state, Arc::clone(&host))?, host })
    }

    /// Changes all settings, or none if one of them cannot be changed.
    ///
    /// # Errors
    /// Returns an error if a setting cannot be changed or its record cannot be written.
    pub fn set(
        self,
        facts: &TargetFacts,
        state: &(impl State + ?Sized),
        tunings: Vec<Tuning>,
    ) -> Done<Tuned> {
        let Self { shared, host } = self;
        let (of_host, of_device): (Vec<Tuning>, Vec<Tuning>) =
            tunings.into_iter().partition(|tuning| tuning.of_host);
        let set =
            shared.apply(&of_host).and_then(|all| Ok((all, set_device(facts, state, &*host, of_device)?)));
        match set {
            Ok((of_host, of_device)) => Ok(Tuned { shared, host, of_host, of_device }),
            Err(failure) => {
                // Report the failure to change the setting, not a later failure.
                drop(shared.leave());
                Err(failure)
            }
        }
    }
}

fn set_device(
    facts: &TargetFacts,
    state: &(impl State + ?Sized),
    host: &dyn Host,
    tunings: Vec<Tuning>,
) -> Done<Option<(Note, Vec<Tuning>)>> {
    if tunings.is_empty() {
        return Ok(None);
    }
    let content = json!({
        "identity": facts.identity,
        "attachment": facts.attachment,
        "tunings": tunings.iter().map(written).collect::<Vec<_>>(),
    });
    let note = Note::write(state, KIND, &facts.identity, &content)?;
    for (done, tuning) in tunings.iter().enumerate() {
        if let Err(error) = host.set(tuning, &tuning.to) {
            // The setting that failed may have been changed; all settings before it have been changed.
            drop(host.set(tuning, &tuning.was));
            if tunings[..done].iter().all(|tuning| host.set(tuning, &tuning.was).is_ok()) {
                note.done();
            }
            return Err(error.into());
        }
    }
    Ok(Some((note, tunings)))
}

impl Tuned {
    /// Returns the tuned settings as journal events.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        let of_device = self.of_device.iter().flat_map(|(_, tunings)| tunings);
        self.of_host.iter().chain(of_device).map(|tuning| event(tuning, false))
    }

    /// Restores all settings that no other run needs and reports them; settings that cannot be restored are left
    /// to the next start.
    pub fn restore(self) -> Vec<Event> {
        let mut events = Vec::new();
        match self.shared.leave() {
            Ok(restored) => events.extend(restored.iter().map(|tuning| event(tuning, true))),
            Err(failure) => printer::print_line(&failure.message()),
        }
        let Some((note, tunings)) = self.of_device else { return events };
        let before = events.len();
        for tuning in &tunings {
            match self.host.set(tuning, &tuning.was) {
                Ok(()) => events.push(event(tuning, true)),
                Err(error) => {
                    printer::print_line(&format!(
                        "{}; the next run on this drive will try again",
                        of_drive(&error)
                    ));
                }
            }
        }
        if events.len() == before + tunings.len() {
            note.done();
        }
        events
    }
}

fn event(tuning: &Tuning, restored: bool) -> Event {
    let (was, is) = if restored { (&tuning.to, &tuning.was) } else { (&tuning.was, &tuning.to) };
    Event::Tuned { setting: tuning.setting.clone(), was: was.clone(), is: is.clone(), restored }
}

/// After a crash, restores settings that were recorded but not restored.
pub fn restore_left_over(facts: &TargetFacts, state: &(impl State + ?Sized)) -> Done {
    restore_on(facts, state, &KnownSettings::of_this_host())
}

/// Restores settings on another host.
///
/// # Errors
/// Returns an error if a system call fails.
pub fn restore_on(facts: &TargetFacts, state: &(impl State + ?Sized), host: &dyn Host) -> Done {
    shared::restore_left_over(state, host)?;
    let Some((note, content)) = Note::left_over(state, KIND, &facts.identity)? else { return Ok(()) };
    let noted_at = content["attachment"].as_str();
    let (is_attached, is_boot) = (noted_at == facts.attachment.as_deref(), is_same_boot(noted_at, host));
    // A reattached drive has new settings. A loop device keeps its queue, including settings that are still
    // changed.
    let lives =
        |tuning: &Tuning| is_attached || is_boot && is_virtual(&tuning.path) && host.is(tuning, &tuning.to);
    let living = noted(&content, host, lives);
    let restored = living.iter().filter(|tuning| is_undone(tuning, host)).count();
    if restored > 0 {
        printer::print_line("restored drive settings that an earlier run had left changed");
    }
    if restored == living.len() {
        note.done();
    }
    Ok(())
}

fn is_same_boot(attachment: Option<&str>, host: &dyn Host) -> bool {
    let boot = attachment.and_then(|attachment| attachment.split(':').next());
    boot.is_some() && boot == host.boot().as_deref()
}

/// Returns whether the setting belongs to a virtual device.
fn is_virtual(path: &Path) -> bool {
    path.to_string_lossy().contains("/devices/virtual/block/")
}

/// Returns the settings in a record, each with the reason if it must not be restored.
pub fn judged(content: &Value, host: &dyn Host) -> impl Iterator<Item = Result<Tuning, DriveError>> {
    read_all(content).map(|tuning| host.accept(tuning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn facts(attachment: &str) -> TargetFacts {
        let drive =
            device::open("sim:sas-slc-2011", &device::OpenOptions::default()).expect("a simulated drive");
        TargetFacts { identity: "S1".into(), attachment: Some(attachment.into()), ..drive.facts().clone() }
    }

    const SCHEDULER: &str = "devices/virtual/block/loop0/queue/scheduler";
    const GOVERNOR: &str = "devices/system/cpu/cpufreq/policy0/scaling_governor";

    /// Creates a scheduler and a governor as files that accept any value.
    fn settings(dir: &Path) -> Vec<Tuning> {
        let setting = |name: &str, was: &str, to: &str| {
            let path = dir.canonicalize().expect("a path").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(&path, was).expect("a file");
            Tuning { setting: name.into(), path, was: was.into(), to: to.into(), of_host: name == GOVERNOR }
        };
        vec![setting(SCHEDULER, "bfq", "none"), setting(GOVERNOR, "powersave", "performance")]
    }

    fn known(dir: &Path) -> KnownSettings {
        KnownSettings::below(&dir.canonicalize().expect("a path"))
    }

    fn now(tunings: &[Tuning]) -> Vec<String> {
        tunings.iter().map(|tuning| fs::read_to_string(&tuning.path).expect("a file")).collect()
    }

    fn set(facts: &TargetFacts, dir: &Path, tunings: Vec<Tuning>) -> Done<Tuned> {
        Tuner::begin_on(dir, Arc::new(known(dir))).expect("joined").set(facts, dir, tunings)
    }

    #[test]
    fn settings_are_changed_reported_and_restored() {
        let dir = tempfile::tempdir().expect("a folder");
        let tunings = settings(dir.path());
        let tuned = set(&facts("b:1"), dir.path(), tunings.clone()).expect("done");
        assert_eq!(now(&tunings), ["none", "performance"]);
        assert_eq!(tuned.events().count(), 2);
        let restored = tuned.restore();
        assert!(
            matches!(&restored[..], [Event::Tuned { is: governor, restored: true, .. }, Event::Tuned { is, .. }]
                if governor == "powersave" && is == "bfq"),
            "{restored:?}"
        );
        assert_eq!(now(&tunings), ["bfq", "powersave"]);
        assert!(Note::left_over(dir.path(), KIND, "S1").expect("a look").is_none());
        let nothing = set(&facts("b:1"), dir.path(), Vec::new()).expect("done");
        assert_eq!((nothing.events().count(), nothing.restore()), (0, Vec::new()));
    }

    #[test]
    fn the_last_of_two_runs_restores_host_settings() {
        let dir = tempfile::tempdir().expect("a folder");
        let tunings = settings(dir.path());
        let first = set(&facts("b:1"), dir.path(), tunings.clone()).expect("done");
        // The second run finds the governor already set.
        let second = TargetFacts { identity: "S2".into(), ..facts("b:2") };
        let second = set(&second, dir.path(), Vec::new()).expect("done");
        assert_eq!(second.events().count(), 1, "its journal says that the governor was tuned, too");
        assert_eq!(first.restore().len(), 1, "the drive's own");
        assert_eq!(now(&tunings), ["bfq", "performance"]);
        assert_eq!(second.restore().len(), 1);
        assert_eq!(now(&tunings), ["bfq", "powersave"]);
    }

    #[test]
    fn a_failed_change_leaves_no_setting_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut tunings = settings(dir.path());
        tunings.push(Tuning { path: dir.path().join("no/such"), ..tunings[0].clone() });
        assert!(set(&facts("b:1"), dir.path(), tunings.clone()).is_err());
        assert_eq!(now(&tunings[..2]), ["bfq", "powersave"]);
        assert!(Note::left_over(dir.path(), KIND, "S1").expect("a look").is_none());
    }

    #[test]
    fn after_a_crash_settings_of_attached_devices_are_restored() {
        let cases = [
            ("b:1", ["bfq", "powersave"]),
            // The device was reattached and has new settings.
            ("b:2", ["none", "powersave"]),
        ];
        for (attachment, expected) in cases {
            let dir = tempfile::tempdir().expect("a folder");
            let tunings = settings(dir.path());
            drop(set(&facts("b:1"), dir.path(), tunings.clone()).expect("done"));
            restore_on(&facts(attachment), dir.path(), &known(dir.path())).expect("done");
            assert_eq!(now(&tunings), expected, "{attachment}");
            restore_on(&facts(attachment), dir.path(), &known(dir.path())).expect("nothing is left");
        }
    }

    #[test]
    fn settings_of_a_loop_device_are_restored_unless_changed_since() {
        let boot = KnownSettings::of_this_host().boot().expect("a booted host");
        for (now_set, expected) in [("none", "bfq"), ("kyber", "kyber")] {
            let dir = tempfile::tempdir().expect("a folder");
            let tunings = settings(dir.path());
            drop(set(&facts(&format!("{boot}:1")), dir.path(), tunings.clone()).expect("done"));
            fs::write(&tunings[0].path, now_set).expect("the scheduler");
            restore_on(&facts(&format!("{boot}:2")), dir.path(), &known(dir.path())).expect("done");
            assert_eq!(now(&tunings[..1]), [expected]);
        }
    }

    #[test]
    fn a_record_restores_only_settings_that_plateau_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let tunings = settings(dir.path());
        let victim = dir.path().join("victim");
        fs::write(&victim, "mine").expect("a file");
        let attack = Tuning { path: victim.clone(), was: "attacked".into(), ..tunings[0].clone() };
        let tunings = [attack.clone(), tunings[0].clone()];
        let content = json!({ "attachment": "b:1", "tunings": tunings.each_ref().map(written) });
        drop(Note::write(dir.path(), KIND, "S1", &content).expect("a note"));
        let host = json!({ "boot": known(dir.path()).boot(), "tunings": [written(&attack)] });
        fs::write(dir.path().join(".tuning-host.json"), host.to_string()).expect("a note");
        fs::write(&tunings[1].path, "none").expect("the scheduler");
        restore_on(&facts("b:1"), dir.path(), &known(dir.path())).expect("warnings only");
        assert_eq!(fs::read_to_string(&victim).expect("a file"), "mine");
        assert_eq!(fs::read_to_string(&tunings[1].path).expect("a file"), "bfq");
    }

    #[test]
    fn a_record_of_missing_settings_does_not_prevent_runs() {
        let dir = tempfile::tempdir().expect("a folder");
        let tunings = settings(dir.path());
        drop(set(&facts("b:1"), dir.path(), tunings.clone()).expect("done"));
        for tuning in &tunings {
            fs::remove_file(&tuning.path).expect("our own");
        }
        restore_on(&facts("b:1"), dir.path(), &known(dir.path())).expect("warnings only");
    }
}
