//! Linux software RAID: `mdadm` writes the superblocks; the state is read from the kernel.

use std::path::{Path, PathBuf};
use std::time::Duration;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::Purged;

use super::controller::{ArrayController, Found, State};
use super::note::NotedMember;
use super::outside::{BLOCK_DEVICES, Outside, Ran};
use super::plan::ArrayPlan;
use super::spec::DATA_OFFSET_BYTES;
use crate::error::DriveError;
use crate::error::array::{ArrayError, Defect, MdadmStep};
use crate::inspected::Inspected;
use crate::list::list;
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use sysfs::Roots;

const PROGRAM: &str = "mdadm";
/// Number of attempts per command: udev and other programs briefly open a device that appears or changes.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(300);
/// Limit on the resync rate in KiB/s. At the kernel's default limit of 200 MB/s, the first resync would be
/// the longest part of a test.
const SYNC_SPEED: &str = "100000000";

/// `mdadm` in a given environment.
pub(crate) struct Mdadm<O> {
    pub(crate) outside: O,
}

impl<O: Outside> Mdadm<O> {
    fn run(&mut self, arguments: &[&str]) -> Result<Ran, ArrayError> {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let ran = self.outside.run(PROGRAM, &arguments);
        ran.map_err(|source| ArrayError::Program { program: PROGRAM, source })
    }

    /// Removes this array's superblock from a member; a drive without it is left unchanged.
    fn clear(&mut self, plan: &ArrayPlan, member: &Path) -> Result<(), ArrayError> {
        let node = member.display().to_string();
        if self.uuid("--examine", &node)?.as_ref() != Some(&plan.uuid) {
            return Ok(());
        }
        self.persist(&["--zero-superblock", &node], MdadmStep::RemoveSuperblock(node.clone()))
    }

    /// Returns the UUID from the superblock of a device (`--examine`) or from an array (`--detail`).
    fn uuid(&mut self, how: &str, device: &str) -> Result<Option<String>, ArrayError> {
        let ran = self.run(&[how, "--export", device])?;
        let found = ran.out.lines().find_map(|line| line.strip_prefix("MD_UUID=")).map(str::to_owned);
        Ok(found.filter(|_| ran.success))
    }

    /// Retries a command until it succeeds, up to [`ATTEMPTS`] times.
    fn persist(&mut self, arguments: &[&str], step: MdadmStep) -> Result<(), ArrayError> {
        let mut printed = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.outside.pause(PAUSE);
            }
            let ran = self.run(arguments)?;
            if ran.success {
                return Ok(());
            }
            printed = ran.last_words().to_owned();
        }
        Err(ArrayError::Mdadm { step, printed })
    }
}

impl<O: Outside> ArrayController for Mdadm<O> {
    fn version(&mut self) -> Result<String, DriveError> {
        let ran = self.run(&["--version"])?;
        // mdadm prints its version to standard error.
        Ok(ran.last_words().to_owned())
    }

