//! ATA structures and their SCSI encapsulation. Table numbers refer to ATA/ATAPI Command Set 3 (ACS-3) and
//! SCSI/ATA Translation 3 (SAT-3).

use std::time::Duration;

use super::{Page, hexadecimal, text};

/// Size of a data block, such as IDENTIFY DEVICE data.
pub(crate) const BLOCK_BYTES: usize = 512;

const MINUTE: Duration = Duration::from_secs(60);

/// IDENTIFY DEVICE data (ACS-3, table 45), numbered in words of two bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Identify {
    pub(crate) serial: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) wwn: Option<String>,
    pub(crate) capacity_blocks: u64,
    pub(crate) logical_block_bytes: u32,
    /// Highest supported link speed.
    pub(crate) max_speed: Option<&'static str>,
    /// Negotiated link speed.
    pub(crate) speed: Option<&'static str>,
    pub(crate) queue_depth: u16,
    /// Whether word 217 is 1.
    pub(crate) solid_state: bool,
    pub(crate) trim: bool,
    /// Word 69: discarded blocks always read as zeroes.
    pub(crate) discarded_read_zero: bool,
    pub(crate) has_write_cache: bool,
    pub(crate) write_cache_on: bool,
    pub(crate) smart: bool,
    pub(crate) sanitize: Sanitizers,
    pub(crate) security: Security,
}

/// Sanitize methods, word 59.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sanitizers {
    pub(crate) crypto: bool,
    pub(crate) block: bool,
    pub(crate) overwrite: bool,
}

/// Security state, words 82, 85, 89, 90 and 128 (ACS-3, 7.12.7.67).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Security {
    pub(crate) supported: bool,
    /// A password is set.
    pub(crate) enabled: bool,
    pub(crate) locked: bool,
    pub(crate) frozen: bool,
    /// Too many wrong passwords: no password is accepted until a power cycle.
    pub(crate) count_expired: bool,
    pub(crate) enhanced: bool,
    pub(crate) erase_time: Option<Duration>,
    pub(crate) enhanced_erase_time: Option<Duration>,
}

/// Smallest legal block size (ACS-3, 7.12.7.58). Some drives report less.
const SMALLEST_BLOCK_WORDS: u32 = 256;

impl Identify {
    pub(crate) fn decode(bytes: &[u8; BLOCK_BYTES]) -> Self {
        let word = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
        let bit = |index: usize, bit: u32| word(index) & 1 << bit != 0;
        let valid = |index: usize| word(index) & 0xc000 == 0x4000;
        let qwords = u64::from(word(100)) | u64::from(word(101)) << 16 | u64::from(word(102)) << 32;
        let has_large_blocks = valid(106) && bit(106, 12);
        let block_words = if has_large_blocks {
            u32::from(word(117)) | u32::from(word(118)) << 16
        } else {
            SMALLEST_BLOCK_WORDS
        };
        let has_sanitize = bit(59, 12);
        Self {
            serial: swapped(bytes, 10, 20),
            model: swapped(bytes, 27, 47),
            firmware: swapped(bytes, 23, 27),
            wwn: wwn(bytes),
            capacity_blocks: qwords | u64::from(word(103)) << 48,
            logical_block_bytes: block_words.max(SMALLEST_BLOCK_WORDS).saturating_mul(2),
            max_speed: (1..=3).rev().find(|&generation| bit(76, generation)).and_then(speed),
            speed: speed(u32::from(word(77) >> 1 & 0b111)),
            queue_depth: (word(75) & 0x1f) + 1,
            solid_state: word(217) == 1,
            trim: bit(169, 0),
            discarded_read_zero: bit(69, 14) && bit(69, 5),
            has_write_cache: bit(82, 5),
            write_cache_on: bit(85, 5),
            smart: bit(82, 0) && bit(85, 0),
            sanitize: Sanitizers {
                crypto: has_sanitize && bit(59, 13),
                overwrite: has_sanitize && bit(59, 14),
                block: has_sanitize && bit(59, 15),
            },
            security: Security {
                supported: bit(82, 1) && bit(128, 0),
                enabled: bit(128, 1),
                locked: bit(128, 2),
                frozen: bit(128, 3),
                count_expired: bit(128, 4),
                enhanced: bit(128, 5),
                erase_time: erase_time(word(89)),
                enhanced_erase_time: erase_time(word(90)),
            },
        }
    }
}

