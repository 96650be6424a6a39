//! Slurm with several nodes on this host.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::folder::DemoFolder;
use crate::leftovers::MARK;

/// Timeout for a daemon to start or to end.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Processes that are ended in reverse order.
#[derive(Default)]
pub struct Daemons(Vec<(String, Child)>);

/// A node with simulated drives.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Identities of its drives.
    pub drives: Vec<String>,
    /// Processors that Slurm may use, which limits the number of jobs at the same time.
    pub processors: usize,
}

/// A running cluster.
pub struct Cluster {
    conf: PathBuf,
    daemons: Daemons,
}

/// The search path for daemons, which are in `sbin`.
fn search_path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// Returns whether a program is installed.
#[must_use]
pub fn exists(program: &str) -> bool {
    std::env::split_paths(&search_path()).any(|dir| dir.join(program).exists())
}

impl Daemons {
    /// Starts a daemon whose output is written to NAME.out. It is in a process group of its own, so that Ctrl-C on the
    /// terminal reaches only this program, which ends the daemons in the right order.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn spawn(&mut self, folder: &DemoFolder, name: &str, command: &mut Command) -> anyhow::Result<()> {
        let log = File::create(folder.file(&format!("{name}.out")))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.env("PATH", search_path()).env(MARK, folder.path()).process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        self.0.push((name.into(), child));
        Ok(())
    }

    /// Fails if a daemon has ended.
    ///
    /// # Errors
    /// Returns an error if a daemon has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        for (name, child) in &mut self.0 {
            if let Some(status) = child.try_wait()? {
                bail!("{name} ended with {status}");
            }
        }
        Ok(())
    }

    /// Waits until `is_reached`.
    ///
    /// # Errors
    /// Returns an error if a daemon has ended, or the condition is not met in time.
    pub fn wait(&mut self, what: &str, mut is_reached: impl FnMut() -> bool) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_reached() {
            self.check()?;
            ensure!(Instant::now() < deadline, "waited {} s for {what}", PATIENCE.as_secs());
            sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for (_, child) in self.0.iter_mut().rev() {
            // runuser passes SIGTERM on to munged.
            drop(Command::new("kill").arg(child.id().to_string()).stderr(Stdio::null()).status());
            let deadline = Instant::now() + PATIENCE;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                sleep(LOOK_EVERY);
            }
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Cluster {
    /// Writes the configuration of the nodes, and starts them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or a daemon cannot be started.
    pub fn start(folder: &DemoFolder, binary: &Path, nodes: &[Node]) -> anyhow::Result<Self> {
        let ports = free_ports(nodes.len() + 1)?;
        inventory(folder, binary, nodes, &ports[1..])?;
        let spools = nodes.iter().map(|node| format!("spool-{}", node.name));
        for name in ["munge", "state"].map(str::to_owned).into_iter().chain(spools) {
            std::fs::create_dir(folder.file(&name))?;
        }
        let (munge, conf) =
            (folder.text("munge"), folder.write("slurm.conf", &configuration(folder, ports[0]))?);
        let key = format!(
            "head -c 1024 /dev/urandom > {munge}/key && chown -R munge: {munge} && chmod 600 {munge}/key"
        );
        ensure!(Command::new("sh").args(["-c", &key]).status()?.success(), "cannot create the key of munge");
        let mut cluster = Self { conf: conf.into(), daemons: Daemons::default() };
        let mut munged = Command::new("runuser");
        munged.args(["-u", "munge", "--", "munged", "--foreground"]);
        for (option, name) in [
            ("socket", "socket"),
            ("key-file", "key"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        ] {
            munged.arg(format!("--{option}={munge}/{name}"));
        }
        cluster.daemons.spawn(folder, "munged", &mut munged)?;
        let socket = folder.file("munge/socket");
        cluster.daemons.wait("munged", || socket.exists())?;
        let conf = &cluster.conf;
        cluster.daemons.spawn(
            folder,
            "slurmctld",
            Command::new("slurmctld").args(["-D", "-c", "-f"]).arg(conf),
        )?;
        for node in nodes {
            let mut command = Command::new("slurmd");
            command.args(["-D", "-N", &node.name, "-f"]).arg(conf);
            cluster.daemons.spawn(folder, &format!("slurmd-{}", node.name), &mut command)?;
        }
        let idle = |conf: &Path| {
            let states = slurm(conf, "sinfo", &["-h", "-N", "-o", "%T"]);
            states.lines().filter(|state| *state == "idle").count()
        };
        cluster.daemons.wait("idle nodes", || idle(conf) == nodes.len())?;
        Ok(cluster)
    }

    /// Returns the CPU time in s that the controller of the cluster has used.
    #[must_use]
    pub fn controller_seconds(&self) -> f64 {
        let controller = self.daemons.0.iter().find(|(name, _)| name == "slurmctld");
        let stat = controller
            .and_then(|(_, child)| std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok());
        // The name of the program, in parentheses, may contain spaces. The kernel counts hundredths of a second.
        let fields = stat.as_deref().and_then(|stat| stat.rsplit_once(')')).map_or("", |(_, fields)| fields);
        let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        ticks.sum::<f64>() / 100.0
    }

    /// Returns the path of the configuration.
    #[must_use]
    pub fn conf(&self) -> &Path {
        &self.conf
    }

    /// Checks that all daemons are running.
    ///
    /// # Errors
    /// Returns an error if a daemon has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        self.daemons.check()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Held jobs are pending, too.
        drop(slurm(&self.conf, "scancel", &["--user=root"]));
        let deadline = Instant::now() + PATIENCE;
        while !slurm(&self.conf, "squeue", &["-h"]).is_empty() && Instant::now() < deadline {
            sleep(LOOK_EVERY);
        }
    }
}

/// Runs a Slurm program; returns its output without the last newline.
#[must_use]
pub fn slurm(conf: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).env("SLURM_CONF", conf).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim_end().to_owned()).unwrap_or_default()
}

