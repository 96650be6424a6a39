//! The members of an array that does not exist yet: block devices of this host, or drives that only a RAID
//! controller can access.

use admin::purge::PurgeOptions;
use engine::Flow;
use record::{ArrayFacts, MemberFacts, Purged, TargetFacts, TargetKind};

use super::controller::ArrayController;
use super::hardware::{Hardware, Program};
use super::mdadm::Mdadm;
use super::outside::{Host, Outside};
use super::spec::Spec;
use super::storcli::{StorCli, refusal_of};
use crate::error::DriveError;
use crate::error::array::ArrayError;
use crate::error::target::TargetError;
use crate::exclusive::Exclusive;
use crate::inspected::Inspected;
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use crate::target::Held;
use crate::target::block::Block;
use sysfs::Roots;

/// Members that were inspected but not opened for writing.
#[derive(Debug)]
pub(super) enum Members {
    Drives(Vec<Inspected>),
    OnController(Hardware),
}

/// Writable members.
pub(super) enum Ready {
    Drives(Vec<Exclusive>),
    /// Drives on a RAID controller; each drive is verified right before it is used.
    OnController,
}

/// Returns the controller for the array in the description.
pub(super) fn controller_of(hardware: Option<&Hardware>) -> Box<dyn ArrayController> {
    match hardware {
        None => Box::new(Mdadm { outside: Host }),
        Some(hardware) => Box::new(StorCli::new(Host, hardware.program, hardware.adapter)),
    }
}

impl Members {
    /// Inspects each member.
    pub(super) fn look(target: &str, spec: &Spec) -> Result<(Self, TargetFacts), DriveError> {
        if let Some(hardware) = &spec.hardware {
            let facts = look_on_controller(Host, target, spec, hardware)?;
            return Ok((Self::OnController(hardware.clone()), facts));
        }
        let mut members: Vec<Inspected> = Vec::new();
        for path in &spec.members {
            let member = inspected(path)?;
            let block = member
                .block()
                .ok_or_else(|| DriveError::target(target, TargetError::MemberNotBlock(path.clone())))?;
            if let Some(twin) =
                members.iter().find(|other| other.block().is_some_and(|other| other.is_same_device(block)))
            {
                let (path, twin) = (path.clone(), twin.facts.path.clone());
                return Err(DriveError::target(target, TargetError::SameMember { path, twin }));
            }
            members.push(member);
        }
        let facts = facts_of_drives(target, spec, &members);
        Ok((Self::Drives(members), facts))
    }

    /// Returns all current reasons not to write to a member.
    pub(super) fn refusals(&self, spec: &Spec) -> Vec<Refusal> {
        match self {
            Self::Drives(drives) => drives.iter().flat_map(refusals_of).collect(),
            Self::OnController(hardware) => raid_refusals(Host, spec, hardware),
        }
    }

    /// Opens the members for writing.
    pub(super) fn arm(self) -> Result<Ready, DriveError> {
        let Self::Drives(drives) = self else { return Ok(Ready::OnController) };
        let arm = |drive: Inspected| {
            let identity = drive.facts.identity.clone();
            drive.arm(Some(&identity))
        };
        Ok(Ready::Drives(drives.into_iter().map(arm).collect::<Result<_, _>>()?))
    }
}

impl Ready {
    /// Inspects each member again and arms it if it is still the same drive.
    pub(super) fn again(spec: &Spec, members: &[MemberFacts]) -> Result<Self, DriveError> {
        if spec.hardware.is_some() {
            return Ok(Self::OnController);
        }
        let again = |member: &MemberFacts| {
            let drive = inspected(&member.path)?;
            let facts = &drive.facts;
            if (&facts.identity, facts.capacity_bytes) != (&member.identity, member.capacity_bytes) {
                let was = (member.identity.clone(), member.capacity_bytes);
                let is = (facts.identity.clone(), facts.capacity_bytes);
                return Err(ArrayError::MemberChanged { path: member.path.clone(), was, is }.into());
            }
            drive.arm(Some(&member.identity))
        };
        Ok(Self::Drives(members.iter().map(again).collect::<Result<_, _>>()?))
    }

    /// Returns the members in the form that the array controller uses: nodes with links resolved, or addresses.
    pub(super) fn places(&self, spec: &Spec) -> Result<Vec<std::path::PathBuf>, DriveError> {
        let Self::Drives(armed) = self else { return Ok(spec.members.iter().map(Into::into).collect()) };
        let node = |member: &Exclusive| {
            let (block, held) = held_block(member)?;
            block.recheck(held, false)?;
            Ok(block.node().to_owned())
        };
        armed.iter().map(node).collect()
    }
}

/// Purges block devices concurrently.
pub(super) fn purge_at_once(
    armed: &mut [Exclusive],
    members: &[MemberFacts],
    options: &PurgeOptions,
) -> Result<Vec<Purged>, DriveError> {
    let purged: Vec<Result<Purged, DriveError>> = std::thread::scope(|scope| {
        let purges: Vec<_> = armed
            .iter_mut()
            .map(|member| scope.spawn(move || member.inner.purge(options, &mut |_| Flow::Continue)))
            .collect();
        purges.into_iter().map(|purge| purge.join().expect("a purge does not panic")).collect()
    });
    let of_member = |(member, purged): (&MemberFacts, Result<Purged, DriveError>)| {
        purged.map_err(|error| DriveError::Member { path: member.path.clone(), error: Box::new(error) })
    };
    members.iter().zip(purged).map(of_member).collect()
}

