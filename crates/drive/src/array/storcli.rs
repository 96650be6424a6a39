//! RAID controllers managed by `storcli` or `perccli`: Broadcom MegaRAID and Dell PERC.
//!
//! Only unused drives that were named by serial number become members. A volume is deleted only if it has the name
//! noted before its creation and contains only noted drives; nothing is ever forced.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Purged;

use super::controller::{ArrayController, Found, Outside, Plan, State};
use super::hardware::{DriveCache, Hardware, Program, Write, slot_of};
use super::note::NotedMember;
use crate::clock::Clock;
use crate::error::{DriveError, reason};
use crate::refusal::Refusal;
use crate::{Flow, PurgeOptions, Purging};
use answer::{Adapter, Answer, Behind, Operation, Volume};

mod answer;
mod erase;
mod explain;

/// Installed names, in the order they are tried.
const STORCLI: &[&str] =
    &["storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"];
const PERCCLI: &[&str] =
    &["perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"];
/// A new volume becomes a block device some seconds after the command.
const APPEARS_ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(300);

/// `storcli` or `perccli` in an environment.
#[derive(Debug)]
pub(crate) struct StorCli<O> {
    outside: O,
    kind: Program,
    adapter: u32,
    /// The one that was found.
    program: Option<&'static str>,
}

impl<O: Outside> StorCli<O> {
    pub(crate) fn new(outside: O, kind: Program, adapter: u32) -> Self {
        Self { outside, kind, adapter, program: None }
    }

