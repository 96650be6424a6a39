//! Slurm with two nodes on this host, started for a test and stopped at its end.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout, far longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(300);
const PROGRAMS: [&str; 5] = ["slurmctld", "slurmd", "munged", "sbatch", "runuser"];

/// The nodes, and the names of their agents.
const AGENTS: [(&str, &str); 2] = [("n1", "slurmd-n1"), ("n2", "slurmd-n2")];

fn agent(node: &str) -> &'static str {
    AGENTS.iter().find(|(name, _)| *name == node).expect("a node").1
}

/// A cluster and the folder that contains its files.
pub struct Cluster {
    pub dir: tempfile::TempDir,
    daemons: Vec<(&'static str, Child)>,
    ports: [u16; 3],
}

impl Cluster {
    /// Returns a cluster that has not yet been started. If it cannot be started on this host, reports the reason and
    /// returns `None`.
    pub fn prepare() -> Option<Self> {
        if !super::support::is_root() {
            skips::skip!("slurmd needs root");
            return None;
        }
        for program in PROGRAMS {
            let is_there = |dir: &PathBuf| dir.join(program).exists();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let sbin = [PathBuf::from("/usr/sbin")];
            if !std::env::split_paths(&path).chain(sbin).any(|dir| is_there(&dir)) {
                skips::without(program);
                return None;
            }
        }
        let dir = tempfile::tempdir().expect("a folder");
        // The munge daemons and the jobs access their files under this folder.
        shell(&format!(
            "chmod 755 {0}; mkdir {0}/munge {0}/state {0}/spool-n1 {0}/spool-n2",
            dir.path().display()
        ));
        let cluster = Self { dir, daemons: Vec::new(), ports: free_ports() };
        cluster.set_prolog("exit 0\n");
        Some(cluster)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }

    /// Replaces the program that nodes start before each job.
    pub fn set_prolog(&self, lines: &str) {
        let (path, other) = (self.path("prolog"), self.path("prolog.new"));
        std::fs::write(&other, format!("#!/bin/sh\n{lines}")).expect("written");
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).expect("changed");
        std::fs::rename(&other, &path).expect("renamed");
    }

    /// Returns the parameters of node 1 or 2 for the inventory.
    pub fn node(&self, number: usize) -> String {
        let host = host();
        format!("n{number}=NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=8", self.ports[number])
    }

    /// Starts the cluster with the `gres.conf` and `nodes.conf` in its folder.
    pub fn start(&mut self) {
        let dir = self.dir.path().display().to_string();
        let munge = format!("{dir}/munge");
        shell(&format!(
            "head -c 1024 /dev/urandom > {munge}/key; chown -R munge: {munge}; chmod 755 {munge}; chmod 600 {munge}/key"
        ));
        let munged = ["socket", "key-file", "pid-file", "log-file", "seed-file"];
        let mut command = Command::new("runuser");
        command.args(["-u", "munge", "--", "munged", "--foreground"]);
        command
            .args(munged.map(|name| format!("--{name}={munge}/{}", name.split('-').next().unwrap_or(name))));
        self.spawn("munged", command);
        let socket = self.path("munge/socket");
        wait("munged", || socket.exists());
        std::fs::write(self.path("slurm.conf"), self.configuration()).expect("written");
        self.start_controller(true);
        for node in AGENTS.map(|(node, _)| node) {
            self.start_agent(node);
        }
        wait("two idle nodes", || {
            for (name, child) in &mut self.daemons {
                let ended = child.try_wait().expect("a daemon");
                assert!(ended.is_none(), "{name} ended: {ended:?}");
            }
            self.slurm("sinfo", &["-h", "-N", "-o", "%N %T"]) == "n1 idle\nn2 idle"
        });
    }

    /// Starts the agent of a node.
    pub fn start_agent(&mut self, node: &str) {
        let mut command = Command::new("slurmd");
        command.args(["-D", "-N", node, "-f", &self.text("slurm.conf")]);
        self.spawn(agent(node), command);
    }

    /// Kills the agent of a node; the processes of its jobs remain.
    pub fn kill_agent(&mut self, node: &str) {
        self.kill(agent(node));
    }

    /// Waits until the controller has heard from all agents since it was started.
    pub fn wait_for_agents(&self) {
        wait("the agents", || {
            let states = self.slurm("sinfo", &["-h", "-N", "-o", "%T"]);
            states.lines().count() == AGENTS.len()
                && states.lines().all(|state| ["idle", "mixed", "allocated", "completing"].contains(&state))
        });
    }

