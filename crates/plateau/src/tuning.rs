//! Settings of the host that `--tune` changes for a run, put back at its end and after a crash.
//!
//! A setting lives as long as the host is up, and that of a device as long as it is attached; what is older is gone
//! by itself and is not put back.

use std::path::Path;

use drive::Tuning;
use record::{Event, TargetFacts};
use serde_json::{Value, json};

use crate::failure::Done;
use crate::printer;
use crate::undo::Note;

const KIND: &str = "tuning";

/// Settings that were changed.
pub struct Tuned {
    note: Note,
    tunings: Vec<Tuning>,
}

/// Changes them, or none of them.
pub fn set(facts: &TargetFacts, library: &Path, tunings: Vec<Tuning>) -> Done<Option<Tuned>> {
    if tunings.is_empty() {
        return Ok(None);
    }
    let content = json!({
        "identity": facts.identity,
        "attachment": facts.attachment,
        "tunings": tunings.iter().map(written).collect::<Vec<_>>(),
    });
    let note = Note::write(library, KIND, &facts.identity, &content)?;
    for (done, tuning) in tunings.iter().enumerate() {
        if let Err(error) = tuning.apply() {
            // The one that failed was set or was not; those before it were.
            drop(tuning.undo());
            if tunings[..done].iter().all(|tuning| tuning.undo().is_ok()) {
                note.done();
            }
            return Err(error.into());
        }
    }
    Ok(Some(Tuned { note, tunings }))
}

impl Tuned {
    /// What was changed, as the journal has it.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        self.tunings.iter().map(|tuning| event(tuning, false))
    }

    /// Puts everything back, and tells what was; what cannot be put back is left to the next start.
    pub fn restore(self) -> Vec<Event> {
        let mut events = Vec::new();
        for tuning in &self.tunings {
            match tuning.undo() {
                Ok(()) => events.push(event(tuning, true)),
                Err(error) => {
                    printer::tell_line(&format!("{error}; the next run on this drive tries again"));
                }
            }
        }
        if events.len() == self.tunings.len() {
            self.note.done();
        }
        events
    }
}

fn event(tuning: &Tuning, restored: bool) -> Event {
    let (was, is) = if restored { (&tuning.to, &tuning.was) } else { (&tuning.was, &tuning.to) };
    Event::Tuned { setting: tuning.setting.clone(), was: was.clone(), is: is.clone(), restored }
}

/// After a crash: what was noted and never put back.
pub fn restore_left_over(facts: &TargetFacts, library: &Path) -> Done {
    let Some((note, content)) = Note::left_over(library, KIND, &facts.identity)? else { return Ok(()) };
    let tunings = content["tunings"].as_array().into_iter().flatten().filter_map(read);
    let living: Vec<Tuning> = tunings
        .filter(|tuning| lives(tuning, content["attachment"].as_str(), facts.attachment.as_deref()))
        .collect();
    for tuning in &living {
        tuning.undo()?;
    }
    if !living.is_empty() {
        printer::tell_line("restored settings of the host, which an earlier run had left changed");
    }
    note.done();
    Ok(())
}

/// Whether a setting made at one attachment of the drive is still there at another one. An attachment is the
/// name of a boot and a number, with a colon between them.
fn lives(tuning: &Tuning, made: Option<&str>, now: Option<&str>) -> bool {
    let boot =
        |attachment: Option<&str>| attachment.and_then(|text| Some(text.rsplit_once(':')?.0.to_owned()));
    made == now || tuning.of_host && boot(made) == boot(now)
}

fn written(tuning: &Tuning) -> Value {
    json!({
        "setting": tuning.setting,
        "path": tuning.path,
        "was": tuning.was,
        "to": tuning.to,
        "of_host": tuning.of_host,
    })
}

fn read(value: &Value) -> Option<Tuning> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    Some(Tuning {
        setting: text("setting")?,
        path: text("path")?.into(),
        was: text("was")?,
        to: text("to")?,
        of_host: value["of_host"].as_bool()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn facts(attachment: &str) -> TargetFacts {
        let drive =
            drive::open("sim:sas-slc-2011", &drive::OpenOptions::default()).expect("a simulated drive");
        TargetFacts { identity: "S1".into(), attachment: Some(attachment.into()), ..drive.facts().clone() }
    }

    /// A scheduler and a governor in files that take everything.
    fn settings(dir: &Path) -> Vec<Tuning> {
        let setting = |name: &str, was: &str, to: &str| {
            let path = dir.join(name);
            fs::write(&path, was).expect("a file");
            Tuning { setting: name.into(), path, was: was.into(), to: to.into(), of_host: name == "governor" }
        };
        vec![setting("scheduler", "bfq", "none"), setting("governor", "powersave", "performance")]
    }

    fn now(tunings: &[Tuning]) -> Vec<String> {
        tunings.iter().map(|tuning| fs::read_to_string(&tuning.path).expect("a file")).collect()
    }

    #[test]
    fn settings_are_changed_told_and_put_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let tunings = settings(dir.path());
        let tuned =
            set(&facts("b:1"), dir.path(), tunings.clone()).expect("done").expect("something to tune");
        assert_eq!(now(&tunings), ["none", "performance"]);
        assert_eq!(tuned.events().count(), 2);
        let restored = tuned.restore();
        assert!(
            matches!(&restored[0], Event::Tuned { is, restored: true, .. } if is == "bfq"),
            "{restored:?}"
        );
        assert_eq!(now(&tunings), ["bfq", "powersave"]);
        assert!(Note::left_over(dir.path(), KIND, "S1").expect("a look").is_none());
        assert!(set(&facts("b:1"), dir.path(), Vec::new()).expect("done").is_none());
    }

    #[test]
    fn one_that_cannot_be_set_leaves_none_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut tunings = settings(dir.path());
        tunings.push(Tuning { path: dir.path().join("no/such"), ..tunings[0].clone() });
        assert!(set(&facts("b:1"), dir.path(), tunings.clone()).is_err());
        assert_eq!(now(&tunings[..2]), ["bfq", "powersave"]);
        assert!(Note::left_over(dir.path(), KIND, "S1").expect("a look").is_none());
    }

    #[test]
    fn after_a_crash_what_still_lives_is_put_back() {
        let cases = [
            ("b:1", ["bfq", "powersave"]),
            // Attached anew: the device's settings are new ones; after a new start of the host all are.
            ("b:2", ["none", "powersave"]),
            ("c:1", ["none", "performance"]),
        ];
        for (attachment, expected) in cases {
            let dir = tempfile::tempdir().expect("a folder");
            let tunings = settings(dir.path());
            drop(set(&facts("b:1"), dir.path(), tunings.clone()).expect("done"));
            restore_left_over(&facts(attachment), dir.path()).expect("done");
            assert_eq!(now(&tunings), expected, "{attachment}");
            restore_left_over(&facts(attachment), dir.path()).expect("nothing is left");
        }
    }
}