    /// Runs a query and returns its answer, successful or not.
    fn ask(&mut self, arguments: &[&str]) -> Result<Answer, DriveError> {
        // Without `nolog` it would leave a log file in the current directory.
        let all: Vec<String> = arguments.iter().chain(&["J", "nolog"]).map(|&word| word.to_owned()).collect();
        let known = match self.kind {
            Program::StorCli => STORCLI,
            Program::PercCli => PERCCLI,
        };
        let wanted = |program: &&&str| self.program.is_none_or(|found| found == **program);
        for program in known.iter().filter(wanted).copied().collect::<Vec<_>>() {
            let ran = match self.outside.run(program, &all) {
                Ok(ran) => ran,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    return Err(DriveError::Unusable(format!("{program} cannot be run: {}", reason(&error))));
                }
            };
            self.program = Some(program);
            return Answer::read(&ran.out).map_err(|problem| {
                DriveError::Unusable(format!(
                    "{program} {} printed an unreadable response ({problem}): {}; run it manually as root",
                    all.join(" "),
                    ran.last_words()
                ))
            });
        }
        Err(DriveError::Unusable(format!(
            "none of {} found; install the RAID controller vendor's program",
            known.join(", ")
        )))
    }

    /// Runs a command that must succeed.
    fn demand(&mut self, arguments: &[&str], what: &str) -> Result<Answer, DriveError> {
        let answer = self.ask(arguments)?;
        if answer.success {
            return Ok(answer);
        }
        let program = self.program.unwrap_or_default();
        Err(DriveError::device(explain::failure(program, self.adapter, arguments, what, &answer)))
    }

    fn controller(&self) -> String {
        format!("/c{}", self.adapter)
    }

    /// Queries the controller itself.
    pub(crate) fn adapter(&mut self) -> Result<(Adapter, Answer), DriveError> {
        let path = self.controller();
        let answer = self.demand(&[&path, "show"], &format!("querying the controller {path}"))?;
        Ok((answer.adapter(), answer))
    }

    /// Queries the drive at an address, which must have this serial number.
    pub(crate) fn drive(&mut self, address: &str, serial: &str) -> Result<Behind, DriveError> {
        let answer = self.demand(&[address, "show", "all"], &format!("querying the drive {address}"))?;
        let Some(drive) = answer.drive(address) else {
            return Err(DriveError::Unusable(format!(
                "{address}: the controller does not report state, size and sectors of this drive; see the \
                 output of {} {address} show all",
                self.program.unwrap_or_default()
            )));
        };
        match &drive.serial {
            Some(found) if found == serial => Ok(drive),
            found => Err(DriveError::Unusable(format!(
                "{address} contains the drive {} instead of {serial}; nothing was touched: correct the slot \
                 or serial number in the array description",
                found.as_deref().unwrap_or("without a serial number")
            ))),
        }
    }

    fn volumes(&mut self) -> Result<Vec<Volume>, DriveError> {
        let path = format!("/c{}/vall", self.adapter);
        let answer = self.ask(&[&path, "show", "all"])?;
        // Without volumes some versions report a failure.
        if answer.success || answer.description.contains("No VD") {
            return Ok(answer.volumes(self.adapter));
        }
        self.demand(&[&path, "show", "all"], "querying the volumes of the controller")
            .map(|answer| answer.volumes(self.adapter))
    }

    /// Returns the planned volume; `None` if it does not exist.
    fn volume(&mut self, plan: &Plan) -> Result<Option<Volume>, DriveError> {
        let mut named = self.volumes()?.into_iter().filter(|volume| volume.name == plan.name);
        let (first, second) = (named.next(), named.next());
        match second {
            None => Ok(first),
            Some(_) => Err(DriveError::device(format!(
                "there are two volumes {} on {}; inspect them, and delete manually what is not needed",
                plan.name,
                self.controller()
            ))),
        }
    }

    /// Creates the volume, and verifies that all existing volumes are unchanged.
    fn add(&mut self, plan: &Plan, hardware: &Hardware) -> Result<Volume, DriveError> {
        let before = self.volumes()?;
        if before.iter().any(|volume| volume.name == plan.name) {
            return Err(DriveError::device(format!("a volume {} already exists", plan.name)));
        }
        let words = add_words(plan, hardware);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.demand(&words, "creating the volume")?;
        let volume = self.volume(plan)?.ok_or_else(|| {
            DriveError::device(format!(
                "the controller reported that {} was created, but it does not exist",
                plan.name
            ))
        })?;
        let after = self.volumes()?;
        if let Some(lost) = before.iter().find(|volume| !after.iter().any(|now| is_same(volume, now))) {
            return Err(DriveError::device(format!(
                "the volume {} of {} ('{}') is no longer what it was before {} was created; look at it with {} /c{}/v{} \
                 show all",
                lost.number,
                lost.size,
                lost.name,
                plan.name,
                self.program.unwrap_or_default(),
                self.adapter,
                lost.number
            )));
        }
        is_as_planned(&volume, plan, hardware).map_err(DriveError::device)?;
        Ok(volume)
    }

    /// Returns the block device with the world-wide name of the volume.
    fn node(&mut self, volume: &Volume) -> Result<PathBuf, DriveError> {
        let Some(naa) = &volume.naa else {
            return Err(DriveError::device(format!(
                "the controller does not report the world-wide name of the volume {}, so its block device \
                 cannot be identified with certainty",
                volume.name
            )));
        };
        let cannot =
            |error: std::io::Error| DriveError::Unusable(format!("/sys/class/block: {}", reason(&error)));
        for attempt in 0..APPEARS_ATTEMPTS {
            if attempt > 0 {
                self.outside.pause(PAUSE);
            }
            let devices = self.outside.devices().map_err(cannot)?;
            let wwid = format!("naa.{naa}");
            let is_it = |name: &String| {
                self.outside.attribute(name, "device/wwid").is_some_and(|found| found == wwid)
            };
            let found: Vec<String> = devices.into_iter().filter(is_it).collect();
            match found.as_slice() {
                [] => {}
                [name] => return Ok(Path::new("/dev").join(name)),
                several => {
                    return Err(DriveError::device(format!(
                        "{} all report to be the volume {} ({wwid}): it has several paths; keep only one",
                        several.join(" and "),
                        volume.name
                    )));
                }
            }
        }
        Err(DriveError::device(format!(
            "the volume {} (naa.{naa}) did not appear as a block device within 30 s; check the kernel log, \
             and whether it is exposed to the operating system",
            volume.name
        )))
    }

    /// Returns the status of a background operation: `init`, `bgi`.
    fn operation(&mut self, volume: &Volume, what: &str) -> Result<Operation, DriveError> {
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        let answer = self.demand(&[&path, "show", what], &format!("querying {what} of {path}"))?;
        answer.operations().into_iter().next().ok_or_else(|| {
            DriveError::device(format!(
                "{path} show {what}: the controller does not report whether it is in progress"
            ))
        })
    }
}

impl<O: Outside> ArrayController for StorCli<O> {
    fn version(&mut self) -> Result<String, DriveError> {
        let (adapter, answer) = self.adapter()?;
        let told = |what: &Option<String>| what.clone().unwrap_or_else(|| "unknown".into());
        Ok(format!(
            "{} {}, {}, firmware {}",
            self.program.unwrap_or_default(),
            told(&answer.version),
            told(&adapter.product),
            told(&adapter.firmware)
        ))
    }

