//! The program itself: its commands, and what its answers mean for an array.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::errno::reason;

use super::answer::{Adapter, Answer, Behind, Operation, Volume};
use super::explain;
use crate::array::hardware::{DriveCache, Hardware, Program, Write, slot_of};
use crate::array::outside::Outside;
use crate::array::plan::Plan;
use crate::error::DriveError;
use crate::refusal::Refusal;

/// Names under which the program may be installed, in the order in which they are tried.
const STORCLI: &[&str] =
    &["storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"];
pub(super) const PERCCLI: &[&str] =
    &["perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"];
/// Attempts to find the block device of a new volume, which appears some seconds after the command.
const APPEARS_ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(300);

/// `storcli` or `perccli`, run in an environment.
#[derive(Debug)]
pub(crate) struct StorCli<O> {
    pub(super) outside: O,
    kind: Program,
    pub(super) adapter: u32,
    /// The name that was found.
    pub(super) program: Option<&'static str>,
}

impl<O: Outside> StorCli<O> {
    pub(crate) fn new(outside: O, kind: Program, adapter: u32) -> Self {
        Self { outside, kind, adapter, program: None }
    }

    /// Runs a query and returns its answer, successful or not.
    pub(super) fn ask(&mut self, arguments: &[&str]) -> Result<Answer, DriveError> {
        // Without `nolog`, the program would leave a log file in the current directory.
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
    pub(super) fn demand(&mut self, arguments: &[&str], what: &str) -> Result<Answer, DriveError> {
        let answer = self.ask(arguments)?;
        if answer.success {
            return Ok(answer);
        }
        let program = self.program.unwrap_or_default();
        Err(DriveError::device(explain::failure(program, self.adapter, arguments, what, &answer)))
    }

    pub(super) fn controller(&self) -> String {
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

    pub(super) fn volumes(&mut self) -> Result<Vec<Volume>, DriveError> {
        let path = format!("/c{}/vall", self.adapter);
        let answer = self.ask(&[&path, "show", "all"])?;
        // Some versions report a failure if there are no volumes.
        if answer.success || answer.description.contains("No VD") {
            return Ok(answer.volumes(self.adapter));
        }
        self.demand(&[&path, "show", "all"], "querying the volumes of the controller")
            .map(|answer| answer.volumes(self.adapter))
    }

    /// Returns the planned volume; `None` if it does not exist.
    pub(super) fn volume(&mut self, plan: &Plan) -> Result<Option<Volume>, DriveError> {
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
    pub(super) fn add(&mut self, plan: &Plan, hardware: &Hardware) -> Result<Volume, DriveError> {
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
                "the volume {} of {} ('{}') is no longer what it was before {} was created; inspect it with \
                 {} /c{}/v{} show all",
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
    pub(super) fn node(&mut self, volume: &Volume) -> Result<PathBuf, DriveError> {
        let Some(naa) = &volume.naa else {
            return Err(DriveError::device(format!(
                "the controller does not report the world-wide name of the volume {}, so its block device \
                 cannot be identified reliably",
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
                        "{} all claim to be the volume {} ({wwid}), so it has several paths; keep only one",
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
    pub(super) fn operation(&mut self, volume: &Volume, what: &str) -> Result<Operation, DriveError> {
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        let answer = self.demand(&[&path, "show", what], &format!("querying {what} of {path}"))?;
        answer.operations().into_iter().next().ok_or_else(|| {
            DriveError::device(format!(
                "{path} show {what}: the controller does not report whether it is in progress"
            ))
        })
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

/// Builds the command `add vd`, with its arguments in the order of the program's help.
pub(super) fn add_words(plan: &Plan, hardware: &Hardware) -> Vec<String> {
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
        return Err(format!("{} was created as {} instead of RAID{}", volume.name, volume.level, plan.level));
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

/// Whether a volume is unchanged, apart from its state, which may change by itself.
fn is_same(was: &Volume, is: &Volume) -> bool {
    let places = |volume: &Volume| volume.drives.iter().map(|(slot, _)| slot.clone()).collect::<Vec<_>>();
    (was.number, &was.name, &was.naa, &was.level, &was.size)
        == (is.number, &is.name, &is.naa, &is.level, &is.size)
        && places(was) == places(is)
}

pub(super) fn addresses(plan: &Plan) -> Vec<String> {
    plan.members.iter().map(|member| member.display().to_string()).collect()
}

pub(super) fn hardware_of(plan: &Plan) -> Result<&Hardware, DriveError> {
    plan.hardware.as_ref().ok_or_else(|| DriveError::Invalid("no RAID controller is specified".into()))
}
