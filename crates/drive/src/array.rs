//! Arrays of drives: looked at, armed when all members are, created anew for each test, and taken apart.
//!
//! An [`Assembly`] is the part of an armed array that knows its members. Each member is armed by
//! [`Drive::arm`](crate::Drive::arm) like any drive, at the beginning and again before each purge. What is created
//! is on disk as a note before, so that the next start takes apart what a crash left.

mod controller;
mod left_over;
mod mdadm;
mod note;
#[cfg(test)]
mod script;
mod spec;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{ArrayFacts, MemberFacts, Purged, TargetFacts, TargetKind};

use crate::clock::Clock;
use crate::error::{DriveError, reason};
use crate::host::Roots;
use crate::refusal::Refusal;
use crate::target::{Held, Real, block::Block};
use crate::{Armed, Drive, Flow, Inner, Kind, OpenOptions, PurgeOptions, Purging, manner};
use controller::{ArrayController, Host, Plan, State};
pub use left_over::dissolve_left_over;
use mdadm::Mdadm;
use note::{Note, Noted};
use spec::Spec;

/// What a target that is an array begins with.
pub(crate) const PREFIX: &str = "array:";
const CONTROLLER: &str = "mdadm";
/// While members are brought to one content it is asked this often how far that is.
const SETTLE_EVERY: Duration = Duration::from_millis(200);
/// Numbers for arrays, from the highest: those that nobody asks for begin there, too.
const HIGHEST_NUMBER: u32 = 127;

/// An array as it is described, its members looked at.
#[derive(Debug)]
pub(crate) struct Array {
    spec: Spec,
    options: OpenOptions,
    members: Vec<Drive>,
}

/// The members of an array that is armed, and what makes it.
pub(crate) struct Assembly {
    spec: Spec,
    options: OpenOptions,
    facts: TargetFacts,
    members: Vec<MemberFacts>,
    controller: Box<dyn ArrayController>,
    notes: PathBuf,
    built: Option<Built>,
}

/// What has to be undone.
struct Built {
    plan: Plan,
    note: Note,
}

impl Array {
    /// Reads the description and looks at each member.
    pub(crate) fn open(
        target: &str,
        file: &str,
        options: &OpenOptions,
    ) -> Result<(Self, TargetFacts), DriveError> {
        if options.size_bytes.is_some() || options.scale.is_some() {
            return Err(DriveError::Unusable(format!("{target}: an array has the size of its members")));
        }
        let text = fs::read_to_string(file)
            .map_err(|error| DriveError::Unusable(format!("{target}: {file}: {}", reason(&error))))?;
        let spec = Spec::parse(target, &text)?;
        let mut members: Vec<Drive> = Vec::new();
        for path in &spec.members {
            let member = crate::open(path, &OpenOptions::default())?;
            let block = block_of(&member).ok_or_else(|| {
                DriveError::Unusable(format!(
                    "{target}: {path} is no block device, and arrays are made of those"
                ))
            })?;
            if let Some(twin) =
                members.iter().find(|other| block_of(other).is_some_and(|other| other.is_same_device(block)))
            {
                let twin = &twin.facts.path;
                return Err(DriveError::Invalid(format!("{target}: {path} and {twin} are the same device")));
            }
            members.push(member);
        }
        let facts = facts_of(target, &spec, &members);
        Ok((Self { spec, options: options.clone(), members }, facts))
    }

    /// Everything that forbids writing to a member.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let of = |member: &Drive| {
            let path = member.facts.path.clone();
            let told = move |refusal| Refusal::Member { path: path.clone(), refusal: Box::new(refusal) };
            member.refusals().into_iter().map(told).collect::<Vec<_>>()
        };
        self.members.iter().flat_map(of).collect()
    }

    /// Arms all members and creates the array. `erase` names each of them; `notes` is where it is written down
    /// what has to be taken apart.
    pub(crate) fn arm(self, facts: TargetFacts, erase: &[String], notes: &Path) -> Result<Armed, DriveError> {
        let refusals = self.refusals();
        if !refusals.is_empty() {
            return Err(DriveError::Refused { target: facts.path, refusals });
        }
        confirm(&facts.path, self.members.iter().map(Drive::facts), erase)?;
        let mut controller = Box::new(Mdadm { outside: Host });
        controller.version()?;
        let members = facts.array.iter().flat_map(|array| array.members.clone()).collect();
        let armed = self.members.into_iter().map(|member| {
            let identity = member.facts.identity.clone();
            member.arm(Some(&identity))
        });
        let armed = armed.collect::<Result<Vec<_>, DriveError>>()?;
        let mut assembly = Assembly {
            spec: self.spec,
            options: self.options,
            facts,
            members,
            controller,
            notes: notes.to_owned(),
            built: None,
        };
        let inner = assembly.create(armed, Clock::start())?;
        let facts = assembly.facts.clone();
        Ok(Armed { facts, inner, effort: None, array: Some(Box::new(assembly)) })
    }
}

