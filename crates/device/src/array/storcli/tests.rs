//! Tests each sequence of commands as a script: checks the order of the queries, supplies the responses, and
//! verifies that no step remains unused.

use std::path::PathBuf;

use super::program::{PERCCLI, add_words};
use super::*;
use crate::array::description as descriptions;
use crate::array::hardware::{self, Program};
use crate::array::members::{look_on_controller, raid_refusals};
use crate::array::script::Script;
use crate::array::spec::Spec;
use crate::error::ErrorKind;
use crate::error::array::ControllerFailure;
use crate::error::target::TargetError;
use crate::refusal::Refusal;

mod erase;
mod programs;

const UUID: &str = "0a1b2c3d:00000000:11111111:22222222";
const NAME: &str = "pl0a1b2c3d00000";
const NAA: &str = "600605b010e943702a3372c04d3ad143";
const SLOTS: [&str; 3] = ["252:0", "252:1", "252:2"];
const SHOW_VOLUMES: &str = "storcli64 /c0/vall show all J nolog";

fn description(more: &str) -> Spec {
    let members = [0, 1, 2].map(|i| format!("{{ slot = \"252:{i}\", serial = \"S{i}\" }}")).join(", ");
    let text = format!("controller = \"storcli\"\nlevel = 5\nstrip_kib = 64\n{more}\nmembers = [{members}]");
    descriptions::parse("array:a.toml", &text).expect("a description")
}

fn plan(more: &str) -> ArrayPlan {
    let spec = description(more);
    ArrayPlan {
        level: spec.level,
        chunk_kib: spec.chunk_kib,
        bitmap: false,
        name: hardware::volume_name(UUID),
        uuid: UUID.into(),
        members: spec.members.iter().map(PathBuf::from).collect(),
        component_kib: None,
        hardware: spec.hardware,
    }
}

fn with<T>(script: Script, act: impl FnOnce(&mut StorCli<Script>) -> T) -> T {
    let mut controller = StorCli::new(script, Program::StorCli, 0);
    let result = act(&mut controller);
    controller.outside.over();
    result
}

fn answer(description: &str, data: &str) -> String {
    format!(
        "{{\"Controllers\":[{{\"Command Status\":{{\"Controller\":0,\"Status\":\"Success\",\
         \"Description\":\"{description}\"}},\"Response Data\":{{{data}}}}}]}}"
    )
}

fn failure(description: &str, message: &str) -> String {
    format!(
        "{{\"Controllers\":[{{\"Command Status\":{{\"Controller\":0,\"Status\":\"Failure\",\
         \"Description\":\"{description}\",\"Detailed Status\":[{{\"VD\":1,\"Status\":\"Failed\",\"ErrCd\":255,\
         \"ErrMsg\":\"{message}\"}}]}}}}]}}"
    )
}

/// Returns the response for the drive in slot `i`, whose serial number is `S<i>`.
fn drive(i: usize) -> String {
    include_str!("../../../../admin/src/storcli/answers/drive.json")
        .replace("/c0/e252/s0", &format!("/c0/e252/s{i}"))
        .replace("252:0", &format!("252:{i}"))
        .replace("14070C01XXXX        ", &format!("   S{i}  "))
}

fn volume(number: u32, name: &str, state: &str, naa: &str, drives: &[(&str, &str)]) -> String {
    let drives: Vec<String> = drives
        .iter()
        .map(|(slot, state)| format!("{{\"EID:Slt\":\"{slot}\",\"State\":\"{state}\"}}"))
        .collect();
    format!(
        "\"/c0/v{number}\":[{{\"DG/VD\":\"{number}/{number}\",\"TYPE\":\"RAID5\",\"State\":\"{state}\",\
         \"Cache\":\"NRWTD\",\"Size\":\"222.562 GB\",\"Name\":\"{name}\"}}],\
         \"PDs for VD {number}\":[{}],\"VD{number} Properties\":{{\"SCSI NAA Id\":\"{naa}\"}}",
        drives.join(",")
    )
}

const OTHERS_NAA: &str = "600605b010e943702a3372bf4d29f6a7";

/// Returns a volume that Plateau did not create.
fn others() -> String {
    volume(0, "system", "Optl", OTHERS_NAA, &[("252:6", "Onln"), ("252:7", "Onln")])
}

