//! NVMe structures. Figure numbers refer to NVM Express Base Specification 2.0c and NVM Command Set 1.0c.

use std::time::Duration;

use super::{Page, hexadecimal};

/// Size of every Identify structure.
pub const IDENTIFY_BYTES: usize = 4096;
/// Size of the health log and the sanitize log.
pub(crate) const LOG_BYTES: usize = 512;

const UNIT_BYTES: u128 = 512_000;

/// Identify Controller (Base 2.0c, figure 275).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Controller {
    pub(crate) pci_vendor: u16,
    pub(crate) serial: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    /// MDTS for 4096 B pages, the smallest possible size; `None` if there is no limit.
    pub(crate) max_transfer_bytes: Option<u64>,
    pub(crate) version: (u16, u8, u8),
    /// OACS bit 1.
    pub(crate) can_format: bool,
    /// FNA bit 0: a format applies to all namespaces.
    pub(crate) format_hits_all: bool,
    /// FNA bit 1: a secure erase applies to all namespaces.
    pub(crate) secure_erase_hits_all: bool,
    /// FNA bit 2.
    pub(crate) crypto_erase: bool,
    /// SANICAP bits 0 to 2.
    pub(crate) sanitize: Sanitizers,
    /// VWC bit 0.
    pub(crate) has_write_cache: bool,
    /// TNVMCAP; `None` if not reported.
    pub(crate) total_capacity_bytes: Option<u128>,
    pub(crate) namespaces: u32,
    /// WCTEMP.
    pub(crate) warning_kelvin: Option<u16>,
    /// CCTEMP.
    pub(crate) critical_kelvin: Option<u16>,
    pub(crate) power_states: Vec<PowerState>,
}

/// Supported sanitize actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sanitizers {
    pub(crate) crypto: bool,
    pub(crate) block: bool,
    pub(crate) overwrite: bool,
}

/// Power State Descriptor (Base 2.0c, figure 276).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PowerState {
    /// MP; `None` if not reported.
    pub(crate) max_watts: Option<f64>,
    pub(crate) operational: bool,
}

impl Controller {
    pub(crate) fn decode(bytes: &[u8; IDENTIFY_BYTES]) -> Self {
        let page = Page(bytes);
        let version = page.le32::<80>();
        let fna = page.byte::<524>();
        let known = |value: u16| (value != 0).then_some(value);
        // MDTS is an exponent of two; above 2^40 pages there is effectively no limit.
        let mdts = u32::from(page.byte::<77>());
        // NPSS is 0's based and at most 31.
        let states = usize::from(page.byte::<263>().min(31)) + 1;
        Self {
            pci_vendor: page.le16::<0>(),
            serial: page.text::<4, 20>(),
            model: page.text::<24, 40>(),
            firmware: page.text::<64, 8>(),
            max_transfer_bytes: (1..=40).contains(&mdts).then(|| 4096 << mdts),
            version: ((version >> 16) as u16, (version >> 8) as u8, version as u8),
            can_format: page.le16::<256>() & 1 << 1 != 0,
            format_hits_all: fna & 1 != 0,
            secure_erase_hits_all: fna & 1 << 1 != 0,
            crypto_erase: fna & 1 << 2 != 0,
            sanitize: Sanitizers {
                crypto: page.bit::<328, 0>(),
                block: page.bit::<328, 1>(),
                overwrite: page.bit::<328, 2>(),
            },
            has_write_cache: page.bit::<525, 0>(),
            total_capacity_bytes: Some(page.le128::<280>()).filter(|&bytes| bytes != 0),
            namespaces: page.le32::<516>(),
            warning_kelvin: known(page.le16::<266>()),
            critical_kelvin: known(page.le16::<268>()),
            power_states: (0..states).map(|state| PowerState::decode(bytes, state)).collect(),
        }
    }
}

impl PowerState {
    fn decode(bytes: &[u8; IDENTIFY_BYTES], state: usize) -> Self {
        let at = 2048 + 32 * state;
        let power = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let scale = if bytes[at + 3] & 1 != 0 { 0.0001 } else { 0.01 };
        Self {
            max_watts: (power != 0).then(|| f64::from(power) * scale),
            operational: bytes[at + 3] & 1 << 1 == 0,
        }
    }
}