/// Decodes ATA text: the two bytes of each word are swapped.
fn swapped(bytes: &[u8; BLOCK_BYTES], from: usize, to: usize) -> Option<String> {
    let words = bytes[2 * from..2 * to].chunks_exact(2);
    text(&words.flat_map(|word| [word[1], word[0]]).collect::<Vec<u8>>())
}

fn wwn(bytes: &[u8; BLOCK_BYTES]) -> Option<String> {
    let words = bytes[216..224].chunks_exact(2);
    hexadecimal(&words.flat_map(|word| [word[1], word[0]]).collect::<Vec<u8>>())
}

fn speed(generation: u32) -> Option<&'static str> {
    [None, Some("1.5 Gb/s"), Some("3 Gb/s"), Some("6 Gb/s")].get(generation as usize).copied().flatten()
}

/// Words 89 and 90: if bit 15 is set, 15 bits in units of two minutes; otherwise eight bits, with 255 meaning
/// "more than that".
fn erase_time(word: u16) -> Option<Duration> {
    let units = if word & 0x8000 != 0 { word & 0x7fff } else { word & 0xff };
    (units != 0).then(|| MINUTE * 2 * u32::from(units))
}

/// Registers of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) command: u8,
    pub(crate) features: u16,
    pub(crate) count: u16,
    pub(crate) lba: u64,
    /// Whether this is a 48-bit command.
    pub(crate) extended: bool,
    pub(crate) data: Direction,
}

/// Transfer direction of one data block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    None,
    In,
    Out,
}

impl Command {
    /// Returns the CDB of ATA PASS-THROUGH (16) (SAT-3, table 174). The registers (CK_COND) are always
    /// requested, because a response without them proves nothing.
    pub(crate) fn cdb(&self) -> [u8; 16] {
        let (protocol, transfer) = match self.data {
            Direction::None => (3, 0b0010_0000),
            Direction::In => (4, 0b0010_1110),
            Direction::Out => (5, 0b0010_0110),
        };
        let (features, count, lba) =
            (self.features.to_be_bytes(), self.count.to_be_bytes(), self.lba.to_le_bytes());
        let device = if self.extended { 0x40 } else { 0x40 | (lba[3] & 0xf) };
        [
            0x85,
            protocol << 1 | u8::from(self.extended),
            transfer,
            features[0],
            features[1],
            count[0],
            count[1],
            lba[3],
            lba[0],
            lba[4],
            lba[1],
            lba[5],
            lba[2],
            device,
            self.command,
            0,
        ]
    }
}

/// Registers of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    pub(crate) status: u8,
    pub(crate) error: u8,
    pub(crate) count: u16,
    pub(crate) lba: u64,
}

impl Registers {
    /// Decodes sense data: the ATA Status Return descriptor (SAT-3, table 178) or the fixed format (table 177).
    pub(crate) fn decode(sense: &[u8]) -> Option<Self> {
        match sense.first()? & 0x7f {
            0x72 | 0x73 => super::sense::descriptors(sense).find_map(Self::of_descriptor),
            0x70 | 0x71 => {
                let b: &[u8; 12] = sense.get(..12)?.try_into().ok()?;
                Some(Self {
                    error: b[3],
                    status: b[4],
                    count: u16::from(b[6]),
                    lba: u64::from(b[9]) | u64::from(b[10]) << 8 | u64::from(b[11]) << 16,
                })
            }
            _ => None,
        }
    }

    fn of_descriptor(descriptor: &[u8]) -> Option<Self> {
        let b: &[u8; 14] = descriptor.get(..14)?.try_into().ok()?;
        let lba = u64::from_le_bytes([b[7], b[9], b[11], b[6], b[8], b[10], 0, 0]);
        (b[0] == 0x09).then(|| Self {
            error: b[3],
            status: b[13],
            count: u16::from_be_bytes([b[4], b[5]]),
            lba,
        })
    }

    /// Returns whether ERR or DF is set.
    pub(crate) fn is_error(&self) -> bool {
        self.status & 0x21 != 0
    }
}

/// Result of SANITIZE STATUS EXT (ACS-3, 7.38.5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SanitizeStatus {
    pub(crate) done: bool,
    pub(crate) running: bool,
    pub(crate) frozen: bool,
    pub(crate) share_done: f64,
}