impl Assembly {
    /// Creates the array over members that are armed, and takes it for writing and for itself.
    fn create(&mut self, armed: Vec<Armed>, clock: Clock) -> Result<Inner, DriveError> {
        let mut nodes = Vec::new();
        for member in &armed {
            let (block, held) = held_block(member)?;
            block.recheck(held, false)?;
            nodes.push(block.node().to_owned());
        }
        let plan = self.plan(nodes)?;
        let noted = Noted::of(&plan, &self.members);
        let note = Note::write(&self.notes, &noted)?;
        // The kernel takes members for itself, so nobody else may hold them.
        drop(armed);
        let built = self.built.insert(Built { plan, note });
        let made = self.controller.create(&built.plan).and_then(|node| self.take(&node, clock));
        made.map_err(|error| match self.dissolve() {
            Ok(()) => error,
            Err(second) => DriveError::device(format!("{error}; and taking it apart again: {second}")),
        })
    }

    fn plan(&self, members: Vec<PathBuf>) -> Result<Plan, DriveError> {
        let unusable =
            |e: std::io::Error| DriveError::Unusable(format!("no array can be made: {}", reason(&e)));
        let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid").map_err(unusable)?;
        let taken = |number: &u32| Path::new(&format!("/sys/class/block/md{number}")).exists();
        let number = (0..=HIGHEST_NUMBER).rev().find(|number| !taken(number));
        let number = number.ok_or_else(|| DriveError::Unusable("all numbers for arrays are taken".into()))?;
        let sizes: Vec<u64> = self.members.iter().map(|member| member.capacity_bytes).collect();
        Ok(Plan {
            level: self.spec.level,
            chunk_kib: self.spec.chunk_kib,
            bitmap: self.spec.bitmap,
            name: format!("md{number}"),
            uuid: md_uuid(&uuid),
            members,
            component_kib: (self.spec.level != 0).then(|| self.spec.component_bytes(&sizes) / 1024),
        })
    }

    /// Opens the array that was just created, once it is certain that it is that.
    fn take(&mut self, node: &Path, clock: Clock) -> Result<Inner, DriveError> {
        let path = node.display().to_string();
        let block = Block::open(&path, Roots::default())?;
        let mut lower = block.lower_devices();
        let plan = self.built.as_ref().map(|built| &built.plan);
        let mut wanted: Vec<String> = plan
            .iter()
            .flat_map(|plan| &plan.members)
            .filter_map(|node| Some(node.file_name()?.to_string_lossy().into_owned()))
            .collect();
        lower.sort();
        wanted.sort();
        if lower != wanted {
            return Err(DriveError::device(format!(
                "{path} is made of {} and not of {}; see /proc/mdstat",
                lower.join(", "),
                wanted.join(", ")
            )));
        }
        let found = &block.facts;
        self.facts.capacity_bytes = found.capacity_bytes;
        self.facts.logical_block_bytes = found.logical_block_bytes;
        self.facts.physical_block_bytes = found.physical_block_bytes;
        let real = Real::Block(block);
        let manner = manner(&self.facts.path, &real, &self.options, &Roots::default())?;
        let held = real.hold(manner.engine)?;
        Ok(Inner::Real { real: Box::new(real), held, clock, manner })
    }