fn own() -> String {
    volume(1, NAME, "Optl", NAA, &SLOTS.map(|slot| (slot, "Onln")))
}

fn volumes(all: &[String]) -> String {
    answer("None", &all.join(","))
}

fn idle() -> &'static str {
    include_str!("../../../../admin/src/storcli/answers/init_idle.json")
}

const ADD: &str = "storcli64 /c0 add vd r5 name=pl0a1b2c3d00000 drives=252:0,252:1,252:2 pdcache=default wt nora \
                   direct strip=64 J nolog";

/// Expects the check of each member right before the volume is created.
fn looked(mut script: Script) -> Script {
    for i in 0..3 {
        script = script.answers(&format!("storcli64 /c0/e252/s{i} show all J nolog"), &drive(i));
    }
    script
}

fn with_block_device(mut script: Script, name: &str, naa: &str) -> Script {
    script.devices.push(name.into());
    script.with(&format!("{name}/device/wwid"), &format!("naa.{naa}"))
}

#[test]
fn a_volume_is_created_and_its_block_device_found_by_its_name_alone() {
    let script = looked(Script::default())
        .answers(SHOW_VOLUMES, &volumes(&[others()]))
        .answers(ADD, include_str!("../../../../admin/src/storcli/answers/added.json"))
        .answers(SHOW_VOLUMES, &volumes(&[others(), own()]))
        .answers(SHOW_VOLUMES, &volumes(&[others(), own()]));
    let script = with_block_device(with_block_device(script, "sda", OTHERS_NAA), "sdb", NAA);
    assert_eq!(with(script, |controller| controller.create(&plan(""))).ok(), Some(PathBuf::from("/dev/sdb")));
}

#[test]
fn policies_levels_and_strips_are_words_of_the_command() {
    let words = |more: &str| {
        let plan = plan(more);
        add_words(&plan, plan.hardware.as_ref().expect("hardware")).join(" ")
    };
    let head = format!("/c0 add vd r5 name={NAME} drives=252:0,252:1,252:2");
    assert_eq!(words(""), format!("{head} pdcache=default wt nora direct strip=64"));
    let options = "write = \"back\"\nread_ahead = true\ncached = true\ndrive_cache = \"off\"";
    assert_eq!(words(options), format!("{head} pdcache=off wb ra cached strip=64"));
    let options = "write = \"always-back\"\ndrive_cache = \"on\"";
    assert_eq!(words(options), format!("{head} pdcache=on awb nora direct strip=64"));
    let ten = ArrayPlan { level: 10, ..plan("") };
    let words = add_words(&ten, ten.hardware.as_ref().expect("hardware")).join(" ");
    assert!(words.contains(" r10 ") && words.contains(" pdperarray=2 "), "{words}");
}

