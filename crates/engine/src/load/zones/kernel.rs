//! The kernel's commands for zones (linux/blkzoned.h).

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use zones::{NotZoned, Zone, ZoneReport};

/// Bytes of a sector, the unit of these interfaces.
const SECTOR_BYTES: u64 = 512;
/// Zones per call.
const BATCH: usize = 4096;
/// More zones than this are a mistake.
const MOST_ZONES: u32 = 1 << 24;

/// `struct blk_zone`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct BlkZone {
    start: u64,
    length: u64,
    pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    reserved_at_end: [u8; 24],
}

const _: () = assert!(size_of::<BlkZone>() == 64);

/// `struct blk_zone_report`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Header {
    sector: u64,
    zones: u32,
    flags: u32,
}

const _: () = assert!(size_of::<Header>() == 16);

/// `struct blk_zone_range`.
#[repr(C)]
struct ZoneRange {
    sector: u64,
    sectors: u64,
}

const BLK: u32 = 0x12;
/// `BLKREPORTZONE`.
const REPORT: libc::Ioctl = libc::_IOWR::<Header>(BLK, 130);
/// `BLKRESETZONE`.
const RESET: libc::Ioctl = libc::_IOW::<ZoneRange>(BLK, 131);
/// `BLKGETZONESZ`.
const ZONE_SECTORS: libc::Ioctl = libc::_IOR::<u32>(BLK, 132);
/// `BLKGETNRZONES`.
const COUNT: libc::Ioctl = libc::_IOR::<u32>(BLK, 133);
/// `BLKFINISHZONE`.
const FINISH: libc::Ioctl = libc::_IOW::<ZoneRange>(BLK, 136);

/// `BLK_ZONE_REP_CAPACITY`: the capacities are valid. Older kernels know no capacity other than the length.
const HAS_CAPACITY: u32 = 1;
/// `BLK_ZONE_TYPE_CONVENTIONAL`.
const CONVENTIONAL: u8 = 1;
/// `BLK_ZONE_COND_IMP_OPEN`, `BLK_ZONE_COND_EXP_OPEN` and `BLK_ZONE_COND_CLOSED`.
const OPEN: [u8; 2] = [2, 3];
const CLOSED: u8 = 4;
/// `BLK_ZONE_COND_READONLY`, `BLK_ZONE_COND_FULL` and `BLK_ZONE_COND_OFFLINE`.
const READ_ONLY: u8 = 0xd;
const FULL: u8 = 0xe;
const OFFLINE: u8 = 0xf;

/// Commands that change a zone.
pub(crate) trait ZoneCommands {
    /// Makes a zone empty, which destroys its data.
    ///
    /// # Errors
    /// Returns the kernel's error.
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> io::Result<()>;
    /// Makes a zone full without writing the rest of it.
    ///
    /// # Errors
    /// Returns the kernel's error.
    fn finish(&self, start_bytes: u64, length_bytes: u64) -> io::Result<()>;
}

/// A zoned block device.
#[derive(Debug)]
pub(crate) struct Kernel<'a>(pub(crate) BorrowedFd<'a>);

impl ZoneCommands for Kernel<'_> {
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> io::Result<()> {
        reset(self.0, start_bytes, length_bytes)
    }

    fn finish(&self, start_bytes: u64, length_bytes: u64) -> io::Result<()> {
        command(self.0, FINISH, start_bytes, length_bytes)
    }
}

/// Resets one zone.
///
/// # Errors
/// Returns the kernel's error.
pub(crate) fn reset(file: BorrowedFd<'_>, start_bytes: u64, length_bytes: u64) -> io::Result<()> {
    command(file, RESET, start_bytes, length_bytes)
}

