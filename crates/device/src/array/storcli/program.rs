//! The controller's program: commands for an array and the interpretation of responses.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::explain;
use crate::array::hardware::{DriveCache, Hardware, Program, Write, slot_of};
use crate::array::outside::{BLOCK_DEVICES, Outside};
use crate::array::plan::ArrayPlan;
use crate::error::DriveError;
use crate::error::array::{ArrayError, ControllerFailure, ControllerStep};
use crate::error::volume::VolumeError;
use crate::refusal::Refusal;
use admin::storcli::{Adapter, Answer, ControllerDrive, Operation, Volume};

/// Possible names of the program, in the order in which they are tried.
const STORCLI: &[&str] =
    &["storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"];
pub(super) const PERCCLI: &[&str] =
    &["perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"];
/// Number of attempts to find the block device of a new volume; the device appears a few seconds after the
/// command.
const APPEARS_ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(300);

/// `storcli` or `perccli` in a given environment.
#[derive(Debug)]
pub(crate) struct StorCli<O> {
    pub(super) outside: O,
    kind: Program,
    pub(super) adapter: u32,
    /// The name under which the program was found.
    pub(super) program: Option<&'static str>,
}

impl<O: Outside> StorCli<O> {
    pub(crate) fn new(outside: O, kind: Program, adapter: u32) -> Self {
        Self { outside, kind, adapter, program: None }
    }

    /// Runs a query and returns the response, successful or not.
    pub(super) fn ask(&mut self, arguments: &[&str]) -> Result<Answer, ArrayError> {
        // Without `nolog`, the program would leave a log file in the current directory.
        let all: Vec<String> = arguments.iter().chain(&["J", "nolog"]).map(|&word| word.to_owned()).collect();
        let known = match self.kind {
            Program::StorCli => STORCLI,
            Program::PercCli => PERCCLI,
        };
        let selected = |program: &&&str| self.program.is_none_or(|found| found == **program);
        for program in known.iter().filter(selected).copied().collect::<Vec<_>>() {
            let ran = match self.outside.run(program, &all) {
                Ok(ran) => ran,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(source) => return Err(ArrayError::Program { program, source }),
            };
            self.program = Some(program);
            return Answer::read(&ran.out).map_err(|problem| {
                let (arguments, printed) = (all.join(" "), ran.last_words().to_owned());
                ArrayError::Response { program, arguments, problem, printed }
            });
        }
        Err(ArrayError::NoProgram(known))
    }

    /// Runs a command that must succeed.
    pub(super) fn demand(&mut self, arguments: &[&str], step: ControllerStep) -> Result<Answer, ArrayError> {
        let answer = self.ask(arguments)?;
        if answer.success {
            return Ok(answer);
        }
        let program = self.program.unwrap_or_default();
        let (reported, cause) = explain::failure(&answer);
        let (adapter, arguments) = (self.adapter, arguments.join(" "));
        let failure = ControllerFailure { step, reported, cause, program, adapter, arguments };
        Err(ArrayError::Command(Box::new(failure)))
    }

    pub(super) fn controller(&self) -> String {
        format!("/c{}", self.adapter)
    }

    /// Queries the controller itself.
    pub(crate) fn adapter(&mut self) -> Result<(Adapter, Answer), ArrayError> {
        let path = self.controller();
        let answer = self.demand(&[&path, "show"], ControllerStep::QueryController(path.clone()))?;
        Ok((answer.adapter(), answer))
    }

    /// Queries the drive at an address; the drive must have this serial number.
    pub(crate) fn drive(&mut self, address: &str, serial: &str) -> Result<ControllerDrive, ArrayError> {
        let step = ControllerStep::QueryDrive(address.to_owned());
        let answer = self.demand(&[address, "show", "all"], step)?;
        let Some(drive) = answer.drive(address) else {
            let program = self.program.unwrap_or_default();
            return Err(ArrayError::DriveUnreported { address: address.to_owned(), program });
        };
        match &drive.serial {
            Some(found) if found == serial => Ok(drive),
            found => Err(ArrayError::OtherDrive {
                address: address.to_owned(),
                found: found.clone(),
                serial: serial.to_owned(),
            }),
        }
    }

    pub(super) fn volumes(&mut self) -> Result<Vec<Volume>, ArrayError> {
        let path = format!("/c{}/vall", self.adapter);
        let answer = self.ask(&[&path, "show", "all"])?;
        // Some versions report a failure if the controller has no volumes.
        if answer.success || answer.description.contains("No VD") {
            return Ok(answer.volumes(self.adapter));
        }
        self.demand(&[&path, "show", "all"], ControllerStep::QueryVolumes)
            .map(|answer| answer.volumes(self.adapter))
    }