impl SanitizeStatus {
    pub(crate) fn of(registers: &Registers) -> Self {
        let bit = |bit: u32| registers.count & 1 << bit != 0;
        Self {
            done: bit(15),
            running: bit(14),
            frozen: bit(13),
            share_done: (registers.lba & 0xffff) as f64 / 65_536.0,
        }
    }
}

/// General Statistics, page 01h of the Device Statistics log 04h (ACS-3, A.5.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GeneralStatistics {
    pub(crate) power_on_hours: Option<u64>,
    pub(crate) written_blocks: Option<u64>,
    pub(crate) read_blocks: Option<u64>,
}

impl GeneralStatistics {
    pub(crate) fn decode(bytes: &[u8; BLOCK_BYTES]) -> Self {
        let page = Page(bytes);
        if page.byte::<2>() != 1 {
            return Self::default();
        }
        Self {
            power_on_hours: statistic(page.le64::<16>()).map(|value| value & 0xffff_ffff),
            written_blocks: statistic(page.le64::<24>()),
            read_blocks: statistic(page.le64::<40>()),
        }
    }
}

/// Returns the current temperature in degrees Celsius, from page 05h of the Device Statistics log.
pub(crate) fn temperature(bytes: &[u8; BLOCK_BYTES]) -> Option<i16> {
    let page = Page(bytes);
    let raw = statistic(page.le64::<8>()).filter(|_| page.byte::<2>() == 5)?;
    Some(i16::from(raw as u8 as i8))
}

/// Returns the used endurance in percent, from Solid State Device, page 07h of the Device Statistics log.
pub(crate) fn percentage_used(bytes: &[u8; BLOCK_BYTES]) -> Option<u8> {
    let page = Page(bytes);
    statistic(page.le64::<8>()).filter(|_| page.byte::<2>() == 7).map(|raw| raw as u8)
}

/// Returns the number of reallocated sectors, from Rotating Media, page 03h of the Device Statistics log, a page that
/// some SSDs also have.
pub(crate) fn reallocated_sectors(bytes: &[u8; BLOCK_BYTES]) -> Option<u64> {
    let page = Page(bytes);
    statistic(page.le64::<32>()).filter(|_| page.byte::<2>() == 3)
}

/// Returns the number of reported uncorrectable errors, from General Errors, page 04h of the Device Statistics
/// log.
pub(crate) fn uncorrectable_errors(bytes: &[u8; BLOCK_BYTES]) -> Option<u64> {
    let page = Page(bytes);
    statistic(page.le64::<8>()).filter(|_| page.byte::<2>() == 4)
}

