//! Arrays of drives: inspected, armed together with their members, created for each test, and dismantled.
//!
//! An [`Assembly`] is the part of an armed array that manages the members. Each member is armed by
//! [`Inspected::arm`](crate::inspected::Inspected::arm) like any drive, at the beginning and again before
//! each purge. Before an array is created, a note is written to disk. The next start uses this note to
//! dismantle an array left by a crash.

mod controller;
pub(crate) mod description;
mod hardware;
mod left_over;
mod mdadm;
mod members;
mod note;
mod outside;
mod plan;
#[cfg(test)]
mod script;
mod spec;
mod storcli;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::{MemberFacts, PurgeEvidence, Purged, TargetFacts};
use stdx::files::Links;

use crate::error::DriveError;
use crate::error::array::{ArrayError, Defect};
use crate::error::confirm::Unconfirmed;
use crate::error::target::TargetError;
use crate::exclusive::Inner;
use crate::load_options::load_options;
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use crate::target::{Held, Real, block::Block};
use controller::{ArrayController, Found, State};
pub use left_over::dissolve_left_over;
use members::{Members, Ready};
use note::Note;
pub(crate) use note::Noted;
use plan::ArrayPlan;
pub(crate) use spec::Spec;
use sysfs::Roots;

/// Prefix of a target name that denotes an array.
pub(crate) const PREFIX: &str = "array:";
/// Poll intervals while members are synchronised: by the kernel, and by a RAID controller, whose utility is slow.
const SETTLE_EVERY: Duration = Duration::from_millis(200);
const SETTLE_EVERY_HARDWARE: Duration = Duration::from_secs(2);
/// Highest md number. The search for a free number starts here and goes downwards, like the kernel's automatic
/// numbering.
const HIGHEST_NUMBER: u32 = 127;
/// Size limit of an array description, which lists a few drives.
const MOST_DESCRIPTION_BYTES: u64 = 1 << 20;

/// An array read from a description; its members have been inspected.
#[derive(Debug)]
pub(crate) struct Array {
    spec: Spec,
    options: OpenOptions,
    members: Members,
}

/// The members of an armed array and the controller that creates it.
pub(crate) struct Assembly {
    spec: Spec,
    options: OpenOptions,
    facts: TargetFacts,
    members: Vec<MemberFacts>,
    controller: Box<dyn ArrayController>,
    notes: PathBuf,
    built: Option<Built>,
}

/// A created array and its note, both of which must be removed later.
struct Built {
    plan: ArrayPlan,
    note: Note,
}

impl Array {
    /// Reads the description and inspects each member.
    pub(crate) fn open(
        target: &str,
        file: &str,
        options: &OpenOptions,
    ) -> Result<(Self, TargetFacts), DriveError> {
        if options.size_bytes.is_some() || options.scale.is_some() {
            return Err(DriveError::target(target, TargetError::SizeOfArray));
        }
        if options.sim_faults.is_some() {
            return Err(DriveError::target(target, TargetError::FaultsOfReal));
        }
        let text = stdx::files::read_text(Path::new(file), Links::Followed, MOST_DESCRIPTION_BYTES).map_err(
            |error| {
                let problem = TargetError::Description { file: file.to_owned(), source: error.into() };
                DriveError::target(target, problem)
            },
        )?;
        let spec = description::parse(target, &text)?;
        let (members, facts) = Members::look(target, &spec)?;
        Ok((Self { spec, options: options.clone(), members }, facts))
    }

    /// Returns all reasons not to write to a member.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        self.members.refusals(&self.spec)
    }

    /// Arms all members and creates the array. `erase` must contain the identity of each member; `notes` is
    /// the folder for the note that is used to dismantle the array.
    pub(crate) fn arm(
        self,
        facts: TargetFacts,
        erase: &[String],
        notes: &Path,
    ) -> Result<(TargetFacts, Inner, Assembly), DriveError> {
        let refusals = self.refusals();
        if !refusals.is_empty() {
            return Err(DriveError::Refused { target: facts.path, refusals });
        }
        let members: Vec<MemberFacts> = facts.array.iter().flat_map(|array| array.members.clone()).collect();
        confirm(&facts.path, &members, erase)?;
        let mut controller = members::controller_of(self.spec.hardware.as_ref());
        controller.version()?;
        let ready = self.members.arm()?;
        let mut assembly = Assembly {
            spec: self.spec,
            options: self.options,
            facts,
            members,
            controller,
            notes: notes.to_owned(),
            built: None,
        };
        let inner = assembly.create(ready, Clock::start())?;
        let facts = assembly.facts.clone();
        Ok((facts, inner, assembly))
    }
}

