//! An array on a RAID controller whose tool is replaced by a stateful script. The tests check which commands
//! the script receives, in which order, and what a crash leaves behind. The volume never becomes a block
//! device, so nothing is measured.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Bench, text, texts};

/// A controller with three free drives in slots 252:0 to 252:2 and a foreign volume.
const CONTROLLER: &str = r##"#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/asked"
say() {
    printf '{"Controllers":[{"Command Status":{"Status":"%s","Description":"%s"},"Response Data":{%s}}]}\n' "$1" "$2" "$3"
}
others='"/c0/v0":[{"TYPE":"RAID1","State":"Optl","Cache":"RWTD","Size":"1 TB","Name":"system"}],"PDs for VD 0":[{"EID:Slt":"252:6","State":"Onln"}],"VD0 Properties":{"SCSI NAA Id":"600605b010e943702a3372bf4d29f6a7"}'
case "$*" in
"/c0 show J nolog") say Success None '"Product Name":"Scripted 9000","FW Version":"1.0"' ;;
"/c0/e252/s"*" show all J nolog")
    at=${1%% *}
    slot=${at##*/s}
    state=UGood
    group=-
    [ -e "$dir/volume" ] && state=Onln && group=1
    [ -e "$dir/spare" ] && [ "$slot" = 2 ] && state=GHS
    say Success None "\"Drive $at\":[{\"EID:Slt\":\"252:$slot\",\"State\":\"$state\",\"DG\":\"$group\",\"Intf\":\"SATA\",\"Med\":\"SSD\"}],\"Drive $at - Detailed Information\":{\"Drive $at Device attributes\":{\"SN\":\"S$slot \",\"Model Number\":\"M\",\"Coerced size\":\"1 GB [0x200000 Sectors]\",\"Logical Sector Size\":\"512B\"},\"Drive $at Policies/Settings\":{}}"
    ;;
"/c0/vall show all J nolog")
    own=
    [ -e "$dir/volume" ] && own=",\"/c0/v1\":[{\"TYPE\":\"RAID5\",\"State\":\"Optl\",\"Cache\":\"NRWTD\",\"Size\":\"2 GB\",\"Name\":\"$(cat "$dir/volume")\"}],\"PDs for VD 1\":[{\"EID:Slt\":\"252:0\",\"State\":\"Onln\"},{\"EID:Slt\":\"252:1\",\"State\":\"Onln\"},{\"EID:Slt\":\"252:2\",\"State\":\"Onln\"}],\"VD1 Properties\":{\"SCSI NAA Id\":\"600605b000000000000000000000abcd\"}"
    say Success None "$others$own"
    ;;
"/c0 add vd r5 name="*)
    name=${5#name=}
    # The restore record must be on disk by now.
    grep -l storcli STATE/.array-*.json > /dev/null || { say Failure "no note" ""; exit 1; }
    if [ -e "$dir/slow" ]; then
        echo > "$dir/adding"
        while [ -e "$dir/slow" ]; do sleep 0.01; done
    fi
    echo "$name" > "$dir/volume"
    # Created before the output, because output that nobody reads may end this script.
    echo > "$dir/added"
    say Success "Add VD Succeeded." ""
    ;;
"/c0/v1 show init J nolog") say Success None '"VD Operation Status":[{"VD":1,"Status":"Not in progress"}]' ;;
"/c0/v1 del J nolog")
    rm "$dir/volume"
    say Success "Delete VD succeeded" ""
    ;;
*)
    say Failure "Un-supported command" ""
    exit 1
    ;;
esac
"##;

fn bench() -> Bench {
    let bench = Bench::new();
    let program = bench.path("storcli64");
    let script = CONTROLLER.replace("STATE", bench.state.path().to_str().expect("a path"));
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it may be run");
    let members = [0, 1, 2].map(|i| format!("{{ slot = \"252:{i}\", serial = \"S{i}\" }}")).join(", ");
    let description = format!("controller = \"storcli\"\nlevel = 5\nstrip_kib = 64\nmembers = [{members}]\n");
    fs::write(bench.path("a.toml"), description).expect("a description");
    bench
}

fn command(bench: &Bench, args: &[&str]) -> Command {
    let mut command = bench.command(args);
    command.env("PLATEAU_PROGRAMS", bench.dir.path());
    command
}

fn target(bench: &Bench) -> String {
    format!("array:{}", bench.path("a.toml").display())
}

const ERASE: [&str; 6] = ["--erase", "S0", "--erase", "S1", "--erase", "S2"];

