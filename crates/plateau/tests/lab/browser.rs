//! `plateau serve` in a browser: a run is started with the keyboard, watched, and found again afterwards. Skipped if
//! Chromium is not installed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab_server::Server;
use crate::support::{Bench, texts};

const BROWSER: &str = "chromium";
/// Timeout for a page or a run on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page, driven by the DevTools protocol over pipes.
struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    last: u64,
    /// Errors that the browser reported.
    complaints: Vec<String>,
}

impl Browser {
    fn open(bench: &Bench) -> Self {
        let (to, from) = (bench.path("to"), bench.path("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo").success());
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"", BROWSER])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--disable-background-networking", "--disable-component-update", "--no-first-run"])
            .arg(format!("--user-data-dir={}", bench.path("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a browser");
        let to = OpenOptions::new().write(true).open(to).expect("a pipe");
        let from = BufReader::new(File::open(from).expect("a pipe"));
        let mut browser = Self { child, to, from, session: None, last: 0, complaints: Vec::new() };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = browser.ask("Target.attachToTarget", &attach)["sessionId"].clone();
        browser.session = session.as_str().map(ToOwned::to_owned);
        browser.ask("Page.enable", &json!({}));
        browser.ask("Log.enable", &json!({}));
        browser
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("the browser answers");
            assert_eq!(bytes.pop(), Some(0), "the browser ended");
            let answer: Value = serde_json::from_slice(&bytes).expect("JSON");
            if answer["method"] == "Log.entryAdded"
                && answer["params"]["entry"]["url"].as_str().is_none_or(|url| !url.ends_with("/favicon.ico"))
            {
                self.complaints.push(answer["params"]["entry"]["text"].to_string());
            }
            if answer["id"] == self.last {
                return answer["result"].clone();
            }
        }
    }

    fn evaluate(&mut self, script: &str) -> Value {
        self.ask("Runtime.evaluate", &json!({ "expression": script }))["result"]["value"].clone()
    }

    /// Waits until a script returns true.
    fn wait(&mut self, script: &str) {
        let begun = Instant::now();
        while self.evaluate(script) != true {
            let page = self.evaluate("location.pathname + '\\n' + document.body?.innerText");
            assert!(begun.elapsed() < PATIENCE, "waited for {script} at {page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn go(&mut self, url: &str) {
        self.ask("Page.navigate", &json!({ "url": url }));
        self.wait("document.readyState === 'complete' && location.protocol === 'http:'");
    }

    /// Focuses an element, types text and presses Enter.
    fn enter(&mut self, selector: &str, text: &str) {
        self.wait(&format!("document.querySelector(\"{selector}\") !== null"));
        self.evaluate(&format!("document.querySelector(\"{selector}\").focus()"));
        self.ask("Input.insertText", &json!({ "text": text }));
        let key = json!({ "type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r" });
        self.ask("Input.dispatchKeyEvent", &key);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether there is no browser; if so, records the skipped test.
fn is_missing() -> bool {
    let version = Command::new(BROWSER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let missing = !version.is_ok_and(|status| status.success());
    if missing {
        skips::without(BROWSER);
    }
    missing
}

/// The source of axe-core, an accessibility checker, if it is installed as a global npm package.
fn axe() -> Option<String> {
    let root = Command::new("npm").args(["root", "--global"]).output().ok();
    let root = root.filter(|output| output.status.success()).map(|output| texts(&output).0);
    let path = root.map(|root| Path::new(root.trim()).join("axe-core/axe.min.js"));
    let source = path.and_then(|path| std::fs::read_to_string(path).ok());
    if source.is_none() {
        skips::without("axe-core");
    }
    source
}

/// The problems that the checker considers serious, and whether the page is wider than the window.
const CHECK: &str = "axe.run().then(({ violations }) => JSON.stringify({ \
                     found: violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)) \
                     .map(({ id, nodes }) => `${id}: ${nodes[0].target} ${nodes[0].html.slice(0, 160)}`), \
                     wider: document.documentElement.scrollWidth - innerWidth }))";

#[test]
fn every_page_is_accessible_on_every_screen() {
    let Some(axe) = axe().filter(|_| !is_missing()) else { return };
    let bench = Bench::new();
    let run =
        ["run", "iops", "sim:sas-slc-2011", "--scale=1/64", "--profile=pts-e-1.0", "--tag=t", "--note=n"];
    let first = bench.json(&run)["run"].as_str().expect("an id").to_owned();
    bench.json(&["run", "iops", "sim:sata-mlc-2011", "--scale=1/64", "--profile=pts-e-1.0"]);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    let drive = "/drive?id=sim%3Asas-slc-2011+seed+1";
    let pages = ["/", "/drives", drive, "/start", "/account", "/api", "/login", &format!("/runs/{first}")];
    for (scheme, width) in [("light", 1400), ("dark", 1400), ("light", 800), ("light", 390), ("dark", 390)] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", &features);
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        browser.ask("Emulation.setDeviceMetricsOverride", &screen);
        for page in pages {
            browser.go(&format!("{base}{page}"));
            let heading = browser.evaluate("document.querySelector('h1')?.textContent ?? ''");
            assert!(heading.as_str().is_some_and(|text| !text.starts_with("No such")), "{page}: {heading}");
            browser.evaluate(&axe);
            let ask = json!({ "expression": CHECK, "awaitPromise": true });
            let result = browser.ask("Runtime.evaluate", &ask)["result"]["value"].clone();
            let result: Value = serde_json::from_str(result.as_str().unwrap_or("null")).expect("JSON");
            let what = format!("{page}, {width} px, {scheme}");
            assert_eq!(result["found"], json!([]), "{what}");
            assert!(result["wider"].as_i64().is_some_and(|wider| wider <= 0), "{what}: {result}");
        }
    }
}

#[test]
fn a_run_is_started_with_the_keyboard_watched_tagged_and_found() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    browser.go(&format!("{base}/start?target=sim:sas-slc-2011&scale=1/64&profile=pts-e-1.0&tests=iops"));
    browser.enter("button.primary", "");
    browser.wait("/^\\/start\\/./.test(location.pathname) && document.readyState === 'complete'");
    browser.enter("input[name=identity]", "sim:sas-slc-2011");
    browser
        .wait("location.pathname.startsWith('/runs/') && document.querySelector('.badge.steady') !== null");
    browser.enter("input[name=tag]", "by-keyboard");
    browser.wait("document.querySelector('.tag')?.textContent === 'by-keyboard'");
    browser.go(&format!("{base}/?q=by-keyboard&state=steady"));
    assert_eq!(browser.evaluate("document.querySelectorAll('table.runs tbody tr').length"), 1);
    assert_eq!(bench.runs().len(), 1);
    assert_eq!(browser.complaints, Vec::<String>::new(), "no request is refused, and the policy is kept");
}
