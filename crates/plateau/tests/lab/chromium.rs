//! Chromium, driven by the DevTools protocol.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab_server::Server;
use crate::support::{Bench, texts};

const BROWSER: &str = "chromium";
/// Timeout for a page or a run on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);
/// More elements than the Tab key reaches on a page.
const MOST_STOPS: usize = 100;

/// The problems that the checker considers serious, and whether the page is wider than the window.
const CHECK: &str = "axe.run().then(({ violations }) => JSON.stringify({ \
                     found: violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)) \
                     .map(({ id, nodes }) => `${id}: ${nodes[0].target} ${nodes[0].html.slice(0, 160)}`), \
                     wider: document.documentElement.scrollWidth - innerWidth }))";

/// A browser with one page, driven by the DevTools protocol over pipes.
pub struct Browser {
    child: Child,
    to: File,
    /// The browser's messages.
    from: Receiver<Vec<u8>>,
    session: Option<String>,
    /// The sessions of all tabs.
    tabs: Vec<String>,
    last: u64,
    /// The request whose answer is held back.
    held: Option<Value>,
    /// Errors that the browser or the script of a page reported.
    pub complaints: Vec<String>,
    /// The addresses that the browser requested.
    pub requests: Vec<String>,
}

impl Browser {
    pub fn open(bench: &Bench) -> Self {
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
        let from = messages(File::open(from).expect("a pipe"));
        let mut browser = Self {
            child,
            to,
            from,
            session: None,
            tabs: Vec::new(),
            last: 0,
            held: None,
            complaints: Vec::new(),
            requests: Vec::new(),
        };
        browser.open_tab();
        browser
    }

