//! Runs the prolog script of the guide with mock programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Returns the script's exit code and whether it drained the host, if `plateau fleet check` ends with `code`.
fn prolog(code: i32) -> (Option<i32>, bool) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/fleet.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let (_, script) = guide.split_once("```sh\n").expect("a script");
    let (script, _) = script.split_once("```").expect("its end");
    let dir = tempfile::tempdir().expect("a folder");
    let program = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path.to_str().expect("a path").to_owned()
    };
    let drained = dir.path().join("drained");
    let plateau = program("plateau", &format!("#!/bin/sh\necho why\nexit {code}\n"));
    let scontrol = program("scontrol", &format!("#!/bin/sh\necho \"$@\" > {}\n", drained.display()));
    let script = script.replace("/usr/bin/plateau", &plateau).replace("/usr/bin/scontrol", &scontrol);
    let status = Command::new("sh").args(["-c", &script]).env("SLURMD_NODENAME", "n1").status();
    let has_drained = std::fs::read_to_string(&drained)
        .is_ok_and(|words| words == "update NodeName=n1 State=DRAIN Reason=why\n");
    (status.expect("sh starts").code(), has_drained)
}

#[test]
fn a_hot_host_is_not_drained() {
    assert_eq!(prolog(0), (Some(0), false));
    assert_eq!(prolog(75), (Some(0), false), "it cools down, but a drained host waits for a person");
    for code in [7, 2, 127] {
        assert_eq!(prolog(code), (Some(1), true), "{code}");
    }
}