    fn kill(&mut self, daemon: &str) {
        let at = self.daemons.iter().position(|(name, _)| *name == daemon).expect("it runs");
        let (_, mut child) = self.daemons.swap_remove(at);
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    fn configuration(&self) -> String {
        let (dir, host, port) = (self.dir.path().display(), host(), self.ports[0]);
        format!(
            "ClusterName=plateau\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={dir}/munge/socket\nStateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool-%n\nSlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/slurmd-%n.pid\n\
             SlurmctldLogFile={dir}/slurmctld.log\nSlurmdLogFile={dir}/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             MpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=bf_interval=1,sched_min_interval=1\nSlurmdParameters=config_overrides\n\
             ReturnToService=2\nProlog={dir}/prolog\nKillWait=5\nRequeueExit=75,130\nRequeueExitHold=2-10\ninclude {dir}/nodes.conf\n\
             PartitionName=p Nodes=n1,n2 Default=YES State=UP\n"
        )
    }

    fn start_controller(&mut self, is_first: bool) {
        let mut command = Command::new("slurmctld");
        command.args(["-D", "-f", &self.text("slurm.conf")]);
        if is_first {
            command.arg("-c");
        }
        self.spawn("slurmctld", command);
    }

    /// Waits until the controller has saved the current state of all jobs. It does so only every few seconds; if
    /// it is killed before that, Slurm loses jobs.
    pub fn wait_until_saved(&self, number: &str) {
        let comment = format!("a comment after everything else about {number}");
        self.slurm("scontrol", &["update", &format!("JobId={number}"), &format!("Comment={comment}")]);
        wait("the saved state", || {
            let saved = std::fs::read(self.path("state/job_state")).unwrap_or_default();
            saved.windows(comment.len()).any(|part| part == comment.as_bytes())
        });
    }

    /// Waits until the controller has saved that jobs have ended. Otherwise, if it is killed, the new one assumes that
    /// they are running, and jobs on their drives wait for them. Returns the number of a held job, which was saved with them
    /// and is to be cancelled after the kill.
    pub fn wait_until_ends_are_saved(&self) -> String {
        let held = self.slurm("sbatch", &["--parsable", "--hold", "--wrap", "true"]);
        self.wait_until_saved(&held);
        held
    }

    /// Kills the controller and starts a new one.
    pub fn kill_controller(&mut self) {
        self.kill("slurmctld");
        self.start_controller(false);
        wait("the controller", || self.slurm("scontrol", &["ping"]).contains("UP"));
    }

    fn spawn(&mut self, name: &'static str, mut command: Command) {
        let log =
            std::fs::File::create(self.path(&format!("{name}-{}.out", self.daemons.len()))).expect("a log");
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        self.daemons.push((name, command.spawn().expect("a daemon")));
    }

    /// Runs a Slurm program; returns its output without the last newline.
    pub fn slurm(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program).args(args).env("SLURM_CONF", self.path("slurm.conf")).output();
        String::from_utf8_lossy(&output.expect("started").stdout).trim_end().to_owned()
    }

    /// Returns each queued job's number, name, state and reason.
    pub fn queue(&self) -> Vec<(String, String, String)> {
        let text = self.slurm("squeue", &["-h", "-o", "%A|%j|%T %R"]);
        let fields = |line: &str| {
            let mut fields = line.splitn(3, '|').map(str::to_owned);
            Some((fields.next()?, fields.next()?, fields.next()?))
        };
        text.lines().filter_map(fields).collect()
    }

    /// Waits until the queue is empty. Starts requeued jobs at once, because Slurm would start them only after
    /// two minutes.
    pub fn wait_for_all(&self) {
        wait("all jobs", || {
            let queue = self.queue();
            for (number, _, _) in queue.iter().filter(|(_, _, state)| state.contains("BeginTime")) {
                self.slurm("scontrol", &["update", &format!("JobId={number}"), "StartTime=now"]);
            }
            assert!(!queue.iter().any(|(_, _, state)| state.contains("Held")), "{queue:?}");
            queue.is_empty()
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.slurm("scancel", &["--state=RUNNING,PENDING", "--me"]);
        for (_, child) in self.daemons.iter_mut().rev() {
            // runuser passes SIGTERM on to munged.
            drop(Command::new("kill").arg(child.id().to_string()).status());
            drop(child.wait());
        }
        if !std::thread::panicking() {
            return;
        }
        // The output of the daemons and jobs.
        for entry in std::fs::read_dir(self.dir.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "out" || extension == "log") {
                eprintln!("{}: {}", path.display(), std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
}

pub fn wait(what: &str, mut is_reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_reached() {
        assert!(Instant::now() < deadline, "waited {} s for {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn shell(script: &str) {
    assert!(Command::new("sh").args(["-c", script]).status().expect("a shell").success(), "{script}");
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("/proc");
    name.trim().split('.').next().unwrap_or_default().to_owned()
}

fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("bound").port())
}

/// Returns a file's bytes, to detect changes.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("readable")
}