    fn create(&mut self, plan: &Plan) -> Result<PathBuf, DriveError> {
        let hardware = hardware_of(plan)?;
        // Time has passed since the drives were inspected.
        for (address, serial) in addresses(plan).iter().zip(&hardware.serials) {
            let drive = self.drive(address, serial)?;
            if let Some(refusal) = refusal_of(&drive) {
                return Err(DriveError::Refused { target: address.clone(), refusals: vec![refusal] });
            }
        }
        let volume = self.add(plan, hardware)?;
        self.node(&volume)
    }

    fn recognise(&mut self, plan: &Plan, found: &Found) -> Result<(), DriveError> {
        let volume = self.volume(plan)?;
        let naa = volume.as_ref().and_then(|volume| volume.naa.clone());
        let wwid = found.wwid.as_deref().and_then(|wwid| wwid.strip_prefix("naa."));
        let said = volume.and_then(|volume| volume.node);
        if said.as_ref().is_some_and(|node| *node != found.node) {
            return Err(DriveError::device(format!(
                "{} has the name of the volume {}, but the controller's program reports it as {}; inspect \
                 both",
                found.node,
                plan.name,
                said.unwrap_or_default()
            )));
        }
        if naa.is_some() && naa.as_deref() == wwid {
            return Ok(());
        }
        Err(DriveError::device(format!(
            "{} is {} instead of the volume {} ({}); nothing was written to it",
            found.node,
            found.wwid.as_deref().unwrap_or("without a world-wide name"),
            plan.name,
            naa.unwrap_or_default()
        )))
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), DriveError> {
        if plan.level == 0 {
            return Ok(());
        }
        // The controller would start it some minutes later, in the background of the test, or not at all with few
        // members.
        let volume = self.volume(plan)?.ok_or_else(|| gone(plan))?;
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        self.demand(&[&path, "start", "init", "full"], "initialising the volume").map(drop)
    }

    fn state(&mut self, plan: &Plan) -> Result<State, DriveError> {
        let Some(volume) = self.volume(plan)? else {
            return Ok(State::Broken("the volume no longer exists".into()));
        };
        if volume.state != "Optl" {
            return Ok(State::Broken(format!(
                "the controller reports it as {}",
                explain::state(&volume.state)
            )));
        }
        if let Some((slot, state)) = volume.drives.iter().find(|(_, state)| state != "Onln") {
            return Ok(State::Broken(format!("the drive in slot {slot} is {}", explain::state(state))));
        }
        if volume.drives.len() != plan.members.len() {
            let (left, all) = (volume.drives.len(), plan.members.len());
            return Ok(State::Broken(format!("it has only {left} of its {all} drives")));
        }
        for (what, words) in [("init", "initialisation"), ("bgi", "background initialisation")] {
            match self.operation(&volume, what)? {
                Operation::Idle => {}
                Operation::Running(share) => return Ok(State::Syncing(words.into(), share)),
                Operation::Other(status) => return Ok(State::Broken(format!("its {words} is '{status}'"))),
            }
        }
        Ok(State::Whole)
    }

    fn stop(&mut self, plan: &Plan) -> Result<(), DriveError> {
        let Some(volume) = self.volume(plan)? else { return Ok(()) };
        let planned: Vec<String> = addresses(plan).iter().map(|address| slot_of(address)).collect();
        if let Some((slot, _)) = volume.drives.iter().find(|(slot, _)| !planned.contains(slot)) {
            return Err(DriveError::device(format!(
                "the volume {} contains the drive in slot {slot}, which was not one of its members, so it is \
                 left alone; inspect it, and delete it manually if it is not needed",
                plan.name
            )));
        }
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        if let Operation::Running(_) = self.operation(&volume, "init")? {
            self.demand(&[&path, "stop", "init"], &format!("stopping the initialisation of {path}"))?;
        }
        // Never with `force`, which would delete a volume with a file system.
        self.demand(&[&path, "del"], &format!("deleting the volume {} ({path})", plan.name))?;
        match self.volume(plan)? {
            None => Ok(()),
            Some(_) => Err(DriveError::device(format!(
                "the controller reported that the volume {} was deleted, but it still exists; delete it \
                 manually",
                plan.name
            ))),
        }
    }

