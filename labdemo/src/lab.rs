//! The pages, Prometheus and the campaigns of the demo.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::cluster::{Cluster, Daemons};
use crate::folder::DemoFolder;
use crate::graphs;
use crate::leftovers::MARK;

/// What most jobs do: two plans on four drives, which end within minutes.
const CAMPAIGN: &str = r#"name = "demo"
repetitions = 2
[[drives]]
model = "sas"
[[plans]]
name = "iops"
tests = "iops"
options = ["--scale", "1/64"]
[[plans]]
name = "lat"
tests = "lat"
options = ["--scale", "1/64"]
"#;
/// A drive that does not meet a limit, so that its job is held: simulated drives report no spare.
const UNFIT: &str = r#"name = "unfit"
[limits]
min-spare = 10
[[drives]]
identities = ["D4"]
[[plans]]
name = "tp"
tests = "tp"
options = ["--scale", "1/64"]
"#;
/// The user who looks at the pages.
const USER: &str = "demo";
/// The user of Prometheus.
const SCRAPER: &str = "prometheus";

/// The page with the graphs of the dashboard, at Prometheus.
const GRAPHS: &str = "/consoles/graphs.html";
/// Beginning of the paths of Prometheus's pages in Debian, whose package has the older ones only.
const CLASSIC: &str = "/classic";

/// The address in the shipped configuration of Prometheus.
const SHIPPED_ADDRESS: &str = "127.0.0.1:7070";

/// A running lab.
pub struct Lab {
    // The order matters: the server and Prometheus end before the cluster.
    daemons: Daemons,
    cluster: Cluster,
    pages: String,
    prometheus: String,
    /// Beginning of the paths of Prometheus's pages.
    prefix: &'static str,
    password: String,
    dashboard: String,
}

impl Lab {
    /// Starts the pages and Prometheus, and submits the campaigns.
    ///
    /// # Errors
    /// Returns an error if a program cannot be started, or a campaign is refused.
    pub fn start(
        root: &Path,
        folder: &DemoFolder,
        binary: &Path,
        cluster: Cluster,
        listen: &str,
        prometheus: &str,
    ) -> anyhow::Result<Self> {
        let [pages, prometheus] = [listen, prometheus].map(free_address);
        let password = password()?;
        let mut lab = Self {
            daemons: Daemons::default(),
            cluster,
            pages: pages?,
            prometheus: prometheus?,
            prefix: "",
            password,
            dashboard: root.join("dist/monitoring/grafana-dashboard.json").display().to_string(),
        };
        for (user, role) in [(USER, "operator"), (SCRAPER, "viewer")] {
            let words = ["user", "add", user, "--role", role];
            lab.run(folder, binary, &words, &format!("{}\n", lab.password))?;
        }
        let campaigns = [folder.write("demo.toml", CAMPAIGN)?, folder.write("unfit.toml", UNFIT)?];
        let (inventory, logs) = (folder.text("inventory.json"), folder.text("logs"));
        let mut serve = lab.command(folder, binary);
        serve.args(["serve", "--listen", &lab.pages, "--inventory", &inventory, "--logs", &logs]);
        for campaign in &campaigns {
            serve.args(["--campaign", campaign]);
        }
        lab.daemons.spawn(folder, "serve", &mut serve)?;
        lab.start_prometheus(root, folder)?;
        for campaign in &campaigns {
            let words = ["fleet", "submit", campaign, "--inventory", &inventory, "--logs", &logs];
            lab.run(folder, binary, &words, "")?;
        }
        let url = lab.url("/api/fleet");
        let password = lab.password.clone();
        lab.daemons.wait("the pages", || get(&url, Some(&password)).is_ok())?;
        Ok(lab)
    }

