use super::*;
use crate::error::ErrorKind;

fn facts(path: &str, identity: &str) -> MemberFacts {
    MemberFacts {
        path: path.into(),
        identity: identity.into(),
        vendor: None,
        model: None,
        serial: None,
        firmware: None,
        interface: None,
        capacity_bytes: 1 << 30,
    }
}

#[test]
fn every_member_is_confirmed_by_its_own_identity() {
    let members = [facts("/dev/a", "S1"), facts("/dev/b", "S2")];
    let typed = |erase: &[&str]| {
        let erase: Vec<String> = erase.iter().map(|&typed| typed.to_owned()).collect();
        confirm("array:x.toml", &members, &erase)
    };
    assert_eq!(typed(&["S2", "S1"]).ok(), Some(()));
    for (erase, strange, missing) in [
        (&[][..], &[][..], &["S1", "S2"][..]),
        (&["S1"], &[], &["S2"]),
        (&["S1", "S1"], &[], &["S2"]),
        (&["S1+S2"], &["S1+S2"], &["S1", "S2"]),
        (&["S1", "S2", "S3"], &["S3"], &[]),
        (&["s1", "S2"], &["s1"], &["S1"]),
    ] {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let expected = Unconfirmed::Members {
            target: "array:x.toml".into(),
            members: owned(&["/dev/a", "/dev/b"]),
            strange: owned(strange),
            missing: owned(missing),
        };
        assert_eq!(typed(erase), Err(expected), "{erase:?}");
    }
}

#[test]
fn an_identifier_is_written_as_mdadm_prints_it() {
    let uuid = md_uuid("f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n");
    assert_eq!(uuid, "f81d4fae:7dec11d0:a76500a0:c91e6bf6");
}

#[test]
fn purges_of_members_are_reported_in_one_record() {
    let purged = |method: &str, pts_purge| Purged {
        method: method.into(),
        name: None,
        pts_purge,
        start_ns: 0,
        end_ns: 1_500_000_000,
        evidence: Vec::new(),
        samples_read: false,
    };
    assert_eq!(
        methods_of(&[purged("discard", false), purged("discard", false)]),
        "discard of each of 2 members"
    );
    let mixed = [purged("NVMe Format SES=1", true), purged("discard", false)];
    assert_eq!(methods_of(&mixed), "NVMe Format SES=1 or discard of each of 2 members");
}

#[test]
fn members_other_than_block_devices_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let member = folder.path().join("member");
    fs::File::create(&member).and_then(|file| file.set_len(64 << 20)).expect("a file");
    let description = folder.path().join("a.toml");
    let target = format!("array:{}", description.display());
    let open = |text: String| {
        fs::write(&description, text).expect("a description");
        crate::open::open(&target, &OpenOptions::default()).expect_err("no array")
    };
    let error = open(format!("level = 1\nmembers = [\"{0}\", \"sim:sas-slc-2011\"]", member.display()));
    let problem = |error| match error {
        DriveError::Target { problem, .. } => problem,
        other => panic!("{other:?}"),
    };
    assert!(matches!(problem(error), TargetError::MemberNotBlock(path) if Path::new(&path) == member));
    let error = open("level = 1\nmembers = [\"/dev/nowhere\", \"/dev/nowhere2\"]".into());
    assert!(matches!(problem(error), TargetError::NoDevice));
    fs::remove_file(&description).expect("gone");
    let error = crate::open::open(&target, &OpenOptions::default()).expect_err("no description");
    assert_eq!(error.kind(), ErrorKind::Unusable);
}