    fn free(&mut self, _: &Plan, member: &NotedMember) -> Result<bool, DriveError> {
        // Once its volume is deleted, nothing remains on the drive, whatever it is used for now.
        Ok(self.drive(&member.path, &member.identity).is_ok())
    }

    fn purge(
        &mut self,
        plan: &Plan,
        options: &PurgeOptions,
        clock: Clock,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Vec<Purged>, DriveError> {
        erase::all(self, plan, options, clock, on_progress)
    }
}

/// Returns what forbids using a drive; only unconfigured drives are used.
pub(crate) fn refusal_of(drive: &Behind) -> Option<Refusal> {
    let why = match (drive.state.as_str(), drive.group.as_str()) {
        ("UGood", "F") => {
            "unconfigured, but contains the configuration of another controller (foreign)".into()
        }
        ("UGood", _) if drive.locked => "locked by its encryption".into(),
        ("UGood", _) if drive.spare => "a spare".into(),
        ("UGood", "-" | "") => return None,
        ("UGood", group) => format!("in the drive group {group}"),
        (state, _) => explain::state(state),
    };
    Some(Refusal::NotFree { state: why })
}

/// Builds `add vd` and its arguments, in the order of the program's help.
fn add_words(plan: &Plan, hardware: &Hardware) -> Vec<String> {
    let slots: Vec<String> = addresses(plan).iter().map(|address| slot_of(address)).collect();
    let mut words = vec![
        format!("/c{}", hardware.adapter),
        "add".into(),
        "vd".into(),
        format!("r{}", plan.level),
        format!("name={}", plan.name),
        format!("drives={}", slots.join(",")),
    ];
    if plan.level == 10 {
        words.push("pdperarray=2".into());
    }
    let drive_cache = match hardware.drive_cache {
        DriveCache::Default => "default",
        DriveCache::On => "on",
        DriveCache::Off => "off",
    };
    words.push(format!("pdcache={drive_cache}"));
    let write = match hardware.write {
        Write::Through => "wt",
        Write::Back => "wb",
        Write::AlwaysBack => "awb",
    };
    words.push(write.into());
    words.push(if hardware.read_ahead { "ra" } else { "nora" }.into());
    words.push(if hardware.cached { "cached" } else { "direct" }.into());
    words.extend(plan.chunk_kib.map(|kib| format!("strip={kib}")));
    words
}

/// Verifies that the controller applied the requested settings; without a battery, for example, it writes through.
fn is_as_planned(volume: &Volume, plan: &Plan, hardware: &Hardware) -> Result<(), String> {
    let mut slots: Vec<String> = addresses(plan).iter().map(|address| slot_of(address)).collect();
    let mut found: Vec<String> = volume.drives.iter().map(|(slot, _)| slot.clone()).collect();
    slots.sort();
    found.sort();
    if found != slots {
        return Err(format!(
            "{} was created from {} instead of {}",
            volume.name,
            found.join(", "),
            slots.join(", ")
        ));
    }
    if volume.level != format!("RAID{}", plan.level) {
        return Err(format!("{} became {} instead of RAID{}", volume.name, volume.level, plan.level));
    }
    let write = if hardware.write == Write::Through { "WT" } else { "WB" };
    if !volume.cache.contains(write) {
        return Err(format!(
            "{} has the cache policy {} instead of {}; write-back needs a charged battery or capacitor, so \
             use write = \"through\" or \"always-back\"",
            volume.name,
            volume.cache,
            hardware.words()
        ));
    }
    Ok(())
}

/// Whether a volume is unchanged; its state may change by itself.
fn is_same(was: &Volume, is: &Volume) -> bool {
    let places = |volume: &Volume| volume.drives.iter().map(|(slot, _)| slot.clone()).collect::<Vec<_>>();
    (was.number, &was.name, &was.naa, &was.level, &was.size)
        == (is.number, &is.name, &is.naa, &is.level, &is.size)
        && places(was) == places(is)
}

fn addresses(plan: &Plan) -> Vec<String> {
    plan.members.iter().map(|member| member.display().to_string()).collect()
}

fn hardware_of(plan: &Plan) -> Result<&Hardware, DriveError> {
    plan.hardware.as_ref().ok_or_else(|| DriveError::Invalid("no RAID controller is specified".into()))
}

fn gone(plan: &Plan) -> DriveError {
    DriveError::device(format!("the volume {} no longer exists", plan.name))
}

#[cfg(test)]
mod tests;
