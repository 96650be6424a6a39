//! Tests every method against mock devices: success, and every known failure.

use super::method::POLL_AT_MOST;
use super::*;
use crate::capability::{Nvme, Scsi};
use crate::command::script::{Answer, Script};
use crate::error::{DriveFault, Step};
use crate::fault::Fault;
use crate::wire::ata::{BLOCK_BYTES, Identify};
use crate::wire::nvme::{Controller, IDENTIFY_BYTES, LOG_BYTES, Namespace, SanitizeState};
use crate::wire::scsi::{Inquiry, PAGE_BYTES};

mod over_scsi;

const CAPACITY: usize = 1 << 20;

fn capabilities(protocol: Protocol) -> Capabilities {
    Capabilities {
        protocol,
        capacity_bytes: CAPACITY as u64,
        block_bytes: 512,
        discard: true,
        write_zeroes: false,
    }
}

fn identify_namespace(format: u8) -> Vec<u8> {
    let mut bytes = vec![0; IDENTIFY_BYTES];
    bytes[..8].copy_from_slice(&2048u64.to_le_bytes());
    (bytes[25], bytes[26], bytes[130], bytes[134]) = (1, format, 9, 12);
    bytes
}

/// Returns a controller with the given OACS, FNA and SANICAP values.
fn nvme(oacs: u8, fna: u8, sanicap: u8) -> Capabilities {
    let mut bytes = [0; IDENTIFY_BYTES];
    (bytes[256], bytes[524], bytes[328]) = (oacs, fna, sanicap);
    let namespace: [u8; IDENTIFY_BYTES] = identify_namespace(1).try_into().expect("that many");
    capabilities(Protocol::Nvme(Nvme {
        number: 1,
        controller: Controller::decode(&bytes),
        namespace: Namespace::decode(&namespace),
        others: Vec::new(),
    }))
}

fn with_other_namespace(mut can: Capabilities) -> Capabilities {
    let Protocol::Nvme(nvme) = &mut can.protocol else { panic!("not NVMe") };
    nvme.others = vec![OtherNamespace { name: "nvme0n2".into(), identity: "S1:n2".into() }];
    can
}

/// Bits in word 128 of the IDENTIFY DEVICE data.
const SECURE: u16 = 0b1;
const ENABLED: u16 = 0b10;
const LOCKED: u16 = 0b100;
const FROZEN: u16 = 0b1000;
const EXPIRED: u16 = 0b1_0000;

fn identify_device(word_59: u16, word_128: u16) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK_BYTES];
    for (word, value) in [(59, word_59), (82, 0b10), (89, 1), (128, word_128)] {
        bytes[2 * word..2 * word + 2].copy_from_slice(&u16::to_le_bytes(value));
    }
    bytes
}

fn ata(word_59: u16, word_128: u16) -> Capabilities {
    let bytes: [u8; BLOCK_BYTES] = identify_device(word_59, word_128).try_into().expect("that many");
    capabilities(Protocol::Ata(Identify::decode(&bytes)))
}

fn scsi(format_unit: Option<bool>, sanitize: Option<bool>) -> Capabilities {
    capabilities(Protocol::Scsi(Scsi {
        inquiry: Inquiry::decode(&[0; PAGE_BYTES]),
        serial: None,
        name: None,
        capacity: None,
        rotation: None,
        format_unit,
        sanitize_overwrite: sanitize,
        sanitize_block: sanitize,
        sanitize_crypto: sanitize,
    }))
}

fn chosen(can: &Capabilities) -> &'static str {
    choose(can, &PurgeOptions::default()).map(|choice| choice.method.name).expect("a method")
}

fn by(name: &str) -> PurgeOptions {
    PurgeOptions { method: Some(name.into()), ..PurgeOptions::default() }
}

