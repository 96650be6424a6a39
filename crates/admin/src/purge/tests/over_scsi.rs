//! The methods for SATA and SAS drives, command by command.

use std::time::Duration;

use super::*;
use crate::command::script::{registers, sense};

// ATA: every command is ATA PASS-THROUGH (16), 85h, with the ATA command in byte 14.

fn pass(command: u8, transfer: (u8, u8), count: u8) -> [u8; 16] {
    [0x85, transfer.0, transfer.1, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, 0x40, command, 0]
}

const NONE: (u8, u8) = (6, 0x20);
const IN: (u8, u8) = (8, 0x2e);
const OUT: (u8, u8) = (10, 0x26);

fn ask_security(script: Script, word_128: u16) -> Script {
    script.scsi(&pass(0xec, IN, 1), Answer::Bytes(identify_device(0, word_128)))
}

fn password(script: Script, command: u8, control: u8, answer: Answer) -> Script {
    script.scsi(&pass(command, OUT, 1), answer).with(&[&[control, 0][..], b"PLATEAU"].concat())
}

fn aborted() -> Answer {
    Answer::Scsi(2, registers(0x51, 0x04, 0, 0))
}

#[test]
fn ata_security_erase_sets_a_password_and_verifies_its_removal() {
    for (name, control) in [("ata-security-erase", 0), ("ata-security-erase-enhanced", 2)] {
        let script = ask_security(Script::new(CAPACITY), SECURE | 0x20);
        let script = ask_security(password(script, 0xf1, 0, Answer::Ok), SECURE | 0x20 | ENABLED);
        let script = script.scsi(&pass(0xf3, NONE, 0), Answer::Ok);
        let mut script = ask_security(password(script, 0xf4, control, Answer::Ok).erasing(), SECURE | 0x20);
        let options = PurgeOptions { verify: true, ..by(name) };
        let purged = purge(&mut script, &ata(0, SECURE | 0x20), &options).0.expect("a purge");
        assert!(purged.pts_purge && purged.evidence[0] == record::PurgeEvidence::PasswordRemoved);
        assert_eq!(script.rechecks.len(), 4, "once before the password and once before the erase");
    }
}

#[test]
fn an_ata_erase_passes_on_the_drives_estimate() {
    let script = ask_security(Script::new(CAPACITY), SECURE);
    let script = ask_security(password(script, 0xf1, 0, Answer::Ok), SECURE | ENABLED);
    let script = script.scsi(&pass(0xf3, NONE, 0), Answer::Ok);
    let mut script = ask_security(password(script, 0xf4, 0, Answer::Ok).erasing(), SECURE);
    let mut can = ata(0, SECURE);
    let Protocol::Ata(drive) = &mut can.protocol else { panic!("not an ATA drive") };
    drive.security.erase_time = Some(Duration::from_secs(240));
    let mut expected = Vec::new();
    let purged = perform(&mut script, &can, &PurgeOptions::default(), &mut |purging| {
        if let Purging::Expected(length) = purging {
            expected.push(length);
        }
        Flow::Continue
    });
    purged.expect("a purge");
    script.finish();
    assert_eq!(expected, [Duration::from_secs(240)]);
}

#[test]
fn the_password_of_an_interrupted_purge_is_removed() {
    let script = password(Script::new(CAPACITY), 0xf2, 0, Answer::Ok);
    let mut script = password(script, 0xf6, 0, Answer::Ok);
    super::super::unlock(&mut script).expect("an unlocked drive");
    script.finish();
    let mut script = password(Script::new(CAPACITY), 0xf2, 0, aborted());
    let fault = super::super::unlock(&mut script).expect_err("another password");
    assert!(matches!(fault, Fault::Ata(_)), "{fault:?}");
    script.finish();
}

#[test]
fn an_ata_erase_that_is_aborted_is_an_error_of_that_command() {
    let script = ask_security(Script::new(CAPACITY), SECURE);
    let script = ask_security(password(script, 0xf1, 0, Answer::Ok), SECURE | ENABLED);
    let script = script.scsi(&pass(0xf3, NONE, 0), Answer::Ok);
    let mut script = password(script, 0xf4, 0, aborted());
    let failed = fails(&mut script, &ata(0, SECURE), &PurgeOptions::default());
    assert!(matches!(failed, (Step::SecurityErase, Fault::Ata(_))), "{failed:?}");
}