fn inventory(folder: &DemoFolder, binary: &Path, nodes: &[Node], ports: &[u16]) -> anyhow::Result<()> {
    let mut command = Command::new(binary);
    command.args(["fleet", "inventory", "--dir"]).arg(folder.path());
    let host = host()?;
    for (Node { name, drives, processors }, port) in nodes.iter().zip(ports) {
        let list: Vec<String> = drives
            .iter()
            .map(|drive| {
                format!(
                    r#"{{"path": "sim:sas-slc-2011", "kind": "simulated", "identity": "{drive}", "model": "sas-slc-2011", "capacity_bytes": 32000000000}}"#
                )
            })
            .collect();
        let file = folder.write(&format!("{name}.json"), &format!("[{}]", list.join(", ")))?;
        command.arg("--from").arg(format!("{name}={file}"));
        command
            .arg("--node")
            .arg(format!("{name}=NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={processors}"));
    }
    let output = command.output()?;
    ensure!(output.status.success(), "fleet inventory: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn configuration(folder: &DemoFolder, port: u16) -> String {
    let (dir, host) = (folder.path().display(), host().unwrap_or_default());
    format!(
        "ClusterName=demo\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={dir}/munge/socket\nStateSaveLocation={dir}/state\n\
         SlurmdSpoolDir={dir}/spool-%n\nSlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/slurmd-%n.pid\n\
         SlurmctldLogFile={dir}/slurmctld.log\nSlurmdLogFile={dir}/slurmd-%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         MpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
         SchedulerParameters=bf_interval=1,sched_min_interval=1\nSlurmdParameters=config_overrides\n\
         ReturnToService=2\nKillWait=5\nRequeueExit=75,130\nRequeueExitHold=2-10\ninclude {dir}/nodes.conf\n\
         PartitionName=p Nodes=ALL Default=YES State=UP\n"
    )
}

fn host() -> anyhow::Result<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")?;
    Ok(name.trim().split('.').next().unwrap_or_default().to_owned())
}

fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    // All of them are open at the same time, so that they differ.
    let listeners: Vec<_> =
        (0..count).map(|_| std::net::TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    Ok(listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<std::io::Result<_>>()?)
}