impl Assembly {
    /// Creates the array from writable members and opens it exclusively for writing.
    fn create(&mut self, ready: Ready, clock: Clock) -> Result<Inner, DriveError> {
        let plan = self.plan(ready.places(&self.spec)?)?;
        let noted = Noted::of(&plan, &self.members);
        let note = Note::write(&self.notes, &noted)?;
        // The kernel opens the members exclusively, so this process must close them first.
        drop(ready);
        let built = self.built.insert(Built { plan, note });
        let made = self.controller.create(&built.plan).and_then(|node| self.take(&node, clock));
        made.map_err(|error| match self.dissolve() {
            Ok(()) => error,
            Err(second) => {
                DriveError::NotDismantled { error: Box::new(error), dismantling: Box::new(second) }
            }
        })
    }

    fn plan(&self, members: Vec<PathBuf>) -> Result<ArrayPlan, DriveError> {
        let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid").map_err(ArrayError::NoIdentifier)?;
        let uuid = md_uuid(&uuid);
        let name = match &self.spec.hardware {
            Some(_) => hardware::volume_name(&uuid),
            None => free_name()?,
        };
        let sizes: Vec<u64> = self.members.iter().map(|member| member.capacity_bytes).collect();
        Ok(ArrayPlan {
            level: self.spec.level,
            chunk_kib: self.spec.chunk_kib,
            bitmap: self.spec.bitmap,
            name,
            uuid,
            members,
            component_kib: (self.spec.level != 0).then(|| self.spec.component_bytes(&sizes) / 1024),
            hardware: self.spec.hardware.clone(),
        })
    }

    /// Verifies the identity of the array that was just created, and opens it.
    fn take(&mut self, node: &Path, clock: Clock) -> Result<Inner, DriveError> {
        let path = node.display().to_string();
        let block = Block::open(&path, Roots::default(), &self.options.libraries)?;
        let seen = Found {
            node: block.node().display().to_string(),
            lower: block.lower_devices(),
            wwid: block.attribute("device/wwid"),
        };
        if let Some(built) = &self.built {
            self.controller.recognise(&built.plan, &seen)?;
        }
        if self.spec.hardware.is_some() {
            // Data from earlier use of the drives may look like a known signature on the array.
            let refusals = block.refusals();
            if !refusals.is_empty() {
                return Err(DriveError::Refused { target: path, refusals });
            }
        }
        let found = &block.facts;
        self.facts.capacity_bytes = found.capacity_bytes;
        self.facts.logical_block_bytes = found.logical_block_bytes;
        self.facts.physical_block_bytes = found.physical_block_bytes;
        let real = Real::Block(block);
        let options = load_options(&self.facts.path, &real, &self.options, &Roots::default())?;
        let held = real.hold(options.sends_commands(), true)?;
        Ok(Inner::Real { real: Box::new(real), held, clock, options })
    }