/// Returns the seven value bytes if the flags in the eighth byte say that they are supported and valid.
fn statistic(raw: u64) -> Option<u64> {
    (raw >> 62 == 0b11).then_some(raw & 0x00ff_ffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(values: &[(usize, u16)]) -> [u8; BLOCK_BYTES] {
        let mut bytes = [0; BLOCK_BYTES];
        for &(word, value) in values {
            bytes[2 * word..2 * word + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn identify_data_is_decoded_word_by_word() {
        let mut bytes = words(&[
            (59, 0xb000),
            (75, 31),
            (76, 0b1110),
            (77, 0b0110),
            (82, 0b10_0011),
            (85, 0b10_0001),
            (89, 0x8002),
            (90, 30),
            (100, 0x1000),
            (128, 0b10_1001),
            (169, 1),
            (217, 1),
        ]);
        bytes[20..28].copy_from_slice(b"ASAT0010");
        bytes[54..58].copy_from_slice(b"SS D");
        let identify = Identify::decode(&bytes);
        assert_eq!((identify.serial.as_deref(), identify.model.as_deref()), (Some("SATA0001"), Some("SSD")));
        assert_eq!((identify.max_speed, identify.speed), (Some("6 Gb/s"), Some("6 Gb/s")));
        assert_eq!(
            (identify.queue_depth, identify.capacity_blocks),
            (32, 4096),
            "queue depth counts from zero"
        );
        assert_eq!(identify.logical_block_bytes, 512);
        assert_eq!(identify.sanitize, Sanitizers { crypto: true, block: true, overwrite: false });
        let security = identify.security;
        assert!(security.supported && security.frozen && security.enhanced && !security.enabled);
        assert_eq!(
            (security.erase_time, security.enhanced_erase_time),
            (Some(MINUTE * 4), Some(MINUTE * 60))
        );
        assert!(identify.trim && identify.solid_state && identify.has_write_cache && identify.write_cache_on);
    }

    #[test]
    fn a_block_size_in_words_is_converted_to_bytes() {
        let bytes = words(&[(106, 0x5000), (117, 2048)]);
        assert_eq!(Identify::decode(&bytes).logical_block_bytes, 4096);
        let nonsense = words(&[(106, 0x5000), (117, 1)]);
        assert_eq!(Identify::decode(&nonsense).logical_block_bytes, 512, "found by fuzzing");
    }

    #[test]
    fn commands_are_wrapped_as_sat_specifies() {
        let identify = Command { command: 0xec, count: 1, data: Direction::In, ..Command::default() };
        assert_eq!(identify.cdb(), [0x85, 8, 0x2e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xec, 0]);
        let block_erase =
            Command { command: 0xb4, features: 0x12, lba: 0x426b_4572, extended: true, ..Command::default() };
        assert_eq!(
            block_erase.cdb(),
            [0x85, 7, 0x20, 0, 0x12, 0, 0, 0x42, 0x72, 0, 0x45, 0, 0x6b, 0x40, 0xb4, 0]
        );
    }

    #[test]
    fn registers_are_decoded_from_both_formats() {
        let mut sense =
            vec![0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 1, 4, 0x40, 0, 0, 0x34, 0, 0x12, 0, 0, 0x40, 0x51];
        let registers = Registers::decode(&sense).expect("registers");
        assert_eq!((registers.error, registers.status, registers.count), (4, 0x51, 0x4000));
        assert_eq!(registers.lba, 0x1234);
        assert!(registers.is_error());
        let status = SanitizeStatus::of(&registers);
        assert!(status.running && !status.done && (status.share_done - 0.071).abs() < 0.001);
        sense[8] = 3;
        assert_eq!(Registers::decode(&sense), None);
        let fixed = [0x70, 0, 1, 0, 0x50, 0x40, 7, 10, 0, 1, 2, 3, 0, 0x1d];
        assert_eq!(Registers::decode(&fixed).map(|r| (r.status, r.lba)), Some((0x50, 0x03_0201)));
    }

    #[test]
    fn statistics_count_only_when_supported_and_valid() {
        let mut bytes = [0; BLOCK_BYTES];
        bytes[2] = 1;
        bytes[24..32].copy_from_slice(&(0xc0 << 56 | 7u64).to_le_bytes());
        bytes[40..48].copy_from_slice(&(0x80 << 56 | 9u64).to_le_bytes());
        let statistics = GeneralStatistics::decode(&bytes);
        assert_eq!((statistics.written_blocks, statistics.read_blocks), (Some(7), None));
        bytes[2] = 5;
        bytes[8..16].copy_from_slice(&(0xc0 << 56 | 0xfbu64).to_le_bytes());
        assert_eq!(temperature(&bytes), Some(-5));
        assert_eq!(percentage_used(&bytes), None);
        bytes[32..40].copy_from_slice(&(0xc0 << 56 | 12u64).to_le_bytes());
        assert_eq!((reallocated_sectors(&bytes), uncorrectable_errors(&bytes)), (None, None));
        bytes[2] = 3;
        assert_eq!(reallocated_sectors(&bytes), Some(12));
        bytes[2] = 4;
        assert_eq!(uncorrectable_errors(&bytes), Some(0xfb));
    }

    proptest! {
        #[test]
        fn arbitrary_responses_cause_no_panic(
            bytes in proptest::collection::vec(any::<u8>(), BLOCK_BYTES),
            sense in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let block: &[u8; BLOCK_BYTES] = bytes[..].try_into().expect("that many");
            prop_assert!(Identify::decode(block).queue_depth <= 32);
            let _ = (GeneralStatistics::decode(block), temperature(block), percentage_used(block));
            let _ = (reallocated_sectors(block), uncorrectable_errors(block));
            if let Some(registers) = Registers::decode(&sense) {
                prop_assert!((0.0..1.0).contains(&SanitizeStatus::of(&registers).share_done));
            }
        }
    }
}