fn refusals_of(member: &Inspected) -> Vec<Refusal> {
    let path = member.facts.path.clone();
    let of_member = move |refusal| Refusal::Member { path: path.clone(), refusal: Box::new(refusal) };
    member.refusals().into_iter().map(of_member).collect()
}

fn inspected(path: &str) -> Result<Inspected, DriveError> {
    Inspected::open(path, &OpenOptions::default(), Roots::default())
}

fn held_block(armed: &Exclusive) -> Result<(&Block, &Held), ArrayError> {
    let block = armed.inner.block().map(|(block, held, _)| (block, held));
    block.ok_or_else(|| ArrayError::NotBlock(armed.facts.path.clone()))
}

/// Queries the controller for the drives in the description.
pub(super) fn look_on_controller<O: Outside>(
    outside: O,
    target: &str,
    spec: &Spec,
    hardware: &Hardware,
) -> Result<TargetFacts, DriveError> {
    let mut controller = StorCli::new(outside, hardware.program, hardware.adapter);
    let (adapter, _) = controller.adapter()?;
    let mut members = Vec::new();
    let (mut logical, mut physical, mut turning) = (512, 512, Some(false));
    for (address, serial) in spec.members.iter().zip(&hardware.serials) {
        let drive = controller.drive(address, serial)?;
        if !members.is_empty() && logical != drive.logical_block_bytes {
            let (address, bytes) = (address.clone(), drive.logical_block_bytes);
            let problem = TargetError::DifferentSectors { address, bytes, before_bytes: logical };
            return Err(DriveError::target(target, problem));
        }
        logical = drive.logical_block_bytes;
        physical = drive.physical_block_bytes.max(physical);
        turning = turning.zip(drive.rotational).map(|(any, one)| any || one);
        members.push(MemberFacts {
            path: address.clone(),
            identity: serial.clone(),
            vendor: drive.vendor,
            model: drive.model,
            serial: drive.serial,
            firmware: drive.firmware,
            interface: drive.interface,
            capacity_bytes: drive.capacity_bytes,
        });
    }
    let program = match hardware.program {
        Program::StorCli => "storcli",
        Program::PercCli => "perccli",
    };
    let array = array_facts(program, spec, members);
    let facts = facts_of(target, spec, array, "hardware RAID", (logical, physical, turning));
    Ok(TargetFacts { vendor: adapter.product, firmware: adapter.firmware, ..facts })
}

/// Returns all reasons not to use drives on a controller.
pub(super) fn raid_refusals<O: Outside>(outside: O, spec: &Spec, hardware: &Hardware) -> Vec<Refusal> {
    let mut controller = StorCli::new(outside, hardware.program, hardware.adapter);
    let mut found = Vec::new();
    for (address, serial) in spec.members.iter().zip(&hardware.serials) {
        let refusal = match controller.drive(address, serial) {
            Ok(drive) => refusal_of(&drive),
            Err(error) => Some(Refusal::Unknown { what: error.to_string() }),
        };
        let of_member = |refusal| Refusal::Member { path: address.clone(), refusal: Box::new(refusal) };
        found.extend(refusal.map(of_member));
    }
    found
}

fn facts_of_drives(target: &str, spec: &Spec, members: &[Inspected]) -> TargetFacts {
    let of = |drive: &Inspected| {
        let facts = drive.facts.clone();
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
    let largest = |of: fn(&TargetFacts) -> u32| members.iter().map(|member| of(&member.facts)).max();
    let logical = largest(|facts| facts.logical_block_bytes).unwrap_or(512);
    let physical = largest(|facts| facts.physical_block_bytes).unwrap_or(512);
    let turning: Option<Vec<bool>> = members.iter().map(|member| member.facts.rotational).collect();
    let turning = turning.map(|all| all.contains(&true));
    let array = array_facts("mdadm", spec, members.iter().map(of).collect());
    let facts = facts_of(target, spec, array, "md", (logical, physical, turning));
    TargetFacts { vendor: Some("Linux".into()), ..facts }
}

fn array_facts(controller: &str, spec: &Spec, members: Vec<MemberFacts>) -> ArrayFacts {
    ArrayFacts {
        controller: controller.into(),
        level: spec.level,
        chunk_bytes: spec.chunk_kib.map(|kib| u64::from(kib) * 1024),
        bitmap: spec.bitmap,
        policies: spec.hardware.as_ref().map(Hardware::words),
        members,
    }
}

fn facts_of(
    target: &str,
    spec: &Spec,
    array: ArrayFacts,
    interface: &str,
    (logical, physical, rotational): (u32, u32, Option<bool>),
) -> TargetFacts {
    let identities: Vec<&str> = array.members.iter().map(|member| member.identity.as_str()).collect();
    let sizes: Vec<u64> = array.members.iter().map(|member| member.capacity_bytes).collect();
    TargetFacts {
        kind: TargetKind::Block,
        path: target.to_owned(),
        identity: identities.join("+"),
        attachment: None,
        vendor: None,
        model: Some(array.words()),
        serial: None,
        firmware: None,
        interface: Some(interface.into()),
        nand: None,
        capacity_bytes: spec.capacity_bytes(&sizes),
        logical_block_bytes: logical,
        physical_block_bytes: physical,
        rotational,
        simulated: None,
        array: Some(array),
    }
}