    /// Returns the planned volume; `None` if it does not exist.
    pub(super) fn volume(&mut self, plan: &ArrayPlan) -> Result<Option<Volume>, ArrayError> {
        let mut named = self.volumes()?.into_iter().filter(|volume| volume.name == plan.name);
        let (first, second) = (named.next(), named.next());
        match second {
            None => Ok(first),
            Some(_) => {
                Err(VolumeError::Two { name: plan.name.clone(), controller: self.controller() }.into())
            }
        }
    }

    /// Creates the volume and verifies that all existing volumes are unchanged.
    pub(super) fn add(&mut self, plan: &ArrayPlan, hardware: &Hardware) -> Result<Volume, ArrayError> {
        let before = self.volumes()?;
        if before.iter().any(|volume| volume.name == plan.name) {
            return Err(VolumeError::Exists(plan.name.clone()).into());
        }
        let words = add_words(plan, hardware);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.demand(&words, ControllerStep::Create)?;
        let volume = self.volume(plan)?.ok_or_else(|| VolumeError::NotCreated(plan.name.clone()))?;
        let after = self.volumes()?;
        if let Some(lost) = before.iter().find(|volume| !after.iter().any(|now| is_same(volume, now))) {
            return Err(VolumeError::OtherChanged {
                number: lost.number,
                size: lost.size.clone(),
                name: lost.name.clone(),
                created: plan.name.clone(),
                program: self.program.unwrap_or_default(),
                adapter: self.adapter,
            }
            .into());
        }
        is_as_planned(&volume, plan, hardware)?;
        Ok(volume)
    }

    /// Returns the block device with the world-wide name of the volume.
    pub(super) fn node(&mut self, volume: &Volume) -> Result<PathBuf, DriveError> {
        let Some(naa) = &volume.naa else {
            return Err(ArrayError::from(VolumeError::NoWorldWideName(volume.name.clone())).into());
        };
        let cannot = |source: std::io::Error| DriveError::System { path: BLOCK_DEVICES, source };
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
                _ => {
                    let name = volume.name.clone();
                    let several = VolumeError::SeveralPaths { name, wwid, devices: found };
                    return Err(ArrayError::from(several).into());
                }
            }
        }
        let (name, naa) = (volume.name.clone(), naa.clone());
        Err(ArrayError::from(VolumeError::NotAppeared { name, naa }).into())
    }

    /// Returns the status of a background operation, such as `init` or `bgi`.
    pub(super) fn operation(
        &mut self,
        volume: &Volume,
        operation: &'static str,
    ) -> Result<Operation, ArrayError> {
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        let step = ControllerStep::QueryOperation { operation, path: path.clone() };
        let answer = self.demand(&[&path, "show", operation], step)?;
        let first = answer.operations().into_iter().next();
        first.ok_or_else(|| VolumeError::OperationUnreported { path, operation }.into())
    }
}

/// Returns the reason not to use a drive; only unconfigured drives may be used.
pub(crate) fn refusal_of(drive: &ControllerDrive) -> Option<Refusal> {
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

/// Builds the `add vd` command, with its arguments in the order of the program's help.
pub(super) fn add_words(plan: &ArrayPlan, hardware: &Hardware) -> Vec<String> {
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

/// Verifies that the volume has the planned drives, RAID level and cache policy: without a battery, the
/// controller may use write-through.
fn is_as_planned(volume: &Volume, plan: &ArrayPlan, hardware: &Hardware) -> Result<(), VolumeError> {
    let name = volume.name.clone();
    let mut slots: Vec<String> = addresses(plan).iter().map(|address| slot_of(address)).collect();
    let mut found: Vec<String> = volume.drives.iter().map(|(slot, _)| slot.clone()).collect();
    slots.sort();
    found.sort();
    if found != slots {
        return Err(VolumeError::Drives { name, found, planned: slots });
    }
    if volume.level != format!("RAID{}", plan.level) {
        return Err(VolumeError::Level { name, found: volume.level.clone(), planned: plan.level });
    }
    let write = if hardware.write == Write::Through { "WT" } else { "WB" };
    if !volume.cache.contains(write) {
        return Err(VolumeError::Cache { name, found: volume.cache.clone(), planned: hardware.words() });
    }
    Ok(())
}

/// Returns whether a volume is unchanged, except for its state, which may change on its own.
fn is_same(was: &Volume, is: &Volume) -> bool {
    let places = |volume: &Volume| volume.drives.iter().map(|(slot, _)| slot.clone()).collect::<Vec<_>>();
    (was.number, &was.name, &was.naa, &was.level, &was.size)
        == (is.number, &is.name, &is.naa, &is.level, &is.size)
        && places(was) == places(is)
}

pub(super) fn addresses(plan: &ArrayPlan) -> Vec<String> {
    plan.members.iter().map(|member| member.display().to_string()).collect()
}

pub(super) fn hardware_of(plan: &ArrayPlan) -> Result<&Hardware, ArrayError> {
    plan.hardware.as_ref().ok_or(ArrayError::NoController)
}