#[test]
fn an_ata_erase_that_does_nothing_is_detected_by_its_password() {
    // An emulator or a faulty adapter accepts the password but does not set it.
    let script = ask_security(Script::new(CAPACITY), SECURE);
    let mut script = ask_security(password(script, 0xf1, 0, Answer::Ok), SECURE);
    let any = PurgeOptions::default();
    assert_eq!(misbehaves(&mut script, &ata(0, SECURE), &any), DriveFault::PasswordNotSet);
    // The erase reports success but does not remove the password.
    let script = ask_security(Script::new(CAPACITY), SECURE);
    let script = ask_security(password(script, 0xf1, 0, Answer::Ok), SECURE | ENABLED);
    let script = password(script.scsi(&pass(0xf3, NONE, 0), Answer::Ok), 0xf4, 0, Answer::Ok);
    let mut script = ask_security(script, SECURE | ENABLED);
    assert_eq!(misbehaves(&mut script, &ata(0, SECURE), &any), DriveFault::PasswordLeft);
    // The response contains no registers, which hdparm treats as success.
    let script = ask_security(Script::new(CAPACITY), SECURE);
    let mut script = password(script, 0xf1, 0, Answer::Scsi(0, Vec::new()));
    let failed = fails(&mut script, &ata(0, SECURE), &any);
    assert!(matches!(failed, (Step::SecuritySetPassword, Fault::NoRegisters)), "{failed:?}");
}

#[test]
fn a_left_over_password_of_plateau_is_used() {
    let can = ata(0, SECURE | ENABLED);
    let options = by("ata-security-erase");
    let script = ask_security(Script::new(CAPACITY), SECURE | ENABLED | LOCKED);
    let script = password(script, 0xf2, 0, Answer::Ok).scsi(&pass(0xf3, NONE, 0), Answer::Ok);
    let mut script = ask_security(password(script, 0xf4, 0, Answer::Ok), SECURE);
    purge(&mut script, &can, &options).0.expect("a purge");
    // Not Plateau's password.
    let script = ask_security(Script::new(CAPACITY), SECURE | ENABLED | LOCKED);
    let mut script = password(script, 0xf2, 0, aborted());
    assert_eq!(fails(&mut script, &can, &options).0, Step::SecurityUnlock);
    // The security settings were frozen after the inspection.
    let mut script = ask_security(Script::new(CAPACITY), SECURE | FROZEN);
    let frozen = DriveFault::CannotErase(WhyNot::Frozen);
    assert_eq!(misbehaves(&mut script, &ata(0, SECURE), &PurgeOptions::default()), frozen);
}

fn sanitize_pass(feature: u8, count: u8, lba: [u8; 6]) -> [u8; 16] {
    let [b0, b1, b2, b3, b4, b5] = lba;
    [0x85, 7, 0x20, 0, feature, 0, count, b3, b0, b4, b1, b5, b2, 0x40, 0xb4, 0]
}

fn sanitize_status(script: Script, count: u16, lba: u64) -> Script {
    script.scsi(&sanitize_pass(0, 0, [0; 6]), Answer::Scsi(2, registers(0x50, 0, count, lba)))
}

#[test]
fn ata_sanitize_runs_until_its_status_reports_completion() {
    let actions = [
        ("ata-sanitize-block", sanitize_pass(0x12, 0, [0x72, 0x45, 0x6b, 0x42, 0, 0])),
        ("ata-sanitize-crypto", sanitize_pass(0x11, 0, [0x70, 0x79, 0x72, 0x43, 0, 0])),
        ("ata-sanitize-overwrite", sanitize_pass(0x14, 1, [0, 0, 0, 0, 0x57, 0x4f])),
    ];
    for (name, command) in actions {
        let script = sanitize_status(Script::new(CAPACITY), 0, 0).scsi(&command, Answer::Ok).erasing();
        let mut script = sanitize_status(sanitize_status(script, 1 << 14, 0x8000), 1 << 15, 0);
        let (purged, shares) = purge(&mut script, &ata(0xf000, 0), &by(name));
        assert_eq!(purged.expect("a purge").pts_purge, name != "ata-sanitize-overwrite");
        assert_eq!(shares, [0.5]);
    }
}