    fn start_prometheus(&mut self, root: &Path, folder: &DemoFolder) -> anyhow::Result<()> {
        let shipped = |name: &str| {
            let path = root.join("dist/monitoring").join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let config = shipped("prometheus.yml")?;
        ensure!(config.contains(SHIPPED_ADDRESS), "prometheus.yml no longer names {SHIPPED_ADDRESS}");
        let config = folder.write("prometheus.yml", &config.replace(SHIPPED_ADDRESS, &self.pages))?;
        folder.write("alerts.yml", &shipped("alerts.yml")?)?;
        folder.write("password", &self.password)?;
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={config}"));
        command.arg(format!("--storage.tsdb.path={}", folder.text("prometheus")));
        command.arg(format!("--web.listen-address={}", self.prometheus));
        std::fs::create_dir(folder.file("consoles"))?;
        command.arg(format!("--web.console.templates={}", folder.text("consoles")));
        self.daemons.spawn(folder, "prometheus", &mut command)?;
        let ready = self.page("/-/ready");
        self.daemons.wait("Prometheus", || get(&ready, None).is_ok())?;
        if get(&self.page(&format!("{CLASSIC}/alerts")), None).is_ok() {
            self.prefix = CLASSIC;
        }
        let graphs = graphs::page(&format!("{}/graph", self.prefix), &shipped("grafana-dashboard.json")?)?;
        folder.write(&format!(".{GRAPHS}"), &graphs)?;
        Ok(())
    }

    /// A command of Plateau that uses the folder of the demo only.
    fn command(&self, folder: &DemoFolder, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.env("PLATEAU_LIBRARY", folder.file("runs")).env("PLATEAU_STATE", folder.file("plateau"));
        command.env("SLURM_CONF", self.cluster.conf()).env("HOME", folder.path()).env(MARK, folder.path());
        command.current_dir(folder.path());
        command
    }

    fn run(&self, folder: &DemoFolder, binary: &Path, words: &[&str], input: &str) -> anyhow::Result<()> {
        let mut command = self.command(folder, binary);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        child.stdin.take().context("piped")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "plateau {}: {said}", words.join(" "));
        Ok(())
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.pages)
    }

    /// Returns the address of a page of Prometheus.
    fn page(&self, path: &str) -> String {
        format!("http://{}{path}", self.prometheus)
    }

    fn alerts(&self) -> String {
        self.page(&format!("{}/alerts", self.prefix))
    }

    /// Fails if a daemon has ended.
    ///
    /// # Errors
    /// Returns an error if a daemon has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        self.daemons.check()?;
        self.cluster.check()
    }

    /// Returns the campaigns as on the page.
    ///
    /// # Errors
    /// Returns an error if the server does not answer.
    pub fn jobs(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&get(&self.url("/api/fleet"), Some(&self.password))?)?)
    }

    /// Returns whether every job of the campaign is complete, the other one is held, and Prometheus has scraped the pages.
    ///
    /// # Errors
    /// Returns an error if the server or Prometheus does not answer.
    pub fn is_settled(&self) -> anyhow::Result<bool> {
        let jobs = self.jobs()?;
        let states = |campaign: usize| -> Vec<&str> {
            let jobs = jobs[campaign]["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
            jobs.iter().filter_map(|job| job["state"].as_str()).collect()
        };
        let (demo, unfit) = (states(0), states(1));
        if demo.is_empty() || demo.iter().any(|state| *state != "complete") || unfit != ["held"] {
            return Ok(false);
        }
        for page in [self.alerts(), self.page(GRAPHS), self.page(&format!("{}/graph", self.prefix))] {
            get(&page, None)?;
        }
        let answer: Value =
            serde_json::from_str(&get(&self.page("/api/v1/query?query=plateau_runs"), None)?)?;
        Ok(answer["data"]["result"].as_array().is_some_and(|series| !series.is_empty()))
    }

    /// What to open, and how to sign in.
    #[must_use]
    pub fn invitation(&self) -> String {
        format!(
            "\nPages       {}  (user {USER}, password {})\nAlerts      {}\nGraphs      {}\nSlurm       SLURM_CONF={} squeue\n\
             Grafana     is not in Debian; if you have one, import {}\n",
            self.url("/fleet"),
            self.password,
            self.alerts(),
            self.page(GRAPHS),
            self.cluster.conf().display(),
            self.dashboard,
        )
    }
}

/// Requests a page with curl. The password is not visible to other users, because curl reads it from its input.
fn get(url: &str, password: Option<&str>) -> anyhow::Result<String> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail", "--max-time", "60", "--config", "-", url]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let login = password.map(|password| format!("user = \"{USER}:{password}\"\n")).unwrap_or_default();
    child.stdin.take().context("piped")?.write_all(login.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Replaces port 0 with a free port.
fn free_address(address: &str) -> anyhow::Result<String> {
    let listener =
        std::net::TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    Ok(listener.local_addr()?.to_string())
}

fn password() -> anyhow::Result<String> {
    let mut bytes = [0; 12];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
