//! A PostgreSQL server for tests: on a socket in a temporary folder, as an ordinary user.
#![allow(dead_code, clippy::allow_attributes, reason = "every test file uses another part of it")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Where Debian puts the programs of each version.
const PROGRAMS: &str = "/usr/lib/postgresql";
/// Limit on waiting, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// The user `nobody`, because the server refuses to run as root.
const NOBODY: u32 = 65534;
/// The roles and the database that the manual uses.
pub const WRITER: &str = "plateau_writer";
pub const READER: &str = "plateau_reader";
const MANUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/store.md");

/// A running server; it ends when this is dropped.
pub struct Server {
    dir: TempDir,
    programs: PathBuf,
    /// Port on the loopback interface, if it listens there.
    pub port: Option<u16>,
    databases: Mutex<u32>,
}

/// Returns the folder with the programs of the newest version, or records that the test is skipped.
fn programs() -> Option<PathBuf> {
    let versions =
        fs::read_dir(PROGRAMS).into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let newest = versions.filter(|bin| bin.join("initdb").exists()).max_by_key(|bin| {
        let version =
            bin.parent().and_then(Path::file_name).and_then(|name| name.to_str()?.parse::<u32>().ok());
        version.unwrap_or(0)
    });
    if newest.is_none() {
        skips::without("postgresql");
    }
    newest
}

fn is_root() -> bool {
    fs::metadata("/proc/self").expect("/proc").uid() == 0
}

fn checked(output: Output, what: &str) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Returns a server that the tests of this process share; None, with a notice, if PostgreSQL is not installed.
pub fn shared() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start()?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

