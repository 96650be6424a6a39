//! A QEMU process: starting it, controlling it, and cutting its power.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::accelerator::firmware;
use crate::guest::Guest;
use crate::hardware::{CONTROLLERS, DISKS, Disk};
use crate::kit::Kit;
use crate::program::stop;
use crate::qmp::Qmp;

/// Timeout for QEMU to create its sockets.
const SOCKETS_WITHIN: Duration = Duration::from_secs(20);
/// Kernel command line. QEMU before version 10 occasionally loses an NVMe command; with a short timeout, the
/// kernel recovers soon. Since QEMU 10, its NVMe controllers report multipath support, but the kernel does not
/// count I/O on multipath disks, so multipath is off.
const KERNEL: &str = "console=ttyS0 panic=-1 loglevel=4 mitigations=off nokaslr cryptomgr.notests \
                      nvme.poll_queues=1 nvme_core.io_timeout=10 nvme_core.multipath=0";
const CONSOLE: &str = "console.log";
const LOG: &str = "qemu.log";

/// A running machine; killed when dropped.
pub struct Machine {
    child: Child,
    log: PathBuf,
    pub guest: Guest,
    pub qmp: Qmp,
}

impl Machine {
    /// Starts QEMU and waits until the guest accepts commands.
    pub fn start(kit: &Kit, folder: &Path, initramfs: &Path, deadline: Instant) -> anyhow::Result<Self> {
        let sockets = ["line", "qmp"].map(|name| folder.join(format!("{name}.socket")));
        sockets.iter().for_each(|socket| drop(std::fs::remove_file(socket)));
        let mut command = Command::new(&kit.qemu);
        command
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-M", "q35"])
            .args(["-accel", kit.accelerator.argument(), "-cpu", "max", "-smp", "2", "-m", "1024"])
            .arg("-kernel")
            .arg(&kit.kernel)
            .arg("-initrd")
            .arg(initramfs)
            .args(["-append", KERNEL])
            .args(["-serial", &format!("file:{CONSOLE}")])
            .args([
                "-chardev",
                "socket,id=line,path=line.socket,server=on,wait=off",
                "-serial",
                "chardev:line",
            ])
            .args(["-qmp", "unix:qmp.socket,server=on,wait=off"])
            .args(firmware())
            .args(["-object", "throttle-group,id=pace"])
            .args(CONTROLLERS.iter().flat_map(|device| ["-device", device]))
            .args(DISKS.iter().flat_map(disk_arguments))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join(LOG))?);
        let mut child = command.spawn().context("cannot start QEMU")?;
        let connected = connect(&mut child, &sockets, folder);
        let (line, qmp) = match connected {
            Ok(both) => both,
            Err(error) => {
                stop(&mut child);
                return Err(error);
            }
        };
        let log = folder.join(LOG);
        let mut machine = Self { child, log, guest: Guest::new(line, deadline), qmp };
        machine.guest.wait_until_ready()?;
        Ok(machine)
    }

    /// Returns QEMU's own output.
    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Machine {
    /// Kills QEMU without warning, as in a power failure. If QEMU has already exited, prints why.
    fn drop(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            println!("# QEMU had already exited: {status}; {}", self.log().trim());
        }
        stop(&mut self.child);
    }
}

fn disk_arguments(disk: &Disk) -> Vec<String> {
    let node = disk.node;
    let image = if disk.layer.is_some() { format!("{node}-image") } else { node.to_owned() };
    let mut arguments = vec![
        "-blockdev".into(),
        format!(
            "driver=raw,node-name={image},discard=unmap,file.driver=file,file.filename={node}.img,\
             file.discard=unmap"
        ),
    ];
    if let Some(layer) = disk.layer {
        arguments.extend(["-blockdev".into(), format!("node-name={node},discard=unmap,{layer}={image}")]);
    }
    arguments.extend(["-device".into(), format!("{},drive={node}", disk.device)]);
    arguments
}

fn connect(child: &mut Child, sockets: &[PathBuf; 2], folder: &Path) -> anyhow::Result<(UnixStream, Qmp)> {
    let deadline = Instant::now() + SOCKETS_WITHIN;
    let [line, qmp] = sockets;
    loop {
        if let Some(status) = child.try_wait()? {
            let log = std::fs::read_to_string(folder.join(LOG)).unwrap_or_default();
            bail!("QEMU ended with {status}: {}", log.trim());
        }
        if let Ok(line) = UnixStream::connect(line) {
            return Ok((line, Qmp::connect(qmp)?));
        }
        if Instant::now() > deadline {
            bail!("QEMU did not create the socket {} within {SOCKETS_WITHIN:?}", line.display());
        }
        sleep(Duration::from_millis(20));
    }
}

/// Returns the end of the guest's kernel output.
pub fn console(folder: &Path) -> String {
    let bytes = std::fs::read(folder.join(CONSOLE)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace('\r', "");
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