fn commands(bench: &Bench) -> Vec<String> {
    text(&bench.path("asked")).lines().map(str::to_owned).collect()
}

fn notes(bench: &Bench) -> usize {
    bench.notes().len()
}

#[test]
fn drives_on_a_controller_are_inspected_and_nothing_is_changed() {
    let bench = bench();
    let output = command(&bench, &["info", &target(&bench)]).output().expect("plateau starts");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    for part in
        ["Scripted 9000", "/c0/e252/s1 M, S1", "add --erase S0 --erase S1 --erase S2", "write through"]
    {
        assert!(out.replace('\'', "").contains(part), "{part}: {out}");
    }
    fs::write(bench.path("spare"), "").expect("a hot spare");
    let output = command(&bench, &["info", &target(&bench)]).output().expect("plateau starts");
    assert!(texts(&output).0.contains("a global hot spare"), "{output:?}");
    let run = command(&bench, &[&["run", "iops", &target(&bench)], &ERASE[..]].concat()).output();
    let output = run.expect("plateau starts");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(commands(&bench).iter().all(|line| line.contains(" show ")), "{:?}", commands(&bench));
    assert_eq!(notes(&bench), 0);
}

#[test]
fn each_member_is_confirmed_by_its_serial_number() {
    let bench = bench();
    for (erase, part) in
        [(&ERASE[..4], "--erase 'S2'"), (&["--erase", "S0+S1+S2"][..], "does not match any of its members")]
    {
        let run = command(&bench, &[&["run", "iops", &target(&bench)], erase].concat()).output();
        let output = run.expect("plateau starts");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(texts(&output).1.contains(part), "{output:?}");
    }
    assert!(commands(&bench).iter().all(|line| line.contains(" show ")), "{:?}", commands(&bench));
}

fn wait_for(bench: &Bench, path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < deadline, "no {}: {:?}", path.display(), commands(bench));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A terminal sends the signal for Ctrl-C to the whole foreground process group.
#[test]
fn ctrl_c_does_not_interrupt_a_controller_command() {
    let bench = bench();
    fs::write(bench.path("slow"), "").expect("a controller that is busy until this file is removed");
    let mut run = command(&bench, &[&["run", "iops", &target(&bench)], &ERASE[..]].concat());
    let mut run =
        run.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    wait_for(&bench, &bench.path("adding"));
    let group = format!("-{}", run.id());
    let killed = Command::new("kill").args(["-INT", "--", &group]).status().expect("kill is there");
    assert!(killed.success());
    // If the signal had reached the script, the script would have ended by now and would not notice that this
    // file was removed.
    fs::remove_file(bench.path("slow")).expect("a controller that completes its command");
    wait_for(&bench, &bench.path("added"));
    // Plateau may wait up to another half a minute for the volume's block device.
    run.kill().expect("it is killed, if it is still there");
    assert!(!run.wait().expect("it is gone").success());
}

#[test]
fn leftovers_of_a_crash_are_deleted_at_the_next_start() {
    let bench = bench();
    let target = target(&bench);
    let args = [&["run", "iops", &target], &ERASE[..]].concat();
    let mut run = command(&bench, &args);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plateau starts");
    // Wait for this file instead of the volume's file, which is empty for a moment.
    wait_for(&bench, &bench.path("added"));
    // Plateau now waits for the block device.
    run.kill().expect("it is killed");
    run.wait().expect("it is gone");
    assert_eq!(notes(&bench), 1);
    fs::remove_file(bench.path("asked")).expect("a new page");
    fs::write(bench.path("spare"), "").expect("a drive that has become a hot spare");
    let output = command(&bench, &args).output().expect("plateau starts");
    let err = texts(&output).1;
    // The volume is deleted, and the member that is now in use is reported.
    assert!(commands(&bench).contains(&"/c0/v1 del J nolog".to_owned()), "{:?}", commands(&bench));
    assert!(!bench.path("volume").exists() && err.contains("a global hot spare"), "{err}");
    assert!(!commands(&bench).iter().any(|line| line.contains("add vd")), "{:?}", commands(&bench));
    fs::remove_file(bench.path("spare")).expect("no hot spare");
    let output = command(&bench, &["plan", "iops", &target]).output().expect("plateau starts");
    assert!(output.status.success(), "{output:?}");
    fs::remove_file(bench.path("storcli64")).expect("no program");
    let output = command(&bench, &args).output().expect("plateau starts");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(texts(&output).1.contains("install the RAID controller vendor's program"), "{output:?}");
}
