//! The responses have the format of published responses from StorCLI 1 and 7, with different numbers and names.

use super::*;

const DRIVE: &str = include_str!("answers/drive.json");
const VOLUMES: &str = include_str!("answers/volumes.json");

fn read(text: &str) -> Answer {
    Answer::read(text).expect("an answer")
}

#[test]
fn a_drive_is_reported_with_its_identity() {
    let drive = read(DRIVE).drive("/c0/e252/s0").expect("a drive");
    let expected = ControllerDrive {
        state: "UGood".into(),
        group: "-".into(),
        interface: Some("SATA".into()),
        rotational: Some(false),
        vendor: None,
        model: Some("VK0120GEFJE".into()),
        serial: Some("14070C01XXXX".into()),
        firmware: Some("HPG6".into()),
        capacity_bytes: 0xde9_0000 * 512,
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        locked: false,
        spare: false,
        crypto_erase: Some(false),
    };
    assert_eq!(drive, expected);
    assert_eq!(read(DRIVE).drive("/c0/e252/s1"), None, "another slot");
}

#[test]
fn a_drive_without_a_unique_description_is_rejected() {
    for (part, other) in [
        ("Sectors]", "]"),
        ("\"State\": \"UGood\"", "\"State\": null"),
        ("Device attributes", "attributes of the device"),
        ("0xde9", "0xffffffffffffff"),
    ] {
        assert_eq!(read(&DRIVE.replace(part, other)).drive("/c0/e252/s0"), None, "{part}");
    }
    let without = DRIVE.replace("14070C01XXXX        ", "   ");
    assert_eq!(read(&without).drive("/c0/e252/s0").expect("a drive").serial, None);
}

#[test]
fn volumes_come_with_their_drives_and_names() {
    let volumes = read(VOLUMES).volumes(0);
    let numbers: Vec<u32> = volumes.iter().map(|volume| volume.number).collect();
    assert_eq!(numbers, [0, 10]);
    let (first, second) = (&volumes[0], &volumes[1]);
    assert_eq!((first.level.as_str(), first.state.as_str(), first.cache.as_str()), ("RAID1", "Optl", "RWBD"));
    assert_eq!((first.name.as_str(), first.node.as_deref()), ("", Some("/dev/sda")));
    assert_eq!(first.naa.as_deref(), Some("600605b010e943702a3372bf4d29f6a7"));
    assert_eq!((second.name.as_str(), &second.node), ("scratch", &None));
    assert_eq!(second.naa.as_deref(), Some("600605b010e943702a3372c04d3ad143"), "one spelling");
    let drives: Vec<(&str, &str)> =
        second.drives.iter().map(|(at, state)| (at.as_str(), state.as_str())).collect();
    assert_eq!(drives, [("8:4", "Onln"), ("8:5", "Offln"), ("8:6", "Onln")]);
    assert_eq!(read(VOLUMES).volumes(1), [], "another controller");
    let none = read(include_str!("answers/no_volumes.json"));
    assert!(none.success && none.description.contains("No VD") && none.volumes(0).is_empty());
}

#[test]
fn operations_of_drives_and_volumes_are_idle_or_run() {
    let of = |text: &str| read(text).operations();
    assert_eq!(of(include_str!("answers/erase_runs.json")), [Operation::Running(0.39)]);
    assert_eq!(of(include_str!("answers/erase_idle.json")), [Operation::Idle]);
    assert_eq!(of(include_str!("answers/init_runs.json")), [Operation::Running(0.25)]);
    assert_eq!(of(include_str!("answers/init_idle.json")), [Operation::Idle]);
    let paused = include_str!("answers/init_idle.json").replace("Not in progress", "Paused");
    assert_eq!(of(&paused), [Operation::Other("Paused".into())]);
    let mad = include_str!("answers/erase_runs.json").replace("39", "1e300");
    assert_eq!(of(&mad), [Operation::Running(1.0)]);
}

#[test]
fn a_failure_comes_with_its_details() {
    let answer = read(include_str!("answers/not_allowed.json"));
    assert_eq!((answer.success, answer.description.as_str()), (false, "Set Drive Good Failed."));
    let detail =
        Detail { of: "/c0/e252/s7".into(), code: Some(255), message: "Operation not allowed.".into() };
    assert_eq!(answer.details, [detail]);
}

#[test]
fn text_before_the_response_is_ignored() {
    let answer = read(include_str!("answers/controller.json"));
    let adapter = Adapter {
        product: Some("AVAGO MegaRAID SAS 9361-8i".into()),
        firmware: Some("4.680.00-8417".into()),
    };
    assert_eq!(answer.adapter(), adapter);
    assert_eq!(answer.version.as_deref(), Some("007.1907.0000.0000 Sep 13, 2021"));
}

#[test]
fn invalid_responses_are_rejected() {
    let long = format!("{{{}}}", " ".repeat(LONGEST_BYTES));
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    for (text, part) in [
        ("", "not JSON"),
        ("storcli: command not found", "not JSON"),
        ("{\"Controllers\":[", "not JSON"),
        ("{}", "no Command Status"),
        ("{\"Controllers\":[{\"Command Status\":{}}]}", "no Status"),
        ("{\"Controllers\":[{\"Command Status\":{\"Status\":true}}]}", "no Status"),
        (&long, "longer than"),
        (&deep, "not JSON"),
    ] {
        let problem = Answer::read(text).expect_err(&text[..text.len().min(40)]);
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn texts_are_short_and_printable() {
    let text = DRIVE.replace("VK0120GEFJE", &format!("a\\u001b[31m\\n{}", "b".repeat(1000)));
    let model = read(&text).drive("/c0/e252/s0").expect("a drive").model.expect("a model");
    assert!(model.starts_with("a [31m b") && model.len() <= LONGEST_TEXT, "{model}");
}

#[test]
fn sectors_have_sizes_that_drives_have() {
    let of = |text: &str| sector_bytes(text);
    assert_eq!([of("512B"), of("4 KB"), of("4KB"), of("520B")], [Some(512), Some(4096), Some(4096), None]);
    assert_eq!([of(""), of("B"), of("4 GB"), of("99999999999B"), of("4194304 KB")], [None; 5]);
}
