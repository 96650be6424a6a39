//! Whether a target supports the NVMe commands of a workload.

use record::{Commands, Workload, WriteMode};

use super::target::Target;
use crate::error::EngineError;
use crate::queue::no_command::NoCommand;
use crate::queue::passthrough::{Namespace, Optional};
use crate::queue::placement_ids::placement_ids;

/// Most blocks of one command: its field has 16 bits and counts from 0.
const MOST_BLOCKS: u64 = 1 << 16;

/// Checks that a target supports the NVMe commands of a workload, if it has any. Changes nothing.
pub(crate) fn check_nvme(target: &Target<'_>, workload: &Workload) -> Result<(), EngineError> {
    let commands = workload.commands.as_deref().filter(|commands| commands.needs_nvme());
    let Some(commands) = commands else { return Ok(()) };
    let supported = || -> Result<(), NoCommand> {
        let device = target.commands.ok_or(NoCommand::NotRequested)?;
        let device = device.map_err(|why| NoCommand::NoDevice(why.to_owned()))?;
        check_commands(&device.namespace, commands, workload.block_bytes)?;
        if let Some(placement) = &commands.data_placement {
            placement_ids(device.fd, &device.namespace, &placement.handles)?;
        }
        Ok(())
    };
    supported().map_err(|why| EngineError::NoCommands { target: target.name.to_owned(), why })
}

fn check_commands(namespace: &Namespace, commands: &Commands, block_bytes: u32) -> Result<(), NoCommand> {
    let of_mode = |mode: WriteMode| match mode {
        WriteMode::Write => None,
        WriteMode::Zeroes => Some(Optional::ZEROES),
        WriteMode::Uncorrectable => Some(Optional::UNCORRECTABLE),
        WriteMode::Verify => Some(Optional::VERIFY),
    };
    let modes = commands.write_modes.iter().filter_map(|share| of_mode(share.mode));
    let mut needed = modes.chain((commands.trim_ranges > 0).then_some(Optional::DATASET));
    if let Some(missing) = needed.find(|needed| namespace.optional_commands & needed.0 == 0) {
        return Err(NoCommand::Missing(missing.1));
    }
    let most_bytes = MOST_BLOCKS << namespace.block_shift;
    // The length of a range has 32 bits.
    let is_too_large = commands.trim_ranges == 0 && u64::from(block_bytes) > most_bytes;
    if is_too_large { Err(NoCommand::TooLarge { most_bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use record::WriteModeShare;

    use super::*;

    #[test]
    fn commands_that_the_controller_lacks_are_named() {
        let with =
            |optional_commands| Namespace { number: 1, block_shift: 9, writable: true, optional_commands };
        let mode = |mode| Commands {
            write_modes: vec![WriteModeShare { mode, share_percent: 100 }],
            ..Commands::default()
        };
        let trims = Commands { trim_ranges: 8, ..Commands::default() };
        for (commands, bit, name) in [
            (mode(WriteMode::Uncorrectable), 1 << 1, "Write Uncorrectable"),
            (trims, 1 << 2, "Dataset Management"),
            (mode(WriteMode::Zeroes), 1 << 3, "Write Zeroes"),
            (mode(WriteMode::Verify), 1 << 7, "Verify"),
        ] {
            assert!(check_commands(&with(bit), &commands, 4096).is_ok(), "{name}");
            let missing = check_commands(&with(!bit), &commands, 4096);
            assert!(matches!(missing, Err(NoCommand::Missing(found)) if found == name), "{missing:?}");
        }
        let write = mode(WriteMode::Write);
        assert!(check_commands(&with(0), &write, 32 << 20).is_ok());
        let large = check_commands(&with(0), &write, 33 << 20);
        assert!(matches!(large, Err(NoCommand::TooLarge { most_bytes: 33_554_432 })), "{large:?}");
    }
}
