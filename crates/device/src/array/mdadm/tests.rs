use super::*;
use crate::array::script::Script;
use crate::error::ErrorKind;

const UUID: &str = "0a1b2c3d:00000000:11111111:22222222";

fn plan(level: u8, members: &[&str]) -> ArrayPlan {
    ArrayPlan {
        level,
        chunk_kib: (level != 1).then_some(64),
        bitmap: false,
        name: "md127".into(),
        uuid: UUID.into(),
        members: members.iter().map(PathBuf::from).collect(),
        component_kib: (level != 0).then_some(28_672),
        hardware: None,
    }
}

/// Runs an action with a mock mdadm and asserts that all steps of the script were used.
fn with<T>(script: Script, act: impl FnOnce(&mut Mdadm<Script>) -> T) -> T {
    let mut mdadm = Mdadm { outside: script };
    let result = act(&mut mdadm);
    mdadm.outside.over();
    result
}

fn create(level: u8, members: &[&str], expected: &str) {
    let script = Script::default().answers(expected, "mdadm: array /dev/md127 started.");
    let mut mdadm = Mdadm { outside: script };
    assert_eq!(mdadm.create(&plan(level, members)).ok(), Some(PathBuf::from("/dev/md127")));
    assert_eq!(mdadm.outside.set, ["md127/md/sync_speed_max=100000000"]);
    mdadm.outside.over();
}

#[test]
fn each_level_is_created_by_its_command() {
    let head = "mdadm --create /dev/md127 --run --metadata=1.2 --homehost=any --name=plateau \
                --uuid=0a1b2c3d:00000000:11111111:22222222";
    create(
        0,
        &["/dev/sda", "/dev/sdb"],
        &format!("{head} --level=0 --raid-devices=2 --data-offset=4096K --chunk=64 /dev/sda /dev/sdb"),
    );
    create(
        1,
        &["/dev/sda", "/dev/sdb"],
        &format!(
            "{head} --level=1 --raid-devices=2 --data-offset=4096K --bitmap=none --size=28672 /dev/sda /dev/sdb"
        ),
    );
    create(
        5,
        &["/dev/sda", "/dev/sdb", "/dev/sdc"],
        &format!(
            "{head} --level=5 --raid-devices=3 --data-offset=4096K --bitmap=none --chunk=64 --size=28672 --force \
             /dev/sda /dev/sdb /dev/sdc"
        ),
    );
    for level in [6, 10] {
        create(
            level,
            &["/dev/a", "/dev/b", "/dev/c", "/dev/d"],
            &format!(
                "{head} --level={level} --raid-devices=4 --data-offset=4096K --bitmap=none --chunk=64 --size=28672 \
                 /dev/a /dev/b /dev/c /dev/d"
            ),
        );
    }
}

#[test]
fn a_bitmap_is_created_where_it_is_requested() {
    let expected = ArrayPlan { bitmap: true, ..plan(1, &["/dev/a", "/dev/b"]) };
    let command = "mdadm --create /dev/md127 --run --metadata=1.2 --homehost=any --name=plateau \
                   --uuid=0a1b2c3d:00000000:11111111:22222222 --level=1 --raid-devices=2 --data-offset=4096K \
                   --bitmap=internal --size=28672 /dev/a /dev/b";
    with(Script::default().answers(command, ""), |mdadm| mdadm.create(&expected)).unwrap();
}

#[test]
fn an_array_that_waits_for_its_first_write_is_made_writable() {
    let command = "mdadm --create /dev/md127 --run --metadata=1.2 --homehost=any --name=plateau \
                   --uuid=0a1b2c3d:00000000:11111111:22222222 --level=0 --raid-devices=2 --data-offset=4096K \
                   --chunk=64 /dev/a /dev/b";
    let script = Script::default()
        .with("md127/md/array_state", "read-auto")
        .answers(command, "")
        .answers("mdadm --readwrite /dev/md127", "");
    with(script, |mdadm| mdadm.create(&plan(0, &["/dev/a", "/dev/b"]))).unwrap();
}

