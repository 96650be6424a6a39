//! NVMe commands other than plain reads and writes: commands that take the place of writes, and writes with a placement
//! handle.

use std::io;

use record::{Commands, PathRemark, Workload, WriteMode};
use stdx::Rng;
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::BigEntry;
use super::operation::Operation;
use super::passthrough::{Command, CommandDevice, Namespace, command, without_data};
use super::placement_ids::placement_ids;
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// NVM Command Set 1.0c, figure 21.
const WRITE_UNCORRECTABLE: u8 = 0x04;
const WRITE_ZEROES: u8 = 0x08;
const VERIFY: u8 = 0x0c;
/// Directive type of data placement (Base 2.1, figure 684).
const DATA_PLACEMENT: u32 = 0x2;
/// Distinguishes the random numbers of commands from those of offsets and data.
const STREAM: u64 = 1 << 41;

/// Which command each write becomes.
#[derive(Debug, Clone)]
pub(crate) struct Varied {
    pub(crate) namespace: Namespace,
    pub(crate) commands: Commands,
    /// The placement identifiers to use; empty for no placement.
    pub(crate) placement_ids: Vec<u16>,
    pub(crate) seed: u64,
}

impl Varied {
    /// Returns what the writes of a workload become.
    pub(crate) fn of(
        device: CommandDevice<'_>,
        commands: &Commands,
        workload: &Workload,
    ) -> io::Result<Self> {
        let placement_ids = match &commands.data_placement {
            Some(placement) => placement_ids(device.fd, &device.namespace, &placement.handles),
            None => Ok(Vec::new()),
        };
        let placement_ids = placement_ids.map_err(io::Error::other)?;
        Ok(Self {
            namespace: device.namespace,
            commands: commands.clone(),
            placement_ids,
            seed: workload.seed,
        })
    }
}

/// Chooses the command of each write.
struct Choice {
    varied: Varied,
    rng: Rng,
    next_id: usize,
}

impl Choice {
    /// Returns the command and the placement identifier of the next write.
    fn next(&mut self) -> (WriteMode, Option<u16>) {
        let Self { varied: Varied { commands, placement_ids, .. }, rng, next_id } = self;
        let mode = match &commands.write_modes[..] {
            [] => WriteMode::Write,
            modes => {
                let drawn = rng.below(100);
                let mut below = 0;
                let chosen = modes.iter().find(|share| {
                    below += u64::from(share.share_percent);
                    drawn < below
                });
                chosen.map_or(WriteMode::Write, |share| share.mode)
            }
        };
        if placement_ids.is_empty() {
            return (mode, None);
        }
        let is_random = commands.data_placement.as_ref().is_some_and(|placement| placement.random);
        let place = if is_random {
            rng.below(placement_ids.len() as u64) as usize
        } else {
            let place = *next_id;
            *next_id = (place + 1) % placement_ids.len();
            place
        };
        (mode, Some(placement_ids[place]))
    }
}

/// Reads and writes a namespace with such commands.
pub(crate) struct VariedCommand {
    command: Command,
    choice: Choice,
    /// By slot.
    chosen: Box<[(WriteMode, Option<u16>)]>,
}

impl Operation for VariedCommand {
    type Submission = BigEntry;
    type Target = Varied;
    const REACHES_TARGET: bool = true;
    const NEEDS_A_TRIAL: bool = true;
    const MAY_BE_MERGED: bool = false;

    fn new(
        ring: &Ring<BigEntry>,
        shape: &Shape,
        buffers: &Buffers,
        varied: Varied,
    ) -> io::Result<(Self, Vec<PathRemark>)> {
        let (command, remarks) = Command::new(ring, shape, buffers, varied.namespace)?;
        let chosen = vec![(WriteMode::Write, None); shape.slots().into()].into();
        let rng = Rng::from_seed_and_stream(varied.seed, STREAM + u64::from(shape.thread));
        Ok((Self { command, choice: Choice { varied, rng, next_id: 0 }, chosen }, remarks))
    }

    fn prepare(&mut self, slot: Slot, access: Access) {
        if !access.read {
            self.chosen[usize::from(slot)] = self.choice.next();
        }
    }

    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> BigEntry {
        let plain = self.command.entry(slot, buffer, access);
        if access.read {
            return plain;
        }
        let (mode, placement_id) = self.chosen[usize::from(slot)];
        let bytes = varied(&self.choice.varied.namespace, buffer as u64, access, mode, placement_id);
        match mode {
            WriteMode::Write => BigEntry { command: bytes, ..plain },
            // Without data, there is no buffer.
            _ => without_data(slot, bytes),
        }
    }

    fn sync_entry(&self, slot: Slot, sync: Sync) -> BigEntry {
        self.command.sync_entry(slot, sync)
    }

    fn result(result: i32, length_bytes: u32) -> i32 {
        Command::result(result, length_bytes)
    }
}

