//! A block device that can be slow, fail or disappear: `qemu-storage-daemon` exports a file through FUSE, and a
//! loop device turns it into a block device. This file depends only on std and `loop_device.rs`, so that tests
//! of other crates can include both files.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::loop_device::Loop;

/// The behaviour of the device.
#[derive(Debug, Clone, Copy, Default)]
pub struct Behaviour {
    /// Limit on reads and writes per second; 0 for none.
    pub total_iops: u32,
    /// A 512 B sector in which every read fails with EIO.
    pub bad_sector: Option<u64>,
}

/// The device. Dropping it ends the loop device, the export and the daemon.
pub struct StorageDaemon {
    /// The block device, such as `/dev/loop1000`.
    pub device: String,
    attached: Option<Loop>,
    daemon: Child,
    socket: PathBuf,
    export: PathBuf,
}

impl StorageDaemon {
    /// Creates a device of `bytes` zero bytes, with its files in `dir`. The error is a reason to skip.
    pub fn start(dir: &Path, bytes: u64, behaviour: Behaviour) -> Result<Self, String> {
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse".into());
        }
        let dir = fs::canonicalize(dir).map_err(fail("directory"))?;
        let [image, export, socket, config] =
            ["image", "export", "socket", "config"].map(|name| dir.join(name));
        fs::File::create(&image).and_then(|f| f.set_len(bytes)).map_err(fail("image"))?;
        fs::write(&export, "").map_err(fail("export"))?;
        let rule = behaviour.bad_sector.map_or_else(String::new, |sector| {
            format!(
                "[inject-error]\nevent = \"none\"\niotype = \"read\"\nsector = \"{sector}\"\nerrno = \"5\"\n"
            )
        });
        fs::write(&config, rule).map_err(fail("config"))?;
        let daemon = Command::new("qemu-storage-daemon")
            .args(arguments(&image, &export, &socket, &config, behaviour.total_iops))
            .stdin(Stdio::null())
            .spawn()
            .map_err(fail("qemu-storage-daemon (package qemu-system-common)"))?;
        let mut started = Self { device: String::new(), attached: None, daemon, socket, export };
        started.wait_for_export(bytes)?;
        let attached = Loop::attached(&started.export, &[])?;
        started.device.clone_from(&attached.path);
        started.attached = Some(attached);
        Ok(started)
    }

    /// Changes the limit while the device is in use; 0 removes the limit.
    pub fn set_total_iops(&self, total_iops: u32) -> Result<(), String> {
        let stream = UnixStream::connect(&self.socket).map_err(|e| format!("monitor: {e}"))?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(|e| format!("monitor: {e}"))?;
        let mut lines = BufReader::new(stream.try_clone().map_err(|e| e.to_string())?).lines();
        let mut writer = stream;
        let limits = format!(
            "{{\"execute\":\"qom-set\",\"arguments\":{{\"path\":\"/objects/tg\",\"property\":\"limits\",\
             \"value\":{{\"iops-total\":{total_iops}}}}}}}"
        );
        for command in ["{\"execute\":\"qmp_capabilities\"}", &limits] {
            writeln!(writer, "{command}").map_err(|e| format!("monitor: {e}"))?;
            loop {
                let line = lines.next().ok_or("the monitor closed")?.map_err(|e| format!("monitor: {e}"))?;
                if line.contains("\"error\"") {
                    return Err(line);
                }
                if line.contains("\"return\"") {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Makes the device fail immediately, as if it had been removed (SIGKILL).
    pub fn kill(&mut self) {
        // Both calls fail only if the daemon has already exited.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }

    /// Makes the device hang: no I/O completes until [`go_on`](Self::go_on).
    pub fn pause(&mut self) {
        self.signal("-STOP");
    }

    /// Resumes I/O.
    pub fn continue_process(&mut self) {
        self.signal("-CONT");
    }

    fn signal(&self, name: &str) {
        let _ =
            Command::new("kill").args([name, &self.daemon.id().to_string()]).stderr(Stdio::null()).status();
    }

    fn wait_for_export(&mut self, bytes: u64) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if fs::metadata(&self.export).is_ok_and(|m| m.len() == bytes) {
                return Ok(());
            }
            if let Ok(Some(status)) = self.daemon.try_wait() {
                return Err(format!("qemu-storage-daemon ended with {status}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err("qemu-storage-daemon did not export anything in 10 s".into())
    }
}

fn fail(what: &'static str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}

fn arguments(image: &Path, export: &Path, socket: &Path, config: &Path, total_iops: u32) -> Vec<String> {
    let (image, export) = (image.display(), export.display());
    [
        "--chardev".into(),
        format!("socket,id=c,path={},server=on,wait=off", socket.display()),
        "--monitor".into(),
        "chardev=c,mode=control".into(),
        "--object".into(),
        format!("throttle-group,id=tg,x-iops-total={total_iops}"),
        "--blockdev".into(),
        format!("driver=file,node-name=f,filename={image},discard=unmap"),
        "--blockdev".into(),
        format!("driver=blkdebug,node-name=bd,config={},image=f,discard=unmap", config.display()),
        "--blockdev".into(),
        "driver=throttle,node-name=t,throttle-group=tg,file=bd,discard=unmap".into(),
        "--export".into(),
        format!("type=fuse,id=e,node-name=t,mountpoint={export},writable=on,growable=off"),
    ]
    .into()
}

impl Drop for StorageDaemon {
    fn drop(&mut self) {
        // Clean up in the only order that never blocks: first the loop device, then its file. Errors are
        // ignored.
        self.continue_process();
        self.attached = None;
        self.kill();
        let _ = Command::new("umount").arg("--lazy").arg(&self.export).stderr(Stdio::null()).status();
    }
}