fn command(
    file: BorrowedFd<'_>,
    command: libc::Ioctl,
    start_bytes: u64,
    length_bytes: u64,
) -> io::Result<()> {
    let range = ZoneRange { sector: start_bytes / SECTOR_BYTES, sectors: length_bytes / SECTOR_BYTES };
    // SAFETY: both commands read one `struct blk_zone_range` from the pointer, which is valid for it during the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), command, &raw const range) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn number(file: BorrowedFd<'_>, command: libc::Ioctl) -> io::Result<u32> {
    let mut number = 0u32;
    // SAFETY: both commands write one u32 to the pointer, which is valid for it during the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), command, &raw mut number) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(number) }
}

/// Asks the kernel for the zones of a device. Changes nothing.
///
/// # Errors
/// Why the target has no zones, or why they are not known.
pub(crate) fn report(file: BorrowedFd<'_>) -> Result<ZoneReport, NotZoned> {
    let stat = rustix::fs::fstat(file).map_err(|errno| NotZoned::Unknown(errno.into()))?;
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_block_device() {
        return Err(NotZoned::NotADevice);
    }
    // The kernel knows no zones of this device, or no zones at all.
    let sectors = number(file, ZONE_SECTORS).unwrap_or(0);
    if sectors == 0 {
        return Err(NotZoned::NoZones);
    }
    let count = number(file, COUNT).map_err(NotZoned::Unknown)?;
    let count = if count > MOST_ZONES { return Err(NotZoned::Contradictory) } else { count as usize };
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let start = found.last().map_or(0, |zone: &BlkZone| zone.start.saturating_add(zone.length));
        let before = found.len();
        batch(file, start, &mut found).map_err(NotZoned::Unknown)?;
        if found.len() == before || found.len() > count {
            return Err(NotZoned::Contradictory);
        }
    }
    let zones = zones(&found, sectors.into()).ok_or(NotZoned::Contradictory)?;
    let device = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    Ok(ZoneReport { zone_bytes: u64::from(sectors) * SECTOR_BYTES, most_open: most_open(device), zones })
}

/// Adds the zones from this sector on, as many as one call returns.
fn batch(file: BorrowedFd<'_>, sector: u64, found: &mut Vec<BlkZone>) -> io::Result<()> {
    #[repr(C)]
    struct Room {
        header: Header,
        zones: [BlkZone; BATCH],
    }
    let mut room = Box::new(Room {
        header: Header { sector, zones: BATCH as u32, flags: 0 },
        zones: [BlkZone::default(); BATCH],
    });
    // SAFETY: BLKREPORTZONE reads and writes one `struct blk_zone_report` and writes at most `zones` zones after it, for
    // which there is room.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), REPORT, &raw mut *room) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    let has_capacity = room.header.flags & HAS_CAPACITY != 0;
    found.extend(room.zones.iter().take(room.header.zones as usize).map(|zone| {
        let capacity = if has_capacity { zone.capacity } else { zone.length };
        BlkZone { capacity, ..*zone }
    }));
    Ok(())
}

/// Converts the kernel's zones; `None` if they contradict each other.
fn zones(found: &[BlkZone], zone_sectors: u64) -> Option<Vec<Zone>> {
    let last = found.len().checked_sub(1)?;
    let zone = |(index, zone): (usize, &BlkZone)| {
        let BlkZone { start, length, pointer, kind, condition, capacity, .. } = *zone;
        let is_sequential = kind != CONVENTIONAL;
        let is_of_size =
            if index == last { (1..=zone_sectors).contains(&length) } else { length == zone_sectors };
        let end = start.checked_add(capacity)?;
        // The write pointer of a full zone is not valid, nor is that of a zone that cannot be written.
        let pointer = match condition {
            _ if !is_sequential => start,
            FULL => end,
            READ_ONLY | OFFLINE => start,
            _ => pointer,
        };
        let is_sound = start == (index as u64).checked_mul(zone_sectors)?
            && is_of_size
            && (1..=length).contains(&capacity)
            && (start..=end).contains(&pointer);
        let is_writable = !matches!(condition, READ_ONLY | OFFLINE);
        is_sound.then(|| Zone {
            start_bytes: start * SECTOR_BYTES,
            length_bytes: length * SECTOR_BYTES,
            capacity_bytes: capacity * SECTOR_BYTES,
            pointer_bytes: pointer * SECTOR_BYTES,
            is_sequential,
            is_writable,
            is_readable: condition != OFFLINE,
            is_open: OPEN.contains(&condition) || condition == CLOSED,
        })
    };
    // Beyond this, offsets in bytes do not fit.
    let is_countable = found[last].start.checked_add(zone_sectors)? <= u64::MAX / SECTOR_BYTES;
    if !is_countable {
        return None;
    }
    found.iter().enumerate().map(zone).collect()
}