#[test]
fn a_member_that_came_into_use_stops_it_before_anything_is_created() {
    for (part, other, reason) in [
        ("UGood", "Onln", "part of a volume"),
        ("UGood", "GHS", "a global hot spare"),
        ("UGood", "DHS", "a dedicated hot spare"),
        ("UGood", "JBOD", "passed through"),
        ("UGood", "UBad", "bad"),
        ("UGood", "Sntze", "in the state Sntze"),
        ("\"DG\": \"-\"", "\"DG\": \"F\"", "foreign"),
        ("\"DG\": \"-\"", "\"DG\": 3", "drive group 3"),
        ("\"Locked\": \"No\"", "\"Locked\": \"Yes\"", "locked"),
        ("\"Emergency Spare\": \"No\"", "\"Emergency Spare\": \"Yes\"", "a spare"),
    ] {
        let text = drive(0).replace(part, other);
        assert_ne!(text, drive(0), "{part}");
        let script = Script::default().answers("storcli64 /c0/e252/s0 show all J nolog", &text);
        let error = with(script, |controller| controller.create(&plan(""))).expect_err(reason);
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

fn of_array(error: DriveError) -> ArrayError {
    match error {
        DriveError::Array(error) => *error,
        other => panic!("{other:?}"),
    }
}

fn of_volume(error: DriveError) -> VolumeError {
    match of_array(error) {
        ArrayError::Volume(error) => error,
        other => panic!("{other:?}"),
    }
}

fn of_command(error: DriveError) -> ControllerFailure {
    match of_array(error) {
        ArrayError::Command(failure) => *failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_drive_in_the_slot_stops_it() {
    let script =
        Script::default().answers("storcli64 /c0/e252/s0 show all J nolog", &drive(0).replace("S0", "X9"));
    let error = with(script, |controller| controller.create(&plan(""))).expect_err("another drive");
    let other = |error| match of_array(error) {
        ArrayError::OtherDrive { address, found, serial } => (address, found, serial),
        other => panic!("{other:?}"),
    };
    assert_eq!(other(error), ("/c0/e252/s0".into(), Some("X9".into()), "S0".into()));
    let nameless = drive(0).replace("   S0  ", "");
    let script = Script::default().answers("storcli64 /c0/e252/s0 show all J nolog", &nameless);
    let error = with(script, |controller| controller.create(&plan(""))).expect_err("no name");
    assert_eq!(other(error).1, None);
}

#[test]
fn a_failed_command_keeps_what_was_reported_and_its_cause() {
    let script = looked(Script::default())
        .answers(SHOW_VOLUMES, include_str!("../../../../admin/src/storcli/answers/no_volumes.json"))
        .answers(ADD, &failure("physical disk does not have appropriate attributes", "-"));
    let error = with(script, |controller| controller.create(&plan(""))).expect_err("no volume");
    assert_eq!(error.kind(), ErrorKind::Device);
    let failed = of_command(error);
    assert_eq!((failed.step, failed.adapter, failed.program), (ControllerStep::Create, 0, "storcli64"));
    assert!(failed.arguments.starts_with("/c0 add vd r5"), "{}", failed.arguments);
    assert!(failed.reported.contains("appropriate attributes"), "{}", failed.reported);
    assert!(failed.cause.is_some_and(|cause| cause.contains("spun down")), "{:?}", failed.cause);
}

#[test]
fn a_changed_volume_is_reported() {
    let changed = others().replace("252:7", "252:5");
    let script = looked(Script::default())
        .answers(SHOW_VOLUMES, &volumes(&[others()]))
        .answers(ADD, include_str!("../../../../admin/src/storcli/answers/added.json"))
        .answers(SHOW_VOLUMES, &volumes(&[changed.clone(), own()]))
        .answers(SHOW_VOLUMES, &volumes(&[changed, own()]));
    let error = with(script, |controller| controller.create(&plan(""))).expect_err("changed");
    let changed = of_volume(error);
    assert!(matches!(changed, VolumeError::OtherChanged { number: 0, .. }), "{changed:?}");
}

#[test]
fn volumes_that_differ_from_the_plan_are_not_used() {
    let slots = |third: &str| ["252:0", "252:1", third].map(str::to_owned).to_vec();
    let name = || NAME.to_owned();
    let planned = hardware_of(&plan("")).expect("a controller").words();
    for (part, other, expected) in [
        (
            "252:2",
            "252:3",
            VolumeError::Drives { name: name(), found: slots("252:3"), planned: slots("252:2") },
        ),
        ("RAID5", "RAID0", VolumeError::Level { name: name(), found: "RAID0".into(), planned: 5 }),
        ("NRWTD", "NRWBD", VolumeError::Cache { name: name(), found: "NRWBD".into(), planned }),
    ] {
        let made = own().replace(part, other);
        let script = looked(Script::default())
            .answers(SHOW_VOLUMES, include_str!("../../../../admin/src/storcli/answers/no_volumes.json"))
            .answers(ADD, include_str!("../../../../admin/src/storcli/answers/added.json"))
            .answers(SHOW_VOLUMES, &volumes(std::slice::from_ref(&made)))
            .answers(SHOW_VOLUMES, &volumes(&[made]));
        let error = with(script, |controller| controller.create(&plan(""))).expect_err("another volume");
        assert_eq!(of_volume(error), expected);
    }
}

#[test]
fn a_volume_without_a_block_device_is_awaited_and_reported() {
    let created = |script: Script| {
        looked(script)
            .answers(SHOW_VOLUMES, include_str!("../../../../admin/src/storcli/answers/no_volumes.json"))
            .answers(ADD, include_str!("../../../../admin/src/storcli/answers/added.json"))
            .answers(SHOW_VOLUMES, &volumes(&[own()]))
            .answers(SHOW_VOLUMES, &volumes(&[own()]))
    };
    let script = with_block_device(created(Script::default()), "sda", OTHERS_NAA);
    let mut controller = StorCli::new(script, Program::StorCli, 0);
    let error = controller.create(&plan("")).expect_err("no block device");
    assert_eq!(of_volume(error), VolumeError::NotAppeared { name: NAME.into(), naa: NAA.into() });
    assert_eq!(controller.outside.pauses, 99);
    controller.outside.over();
    let twice = with_block_device(with_block_device(created(Script::default()), "sdb", NAA), "sdc", NAA);
    let error = with(twice, |controller| controller.create(&plan(""))).expect_err("two paths");
    let several = of_volume(error);
    assert!(
        matches!(&several, VolumeError::SeveralPaths { devices, .. } if devices[..] == ["sdb", "sdc"]),
        "{several:?}"
    );
}

#[test]
fn only_the_block_device_with_its_world_wide_name_is_used() {
    let found = |node: &str, wwid: Option<&str>| Found {
        node: node.into(),
        lower: Vec::new(),
        wwid: wwid.map(str::to_owned),
    };
    let recognise = |all: &[String], found: &Found| {
        let script = Script::default().answers(SHOW_VOLUMES, &volumes(all));
        with(script, |controller| controller.recognise(&plan(""), found))
    };
    let name = format!("naa.{NAA}");
    assert_eq!(recognise(&[others(), own()], &found("/dev/sdb", Some(&name))).ok(), Some(()));
    for wwid in [None, Some(OTHERS_NAA), Some("naa."), Some("eui.600605b010e943702a3372c04d3ad143")] {
        let error = recognise(&[own()], &found("/dev/sdb", wwid)).expect_err("another device");
        let other = of_volume(error);
        assert!(matches!(&other, VolumeError::OtherDevice { wwid: found, .. } if found.as_deref() == wwid));
    }
    recognise(&[others()], &found("/dev/sdb", Some(&name))).expect_err("it is gone");
    let said = own().replace("\"SCSI NAA Id\"", "\"OS Drive Name\":\"/dev/sdx\",\"SCSI NAA Id\"");
    let error = recognise(&[said], &found("/dev/sdb", Some(&name))).expect_err("two nodes");
    let elsewhere = of_volume(error);
    assert!(
        matches!(&elsewhere, VolumeError::ReportedElsewhere { reported, .. } if reported == "/dev/sdx"),
        "{elsewhere:?}"
    );
}

const SHOW_INIT: &str = "storcli64 /c0/v1 show init J nolog";
const SHOW_BGI: &str = "storcli64 /c0/v1 show bgi J nolog";

#[test]
fn its_state_is_that_of_the_volume_and_each_of_its_drives() {
    let idle_volume = |all: &[String]| {
        Script::default()
            .answers(SHOW_VOLUMES, &volumes(all))
            .answers(SHOW_INIT, idle())
            .answers(SHOW_BGI, idle())
    };
    let state = |script: Script| with(script, |controller| controller.state(&plan(""))).expect("a state");
    assert_eq!(state(idle_volume(&[others(), own()])), State::Whole);
    let shown = || Script::default().answers(SHOW_VOLUMES, &volumes(&[own()]));
    let running = include_str!("../../../../admin/src/storcli/answers/init_runs.json");
    assert_eq!(state(shown().answers(SHOW_INIT, running)), State::Syncing("initialisation".into(), 0.25));
    assert_eq!(
        state(shown().answers(SHOW_INIT, idle()).answers(SHOW_BGI, running)),
        State::Syncing("background initialisation".into(), 0.25)
    );
    let reported = |state: &str| Defect::VolumeState(state.into());
    let rebuilt = Defect::DriveState { slot: "252:0".into(), state: "Rbld: being rebuilt".into() };
    for (text, defect) in [
        (own().replace("Optl", "Dgrd"), reported("Dgrd: degraded")),
        (own().replace("Optl", "Pdgd"), reported("Pdgd: partially degraded")),
        (own().replace("Optl", "OfLn"), reported("OfLn: offline")),
        (own().replacen("Onln", "Rbld", 1), rebuilt),
        (
            volume(1, NAME, "Optl", NAA, &[("252:0", "Onln"), ("252:1", "Onln")]),
            Defect::DrivesMissing { left: 2, all: 3 },
        ),
        (others(), Defect::VolumeGone),
    ] {
        let script = Script::default().answers(SHOW_VOLUMES, &volumes(&[text]));
        assert_eq!(state(script), State::Broken(defect));
    }
    let paused = idle().replace("Not in progress", "Paused");
    let defect = Defect::Operation { operation: "initialisation", status: "Paused".into() };
    assert_eq!(state(shown().answers(SHOW_INIT, &paused)), State::Broken(defect));
}

#[test]
fn only_redundant_levels_are_initialised() {
    let script = Script::default()
        .answers(SHOW_VOLUMES, &volumes(&[others(), own()]))
        .answers("storcli64 /c0/v1 start init full J nolog", &answer("Start INIT Operation Success", ""));
    assert_eq!(with(script, |controller| controller.begin(&plan(""))).ok(), Some(()));
    let striped = ArrayPlan { level: 0, ..plan("") };
    assert_eq!(with(Script::default(), |controller| controller.begin(&striped)).ok(), Some(()));
    let script = Script::default().answers(SHOW_VOLUMES, &volumes(&[own()])).answers(
        "storcli64 /c0/v1 start init full J nolog",
        &failure("None", "VD has OS/FS, use 'force' option"),
    );
    let error = with(script, |controller| controller.begin(&plan(""))).expect_err("a file system");
    let failed = of_command(error);
    assert_eq!(failed.step, ControllerStep::Initialise);
    assert!(failed.cause.is_some_and(|cause| cause.contains("does not force")), "{:?}", failed.cause);
}

#[test]
fn only_plateaus_volume_is_deleted_and_never_by_force() {
    let script = Script::default()
        .answers(SHOW_VOLUMES, &volumes(&[others(), own()]))
        .answers(SHOW_INIT, idle())
        .answers("storcli64 /c0/v1 del J nolog", &answer("Delete VD succeeded", ""))
        .answers(SHOW_VOLUMES, &volumes(&[others()]));
    assert_eq!(with(script, |controller| controller.stop(&plan(""))).ok(), Some(()));
    let gone = Script::default().answers(SHOW_VOLUMES, &volumes(&[others()]));
    assert_eq!(
        with(gone, |controller| controller.stop(&plan(""))).ok(),
        Some(()),
        "nothing is there to delete"
    );
}

#[test]
fn an_initialisation_is_stopped_before_its_volume_is_deleted() {
    let script = Script::default()
        .answers(SHOW_VOLUMES, &volumes(&[own()]))
        .answers(SHOW_INIT, include_str!("../../../../admin/src/storcli/answers/init_runs.json"))
        .answers("storcli64 /c0/v1 stop init J nolog", &answer("Stop INIT Operation Success", ""))
        .answers("storcli64 /c0/v1 del J nolog", &answer("Delete VD succeeded", ""))
        .answers(SHOW_VOLUMES, include_str!("../../../../admin/src/storcli/answers/no_volumes.json"));
    assert_eq!(with(script, |controller| controller.stop(&plan(""))).ok(), Some(()));
}

#[test]
fn doubtful_volumes_are_kept() {
    let strange = volume(1, NAME, "Optl", NAA, &[("252:0", "Onln"), ("252:9", "Onln")]);
    let script = Script::default().answers(SHOW_VOLUMES, &volumes(&[strange]));
    let error = with(script, |controller| controller.stop(&plan(""))).expect_err("another drive");
    let (name, slot) = (NAME.to_owned(), "252:9".to_owned());
    assert_eq!(of_volume(error), VolumeError::StrangeDrive { name, slot });
    let twin = own().replace("/c0/v1", "/c0/v2").replace("VD 1", "VD 2").replace("VD1", "VD2");
    let script = Script::default().answers(SHOW_VOLUMES, &volumes(&[own(), twin]));
    let error = with(script, |controller| controller.stop(&plan(""))).expect_err("two of one name");
    assert_eq!(of_volume(error), VolumeError::Two { name: NAME.into(), controller: "/c0".into() });
    let script = Script::default()
        .answers(SHOW_VOLUMES, &volumes(&[own()]))
        .answers(SHOW_INIT, idle())
        .answers("storcli64 /c0/v1 del J nolog", &failure("None", "VD has OS/FS, use 'force' option"));
    let error = with(script, |controller| controller.stop(&plan(""))).expect_err("a file system");
    let failed = of_command(error);
    assert_eq!(failed.step, ControllerStep::Delete { name: NAME.into(), path: "/c0/v1".into() });
    assert!(failed.reported.contains("VD has OS/FS"), "{}", failed.reported);
    let script = Script::default()
        .answers(SHOW_VOLUMES, &volumes(&[own()]))
        .answers(SHOW_INIT, idle())
        .answers("storcli64 /c0/v1 del J nolog", &answer("Delete VD succeeded", ""))
        .answers(SHOW_VOLUMES, &volumes(&[own()]));
    let error = with(script, |controller| controller.stop(&plan(""))).expect_err("it lied");
    assert_eq!(of_volume(error), VolumeError::NotDeleted(NAME.into()));
}

#[test]
fn a_member_is_free_when_it_is_there() {
    let member = NotedMember { path: "/c0/e252/s0".into(), identity: "S0".into(), capacity_bytes: 1 };
    let free = |text: &str| {
        let script = Script::default().answers("storcli64 /c0/e252/s0 show all J nolog", text);
        with(script, |controller| controller.free(&plan(""), &member))
    };
    assert_eq!(free(&drive(0)).ok(), Some(true));
    assert_eq!(free(&drive(0).replace("S0", "X")).ok(), Some(false), "another drive is there");
    assert_eq!(free(&failure("Show Drive Information Failed.", "drive not found")).ok(), Some(false));
    assert_eq!(
        free(&drive(0).replace("UGood", "UBad")).ok(),
        Some(true),
        "it failed, and is no longer a member"
    );
}

#[test]
fn an_array_is_described_by_what_its_controller_reports() {
    let spec = description("");
    let hardware = spec.hardware.clone().expect("hardware");
    let script = Script::default().answers(
        "storcli64 /c0 show J nolog",
        include_str!("../../../../admin/src/storcli/answers/controller.json"),
    );
    let facts = look_on_controller(looked(script), "array:a.toml", &spec, &hardware).expect("facts");
    let member = 0xde9_0000 * 512_u64;
    let strip = 64 * 1024;
    assert_eq!(facts.capacity_bytes, (member - member % strip) * 2);
    assert_eq!(facts.identity, "S0+S1+S2");
    assert_eq!(facts.vendor.as_deref(), Some("AVAGO MegaRAID SAS 9361-8i"));
    let array = facts.array.expect("an array");
    assert_eq!((array.controller.as_str(), array.members.len()), ("storcli", 3));
    assert_eq!(array.members[1].path, "/c0/e252/s1");
    assert!(array.words().contains("chunks of 64 KiB, write through, no read ahead"), "{}", array.words());
    let mixed = drive(1).replace("\"Logical Sector Size\": \"512B\"", "\"Logical Sector Size\": \"4 KB\"");
    let script = Script::default()
        .answers(
            "storcli64 /c0 show J nolog",
            include_str!("../../../../admin/src/storcli/answers/controller.json"),
        )
        .answers("storcli64 /c0/e252/s0 show all J nolog", &drive(0))
        .answers("storcli64 /c0/e252/s1 show all J nolog", &mixed);
    let error = look_on_controller(script, "array:a.toml", &spec, &hardware).expect_err("two kinds");
    let DriveError::Target { problem, .. } = error else { panic!("{error:?}") };
    assert!(matches!(problem, TargetError::DifferentSectors { before_bytes: 512, .. }), "{problem:?}");
}

#[test]
fn refusals_are_reported_for_each_member() {
    let spec = description("");
    let hardware = spec.hardware.clone().expect("hardware");
    let script = Script::default()
        .answers("storcli64 /c0/e252/s0 show all J nolog", &drive(0))
        .answers("storcli64 /c0/e252/s1 show all J nolog", &drive(1).replace("UGood", "GHS"))
        .answers("storcli64 /c0/e252/s2 show all J nolog", &drive(2).replace("S2", "S9"));
    let refusals = raid_refusals(script, &spec, &hardware);
    let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("/c0/e252/s1") && texts[0].contains("hot spare"), "{texts:?}");
    assert!(texts[1].contains("/c0/e252/s2") && texts[1].contains("S9"), "{texts:?}");
    assert!(refusals.iter().all(Refusal::protects_data));
}
