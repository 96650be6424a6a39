//! Signals, a closed terminal and a device that hangs: the settings are restored, the journal records what happened,
//! and the exit code is as documented.

mod support;

use std::io::{BufRead as _, BufReader, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use record::Event;
use support::loop_device::{attach, identity};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::{Bench, finished, text, texts};

const SIMULATED: [&str; 7] = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
const SHORT: [&str; 6] = ["--profile", "pts-e-1.0", "--cell-seconds", "0.5", "--max-rounds", "5"];

fn signal(name: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success(), "SIG{name}");
}

/// Waits up to ten seconds for the process to exit; after that, kills it and returns `None`.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // The test fails anyway, but it must not leave a process running.
    drop(child.kill().and_then(|()| child.wait()));
    None
}

fn interruption(bench: &Bench) -> Option<String> {
    bench.journal()?.entries.into_iter().rev().find_map(|entry| match entry.event {
        Event::Interrupted { reason } => Some(reason),
        _ => None,
    })
}

/// Opens a pseudo-terminal; returns its master and its slave end.
fn terminal() -> (OwnedFd, OwnedFd) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal to use");
    let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("text");
    let slave = std::fs::File::options().read(true).write(true).open(name).expect("its slave end");
    (master, slave.into())
}

#[test]
fn a_closed_terminal_interrupts_the_run_and_settings_are_restored() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    let setting = format!("/sys/block/{}/queue/nomerges", device.path.trim_start_matches("/dev/"));
    if let Err(error) = std::fs::write(&setting, "0") {
        return skips::skip!("{setting} cannot be changed: {error}");
    }
    let identity = identity(&bench, &device.path);
    let plateau =
        bench.command(&[&["run", "iops", &device.path, "--erase", &identity, "--tune"], &SHORT[..]].concat());
    let (master, slave) = terminal();
    let side = || Stdio::from(slave.try_clone().expect("a descriptor"));
    let mut child = Command::new("setsid")
        // The tests may have been started with nohup, which makes them ignore SIGHUP.
        .args(["--ctty", "env", "--default-signal=HUP"])
        .arg(plateau.get_program())
        .args(plateau.get_args())
        .env("PLATEAU_LIBRARY", bench.library())
        .stdin(side())
        .stdout(side())
        .stderr(side())
        .spawn()
        .expect("setsid is there");
    drop(slave);
    // Keep reading, so that writes do not block.
    let reader = std::fs::File::from(master.try_clone().expect("a descriptor"));
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    assert_eq!(text(setting.as_ref()).trim(), "2");
    drop((reader, master));
    let status = ended(&mut child).expect("it ends");
    assert_eq!(status.code(), Some(130), "{status}");
    assert!(interruption(&bench).is_some());
    assert_eq!(text(setting.as_ref()).trim(), "0");
    let notes = std::fs::read_dir(bench.library()).unwrap().filter(|e| e.as_ref().unwrap().path().is_file());
    assert_eq!(notes.count(), 0, "no restore record remains");
}

#[test]
fn hangups_do_not_cut_the_end_short_and_do_not_reach_what_nohup_started() {
    let bench = Bench::new();
    let mut child = bench.start(&SIMULATED);
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    // The shell and the kernel each send SIGHUP; a system shutdown also sends SIGTERM.
    for name in ["HUP", "HUP", "TERM"] {
        signal(name, &child);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(interruption(&bench).is_some());

    let bench = Bench::new();
    let plateau = bench.command(&SIMULATED);
    let child = Command::new("nohup")
        .arg(plateau.get_program())
        .args(plateau.get_args())
        .env("PLATEAU_LIBRARY", bench.library())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return skips::without("nohup") };
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    signal("HUP", &child);
    assert!(child.wait().unwrap().success());
    assert_eq!(interruption(&bench), None);
}

#[test]
fn closed_pipes_do_not_end_the_run() {
    let bench = Bench::new();
    let mut child = bench.start(&SIMULATED);
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    assert!(bench.runs()[0].join("report.html").exists());
}