/// Identify Namespace (NVM Command Set 1.0c, figure 97).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Namespace {
    pub(crate) size_blocks: u64,
    pub(crate) capacity_blocks: u64,
    pub(crate) used_blocks: u64,
    pub(crate) formats: Vec<LbaFormat>,
    /// FLBAS: index of the format in use.
    pub(crate) format: u8,
    /// FLBAS bit 4: metadata is part of each block.
    pub(crate) extended_metadata: bool,
    /// DPS: type of protection information, 0 if disabled.
    pub(crate) protection: u8,
    /// DPS bit 3: protection information is the first eight bytes of the metadata.
    pub(crate) protection_first: bool,
    /// DLFEAT bits 2:0: discarded blocks read as zeroes.
    pub(crate) discarded_read_zero: bool,
    /// FPI: remaining fraction of a running format, 0 if none is running; `None` if not reported.
    pub(crate) format_remaining: Option<f64>,
    pub(crate) nguid: Option<String>,
    pub(crate) eui64: Option<String>,
}

/// LBA Format (NVM Command Set 1.0c, figure 98).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LbaFormat {
    pub(crate) index: u8,
    pub(crate) block_bytes: u64,
    pub(crate) metadata_bytes: u16,
}

impl Namespace {
    pub(crate) fn decode(bytes: &[u8; IDENTIFY_BYTES]) -> Self {
        let page = Page(bytes);
        let flbas = page.byte::<26>();
        // NLBAF is 0's based and at most 63.
        let formats = page.byte::<25>().min(63) + 1;
        let upper = if formats > 16 { (flbas >> 5 & 0b11) << 4 } else { 0 };
        Self {
            size_blocks: page.le64::<0>(),
            capacity_blocks: page.le64::<8>(),
            used_blocks: page.le64::<16>(),
            formats: (0..formats).filter_map(|index| LbaFormat::decode(bytes, index)).collect(),
            format: flbas & 0xf | upper,
            extended_metadata: page.bit::<26, 4>(),
            protection: page.byte::<29>() & 0b111,
            protection_first: page.bit::<29, 3>(),
            discarded_read_zero: page.byte::<33>() & 0b111 == 1,
            format_remaining: page
                .bit::<32, 7>()
                .then(|| f64::from(page.byte::<32>() & 0x7f).min(100.0) / 100.0),
            nguid: hexadecimal(&page.bytes::<104, 16>()),
            eui64: hexadecimal(&page.bytes::<120, 8>()),
        }
    }
}

impl LbaFormat {
    /// Returns `None` for an unavailable format (LBADS below 9).
    fn decode(bytes: &[u8; IDENTIFY_BYTES], index: u8) -> Option<Self> {
        let at = 128 + 4 * usize::from(index);
        let shift = u32::from(bytes[at + 2]);
        let metadata_bytes = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        (9..=32).contains(&shift).then(|| Self { index, block_bytes: 1 << shift, metadata_bytes })
    }
}

/// SMART / Health Information log, 02h (Base 2.0c, figure 207).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmartLog {
    pub(crate) critical_warning: u8,
    /// `None` if not reported.
    pub(crate) temperature_kelvin: Option<u16>,
    pub(crate) available_spare_percent: u8,
    pub(crate) percentage_used: u8,
    pub(crate) read_bytes: u128,
    pub(crate) written_bytes: u128,
    pub(crate) power_cycles: u128,
    pub(crate) power_on_hours: u128,
    pub(crate) unsafe_shutdowns: u128,
    pub(crate) media_errors: u128,
    pub(crate) error_log_entries: u128,
    pub(crate) warning_temperature_minutes: u32,
    pub(crate) critical_temperature_minutes: u32,
    /// Thermal Management Temperature 1 and 2 Transition Counts, added together.
    pub(crate) throttle_transitions: u32,
    /// Total Time For Thermal Management Temperature 1 and 2, added together.
    pub(crate) throttle_seconds: u32,
}

impl SmartLog {
    pub(crate) fn decode(bytes: &[u8; LOG_BYTES]) -> Self {
        let page = Page(bytes);
        Self {
            critical_warning: page.byte::<0>(),
            temperature_kelvin: Some(page.le16::<1>()).filter(|&kelvin| kelvin != 0),
            available_spare_percent: page.byte::<3>(),
            percentage_used: page.byte::<5>(),
            read_bytes: page.le128::<32>().saturating_mul(UNIT_BYTES),
            written_bytes: page.le128::<48>().saturating_mul(UNIT_BYTES),
            power_cycles: page.le128::<112>(),
            power_on_hours: page.le128::<128>(),
            unsafe_shutdowns: page.le128::<144>(),
            media_errors: page.le128::<160>(),
            error_log_entries: page.le128::<176>(),
            warning_temperature_minutes: page.le32::<192>(),
            critical_temperature_minutes: page.le32::<196>(),
            throttle_transitions: page.le32::<216>().saturating_add(page.le32::<220>()),
            throttle_seconds: page.le32::<224>().saturating_add(page.le32::<228>()),
        }
    }
}