    /// Dismantles the array, purges all members at the same time, and creates it again. `inner` is the open array.
    pub(crate) fn purge(
        &mut self,
        inner: &mut Inner,
        options: &PurgeOptions,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Purged, DriveError> {
        let clock = let_go(inner)?;
        let before = self.built.as_ref().map(|built| built.plan.clone());
        self.dissolve()?;
        let mut ready = Ready::again(&self.spec, &self.members)?;
        if let Ready::Drives(armed) = &ready {
            on_progress(Purging::Step(&format!("purging {} members at once", armed.len())));
        }
        let start_ns = clock.now_ns();
        let done = match (&mut ready, &before) {
            (Ready::Drives(armed), _) => members::purge_at_once(armed, &self.members, options)?,
            (Ready::OnController, Some(plan)) => self.controller.purge(plan, options, clock, on_progress)?,
            (Ready::OnController, None) => return Err(ArrayError::Absent.into()),
        };
        let end_ns = clock.now_ns();
        let mut evidence = evidence_of(&self.members, &done);
        on_progress(Purging::Step("creating the array"));
        *inner = self.create(ready, clock)?;
        if let Some(built) = &self.built {
            self.controller.begin(&built.plan)?;
        }
        let name = self.built.as_ref().map_or_else(String::new, |built| built.plan.name.clone());
        evidence.push(PurgeEvidence::ArrayCreated { name, program: self.controller.version()? });
        Ok(Purged {
            method: methods_of(&done),
            name: None,
            pts_purge: done.iter().all(|purged| purged.pts_purge),
            start_ns,
            end_ns,
            evidence,
            samples_read: done.iter().any(|purged| purged.samples_read),
        })
    }

    /// Verifies that the array is intact: all members are working, and no background operation is running.
    pub(crate) fn check(&mut self) -> Result<(), DriveError> {
        match self.state()? {
            State::Whole => Ok(()),
            State::Syncing(operation, _) => {
                Err(ArrayError::Syncing { target: self.facts.path.clone(), operation }.into())
            }
            State::Broken(defect) => Err(self.broken(defect)),
        }
    }

    /// Waits until the members are in sync. Returns how long this took, or `None` if the members were already in sync.
    pub(crate) fn settle(
        &mut self,
        clock: Clock,
        on_wait: &mut dyn FnMut(&str, f64) -> Flow,
    ) -> Result<Option<PurgeEvidence>, DriveError> {
        let start_ns = clock.now_ns();
        let mut waited_for = None;
        loop {
            match self.state()? {
                State::Broken(defect) => return Err(self.broken(defect)),
                State::Whole => {
                    let duration_ns = clock.now_ns() - start_ns;
                    return Ok(
                        waited_for.map(|operation| PurgeEvidence::ArrayInSync { operation, duration_ns })
                    );
                }
                State::Syncing(what, share) => {
                    if on_wait(&what, share) == Flow::Stop {
                        return Ok(None);
                    }
                    waited_for = Some(what);
                    let is_hardware = self.spec.hardware.is_some();
                    std::thread::sleep(if is_hardware { SETTLE_EVERY_HARDWARE } else { SETTLE_EVERY });
                }
            }
        }
    }

    fn state(&mut self) -> Result<State, DriveError> {
        match &self.built {
            Some(built) => self.controller.state(&built.plan),
            None => Ok(State::Broken(Defect::Dismantled)),
        }
    }

    fn broken(&self, defect: Defect) -> DriveError {
        ArrayError::Broken { target: self.facts.path.clone(), defect }.into()
    }

    /// Stops the array and removes its metadata from the members, after verifying each of them.
    pub(crate) fn dissolve(&mut self) -> Result<(), DriveError> {
        let Some(built) = &self.built else { return Ok(()) };
        left_over::take_apart(&mut *self.controller, &built.plan, &Noted::of(&built.plan, &self.members))?;
        if let Some(built) = self.built.take() {
            built.note.done();
        }
        Ok(())
    }
}

impl Drop for Assembly {
    /// Dismantles an array that still exists after a panic or an error in the caller. If that fails, the next
    /// start finds the note and tries again.
    fn drop(&mut self) {
        drop(self.dissolve());
    }
}

/// Returns the error for using an array outside a run.
pub(crate) fn only_for_runs(target: &str) -> DriveError {
    DriveError::target(target, TargetError::ArrayOutsideRun)
}

/// Closes the array, so that it can be stopped. The new descriptor can be neither read nor written.
pub(crate) fn let_go(inner: &mut Inner) -> Result<Clock, DriveError> {
    let Inner::Real { held, clock, .. } = inner else {
        return Err(ArrayError::NotArray.into());
    };
    *held = Held::nothing()?;
    Ok(*clock)
}

/// Checks that `erase` contains the identity of each member, and nothing else.
fn confirm(target: &str, members: &[MemberFacts], erase: &[String]) -> Result<(), Unconfirmed> {
    let identities: Vec<&String> = members.iter().map(|member| &member.identity).collect();
    let strange: Vec<String> = erase.iter().filter(|typed| !identities.contains(typed)).cloned().collect();
    let missing: Vec<String> =
        identities.into_iter().filter(|identity| !erase.contains(identity)).cloned().collect();
    if strange.is_empty() && missing.is_empty() {
        return Ok(());
    }
    let members = members.iter().map(|member| member.path.clone()).collect();
    Err(Unconfirmed::Members { target: target.to_owned(), members, strange, missing })
}

/// Returns a kernel name that no array uses.
fn free_name() -> Result<String, ArrayError> {
    let taken = |number: &u32| Path::new(&format!("/sys/class/block/md{number}")).exists();
    let number = (0..=HIGHEST_NUMBER).rev().find(|number| !taken(number));
    number.map(|number| format!("md{number}")).ok_or(ArrayError::NoNumber)
}

/// Formats `0a1b2c3d-…` as mdadm does: four groups of eight digits.
fn md_uuid(text: &str) -> String {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
    let groups: Vec<String> = digits.chunks(8).map(|group| group.iter().collect()).collect();
    groups.join(":")
}

/// Formats the purge methods, such as `NVMe Format SES=1 of each of 3 members`; if they differ, each distinct
/// method is listed once.
fn methods_of(purged: &[Purged]) -> String {
    let mut methods: Vec<&str> = purged.iter().map(|purged| purged.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    format!("{} of each of {} members", methods.join(" or "), purged.len())
}

fn evidence_of(members: &[MemberFacts], purged: &[Purged]) -> Vec<PurgeEvidence> {
    let of_member = |(member, purged): (&MemberFacts, &Purged)| PurgeEvidence::Member {
        model: member.model.clone(),
        identity: member.identity.clone(),
        method: purged.method.clone(),
        duration_ns: purged.end_ns - purged.start_ns,
        evidence: purged.evidence.clone(),
    };
    members.iter().zip(purged).map(of_member).collect()
}

#[cfg(test)]
mod tests;
