//! Parses options about NVMe commands.

use record::{WriteMode, WriteModeShare};

use crate::Job;
use crate::values::{number, percent_of, shares};

const MODES: [WriteMode; 4] =
    [WriteMode::Write, WriteMode::Zeroes, WriteMode::Uncorrectable, WriteMode::Verify];
/// Largest number of placement handles, as in fio.
const MOST_HANDLES: usize = 128;

pub fn write_mode(job: &mut Job, text: &str) -> Result<(), String> {
    let mode = |name: &str| {
        let known = MODES.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| "only write, zeroes, uncor and verify are supported".to_owned())
    };
    if !text.contains(':') {
        job.commands.nvme.write_modes = vec![WriteModeShare { mode: mode(text)?, share_percent: 100 }];
        return Ok(());
    }
    let (mut modes, mut given) = (Vec::new(), Vec::new());
    for entry in text.split(':') {
        let (name, share) = entry.split_once('/').ok_or("each entry has the form MODE/PERCENT")?;
        modes.push(mode(name)?);
        given.push(if share.is_empty() { None } else { Some(percent_of(share)?) });
    }
    let rows = modes.into_iter().zip(shares(&given)?);
    job.commands.nvme.write_modes =
        rows.map(|(mode, share_percent)| WriteModeShare { mode, share_percent }).collect();
    Ok(())
}

pub fn data_placement(job: &mut Job, text: &str) -> Result<(), String> {
    job.commands.nvme.places_data = match text {
        "none" => false,
        "fdp" => true,
        _ => return Err("only none and fdp are supported".into()),
    };
    Ok(())
}

pub fn placement_order(job: &mut Job, text: &str) -> Result<(), String> {
    job.commands.nvme.placement.random = match text {
        "roundrobin" => false,
        "random" => true,
        _ => return Err("only roundrobin and random are supported".into()),
    };
    Ok(())
}

/// Parses indices such as `1,2-4`.
pub fn placement_handles(job: &mut Job, text: &str) -> Result<(), String> {
    let index = |text: &str| number::<u16>(text, 0, u16::MAX.into());
    let mut handles = Vec::new();
    for part in text.split(',') {
        if part.is_empty() {
            return Err("missing index".into());
        }
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (index(first)?, index(last)?);
        if first > last {
            return Err("ranges ascend".into());
        }
        handles.extend((first..=last).take(MOST_HANDLES + 1));
    }
    if handles.len() > MOST_HANDLES {
        return Err(format!("at most {MOST_HANDLES} indices are supported"));
    }
    job.commands.nvme.placement.handles = handles;
    Ok(())
}