impl Server {
    /// Starts a server without passwords, with the roles and the database that the manual uses; None, with a
    /// notice, if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let server = Self::create()?;
        server.boot("-c listen_addresses=");
        server.set_up();
        Some(server)
    }

    /// Starts a server that also listens on the loopback interface, with TLS and passwords. `certificate` and `key` are
    /// PEM.
    pub fn start_secure(certificate: &Path, key: &Path) -> Option<Self> {
        let mut server = Self::create()?;
        let data = server.data();
        for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = data.join(name);
            fs::copy(from, &to).expect("copied");
            fs::set_permissions(&to, PermissionsExt::from_mode(0o600)).expect("a mode");
            server.hand_over(&to);
        }
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), rules).expect("rules");
        // Another program may take the port before the server does.
        let is_up = (0..20).any(|_| {
            let port =
                TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
            server.port = Some(port);
            server.try_boot(&format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on"))
        });
        assert!(is_up, "{}", server.log());
        server.set_up();
        Some(server)
    }

    /// From now on, requires a password from all users except the administrator.
    pub fn require_passwords(&self) {
        let rules = "local all postgres trust\nlocal all all scram-sha-256\n";
        fs::write(self.data().join("pg_hba.conf"), rules).expect("rules");
        let mut session = self.session("postgres");
        let before = session.ask("SELECT pg_conf_load_time()");
        session.ask("SELECT pg_reload_conf()");
        // The main process re-reads the configuration before this session's process does, and reads the rules
        // before it accepts another connection.
        session.wait_until(&format!("pg_conf_load_time() > '{before}'"));
    }

    fn create() -> Option<Self> {
        let programs = programs()?;
        let dir = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder");
        let server = Self { dir, programs, port: None, databases: Mutex::new(0) };
        server.hand_over(server.dir.path());
        let data = server.data();
        let init = server
            .command("initdb")
            .args(["-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-locale"])
            .args(["-N", "-D"])
            .arg(&data)
            .output();
        checked(init.expect("initdb"), "initdb");
        Some(server)
    }

    fn hand_over(&self, path: &Path) {
        if is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("another owner");
        }
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Returns a command that runs one of the server's programs as the server's user.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.dir.path()).stdin(Stdio::null()).env_remove("PGPASSFILE");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn try_boot(&self, options: &str) -> bool {
        let socket = self.dir.path().display();
        let options =
            format!("-c unix_socket_directories={socket} -c fsync=off -c max_connections=40 {options}");
        let status = self
            .command("pg_ctl")
            .args(["-w", "-t", "120", "-s", "-l", "log", "-D"])
            .arg(self.data())
            .args(["-o", &options, "start"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.expect("pg_ctl").success()
    }

    /// Starts the server again, after [`kill`](Self::kill).
    pub fn boot(&self, options: &str) {
        assert!(self.try_boot(options), "{}", self.log());
    }

    fn set_up(&self) {
        let page = fs::read_to_string(MANUAL).expect("the manual");
        let (_, block) = page.split_once("```sql\nCREATE ROLE").expect("the set-up");
        let (statements, _) = block.split_once("```").expect("the end of the set-up");
        self.psql("postgres", &format!("CREATE ROLE{statements}"));
    }

    /// Runs a script as the administrator.
    pub fn psql(&self, database: &str, script: &str) -> String {
        let mut child = self.psql_process(database);
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(script.as_bytes()).expect("written");
        drop(input);
        checked(child.wait_with_output().expect("psql"), script)
    }

    fn psql_process(&self, database: &str) -> Child {
        let mut command = self.command("psql");
        command.args(["-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-h"]);
        command.arg(self.dir.path());
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("psql")
    }

    /// Opens an administrator session that stays open.
    pub fn session(&self, database: &str) -> Session {
        let mut child = self.psql_process(database);
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Session { child, input, output }
    }

    /// Creates an empty database like the one in the manual; returns its name.
    pub fn database(&self) -> String {
        let mut databases = self.databases.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *databases += 1;
        let name = format!("library{databases}");
        self.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE plateau"));
        name
    }

    /// Creates an empty database like that of the manual, on a disk of its own without any free space; None, with a
    /// notice, without the right to mount one.
    pub fn database_on_full_disk(&self) -> Option<(String, FullDisk)> {
        if !is_root() {
            skips::skip!("mounting a disk requires root");
            return None;
        }
        let disk = FullDisk { path: self.dir.path().join("disk") };
        fs::create_dir(&disk.path).expect("a folder");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=32m", "tmpfs"]).arg(&disk.path).status();
        if !mounted.is_ok_and(|status| status.success()) {
            skips::skip!("tmpfs cannot be mounted here");
            return None;
        }
        self.hand_over(&disk.path);
        let place = disk.path.display();
        self.psql("postgres", &format!("CREATE TABLESPACE small LOCATION '{place}'"));
        self.psql("postgres", "CREATE DATABASE full_disk TEMPLATE plateau TABLESPACE small");
        Some(("full_disk".to_owned(), disk))
    }

    /// The address of a database through the socket.
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.dir.path().display().to_string().replace('/', "%2F");
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("postgres://{role}@{folder}{port}/{database}")
    }

    /// Kills all processes of the server.
    pub fn kill(&self) {
        let pid = fs::read_to_string(self.data().join("postmaster.pid")).expect("a running server");
        let main = pid.lines().next().expect("its process").to_owned();
        let children = fs::read_to_string(format!("/proc/{main}/task/{main}/children")).unwrap_or_default();
        let all: Vec<&str> = std::iter::once(&*main).chain(children.split_whitespace()).collect();
        let killed = Command::new("kill").arg("-KILL").args(&all).stderr(Stdio::null()).status();
        // A child may have ended in the meantime.
        let _ = killed.expect("kill");
        let is_alive = |pid: &&str| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
        };
        let deadline = Instant::now() + PATIENCE;
        while all.iter().any(is_alive) {
            assert!(Instant::now() < deadline, "waited for the end of {all:?}");
            std::thread::yield_now();
        }
        // In a container whose init process does not reap children, the main process remains as a zombie.
        fs::remove_file(self.data().join("postmaster.pid")).expect("removed");
        let port = self.port.unwrap_or(5432);
        fs::remove_file(self.dir.path().join(format!(".s.PGSQL.{port}.lock"))).expect("removed");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self
            .command("pg_ctl")
            .args(["-m", "immediate", "-w", "-s", "-D"])
            .arg(self.data())
            .arg("stop")
            .stderr(Stdio::null())
            .status();
    }
}

/// A small disk of the server.
pub struct FullDisk {
    path: PathBuf,
}

impl FullDisk {
    /// Uses up all of its space.
    pub fn fill(&self) {
        let mut file = fs::File::create(self.ballast()).expect("a file");
        let mut length = 1 << 20;
        // Down to the last page.
        while length > 0 {
            if file.write_all(&vec![0; length]).is_err() {
                length /= 2;
            }
        }
    }

    /// Frees this space again.
    pub fn empty(&self) {
        fs::remove_file(self.ballast()).expect("removed");
    }

    fn ballast(&self) -> PathBuf {
        self.path.join("ballast")
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        // The server still has files open on it.
        let _ = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}

/// An open session of the administrator.
pub struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// Runs a statement that returns one row; waits for it.
    pub fn ask(&mut self, statement: &str) -> String {
        self.input.write_all(format!("{statement};\n").as_bytes()).expect("written");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        assert!(line.ends_with('\n'), "{statement}: no answer");
        line.trim_end().to_owned()
    }

    /// Asks repeatedly until the answer is `t`.
    pub fn wait_until(&mut self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.ask(&format!("SELECT {condition}")) != "t" {
            assert!(Instant::now() < deadline, "waited for {condition}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