    /// Opens a tab in a window of its own, so that it is visible, and uses it from now on.
    pub fn open_tab(&mut self) {
        self.session = None;
        let window = json!({ "url": "about:blank", "newWindow": true });
        let target = self.ask("Target.createTarget", &window)["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = self.ask("Target.attachToTarget", &attach)["sessionId"].clone();
        let session = session.as_str().expect("a session").to_owned();
        self.tabs.push(session.clone());
        self.session = Some(session);
        for domain in ["Page", "Log", "Network", "Runtime"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// Uses a tab, counted from 0, without making it visible.
    pub fn use_tab(&mut self, tab: usize) {
        self.session = Some(self.tabs[tab].clone());
    }

    pub fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.send(method, parameters);
        loop {
            let bytes = self.from.recv_timeout(PATIENCE);
            let bytes = bytes.unwrap_or_else(|error| panic!("{method} was not answered: {error}"));
            let answer: Value = serde_json::from_slice(&bytes).expect("JSON");
            if answer["id"] == id {
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn send(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        self.last
    }

    /// Notes an event.
    fn note(&mut self, event: &Value) {
        let of = &event["params"];
        match event["method"].as_str() {
            Some("Log.entryAdded") => self.complaints.push(of["entry"]["text"].to_string()),
            Some("Runtime.exceptionThrown") => self.complaints.push(of["exceptionDetails"].to_string()),
            Some("Network.requestWillBeSent") => {
                self.requests.push(of["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            Some("Fetch.requestPaused") if of["responseStatusCode"].is_u64() => {
                self.held = Some(of["requestId"].clone());
            }
            Some("Fetch.requestPaused") => {
                let refused = json!({ "requestId": of["requestId"], "responseCode": 502 });
                self.send("Fetch.fulfillRequest", &refused);
            }
            _ => {}
        }
    }

    /// Answers all requests for addresses that match a pattern with status 502, like a proxy whose server is being
    /// restarted, or no longer does so.
    pub fn refuse(&mut self, pattern: Option<&str>) {
        match pattern {
            Some(pattern) => {
                self.ask("Fetch.enable", &json!({ "patterns": [{ "urlPattern": pattern }] }));
            }
            None => {
                self.ask("Fetch.disable", &json!({}));
            }
        }
    }

    /// Holds back the answer to the next request for an address that matches a pattern.
    pub fn hold(&mut self, pattern: &str) {
        let held = json!({ "urlPattern": pattern, "requestStage": "Response" });
        self.ask("Fetch.enable", &json!({ "patterns": [held] }));
    }

    /// Waits until the page has requested an address `count` times altogether. Unlike a script, this
    /// is possible while the browser waits for another page.
    pub fn wait_for_requests(&mut self, end: &str, count: usize) {
        let begun = Instant::now();
        let made = |requests: &[String]| requests.iter().filter(|url| url.ends_with(end)).count();
        while made(&self.requests) < count {
            assert!(begun.elapsed() < PATIENCE, "{} requests for {end}", made(&self.requests));
            // The answer comes after all events that precede it. The page itself may not answer.
            let page = self.session.take();
            self.ask("Browser.getVersion", &json!({}));
            self.session = page;
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Passes on the answer that was held back.
    pub fn pass(&mut self) {
        let held = self.held.take().expect("an answer is held back");
        self.ask("Fetch.continueRequest", &json!({ "requestId": held }));
        self.ask("Fetch.disable", &json!({}));
    }

    /// Makes the browser use a session that has already begun.
    pub fn admit(&mut self, server: &Server, cookie: &str) {
        let pair = cookie.trim().strip_prefix("Cookie: ").and_then(|pair| pair.split_once('='));
        let (name, value) = pair.expect("a cookie");
        let url = format!("http://{}/", server.address);
        self.ask("Network.setCookie", &json!({ "name": name, "value": value, "url": url }));
    }

    pub fn evaluate(&mut self, script: &str) -> Value {
        self.ask("Runtime.evaluate", &json!({ "expression": script }))["result"]["value"].clone()
    }

    /// Waits until a script returns true.
    pub fn wait(&mut self, script: &str) {
        let begun = Instant::now();
        while self.evaluate(script) != true {
            let page = self.evaluate("location.pathname + '\\n' + document.body?.innerText");
            assert!(begun.elapsed() < PATIENCE, "waited for {script} at {page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn go(&mut self, url: &str) {
        self.ask("Page.navigate", &json!({ "url": url }));
        self.wait("document.readyState === 'complete' && location.protocol === 'http:'");
    }

    /// Focuses an element, types text and presses Enter.
    pub fn enter(&mut self, selector: &str, text: &str) {
        self.wait(&format!("document.querySelector(\"{selector}\") !== null"));
        self.evaluate(&format!("document.querySelector(\"{selector}\").focus()"));
        self.ask("Input.insertText", &json!({ "text": text }));
        self.enter_focused();
    }

    /// Presses Enter.
    pub fn enter_focused(&mut self) {
        let key = json!({ "type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r" });
        self.ask("Input.dispatchKeyEvent", &key);
    }

    /// Presses the Tab key until a script returns true.
    pub fn tab_to(&mut self, script: &str) {
        for _ in 0..MOST_STOPS {
            self.press("Tab", 9);
            if self.evaluate(script) == true {
                return;
            }
        }
        panic!("the Tab key does not lead to {script}");
    }

    /// Presses a key that enters no text.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// Presses the Tab key as often as the page has controls, and returns those that it has not reached. Of a group of
    /// radio buttons, it reaches one; the arrow keys reach the others.
    pub fn unreached(&mut self) -> Value {
        self.evaluate(
            "window.reached = new Set(); \
             document.addEventListener('focusin', ({ target }) => reached.add(target)); \
             window.controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')] \
             .filter((control) => control.checkVisibility() && !control.disabled); 0",
        );
        let count = self.evaluate("controls.length").as_u64().expect("a number");
        assert!(count > 5, "{count} controls");
        // The browser also stops at parts that scroll.
        for _ in 0..count + 20 {
            self.press("Tab", 9);
        }
        self.evaluate(
            "JSON.stringify(controls.filter((control) => !reached.has(control) && \
             !(control.type === 'radio' && [...reached].some(({ name }) => name === control.name))) \
             .map((control) => control.outerHTML.slice(0, 160)))",
        )
    }

    /// Clicks the middle of an element with the mouse.
    pub fn click(&mut self, selector: &str) {
        self.wait(&format!("document.querySelector(\"{selector}\") !== null"));
        let place = self.evaluate(&format!(
            "(() => {{ const element = document.querySelector(\"{selector}\"); \
             element.scrollIntoView({{ block: 'center' }}); const at = element.getBoundingClientRect(); \
             return JSON.stringify([at.x + at.width / 2, at.y + at.height / 2]); }})()"
        ));
        let place: Vec<f64> = serde_json::from_str(place.as_str().unwrap_or_default()).expect("a place");
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", &event);
        }
    }

    /// Changes the width of the window.
    pub fn resize(&mut self, width: u32) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.ask("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Asserts that the page has no serious accessibility problem and is not wider than the window. `axe` is the source
    /// of the checker.
    pub fn check(&mut self, axe: &str, what: &str) {
        self.evaluate(axe);
        let ask = json!({ "expression": CHECK, "awaitPromise": true });
        let result = self.ask("Runtime.evaluate", &ask)["result"]["value"].clone();
        let result: Value = serde_json::from_str(result.as_str().unwrap_or("null")).expect("JSON");
        assert_eq!(result["found"], json!([]), "{what}");
        assert!(result["wider"].as_i64().is_some_and(|wider| wider <= 0), "{what}: {result}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether there is no browser; if so, records the skipped test.
pub fn is_missing() -> bool {
    let version = Command::new(BROWSER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let missing = !version.is_ok_and(|status| status.success());
    if missing {
        skips::without(BROWSER);
    }
    missing
}

/// The source of axe-core, an accessibility checker, if it is installed as a global npm package.
pub fn axe() -> Option<String> {
    let root = Command::new("npm").args(["root", "--global"]).output().ok();
    let root = root.filter(|output| output.status.success()).map(|output| texts(&output).0);
    let path = root.map(|root| Path::new(root.trim()).join("axe-core/axe.min.js"));
    let source = path.and_then(|path| std::fs::read_to_string(path).ok());
    if source.is_none() {
        skips::without("axe-core");
    }
    source
}

/// Reads messages, which end with a zero byte, until the browser ends.
fn messages(from: File) -> Receiver<Vec<u8>> {
    let (send, messages) = mpsc::channel();
    std::thread::spawn(move || {
        let read = BufReader::new(from).split(0).map_while(Result::ok);
        for message in read {
            if send.send(message).is_err() {
                return;
            }
        }
    });
    messages
}
