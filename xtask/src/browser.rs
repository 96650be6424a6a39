//! Chromium, driven by the DevTools protocol over pipes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use labdemo::server::Server;

const BROWSER: &str = "chromium";
const TIMEOUT: Duration = Duration::from_secs(120);

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    last: u64,
}

impl Browser {
    /// Starts the browser with its files in `folder`; returns `None` if it is not installed.
    pub fn open(folder: &Path) -> anyhow::Result<Option<Self>> {
        let version =
            Command::new(BROWSER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        std::fs::create_dir_all(folder)?;
        let (to, from) = (folder.join("to"), folder.join("from"));
        let status = Command::new("mkfifo").args([&to, &from]).status()?;
        ensure!(status.success(), "mkfifo failed");
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"", BROWSER])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--disable-background-networking", "--disable-component-update", "--no-first-run"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let to = OpenOptions::new().write(true).open(to)?;
        let from = BufReader::new(File::open(from)?);
        let mut browser = Self { child, to, from, session: None, last: 0 };
        let target =
            browser.ask("Target.createTarget", &json!({ "url": "about:blank" }))?["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = browser.ask("Target.attachToTarget", &attach)?["sessionId"].clone();
        browser.session = session.as_str().map(ToOwned::to_owned);
        browser.ask("Page.enable", &json!({}))?;
        Ok(Some(browser))
    }

    pub fn sign_in(&mut self, server: &Server) -> anyhow::Result<()> {
        let (name, value) = server.cookie();
        let cookie = json!({ "name": name, "value": value, "url": server.url("/") });
        let set = self.ask("Network.setCookie", &cookie)?;
        ensure!(set["success"] == true, "the browser does not accept the cookie: {set}");
        Ok(())
    }

    /// Loads a page; returns the time from the start of the navigation to the first paint.
    pub fn first_paint_ms(&mut self, url: &str) -> anyhow::Result<f64> {
        self.ask("Page.navigate", &json!({ "url": url }))?;
        let begun = Instant::now();
        let script = "location.href === URL_ && document.readyState === 'complete' \
                      ? performance.getEntriesByName('first-paint')[0]?.startTime : undefined"
            .replace("URL_", &json!(url).to_string());
        loop {
            let paint = self.ask("Runtime.evaluate", &json!({ "expression": script }))?;
            if let Some(paint) = paint["result"]["value"].as_f64() {
                return Ok(paint);
            }
            if begun.elapsed() > TIMEOUT {
                bail!("{url} was not painted in time");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Loads a page in a window of this size with light colours; returns a picture of it as PNG.
    pub fn picture(&mut self, url: &str, (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &screen)?;
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": "light" }] });
        self.ask("Emulation.setEmulatedMedia", &features)?;
        self.first_paint_ms(url)?;
        let picture = self.ask("Page.captureScreenshot", &json!({ "format": "png" }))?;
        Ok(STANDARD.decode(picture["data"].as_str().context("no picture")?)?)
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes())?;
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes)?;
            ensure!(bytes.pop() == Some(0), "the browser has exited");
            let answer: Value = serde_json::from_slice(&bytes).context("the browser's answer")?;
            if answer["id"] == self.last {
                return Ok(answer["result"].clone());
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
