//! RAID controllers managed by `storcli` or `perccli`: Broadcom MegaRAID and Dell PERC.
//!
//! Only unused drives that are listed by serial number become members. A volume is deleted only if it has the
//! name recorded before its creation and contains only recorded drives; `force` is never used.

mod erase;
mod explain;
mod program;

use std::path::PathBuf;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::Purged;

use super::controller::{ArrayController, Found, State};
use super::hardware::slot_of;
use super::note::NotedMember;
use super::outside::Outside;
use super::plan::ArrayPlan;
use crate::error::DriveError;
use crate::error::array::{ArrayError, ControllerStep, Defect};
use crate::error::volume::VolumeError;
use admin::storcli::Operation;
pub(super) use program::{StorCli, refusal_of};
use program::{addresses, hardware_of};

impl<O: Outside> ArrayController for StorCli<O> {
    fn version(&mut self) -> Result<String, DriveError> {
        let (adapter, answer) = self.adapter()?;
        let or_unknown = |what: &Option<String>| what.clone().unwrap_or_else(|| "unknown".into());
        Ok(format!(
            "{} {}, {}, firmware {}",
            self.program.unwrap_or_default(),
            or_unknown(&answer.version),
            or_unknown(&adapter.product),
            or_unknown(&adapter.firmware)
        ))
    }

    fn create(&mut self, plan: &ArrayPlan) -> Result<PathBuf, DriveError> {
        let hardware = hardware_of(plan)?;
        // Check again, because time has passed since the drives were inspected.
        for (address, serial) in addresses(plan).iter().zip(&hardware.serials) {
            let drive = self.drive(address, serial)?;
            if let Some(refusal) = refusal_of(&drive) {
                return Err(DriveError::Refused { target: address.clone(), refusals: vec![refusal] });
            }
        }
        let volume = self.add(plan, hardware)?;
        self.node(&volume)
    }

    fn recognise(&mut self, plan: &ArrayPlan, found: &Found) -> Result<(), DriveError> {
        let volume = self.volume(plan)?;
        let naa = volume.as_ref().and_then(|volume| volume.naa.clone());
        let wwid = found.wwid.as_deref().and_then(|wwid| wwid.strip_prefix("naa."));
        let volume_node = volume.and_then(|volume| volume.node);
        if volume_node.as_ref().is_some_and(|node| *node != found.node) {
            let (node, name) = (found.node.clone(), plan.name.clone());
            let reported = volume_node.unwrap_or_default();
            return Err(failed(VolumeError::ReportedElsewhere { node, name, reported }));
        }
        if naa.is_some() && naa.as_deref() == wwid {
            return Ok(());
        }
        Err(failed(VolumeError::OtherDevice {
            node: found.node.clone(),
            wwid: found.wwid.clone(),
            name: plan.name.clone(),
            naa: naa.unwrap_or_default(),
        }))
    }

    fn begin(&mut self, plan: &ArrayPlan) -> Result<(), DriveError> {
        if plan.level == 0 {
            return Ok(());
        }
        // Otherwise, the controller would start the initialisation a few minutes later, in the background
        // during the test, or not at all if there are few members.
        let volume = self.volume(plan)?.ok_or_else(|| failed(VolumeError::Gone(plan.name.clone())))?;
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        self.demand(&[&path, "start", "init", "full"], ControllerStep::Initialise)?;
        Ok(())
    }

    fn state(&mut self, plan: &ArrayPlan) -> Result<State, DriveError> {
        let Some(volume) = self.volume(plan)? else {
            return Ok(State::Broken(Defect::VolumeGone));
        };
        if volume.state != "Optl" {
            return Ok(State::Broken(Defect::VolumeState(explain::state(&volume.state))));
        }
        if let Some((slot, state)) = volume.drives.iter().find(|(_, state)| state != "Onln") {
            let (slot, state) = (slot.clone(), explain::state(state));
            return Ok(State::Broken(Defect::DriveState { slot, state }));
        }
        if volume.drives.len() != plan.members.len() {
            let (left, all) = (volume.drives.len(), plan.members.len());
            return Ok(State::Broken(Defect::DrivesMissing { left, all }));
        }
        for (what, operation) in [("init", "initialisation"), ("bgi", "background initialisation")] {
            match self.operation(&volume, what)? {
                Operation::Idle => {}
                Operation::Running(share) => return Ok(State::Syncing(operation.into(), share)),
                Operation::Other(status) => {
                    return Ok(State::Broken(Defect::Operation { operation, status }));
                }
            }
        }
        Ok(State::Whole)
    }

    fn stop(&mut self, plan: &ArrayPlan) -> Result<(), DriveError> {
        let Some(volume) = self.volume(plan)? else { return Ok(()) };
        let planned: Vec<String> = addresses(plan).iter().map(|address| slot_of(address)).collect();
        if let Some((slot, _)) = volume.drives.iter().find(|(slot, _)| !planned.contains(slot)) {
            let (name, slot) = (plan.name.clone(), slot.clone());
            return Err(failed(VolumeError::StrangeDrive { name, slot }));
        }
        let path = format!("/c{}/v{}", self.adapter, volume.number);
        if let Operation::Running(_) = self.operation(&volume, "init")? {
            self.demand(&[&path, "stop", "init"], ControllerStep::StopInitialisation(path.clone()))?;
        }
        // `force` is never used, because it would delete a volume with a file system.
        let step = ControllerStep::Delete { name: plan.name.clone(), path: path.clone() };
        self.demand(&[&path, "del"], step)?;
        match self.volume(plan)? {
            None => Ok(()),
            Some(_) => Err(failed(VolumeError::NotDeleted(plan.name.clone()))),
        }
    }

    fn free(&mut self, _: &ArrayPlan, member: &NotedMember) -> Result<bool, DriveError> {
        // Deleting the volume left no metadata on the drive, whatever the drive is used for now.
        Ok(self.drive(&member.path, &member.identity).is_ok())
    }

    fn purge(
        &mut self,
        plan: &ArrayPlan,
        options: &PurgeOptions,
        clock: Clock,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Vec<Purged>, DriveError> {
        erase::all(self, plan, options, clock, on_progress)
    }
}

fn failed(error: VolumeError) -> DriveError {
    ArrayError::from(error).into()
}

#[cfg(test)]
mod tests;