#[test]
fn an_ata_sanitize_that_is_frozen_refused_or_fails_is_an_error() {
    let (can, any) = (ata(0xf000, 0), PurgeOptions::default());
    let mut frozen = sanitize_status(Script::new(CAPACITY), 1 << 13, 0);
    assert_eq!(misbehaves(&mut frozen, &can, &any), DriveFault::SanitizeFrozen);
    let mut running = sanitize_status(Script::new(CAPACITY), 1 << 14, 0);
    assert_eq!(misbehaves(&mut running, &can, &any), DriveFault::SanitizeRunning);
    let begun = |answer| {
        let block_erase = sanitize_pass(0x12, 0, [0x72, 0x45, 0x6b, 0x42, 0, 0]);
        sanitize_status(Script::new(CAPACITY), 0, 0).scsi(&block_erase, answer)
    };
    let failed = fails(&mut begun(aborted()), &can, &any);
    assert!(matches!(failed, (Step::AtaSanitize, Fault::Ata(_))), "{failed:?}");
    let mut ended = sanitize_status(begun(Answer::Ok), 0, 0);
    assert_eq!(misbehaves(&mut ended, &can, &any), DriveFault::AtaSanitizeFailed);
}

// SCSI: FORMAT UNIT 04h, SANITIZE 48h, then TEST UNIT READY 00h.

const READY: [u8; 6] = [0; 6];
const REQUEST_SENSE: [u8; 6] = [0x03, 0, 0, 0, PAGE_BYTES as u8, 0];

fn check(key: u8, code: (u8, u8), progress: Option<u16>) -> Answer {
    Answer::Scsi(2, sense(key, code, progress))
}

#[test]
fn scsi_format_and_sanitize_run_until_the_drive_is_ready() {
    let overwrite = [1, 0, 0, 4, 0, 0, 0, 0];
    let commands: [(&str, &[u8], &[u8]); 4] = [
        ("scsi-format-unit", &[0x04, 0x10, 0, 0, 0, 0], &[0, 2]),
        ("scsi-sanitize-block", &[0x48, 0x82, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
        ("scsi-sanitize-crypto", &[0x48, 0x83, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
        ("scsi-sanitize-overwrite", &[0x48, 0x81, 0, 0, 0, 0, 0, 0, 8, 0], &overwrite),
    ];
    for (name, command, list) in commands {
        let running = if command[0] == 4 { (4, 4) } else { (4, 0x1b) };
        let mut script = Script::new(CAPACITY)
            // An earlier reset, reported once.
            .scsi(command, check(6, (0x29, 0), None))
            .scsi(command, Answer::Ok)
            .with(list)
            .erasing()
            .scsi(&READY, check(2, running, Some(0x4000)))
            // If the response contains no progress, REQUEST SENSE is sent.
            .scsi(&READY, check(2, running, None))
            .scsi(&REQUEST_SENSE, Answer::Bytes(sense(2, running, Some(0x8000))))
            .scsi(&READY, check(2, running, None))
            .scsi(&REQUEST_SENSE, Answer::Bytes(sense(0, (0, 0), None)))
            .scsi(&READY, check(2, running, None))
            .scsi(&REQUEST_SENSE, check(5, (0x20, 0), None))
            .scsi(&READY, check(6, (0x28, 0), None))
            .scsi(&READY, Answer::Ok);
        let options = PurgeOptions { verify: true, ..by(name) };
        let (purged, shares) = purge(&mut script, &scsi(Some(true), Some(true)), &options);
        assert_eq!(purged.expect("a purge").pts_purge, name != "scsi-sanitize-overwrite");
        assert_eq!(shares, [0.25, 0.5]);
    }
}

#[test]
fn a_scsi_purge_that_fails_is_an_error() {
    let (can, any) = (scsi(Some(true), None), PurgeOptions::default());
    let format = [0x04, 0x10, 0, 0, 0, 0];
    let mut unknown = Script::new(CAPACITY).scsi(&format, check(5, (0x20, 0), None));
    let (step, fault) = fails(&mut unknown, &can, &any);
    assert_eq!(step, Step::FormatUnit);
    assert!(matches!(fault, Fault::Scsi(2, Some(sense)) if sense.code == (0x20, 0)), "{fault:?}");
    let mut failed = Script::new(CAPACITY).scsi(&format, Answer::Ok).scsi(&READY, check(3, (0x31, 1), None));
    let fault = misbehaves(&mut failed, &can, &any);
    assert!(matches!(fault, DriveFault::ScsiFailed(sense) if sense.code == (0x31, 1)), "{fault:?}");
    let mut busy = Script::new(CAPACITY).scsi(&format, Answer::Scsi(0x18, Vec::new()));
    assert!(matches!(fails(&mut busy, &can, &any), (Step::FormatUnit, Fault::Scsi(0x18, None))));
    let mut gone = Script::new(CAPACITY).scsi(&format, Answer::Errno(libc::ENODEV));
    assert!(matches!(fails(&mut gone, &can, &any), (Step::FormatUnit, Fault::Kernel(_))));
}