    fn create(&mut self, plan: &ArrayPlan) -> Result<PathBuf, DriveError> {
        let node = format!("/dev/{}", plan.name);
        let mut arguments = vec![
            "--create".to_owned(),
            node.clone(),
            // Suppresses confirmation prompts.
            "--run".into(),
            "--metadata=1.2".into(),
            "--homehost=any".into(),
            "--name=plateau".into(),
            format!("--uuid={}", plan.uuid),
            format!("--level={}", plan.level),
            format!("--raid-devices={}", plan.members.len()),
            format!("--data-offset={}K", DATA_OFFSET_BYTES / 1024),
        ];
        if plan.level != 0 {
            let bitmap = if plan.bitmap { "internal" } else { "none" };
            arguments.push(format!("--bitmap={bitmap}"));
        }
        arguments.extend(plan.chunk_kib.map(|kib| format!("--chunk={kib}")));
        arguments.extend(plan.component_kib.map(|kib| format!("--size={kib}")));
        if plan.level == 5 {
            // Otherwise, the array would start degraded, with its last member as a spare.
            arguments.push("--force".into());
        }
        arguments.extend(plan.members.iter().map(|member| member.display().to_string()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = self.run(&arguments)?;
        if !ran.success {
            let printed = ran.last_words().to_owned();
            return Err(ArrayError::NotCreated { node, level: plan.level, printed }.into());
        }
        if self.outside.attribute(&plan.name, "md/array_state").as_deref() == Some("read-auto") {
            self.persist(&["--readwrite", &node], MdadmStep::MakeWritable(node.clone()))?;
        }
        // An array without a resync lacks this attribute; if the limit cannot be raised, the resync is merely slower.
        drop(self.outside.set_attribute(&plan.name, "md/sync_speed_max", SYNC_SPEED));
        Ok(node.into())
    }

    fn state(&mut self, plan: &ArrayPlan) -> Result<State, DriveError> {
        let mut get = |name: &str| self.outside.attribute(&plan.name, name);
        let state = get("md/array_state").unwrap_or_else(|| "no longer present".into());
        if !["clean", "active", "active-idle", "write-pending", "read-auto"].contains(&state.as_str()) {
            return Ok(State::Broken(Defect::State(state)));
        }
        let missing = get("md/degraded").unwrap_or_else(|| "0".into());
        if missing != "0" {
            return Ok(State::Broken(Defect::Degraded { missing }));
        }
        let action = get("md/sync_action").unwrap_or_else(|| "idle".into());
        let pending = get("md/resync_start").unwrap_or_else(|| "none".into());
        if action == "idle" && pending == "none" {
            return Ok(State::Whole);
        }
        let what = if action == "idle" { "resync".into() } else { action };
        Ok(State::Syncing(what, share(&get("md/sync_completed").unwrap_or_default())))
    }

    fn stop(&mut self, plan: &ArrayPlan) -> Result<(), DriveError> {
        let devices =
            self.outside.devices().map_err(|source| DriveError::System { path: BLOCK_DEVICES, source })?;
        // The number may differ after a reboot.
        for name in devices.iter().filter(|name| is_array(name)) {
            let node = format!("/dev/{name}");
            if self.uuid("--detail", &node)?.as_ref() == Some(&plan.uuid) {
                self.persist(&["--stop", &node], MdadmStep::Stop(node.clone()))?;
            }
        }
        Ok(())
    }

    fn recognise(&mut self, plan: &ArrayPlan, found: &Found) -> Result<(), DriveError> {
        let name = |node: &PathBuf| Some(node.file_name()?.to_string_lossy().into_owned());
        let mut planned: Vec<String> = plan.members.iter().filter_map(name).collect();
        let mut lower = found.lower.clone();
        lower.sort();
        planned.sort();
        if lower == planned {
            return Ok(());
        }
        Err(ArrayError::Composition { node: found.node.clone(), found: lower, planned }.into())
    }

    fn begin(&mut self, _: &ArrayPlan) -> Result<(), DriveError> {
        // The kernel starts the first resync automatically.
        Ok(())
    }

    fn free(&mut self, plan: &ArrayPlan, member: &NotedMember) -> Result<bool, DriveError> {
        let Some(node) = node_of(member) else { return Ok(false) };
        self.clear(plan, &node)?;
        check_clear(member, &node)?;
        Ok(true)
    }

    fn purge(
        &mut self,
        _: &ArrayPlan,
        _: &PurgeOptions,
        _: Clock,
        _: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Vec<Purged>, DriveError> {
        Err(ArrayError::PurgedAsDrives.into())
    }
}

/// Matches whole arrays, not their partitions.
fn is_array(name: &str) -> bool {
    name.strip_prefix("md").is_some_and(|rest| {
        rest.starts_with('_') || (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Parses the completed fraction from `1234 / 5678` sectors, `none` or `delayed`.
fn share(completed: &str) -> f64 {
    let parts =
        completed.split_once('/').map(|(done, all)| (done.trim().parse::<f64>(), all.trim().parse::<f64>()));
    match parts {
        Some((Ok(done), Ok(all))) if all > 0.0 => done / all,
        _ => 0.0,
    }
}

/// Finds a member at its recorded path or under another name.
fn node_of(member: &NotedMember) -> Option<PathBuf> {
    let is_it = |path: &str| {
        let found = Inspected::open(path, &OpenOptions::default(), Roots::default()).ok()?;
        let facts = &found.facts;
        ((&facts.identity, facts.capacity_bytes) == (&member.identity, member.capacity_bytes))
            .then(|| std::fs::canonicalize(path).ok())
            .flatten()
    };
    is_it(&member.path).or_else(|| {
        let all = list().unwrap_or_default();
        all.iter()
            .filter(|one| one.identity.as_ref() == Some(&member.identity))
            .find_map(|one| is_it(&one.path))
    })
}

/// Verifies that no array metadata is left on a member.
fn check_clear(member: &NotedMember, node: &Path) -> Result<(), DriveError> {
    let drive = Inspected::open(&node.display().to_string(), &OpenOptions::default(), Roots::default())?;
    let is_left = |refusal: &Refusal| match refusal {
        Refusal::Signature(signature) => signature.is_linux_raid(),
        Refusal::Held { .. } => true,
        _ => false,
    };
    match drive.refusals().into_iter().find(is_left) {
        None => Ok(()),
        Some(refusal) => {
            let (path, identity) = (member.path.clone(), member.identity.clone());
            Err(ArrayError::NotClear { path, identity, refusal: Box::new(refusal) }.into())
        }
    }
}

#[cfg(test)]
mod tests;