    /// Takes the array apart, purges all members at once, and creates it anew. `inner` is what holds the array.
    pub(crate) fn purge(
        &mut self,
        inner: &mut Inner,
        options: &PurgeOptions,
        on_progress: &mut dyn FnMut(Purging<'_>),
    ) -> Result<Purged, DriveError> {
        let clock = let_go(inner)?;
        self.dissolve()?;
        let mut armed = self.arm_again()?;
        on_progress(Purging::Step(&format!("purging {} members at once", armed.len())));
        let start_ns = clock.now_ns();
        let purged: Vec<Result<Purged, DriveError>> = std::thread::scope(|scope| {
            let purges: Vec<_> = armed
                .iter_mut()
                .map(|member| scope.spawn(move || member.purge_with(options, &mut |_| {})))
                .collect();
            purges.into_iter().map(|purge| purge.join().expect("a purge does not panic")).collect()
        });
        let mut done = Vec::new();
        for (member, purged) in self.members.iter().zip(purged) {
            let told = |error: DriveError| DriveError::device(format!("{}: {error}", member.path));
            done.push(purged.map_err(told)?);
        }
        let end_ns = clock.now_ns();
        let mut evidence = evidence_of(&self.members, &done);
        on_progress(Purging::Step("creating the array"));
        *inner = self.create(armed, clock)?;
        let name = self.built.as_ref().map_or_else(String::new, |built| built.plan.name.clone());
        let words = self.facts.array.as_ref().map(ArrayFacts::words).unwrap_or_default();
        evidence.push(format!("{words} created anew as {name} by {}", self.controller.version()?));
        Ok(Purged {
            method: methods_of(&done),
            pts_purge: done.iter().all(|purged| purged.pts_purge),
            start_ns,
            end_ns,
            evidence,
        })
    }

    /// Looks at each member anew and arms it, if it is the one that it was.
    fn arm_again(&self) -> Result<Vec<Armed>, DriveError> {
        let again = |member: &MemberFacts| {
            let drive = crate::open(&member.path, &OpenOptions::default())?;
            let facts = drive.facts();
            if (&facts.identity, facts.capacity_bytes) != (&member.identity, member.capacity_bytes) {
                return Err(DriveError::Unusable(format!(
                    "{} is no longer the member that was found: {} of {} B then, {} of {} B now",
                    member.path, member.identity, member.capacity_bytes, facts.identity, facts.capacity_bytes
                )));
            }
            drive.arm(Some(&member.identity))
        };
        self.members.iter().map(again).collect()
    }

    /// Whether it is what was created: all members work and nothing but the load goes on.
    pub(crate) fn check(&mut self) -> Result<(), DriveError> {
        match self.state()? {
            State::Whole => Ok(()),
            State::Syncing(what, _) => Err(DriveError::device(format!(
                "{}: a {what} of the array goes on, so it cannot be measured; let it end and begin the test again",
                self.facts.path
            ))),
            State::Broken(why) => Err(self.broken(&why)),
        }
    }

    /// Waits until its members have one content; says how long that took where it took anything.
    pub(crate) fn settle(
        &mut self,
        clock: Clock,
        on_wait: &mut dyn FnMut(&str, f64) -> Flow,
    ) -> Result<Option<String>, DriveError> {
        let start_ns = clock.now_ns();
        let mut waited_for = None;
        loop {
            match self.state()? {
                State::Broken(why) => return Err(self.broken(&why)),
                State::Whole => {
                    let seconds = (clock.now_ns() - start_ns) as f64 / 1e9;
                    return Ok(
                        waited_for.map(|what: String| format!("first {what} ended after {seconds:.1} s"))
                    );
                }
                State::Syncing(what, share) => {
                    if on_wait(&what, share) == Flow::Stop {
                        return Ok(None);
                    }
                    waited_for = Some(what);
                    std::thread::sleep(SETTLE_EVERY);
                }
            }
        }
    }

    fn state(&mut self) -> Result<State, DriveError> {
        match &self.built {
            Some(built) => self.controller.state(&built.plan),
            None => Ok(State::Broken("it is taken apart".into())),
        }
    }

    fn broken(&self, why: &str) -> DriveError {
        DriveError::device(format!(
            "{}: the array is no longer whole: {why}; see the kernel log, replace the member that failed, and begin \
             the test again",
            self.facts.path
        ))
    }

    /// Stops the array and takes its metadata off the members; each is looked at before.
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
    /// Where nobody took it apart before: behind a panic, or when a caller gave up. What fails here is tried again
    /// at the next start, by the note.
    fn drop(&mut self) {
        drop(self.dissolve());
    }
}

/// An array is made for a run and is gone behind it.
pub(crate) fn only_for_runs(target: &str) -> DriveError {
    DriveError::Invalid(format!(
        "{target}: an array is created for plateau run and is gone behind it; here name a drive"
    ))
}

/// Closes the array, so that it can be stopped. What is held instead can be neither read nor written.
pub(crate) fn let_go(inner: &mut Inner) -> Result<Clock, DriveError> {
    let Inner::Real { held, clock, .. } = inner else {
        return Err(DriveError::Invalid("only an array of drives can be taken apart".into()));
    };
    *held = Held::nothing()?;
    Ok(*clock)
}

fn block_of(drive: &Drive) -> Option<&Block> {
    match &drive.kind {
        Kind::Real(real, _) => match &**real {
            Real::Block(block) => Some(block),
            Real::File(_) => None,
        },
        _ => None,
    }
}

fn held_block(armed: &Armed) -> Result<(&Block, &Held), DriveError> {
    match &armed.inner {
        Inner::Real { real, held, .. } => match &**real {
            Real::Block(block) => Ok((block, held)),
            Real::File(_) => Err(DriveError::Unusable(format!("{} is a file", armed.facts.path))),
        },
        Inner::Simulated(_) => Err(DriveError::Unusable(format!("{} is simulated", armed.facts.path))),
    }
}

/// Each member has to be named by its own identity, and nothing else.
fn confirm<'a>(
    target: &str,
    members: impl Iterator<Item = &'a TargetFacts>,
    erase: &[String],
) -> Result<(), DriveError> {
    let members: Vec<&TargetFacts> = members.collect();
    let strange: Vec<&String> =
        erase.iter().filter(|typed| members.iter().all(|member| member.identity != **typed)).collect();
    let missing: Vec<&&TargetFacts> =
        members.iter().filter(|member| !erase.contains(&member.identity)).collect();
    if strange.is_empty() && missing.is_empty() {
        return Ok(());
    }
    let strange: String =
        strange.iter().map(|typed| format!(" and '{typed}' is none of its members;")).collect();
    let paths: Vec<&str> = members.iter().map(|member| member.path.as_str()).collect();
    let add: Vec<String> = missing.iter().map(|member| format!("--erase '{}'", member.identity)).collect();
    let next =
        if add.is_empty() { "leave that out".into() } else { format!("to go on add {}", add.join(" ")) };
    Err(DriveError::UnconfirmedMembers(format!(
        "everything on {} would be lost for {target};{strange} {next}",
        paths.join(", ")
    )))
}