/// Returns the command that takes the place of a write, as a `struct nvme_uring_cmd`.
fn varied(
    namespace: &Namespace,
    address: u64,
    access: Access,
    mode: WriteMode,
    placement_id: Option<u16>,
) -> [u8; 80] {
    let mut bytes = command(namespace, address, access);
    let opcode = match mode {
        WriteMode::Write => None,
        WriteMode::Zeroes => Some(WRITE_ZEROES),
        WriteMode::Uncorrectable => Some(WRITE_UNCORRECTABLE),
        WriteMode::Verify => Some(VERIFY),
    };
    if let Some(opcode) = opcode {
        bytes[0] = opcode;
        // Neither address nor length of data.
        bytes[24..32].fill(0);
        bytes[36..40].fill(0);
    }
    // Verify writes nothing, and has no such fields.
    if let Some(id) = placement_id.filter(|_| mode != WriteMode::Verify) {
        let blocks = u32::from_ne_bytes([bytes[48], bytes[49], bytes[50], bytes[51]]);
        bytes[48..52].copy_from_slice(&(blocks | DATA_PLACEMENT << 20).to_ne_bytes());
        bytes[52..56].copy_from_slice(&(u32::from(id) << 16).to_ne_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use record::{DataPlacement, WriteModeShare};

    use super::*;

    const NAMESPACE: Namespace =
        Namespace { number: 3, block_shift: 12, writable: true, optional_commands: u16::MAX };
    const ACCESS: Access = Access { read: false, block_bytes: 32 << 10, offset_bytes: 0x1_2345_6789 << 12 };

    /// Returns a command with these fields: opcode, data, and command dwords 10 to 13.
    fn expected(opcode: u8, data: Option<(u64, u32)>, dwords: [u32; 4]) -> [u8; 80] {
        let mut bytes = [0; 80];
        bytes[0] = opcode;
        bytes[4] = 3;
        if let Some((address, length)) = data {
            bytes[24..32].copy_from_slice(&address.to_ne_bytes());
            bytes[36..40].copy_from_slice(&length.to_ne_bytes());
        }
        for (place, dword) in bytes[40..56].chunks_exact_mut(4).zip(dwords) {
            place.copy_from_slice(&dword.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn commands_in_place_of_writes_have_no_data() {
        for (mode, opcode) in
            [(WriteMode::Uncorrectable, 0x04), (WriteMode::Zeroes, 0x08), (WriteMode::Verify, 0x0c)]
        {
            let bytes = varied(&NAMESPACE, 0x1000, ACCESS, mode, None);
            assert_eq!(bytes, expected(opcode, None, [0x2345_6789, 1, 7, 0]), "{mode:?}");
        }
        let write = varied(&NAMESPACE, 0x1000, ACCESS, WriteMode::Write, None);
        assert_eq!(write, expected(0x01, Some((0x1000, 32 << 10)), [0x2345_6789, 1, 7, 0]));
    }

    #[test]
    fn a_placement_handle_is_a_directive() {
        let write = varied(&NAMESPACE, 0x1000, ACCESS, WriteMode::Write, Some(0x0105));
        let dwords = [0x2345_6789, 1, 0x0020_0007, 0x0105_0000];
        assert_eq!(write, expected(0x01, Some((0x1000, 32 << 10)), dwords));
        let zeroes = varied(&NAMESPACE, 0x1000, ACCESS, WriteMode::Zeroes, Some(0x0105));
        assert_eq!(zeroes, expected(0x08, None, dwords));
        let verify = varied(&NAMESPACE, 0x1000, ACCESS, WriteMode::Verify, Some(0x0105));
        assert_eq!(verify, expected(0x0c, None, [0x2345_6789, 1, 7, 0]));
    }

    fn choice(commands: Commands, placement_ids: Vec<u16>) -> Choice {
        let varied = Varied { namespace: NAMESPACE, commands, placement_ids, seed: 7 };
        Choice { varied, rng: Rng::from_seed(7), next_id: 0 }
    }

    #[test]
    fn commands_are_drawn_by_share() {
        let share = |mode, share_percent| WriteModeShare { mode, share_percent };
        let shares = [
            (WriteMode::Write, 40),
            (WriteMode::Zeroes, 30),
            (WriteMode::Uncorrectable, 20),
            (WriteMode::Verify, 10),
        ];
        let write_modes = shares.map(|(mode, percent)| share(mode, percent)).to_vec();
        let mut choice = choice(Commands { write_modes, ..Commands::default() }, Vec::new());
        let drawn: Vec<WriteMode> = (0..10_000).map(|_| choice.next().0).collect();
        for (mode, percent) in shares {
            let count = drawn.iter().filter(|other| **other == mode).count();
            assert!(count.abs_diff(usize::from(percent) * 100) < 300, "{mode:?}: {count}");
        }
    }

    #[test]
    fn placement_handles_take_turns_or_are_drawn() {
        let placement = |random| Commands {
            data_placement: Some(DataPlacement { handles: Vec::new(), random }),
            ..Commands::default()
        };
        let ids = |choice: &mut Choice, count: usize| -> Vec<Option<u16>> {
            (0..count).map(|_| choice.next().1).collect()
        };
        let turns = ids(&mut choice(placement(false), vec![4, 9, 5]), 4);
        assert_eq!(turns, [Some(4), Some(9), Some(5), Some(4)]);
        let drawn = ids(&mut choice(placement(true), vec![4, 9]), 1000);
        let fours = drawn.iter().filter(|id| **id == Some(4)).count();
        assert!((400..600).contains(&fours), "{fours}");
    }
}