#[test]
fn a_process_that_is_stopped_within_a_load_or_a_cell_has_measured_nothing() {
    let bench = Bench::on_build_disk();
    let data = bench.path("data");
    std::fs::write(&data, vec![7; 16 << 20]).unwrap();
    let words = ["load", data.to_str().unwrap(), "--rw", "randread", "--runtime", "30", "--time_based"];
    let child = bench.start(&words);
    // Only the load reads this many bytes.
    wait_for_reads(&child, 64 << 20);
    signal("STOP", &child);
    std::thread::sleep(Duration::from_millis(1_200));
    signal("CONT", &child);
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(130), ""), "{err}");
    assert!(err.contains("stopped for") && err.contains("must be repeated"), "{err}");

    let target = bench.path("drive.bin");
    let run = ["run", "iops", target.to_str().unwrap(), "--size", "16MiB"];
    let mut child = bench.start(&[&run[..], &SHORT[..]].concat());
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    // A stop between two cells has no effect, but this is unlikely, because cells take most of the time.
    for _ in 0..10 {
        signal("STOP", &child);
        std::thread::sleep(Duration::from_millis(1_200));
        signal("CONT", &child);
        std::thread::sleep(Duration::from_millis(300));
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert_eq!(ended(&mut child).and_then(|status| status.code()), Some(130));
    let reason = interruption(&bench).expect("it is recorded");
    assert!(reason.contains("stopped for"), "{reason}");
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    bench.ok(&["verify", &id]);
}

/// Waits until the process has read this many bytes.
fn wait_for_reads(child: &Child, bytes: u64) {
    let path = format!("/proc/{}/io", child.id());
    let deadline = Instant::now() + Duration::from_secs(120);
    let read = || {
        let text = text(path.as_ref());
        text.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok()).expect("a number")
    };
    while read() < bytes {
        assert!(Instant::now() < deadline, "{} B were read", read());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the first line that contains `part`, if it appears within 30 seconds. Keeps reading, so that writes do not
/// block.
fn line_with(output: impl Read + Send + 'static, part: &str) -> Option<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The receiver no longer exists once the line has been found.
            drop(sender.send(line));
        }
    });
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).ok()?;
        if line.contains(part) {
            return Some(line);
        }
    }
}

/// Returns the completed reads and the outstanding I/Os of a block device.
fn ios(device: &str) -> (u64, u64) {
    let path = format!("/sys/block/{}/stat", device.trim_start_matches("/dev/"));
    let text = text(path.as_ref());
    let number = |place| text.split_whitespace().nth(place).and_then(|n| n.parse().ok()).expect("a number");
    (number(0), number(8))
}

#[test]
fn ctrl_c_on_a_hanging_device_explains_the_wait_and_a_second_one_ends_it() {
    let bench = Bench::on_build_disk();
    let behaviour = Behaviour::default();
    let mut device = match StorageDaemon::start(bench.dir.path(), 32 << 20, behaviour) {
        Ok(device) => device,
        Err(why) => return skips::skip!("{why}"),
    };
    let name = device.device.clone();
    // A process whose I/O hangs in libaio ends only with that I/O.
    let words =
        ["--rw", "randread", "--iodepth", "8", "--runtime", "60", "--time_based", "--ioengine", "io_uring"];
    // The kernel does not reset the counters if the device number was used before.
    let counted = ios(&name).0;
    let mut child = bench.start(&[&["load", &name], &words[..]].concat());
    let deadline = Instant::now() + Duration::from_secs(120);
    while ios(&name).0 < counted + 1_000 {
        assert!(Instant::now() < deadline, "no I/O: {:?}", ios(&name));
        std::thread::sleep(Duration::from_millis(20));
    }
    device.pause();
    // Wait until no more I/Os complete.
    let mut before = ios(&name).0;
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = ios(&name);
        if now.0 == before && now.1 > 0 {
            break;
        }
        if Instant::now() >= deadline || child.try_wait().unwrap().is_some() {
            device.continue_process();
            drop(child.kill());
            panic!("{now:?} I/Os completed and in flight: {:?}", child.wait_with_output());
        }
        before = now.0;
    }
    signal("INT", &child);
    let line = line_with(child.stderr.take().unwrap(), "waiting for outstanding I/O");
    if line.is_none() {
        // The test fails anyway, but it must not leave a process running.
        device.continue_process();
        drop(child.kill().and_then(|()| child.wait()));
    }
    assert_eq!(line.as_deref(), Some("waiting for outstanding I/O; press again to exit now"));
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    signal("INT", &child);
    let status = ended(&mut child);
    device.continue_process();
    assert_eq!(status.expect("it ends at once").code(), Some(130));
}