fn facts_of(target: &str, spec: &Spec, members: &[Drive]) -> TargetFacts {
    let of = |drive: &Drive| {
        let facts = drive.facts().clone();
        MemberFacts {
            path: facts.path,
            identity: facts.identity,
            vendor: facts.vendor,
            model: facts.model,
            serial: facts.serial,
            firmware: facts.firmware,
            interface: facts.interface,
            capacity_bytes: facts.capacity_bytes,
        }
    };
    let array = ArrayFacts {
        controller: CONTROLLER.into(),
        level: spec.level,
        chunk_bytes: spec.chunk_kib.map(|kib| u64::from(kib) * 1024),
        bitmap: spec.bitmap,
        members: members.iter().map(of).collect(),
    };
    let identities: Vec<&str> = array.members.iter().map(|member| member.identity.as_str()).collect();
    let sizes: Vec<u64> = array.members.iter().map(|member| member.capacity_bytes).collect();
    let largest = |of: fn(&TargetFacts) -> u32| members.iter().map(|member| of(member.facts())).max();
    let turning: Option<Vec<bool>> = members.iter().map(|member| member.facts().rotational).collect();
    TargetFacts {
        kind: TargetKind::Block,
        path: target.to_owned(),
        identity: identities.join("+"),
        attachment: None,
        vendor: Some("Linux".into()),
        model: Some(array.words()),
        serial: None,
        firmware: None,
        interface: Some("md".into()),
        nand: None,
        capacity_bytes: spec.capacity_bytes(&sizes),
        logical_block_bytes: largest(|facts| facts.logical_block_bytes).unwrap_or(512),
        physical_block_bytes: largest(|facts| facts.physical_block_bytes).unwrap_or(512),
        rotational: turning.map(|all| all.contains(&true)),
        simulated: None,
        array: Some(array),
    }
}

/// `0a1b2c3d-…` as mdadm has it: four groups of eight digits.
fn md_uuid(text: &str) -> String {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
    let groups: Vec<String> = digits.chunks(8).map(|group| group.iter().collect()).collect();
    groups.join(":")
}

/// `NVMe Format SES=1 of each of 3 members`, or each method once.
fn methods_of(purged: &[Purged]) -> String {
    let mut methods: Vec<&str> = purged.iter().map(|purged| purged.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    format!("{} of each of {} members", methods.join(" or "), purged.len())
}

fn evidence_of(members: &[MemberFacts], purged: &[Purged]) -> Vec<String> {
    let line = |(member, purged): (&MemberFacts, &Purged)| {
        let seconds = (purged.end_ns - purged.start_ns) as f64 / 1e9;
        let shown = purged.evidence.join("; ");
        let shown = if shown.is_empty() { String::new() } else { format!(": {shown}") };
        format!("{}: {} in {seconds:.1} s{shown}", member.words(), purged.method)
    };
    members.iter().zip(purged).map(line).collect()
}

#[cfg(test)]
mod tests;
