//! RAID controllers managed by `storcli` or `perccli`: Broadcom MegaRAID and Dell PERC.
//!
//! Only unused drives that were named by serial number become members. A volume is deleted only if it has the
//! name that was noted before its creation and contains only noted drives, and never with `force`.

mod answer;
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
use super::plan::Plan;
use crate::error::DriveError;
use answer::Operation;
pub(super) use program::{StorCli, refusal_of};
use program::{addresses, hardware_of};

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
        // Start the initialisation now: the controller would start it some minutes later, in the background
        // of the test, or not at all with few members.
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
        // Once its volume is deleted, no metadata remains on the drive, whatever it is used for now.
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

fn gone(plan: &Plan) -> DriveError {
    DriveError::device(format!("the volume {} no longer exists", plan.name))
}

#[cfg(test)]
mod tests;