#[test]
fn a_missing_program_and_a_missing_module_are_reported() {
    let error = with(Script::default().missing("mdadm --version"), |mdadm| mdadm.version()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unusable);
    let DriveError::Array(error) = error else { panic!("{error:?}") };
    let ArrayError::Program { program: "mdadm", source } = *error else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    let version = "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5";
    let found = with(Script::default().answers("mdadm --version", version), |mdadm| mdadm.version());
    assert_eq!(found.as_deref().ok(), Some(version));
    let command = "mdadm --create /dev/md127 --run --metadata=1.2 --homehost=any --name=plateau \
                   --uuid=0a1b2c3d:00000000:11111111:22222222 --level=6 --raid-devices=4 --data-offset=4096K \
                   --bitmap=none --chunk=64 --size=28672 /dev/a /dev/b /dev/c /dev/d";
    let script = Script::default().fails(command, "mdadm: RUN_ARRAY failed: Invalid argument");
    let members = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"];
    let error = with(script, |mdadm| mdadm.create(&plan(6, &members))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert!(
        error.to_string().contains("RUN_ARRAY failed") && error.to_string().contains("raid456"),
        "{error}"
    );
    let DriveError::Array(error) = error else { panic!("{error:?}") };
    assert!(matches!(*error, ArrayError::NotCreated { level: 6, .. }), "{error:?}");
}

#[test]
fn its_state_is_read_from_the_kernel() {
    let of = |attributes: &[(&str, &str)]| {
        let script = attributes
            .iter()
            .fold(Script::default(), |script, (name, value)| script.with(&format!("md127/md/{name}"), value));
        with(script, |mdadm| mdadm.state(&plan(5, &["/dev/a", "/dev/b", "/dev/c"]))).unwrap()
    };
    let clean = ("array_state", "clean");
    assert_eq!(of(&[clean]), State::Whole, "level 0 has no more than that");
    let idle = [clean, ("degraded", "0"), ("sync_action", "idle"), ("resync_start", "none")];
    assert_eq!(of(&idle), State::Whole);
    let running = [clean, ("degraded", "0"), ("sync_action", "resync"), ("sync_completed", "14336 / 57344")];
    assert_eq!(of(&running), State::Syncing("resync".into(), 0.25));
    let pending = [clean, ("degraded", "0"), ("sync_action", "idle"), ("resync_start", "0")];
    assert_eq!(of(&pending), State::Syncing("resync".into(), 0.0));
    let degraded = of(&[clean, ("degraded", "1")]);
    assert_eq!(degraded, State::Broken(Defect::Degraded { missing: "1".into() }));
    for state in ["broken", "inactive"] {
        assert_eq!(of(&[("array_state", state)]), State::Broken(Defect::State(state.into())));
    }
    assert_eq!(of(&[]), State::Broken(Defect::State("no longer present".into())));
}

#[test]
fn it_is_stopped_by_its_uuid_alone() {
    let mut script = Script::default()
        .answers("mdadm --detail --export /dev/md0", "MD_LEVEL=raid1\nMD_UUID=somebody:elses:array:0\n")
        .answers("mdadm --detail --export /dev/md126", &format!("MD_LEVEL=raid5\nMD_UUID={UUID}\n"))
        .fails("mdadm --stop /dev/md126", "mdadm: Cannot get exclusive access to /dev/md126")
        .answers("mdadm --stop /dev/md126", "mdadm: stopped /dev/md126");
    script.devices = ["loop0", "md0", "md126", "md0p1", "sda"].map(str::to_owned).to_vec();
    let mut mdadm = Mdadm { outside: script };
    mdadm.stop(&plan(5, &[])).unwrap();
    assert_eq!(mdadm.outside.pauses, 1, "somebody looked at it");
    mdadm.outside.over();
}

#[test]
fn an_array_that_does_not_stop_is_reported() {
    let mut script =
        Script::default().answers("mdadm --detail --export /dev/md5", &format!("MD_UUID={UUID}\n"));
    for _ in 0..10 {
        script = script.fails("mdadm --stop /dev/md5", "mdadm: Cannot get exclusive access to /dev/md5");
    }
    script.devices = vec!["md5".into()];
    let error = with(script, |mdadm| mdadm.stop(&plan(0, &[]))).unwrap_err();
    let DriveError::Array(error) = error else { panic!("{error:?}") };
    let ArrayError::Mdadm { step: MdadmStep::Stop(node), printed } = *error else { panic!("{error:?}") };
    assert_eq!((node.as_str(), printed.contains("exclusive access")), ("/dev/md5", true));
}

#[test]
fn only_its_own_superblock_is_removed() {
    let examine = "mdadm --examine --export /dev/sda";
    let own = Script::default()
        .answers(examine, &format!("MD_LEVEL=raid5\nMD_UUID={UUID}\n"))
        .answers("mdadm --zero-superblock /dev/sda", "");
    with(own, |mdadm| mdadm.clear(&plan(5, &[]), Path::new("/dev/sda"))).unwrap();
    let others = Script::default().answers(examine, "MD_UUID=somebody:elses:array:0\n");
    with(others, |mdadm| mdadm.clear(&plan(5, &[]), Path::new("/dev/sda"))).unwrap();
    let none = Script::default().fails(examine, "mdadm: No md superblock detected on /dev/sda.");
    with(none, |mdadm| mdadm.clear(&plan(5, &[]), Path::new("/dev/sda"))).unwrap();
}