/// Returns the number of zones that may be open or active at a time; 0 if there is no limit or the kernel does not say.
fn most_open((major, minor): (u32, u32)) -> u32 {
    let limit = |name: &str| {
        let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/queue/{name}")).ok()?;
        text.trim().parse::<u32>().ok().filter(|limit| *limit > 0)
    };
    let limits = [limit("max_open_zones"), limit("max_active_zones")];
    limits.into_iter().flatten().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    const SECTORS: u64 = 8192;

    fn found(count: u64) -> Vec<BlkZone> {
        let zone = |index| BlkZone {
            start: index * SECTORS,
            length: SECTORS,
            pointer: index * SECTORS + 8,
            kind: 2,
            condition: OPEN[0],
            capacity: SECTORS - 1024,
            ..BlkZone::default()
        };
        (0..count).map(zone).collect()
    }

    #[test]
    fn commands_have_the_numbers_of_the_kernel() {
        let numbers = [REPORT, RESET, ZONE_SECTORS, COUNT, FINISH].map(|number| number as u32);
        assert_eq!(numbers, [0xc010_1282, 0x4010_1283, 0x8004_1284, 0x8004_1285, 0x4010_1288]);
    }

    #[test]
    fn conditions_decide_about_the_write_pointer() {
        let mut all = found(5);
        all[1] = BlkZone { condition: FULL, pointer: u64::MAX, ..all[1] };
        all[2] = BlkZone { condition: OFFLINE, pointer: u64::MAX, ..all[2] };
        all[3] = BlkZone { kind: CONVENTIONAL, condition: 0, pointer: u64::MAX, ..all[3] };
        all[4] = BlkZone { length: 2048, capacity: 2048, ..all[4] };
        let zones = zones(&all, SECTORS).expect("sound zones");
        let from_start: Vec<u64> = zones.iter().map(|zone| zone.pointer_bytes - zone.start_bytes).collect();
        assert_eq!(from_start, [8 * 512, (SECTORS - 1024) * 512, 0, 0, 8 * 512]);
        let flags: Vec<_> =
            zones.iter().map(|zone| (zone.is_writable, zone.is_sequential, zone.is_open)).collect();
        let (written, conventional) = ((true, true, true), (true, false, false));
        assert_eq!(flags, [written, (true, true, false), (false, true, false), conventional, written]);
        assert_eq!(zones[4].length_bytes, 2048 * 512);
    }

    #[test]
    fn contradictory_zones_are_refused() {
        assert_eq!(zones(&[], SECTORS), None);
        let changed = |change: fn(&mut Vec<BlkZone>)| {
            let mut all = found(4);
            change(&mut all);
            zones(&all, SECTORS)
        };
        assert!(changed(|_| ()).is_some());
        assert_eq!(changed(|all| all[1].start += 1), None);
        assert_eq!(changed(|all| all[1].length -= 1), None);
        assert_eq!(changed(|all| all[1].capacity = SECTORS + 1), None);
        assert_eq!(changed(|all| all[1].capacity = 0), None);
        assert_eq!(changed(|all| all[1].pointer = 0), None);
        assert_eq!(changed(|all| all[3].length = 0), None);
        assert_eq!(zones(&[BlkZone { start: u64::MAX, ..found(1)[0] }], SECTORS), None);
    }

    #[test]
    fn files_have_no_zones() {
        let file = tempfile::tempfile().expect("a file");
        assert!(matches!(report(file.as_fd()), Err(NotZoned::NotADevice)));
    }
}