/// Sanitize Status log, 81h (Base 2.0c, figure 266).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SanitizeLog {
    /// SPROG, 0 to 1; valid only while a sanitize operation is running.
    pub(crate) share_done: f64,
    pub(crate) state: SanitizeState,
    /// SCDW10: dword 10 of the sanitize command that this status refers to.
    pub(crate) command: u32,
    /// ETO, ETBE and ETCE: expected durations of an overwrite, a block erase and a crypto erase.
    pub(crate) expected: [Option<Duration>; 3],
}

/// SSTAT bits 2:0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SanitizeState {
    /// Never sanitized.
    Never,
    /// Completed.
    Done,
    /// In progress.
    Running,
    /// Failed.
    Failed,
    /// A reserved value.
    Unknown(u8),
}

impl SanitizeLog {
    pub(crate) fn decode(bytes: &[u8; LOG_BYTES]) -> Self {
        let page = Page(bytes);
        let state = match page.byte::<2>() & 0b111 {
            0 => SanitizeState::Never,
            1 | 4 => SanitizeState::Done,
            2 => SanitizeState::Running,
            3 => SanitizeState::Failed,
            other => SanitizeState::Unknown(other),
        };
        let expected = [page.le32::<8>(), page.le32::<12>(), page.le32::<16>()];
        Self {
            share_done: f64::from(page.le16::<0>()) / 65_536.0,
            state,
            command: page.le32::<4>(),
            // All bits are set if the drive provides no estimate.
            expected: expected
                .map(|seconds| Some(seconds).filter(|&s| s != u32::MAX && s != 0))
                .map(|seconds| seconds.map(|seconds| Duration::from_secs(seconds.into()))),
        }
    }
}

/// Returns the bytes written to the media, from the SMART Cloud Health log, C0h (OCP Datacenter NVMe SSD
/// Specification 2.0, section 4.8.1). The GUID of the log distinguishes it from other vendors' logs with the
/// same number.
pub(crate) fn ocp_media_written_bytes(bytes: &[u8; LOG_BYTES]) -> Option<u128> {
    const GUID: [u8; 16] =
        [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf];
    let page = Page(bytes);
    (page.bytes::<496, 16>() == GUID).then(|| page.le128::<0>())
}