/// Returns the outcome of a purge and the progress reports. Every step of the script must be used.
fn purge(
    script: &mut Script,
    can: &Capabilities,
    options: &PurgeOptions,
) -> (Result<Purged, AdminError>, Vec<f64>) {
    let mut shares = Vec::new();
    let purged = perform(script, can, options, &mut |purging| {
        if let Purging::ShareDone(share) = purging {
            shares.push(share);
        }
        Flow::Continue
    });
    script.finish();
    (purged, shares)
}

/// Returns the step that failed and the reason.
fn fails(script: &mut Script, can: &Capabilities, options: &PurgeOptions) -> (Step, Fault) {
    match purge(script, can, options).0 {
        Err(AdminError::Command { step, fault }) => (step, fault),
        other => panic!("{other:?}"),
    }
}

/// Returns how the drive deviated from the command.
fn misbehaves(script: &mut Script, can: &Capabilities, options: &PurgeOptions) -> DriveFault {
    match purge(script, can, options).0 {
        Err(AdminError::Drive(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_are_unique_and_in_the_order_of_the_specification() {
    let mut names: Vec<_> = PURGE_METHODS.iter().map(|method| method.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PURGE_METHODS.len());
    assert_eq!(chosen(&nvme(0b10, 0, 0b111)), "nvme-format-user");
    assert_eq!(chosen(&nvme(0, 0, 0b101)), "nvme-sanitize-crypto");
    assert_eq!(chosen(&nvme(0, 0, 0b100)), "discard", "an overwrite is not a PTS purge");
    assert_eq!(chosen(&ata(0xf000, SECURE)), "ata-security-erase");
    assert_eq!(chosen(&ata(0xf000, 0)), "ata-sanitize-block");
    assert_eq!(chosen(&scsi(Some(true), Some(true))), "scsi-format-unit");
    assert_eq!(chosen(&scsi(Some(false), Some(true))), "scsi-sanitize-block");
    assert_eq!(chosen(&capabilities(Protocol::Plain)), "discard");
    let bare = Capabilities { discard: false, ..capabilities(Protocol::Plain) };
    assert_eq!(chosen(&bare), "overwrite");
    assert_eq!(chosen(&Capabilities { write_zeroes: true, ..bare }), "write-zeroes");
}

#[test]
fn methods_that_were_passed_over_are_reported() {
    let first = |can: &Capabilities| {
        let passed_over = choose(can, &PurgeOptions::default()).expect("a method").passed_over;
        passed_over.first().map(|over| over.why.clone())
    };
    assert_eq!(first(&nvme(0b10, 0, 0)), None);
    assert_eq!(first(&ata(0, SECURE | FROZEN)), Some(WhyNot::Frozen));
    assert_eq!(first(&ata(0, SECURE | ENABLED)), Some(WhyNot::PasswordSet));
    assert_eq!(first(&ata(0, SECURE | EXPIRED)), Some(WhyNot::TooManyPasswords));
    assert_eq!(first(&scsi(None, None)), Some(WhyNot::Unreported));
    let others = vec![OtherNamespace { name: "nvme0n2".into(), identity: "S1:n2".into() }];
    assert_eq!(first(&with_other_namespace(nvme(0b10, 0b10, 0))), Some(WhyNot::ErasesOthers(others)));
    let locked = choose(&ata(0xf000, SECURE | ENABLED | LOCKED), &PurgeOptions::default()).expect("a method");
    assert!(locked.passed_over.iter().any(|over| over.why == WhyNot::Locked), "{:?}", locked.passed_over);
    let unasked = capabilities(Protocol::Unasked("no permission".into()));
    assert_eq!(first(&unasked), Some(WhyNot::Unqueried("no permission".into())));
    assert!(methods(&unasked).iter().any(|method| method.name == "nvme-format-user" && !method.available));
}

#[test]
fn a_named_method_must_exist_and_be_available() {
    let can = ata(0xf000, SECURE | FROZEN);
    let error = |name: &str| choose(&can, &by(name)).err().expect("an error");
    let meant = |name: &str| match error(name) {
        AdminError::UnknownMethod { meant, .. } => meant,
        other => panic!("{other:?}"),
    };
    assert_eq!(meant("trim"), ["discard"]);
    assert_eq!(meant("discrad"), ["discard"]);
    assert_eq!(meant("format-user"), ["nvme-format-user"]);
    assert!(meant("xyzzy").is_empty());
    let frozen = error("ata-security-erase");
    assert!(matches!(frozen, AdminError::Unavailable { why: WhyNot::Frozen, .. }), "{frozen:?}");
    let other = error("nvme-format-user");
    assert!(matches!(other, AdminError::Unavailable { why: WhyNot::OtherInterface, .. }), "{other:?}");
    assert!(choose(&can, &by("ata-sanitize-crypto")).is_ok());
    assert!(choose(&scsi(None, None), &by("scsi-format-unit")).is_ok(), "unsure, but requested");
}

#[test]
fn a_format_that_is_confined_to_its_namespace_leaves_the_others_alone() {
    assert_eq!(chosen(&with_other_namespace(nvme(0b10, 0, 0b111))), "nvme-format-user");
    assert_eq!(chosen(&with_other_namespace(nvme(0b10, 0b10, 0b111))), "discard", "secure erase hits all");
    assert_eq!(chosen(&with_other_namespace(nvme(0b10, 0b01, 0b111))), "discard", "format hits all");
}

#[test]
fn other_namespaces_are_erased_only_when_each_was_named() {
    let can = with_other_namespace(nvme(0, 0, 0b1));
    let options = by("nvme-sanitize-crypto");
    let error = purge(&mut Script::new(CAPACITY), &can, &options).0.expect_err("a refusal");
    let named = [OtherNamespace { name: "nvme0n2".into(), identity: "S1:n2".into() }];
    assert!(matches!(&error, AdminError::AlsoErased { others, .. } if others[..] == named), "{error:?}");

    let options = PurgeOptions { also_erase: vec!["S1:n2".into()], ..options };
    let mut script = sanitizing(4, sanitize_log(1, 0, 4)).in_use_at(usize::MAX);
    purge(&mut script, &can, &options).0.expect("a purge");
    assert!(script.rechecks.iter().all(|all| *all), "the other namespaces are rechecked as well");

    // Another namespace is now in use.
    let mut script = Script::new(CAPACITY).in_use_at(0);
    let error = purge(&mut script, &can, &options).0.expect_err("a refusal");
    assert!(matches!(error, AdminError::Recheck(_)));
}

impl Script {
    fn in_use_at(mut self, look: usize) -> Self {
        self.in_use_from = look;
        self
    }
}

// NVMe Format: opcode 80h, with the LBA format in bits 3:0 (here 1) and SES in bits 11:9; the opcode of
// Identify is 06h.

#[test]
fn nvme_format_keeps_the_block_size_and_is_verified() {
    for (name, settings) in [("nvme-format-user", 1 | 1 << 9), ("nvme-format-crypto", 1 | 2 << 9)] {
        let mut script = Script::new(CAPACITY).nvme(0x80, 1, settings, Answer::Ok).erasing().nvme(
            0x06,
            1,
            0,
            Answer::Bytes(identify_namespace(1)),
        );
        let options = PurgeOptions { verify: true, ..by(name) };
        let purged = purge(&mut script, &nvme(0b10, 0b100, 0), &options).0.expect("a purge");
        assert!(purged.pts_purge && purged.method.starts_with("NVMe Format"), "{}", purged.method);
        let erased = PurgeEvidence::SamplesErased { samples: 64, zeroes: 64, other: 0, unreadable: 0 };
        assert_eq!(purged.evidence[1], erased);
        assert_eq!(script.rechecks.len(), 3, "before, right before the command, and after");
    }
}

/// Identify Namespace of a drive that reports the remaining percentage of a format.
fn formatting(remaining_percent: u8) -> Answer {
    let mut bytes = identify_namespace(1);
    bytes[32] = 0x80 | remaining_percent;
    Answer::Bytes(bytes)
}

#[test]
fn a_format_shows_its_progress_where_the_drive_reports_it() {
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Ok);
    for answer in [formatting(75), Answer::Nvme(0x084), formatting(10), formatting(0), formatting(0)] {
        script = script.nvme(0x06, 1, 0, answer);
    }
    script.long_seconds = 4;
    let mut can = nvme(0b10, 0, 0);
    let Protocol::Nvme(device) = &mut can.protocol else { panic!("not NVMe") };
    device.namespace.format_remaining = Some(0.0);
    let (purged, shares) = purge(&mut script, &can, &PurgeOptions::default());
    purged.expect("a purge");
    assert_eq!(shares, [0.25, 0.9]);

    // Drives that report no progress are not queried, because they may not respond until the format is done.
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Ok).nvme(
        0x06,
        1,
        0,
        Answer::Bytes(identify_namespace(1)),
    );
    script.long_seconds = 4;
    let (purged, shares) = purge(&mut script, &nvme(0b10, 0, 0), &PurgeOptions::default());
    assert_eq!((purged.is_ok(), shares), (true, Vec::new()));
}

#[test]
fn a_sanitize_operation_begins_with_the_drives_estimate() {
    for (name, cdw10, at, seconds, expected) in [
        ("nvme-sanitize-overwrite", 0x13, 8, 7200, Some(7200)),
        ("nvme-sanitize-block", 2, 12, 90, Some(90)),
        ("nvme-sanitize-crypto", 4, 16, 5, Some(5)),
        ("nvme-sanitize-crypto", 4, 16, u32::MAX, None),
    ] {
        let Answer::Bytes(mut before) = sanitize_log(0, 0, 0) else { panic!("no log") };
        before[at..at + 4].copy_from_slice(&seconds.to_le_bytes());
        let script = ask_log(Script::new(CAPACITY), Answer::Bytes(before)).nvme(0x84, 0, cdw10, Answer::Ok);
        let mut script = ask_log(ask_log(script, sanitize_log(1, 0, cdw10)), sanitize_log(1, 0, cdw10));
        let mut estimates = Vec::new();
        let purged = perform(&mut script, &nvme(0, 0, 0b111), &by(name), &mut |purging| {
            if let Purging::Expected(length) = purging {
                estimates.push(length.as_secs());
            }
            Flow::Continue
        });
        purged.expect("a purge");
        assert_eq!(estimates, expected.into_iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_format_that_fails_stops_the_purge_and_nothing_weaker_is_tried() {
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Nvme(0x410a));
    let failed = fails(&mut script, &nvme(0b10, 0, 0b111), &PurgeOptions::default());
    assert!(matches!(failed, (Step::Format, Fault::Nvme(0x410a))), "{failed:?}");
    assert_eq!(failed.1.to_string(), "invalid format (status 10ah)");
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Errno(libc::ETIMEDOUT));
    let (step, fault) = fails(&mut script, &nvme(0b10, 0, 0), &PurgeOptions::default());
    assert!(
        matches!(&fault, Fault::Kernel(error) if error.raw_os_error() == Some(libc::ETIMEDOUT)),
        "{fault:?}"
    );
    assert_eq!(step, Step::Format);
    assert!(script.memory.iter().all(|&byte| byte == 0x5a));
}

#[test]
fn verification_detects_a_format_that_erases_nothing() {
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Ok).nvme(
        0x06,
        1,
        0,
        Answer::Bytes(identify_namespace(1)),
    );
    let options = PurgeOptions { verify: true, ..PurgeOptions::default() };
    assert_eq!(misbehaves(&mut script, &nvme(0b10, 0, 0), &options), DriveFault::SampleSurvived(0));
}

#[test]
fn a_format_that_changes_the_blocks_is_an_error() {
    let mut script = Script::new(CAPACITY).nvme(0x80, 1, 0x201, Answer::Ok).nvme(
        0x06,
        1,
        0,
        Answer::Bytes(identify_namespace(0)),
    );
    let changed = DriveFault::NamespaceChanged { was: (2048, 1), is: (2048, 0) };
    assert_eq!(misbehaves(&mut script, &nvme(0b10, 0, 0), &PurgeOptions::default()), changed);
}

#[test]
fn a_drive_that_came_into_use_is_not_formatted() {
    for look in [0, 1] {
        let mut script = Script::new(CAPACITY).in_use_at(look);
        let error = purge(&mut script, &nvme(0b10, 0, 0), &PurgeOptions::default()).0.expect_err("a refusal");
        assert!(matches!(error, AdminError::Recheck(_)));
        assert!(script.memory.iter().all(|&byte| byte == 0x5a));
    }
}

// NVMe Sanitize: opcode 84h; its log is 81h, with 128 dwords (zero-based).

const SANITIZE_LOG: u32 = 127 << 16 | 0x81;

fn sanitize_log(state: u8, progress: u16, cdw10: u32) -> Answer {
    let mut bytes = vec![0; LOG_BYTES];
    bytes[..2].copy_from_slice(&progress.to_le_bytes());
    bytes[2] = state;
    bytes[4..8].copy_from_slice(&cdw10.to_le_bytes());
    Answer::Bytes(bytes)
}

fn ask_log(script: Script, answer: Answer) -> Script {
    script.nvme(0x02, 0xffff_ffff, SANITIZE_LOG, answer)
}

/// Returns a sanitize operation that takes two polls and ends with `last`.
fn sanitizing(cdw10: u32, last: Answer) -> Script {
    let script =
        ask_log(Script::new(CAPACITY), sanitize_log(0, 0, 0)).nvme(0x84, 0, cdw10, Answer::Ok).erasing();
    let script = ask_log(script, sanitize_log(2, 0x4000, cdw10));
    let script = ask_log(script, sanitize_log(2, 0xc000, cdw10));
    let script = ask_log(script, sanitize_log(1, 0, cdw10));
    ask_log(script, last)
}

/// Requests a stop at the first progress report and returns the error.
fn stopped(script: &mut Script, can: &Capabilities, name: &str) -> AdminError {
    let error = perform(script, can, &by(name), &mut |purging| match purging {
        Purging::Step(_) | Purging::Expected(_) => Flow::Continue,
        Purging::ShareDone(_) | Purging::Waiting => Flow::Stop,
    });
    error.expect_err("it was stopped")
}

#[test]
fn an_interrupted_wait_reports_what_the_drive_continues() {
    let mut script =
        ask_log(Script::new(CAPACITY), sanitize_log(0, 0, 0)).nvme(0x84, 0, 4, Answer::Ok).erasing();
    script = ask_log(script, sanitize_log(2, 0x4000, 4));
    let error = stopped(&mut script, &nvme(0, 0, 0b111), "nvme-sanitize-crypto");
    // No further command is sent to the drive.
    script.finish();
    assert!(matches!(error, AdminError::StoppedWaiting(Step::Sanitize)), "{error:?}");

    let can = Capabilities { capacity_bytes: 2 * CAPACITY as u64, ..capabilities(Protocol::Plain) };
    let mut script = Script::new(2 * CAPACITY);
    script.memory.fill(7);
    let error = stopped(&mut script, &can, "overwrite");
    assert!(matches!(error, AdminError::StoppedWriting { bytes: 1_048_576, all: 2_097_152 }), "{error:?}");
    assert_eq!((script.memory[CAPACITY - 1], script.memory[CAPACITY]), (0, 7));
}

#[test]
fn nvme_sanitize_runs_until_its_log_says_success() {
    let actions = [
        ("nvme-sanitize-block", 2, true),
        ("nvme-sanitize-crypto", 4, true),
        ("nvme-sanitize-overwrite", 0x13, false),
    ];
    for (name, cdw10, is_pts) in actions {
        let mut script = sanitizing(cdw10, sanitize_log(1, 0, cdw10));
        let (purged, shares) = purge(&mut script, &nvme(0, 0, 0b111), &by(name));
        let purged = purged.expect("a purge");
        assert_eq!((purged.pts_purge, shares), (is_pts, vec![0.25, 0.75]), "{name}");
        assert_eq!(purged.end_ns - purged.start_ns, 2_000_000_000, "two polls");
    }
}

#[test]
fn a_sanitize_operation_that_fails_or_never_began_is_an_error() {
    let begun = || ask_log(Script::new(CAPACITY), sanitize_log(1, 0, 4)).nvme(0x84, 0, 4, Answer::Ok);
    let can = nvme(0, 0, 0b1);
    let any = PurgeOptions::default();
    let mut failed = ask_log(begun(), sanitize_log(3, 0, 4));
    assert_eq!(misbehaves(&mut failed, &can, &any), DriveFault::SanitizeFailed);
    let mut never = ask_log(begun(), sanitize_log(0, 0, 4));
    assert_eq!(misbehaves(&mut never, &can, &any), DriveFault::NoSanitize(SanitizeState::Never));
    // An earlier sanitize operation of a different type succeeded.
    let mut stale = ask_log(ask_log(begun(), sanitize_log(1, 0, 2)), sanitize_log(1, 0, 2));
    let other = DriveFault::OtherSanitize { found: 2, requested: 4 };
    assert_eq!(misbehaves(&mut stale, &can, &any), other);
    let mut refused =
        ask_log(Script::new(CAPACITY), sanitize_log(0, 0, 0)).nvme(0x84, 0, 4, Answer::Nvme(0x4001));
    let failed = fails(&mut refused, &can, &any);
    assert!(matches!(failed, (Step::Sanitize, Fault::Nvme(0x4001))), "{failed:?}");
    let mut busy = ask_log(Script::new(CAPACITY), sanitize_log(2, 0, 4));
    assert_eq!(misbehaves(&mut busy, &can, &any), DriveFault::SanitizeRunning);
}

#[test]
fn a_sanitize_operation_that_never_ends_is_abandoned() {
    let mut script = ask_log(Script::new(CAPACITY), sanitize_log(0, 0, 0)).nvme(0x84, 0, 4, Answer::Ok);
    for _ in 0..=POLL_AT_MOST.as_secs() + 1 {
        script = ask_log(script, sanitize_log(2, 9, 4));
    }
    let hangs = DriveFault::Hangs { step: Step::Sanitize, hours: 48 };
    assert_eq!(misbehaves(&mut script, &nvme(0, 0, 0b1), &PurgeOptions::default()), hangs);
}

// Devices without purge commands.

#[test]
fn discarding_zeroing_and_overwriting_empty_the_device_but_are_not_pts_purges() {
    let can = Capabilities { write_zeroes: true, ..capabilities(Protocol::Plain) };
    for name in ["discard", "write-zeroes", "overwrite"] {
        let script = Script::new(CAPACITY);
        let mut script = if name == "discard" { script.discard(Answer::Ok).erasing() } else { script };
        let options = PurgeOptions { verify: true, ..by(name) };
        let purged = purge(&mut script, &can, &options).0.expect("a purge");
        assert!(!purged.pts_purge && purged.method.ends_with("(not a PTS purge)"));
        assert!(script.memory.iter().all(|&byte| byte == 0));
    }
    let mut refused = Script::new(CAPACITY).discard(Answer::Errno(libc::EOPNOTSUPP));
    let failed = fails(&mut refused, &can, &by("discard"));
    assert!(matches!(failed, (Step::Discard, Fault::Kernel(_))), "{failed:?}");
}