/// Describes the status of a command: Status Code Type in bits 10:8, Status Code in bits 7:0 (Base 2.0c,
/// figures 93 to 97).
pub(crate) fn status_text(status: u16) -> &'static str {
    match status & 0x7ff {
        0x001 => "the controller does not support this command",
        0x002 => "invalid field in command",
        0x006 => "internal controller error",
        0x00b => "invalid namespace or format",
        0x00c => "command sequence error",
        0x015 => "operation denied",
        0x01c => "the last sanitize operation failed; run another one to recover the drive",
        0x01d => "a sanitize operation is running",
        0x020 => "the namespace is write-protected",
        0x082 => "the namespace is not ready",
        0x084 => "a format is running",
        0x109 => "invalid log page",
        0x10a => "invalid format",
        0x10b => "a reset is required before the firmware is active",
        0x10d => "the feature is not saveable",
        0x10e => "the feature cannot be changed",
        0x123 => "the drive forbids sanitize while its persistent memory region is on",
        0x281 => "medium error: unrecovered read error",
        _ => "see the status codes of NVM Express Base Specification 2.0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(bytes: &mut [u8], at: usize, content: &[u8]) {
        bytes[at..at + content.len()].copy_from_slice(content);
    }

    #[test]
    fn a_controller_is_decoded_as_the_figure_specifies() {
        let mut bytes = [0; IDENTIFY_BYTES];
        put(&mut bytes, 0, &[0x36, 0x1b]);
        put(&mut bytes, 4, b"SSDT0001            ");
        put(&mut bytes, 24, b"QEMU NVMe Ctrl                          ");
        put(&mut bytes, 64, b"10.0.2  ");
        bytes[77] = 7;
        put(&mut bytes, 80, &[0, 4, 1, 0]);
        bytes[256] = 0b10;
        bytes[263] = 1;
        put(&mut bytes, 266, &[0x57, 0x01, 0x75, 0x01]);
        put(&mut bytes, 280, &1_000_204_886_016u128.to_le_bytes());
        bytes[328] = 0b011;
        put(&mut bytes, 516, &[0, 1, 0, 0]);
        (bytes[524], bytes[525]) = (0b100, 7);
        put(&mut bytes, 2048, &[0x20, 0x03, 0, 0]);
        put(&mut bytes, 2080, &[0xf4, 0x01, 0, 0b11]);
        let controller = Controller::decode(&bytes);
        assert_eq!((controller.serial.as_deref(), controller.pci_vendor), (Some("SSDT0001"), 0x1b36));
        assert_eq!(controller.model.as_deref(), Some("QEMU NVMe Ctrl"));
        assert_eq!((controller.version, controller.max_transfer_bytes), ((1, 4, 0), Some(512 << 10)));
        assert!(controller.can_format && controller.crypto_erase && !controller.secure_erase_hits_all);
        let sanitize = Sanitizers { crypto: true, block: true, overwrite: false };
        assert_eq!((controller.sanitize, controller.has_write_cache), (sanitize, true));
        assert_eq!((controller.total_capacity_bytes, controller.namespaces), (Some(1_000_204_886_016), 256));
        assert_eq!((controller.warning_kelvin, controller.critical_kelvin), (Some(343), Some(373)));
        let watts: Vec<_> = controller.power_states.iter().map(|s| (s.max_watts, s.operational)).collect();
        assert_eq!(watts, [(Some(8.0), true), (Some(0.05), false)], "NPSS counts from zero");
    }

    #[test]
    fn a_namespace_counts_its_formats_from_zero() {
        let mut bytes = [0; IDENTIFY_BYTES];
        put(&mut bytes, 0, &65_536u64.to_le_bytes());
        (bytes[25], bytes[26], bytes[33]) = (1, 0x01, 0x09);
        put(&mut bytes, 120, &[0, 0x25, 0x38, 1, 2, 3, 4, 5]);
        put(&mut bytes, 128, &[0, 0, 9, 0, 8, 0, 12, 0]);
        let namespace = Namespace::decode(&bytes);
        assert_eq!((namespace.size_blocks, namespace.format), (65_536, 1));
        let format = |index, block_bytes, metadata_bytes| LbaFormat { index, block_bytes, metadata_bytes };
        assert_eq!(namespace.formats, [format(0, 512, 0), format(1, 4096, 8)]);
        assert!(namespace.discarded_read_zero);
        assert_eq!((namespace.eui64.as_deref(), namespace.nguid), (Some("0025380102030405"), None));
    }

    #[test]
    fn the_health_log_is_in_bytes_and_kelvin() {
        let mut bytes = [0; LOG_BYTES];
        put(&mut bytes, 0, &[2, 0x43, 0x01, 98, 10, 3]);
        bytes[48] = 2;
        bytes[160] = 5;
        put(&mut bytes, 216, &[1, 0, 0, 0, 2, 0, 0, 0, 30, 0, 0, 0, 40, 0, 0, 0]);
        let log = SmartLog::decode(&bytes);
        assert_eq!((log.critical_warning, log.temperature_kelvin), (2, Some(323)));
        assert_eq!((log.available_spare_percent, log.percentage_used), (98, 3));
        assert_eq!((log.written_bytes, log.media_errors), (1_024_000, 5));
        assert_eq!((log.throttle_transitions, log.throttle_seconds), (3, 70));
    }

    #[test]
    fn sanitize_progress_and_states() {
        let mut bytes = [0; LOG_BYTES];
        put(&mut bytes, 0, &[0, 0x80, 2]);
        let log = SanitizeLog::decode(&bytes);
        assert_eq!((log.share_done, log.state), (0.5, SanitizeState::Running));
        for (raw, state) in
            [(0, SanitizeState::Never), (0x101, SanitizeState::Done), (3, SanitizeState::Failed)]
        {
            put(&mut bytes, 2, &u16::to_le_bytes(raw));
            assert_eq!(SanitizeLog::decode(&bytes).state, state);
        }
    }

    #[test]
    fn only_a_log_with_the_ocp_guid_is_accepted() {
        let mut bytes = [0; LOG_BYTES];
        bytes[0] = 9;
        assert_eq!(ocp_media_written_bytes(&bytes), None);
        put(&mut bytes, 496, &0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5u128.to_le_bytes());
        assert_eq!(ocp_media_written_bytes(&bytes), Some(9));
    }

    proptest! {
        #[test]
        fn arbitrary_responses_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), IDENTIFY_BYTES)) {
            let identify: &[u8; IDENTIFY_BYTES] = bytes[..].try_into().expect("that many");
            let namespace = Namespace::decode(identify);
            prop_assert!(namespace.formats.len() <= 64 && namespace.format < 64);
            prop_assert!(Controller::decode(identify).power_states.len() <= 32);
            let log: &[u8; LOG_BYTES] = bytes[..LOG_BYTES].try_into().expect("that many");
            prop_assert!((0.0..1.0).contains(&SanitizeLog::decode(log).share_done));
            let _ = (SmartLog::decode(log), ocp_media_written_bytes(log));
        }
    }
}
