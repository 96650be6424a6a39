//! `cargo xtask pictures`: renders the README's pictures from real runs: the demo in a terminal, a report page, and the page
//! of a run in progress.
//!
//! Chromium renders them with the fonts of the host. This chore is therefore run manually when the content
//! changes, and the pictures are reviewed.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use nix::errno::Errno;
use nix::pty::{Winsize, openpty};
use serde_json::Value;

use crate::browser::Browser;
use crate::chore::{Chore, plateau_program};
use labdemo::server::Server;

/// Executable names on Debian and other distributions.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
/// Title of the report page.
const PAGE: &str = "Steady State Measurement Window - RND/64KiB 65/35";
/// Width of a standard terminal.
const COLUMNS: u16 = 80;
/// Size of the picture of a run in progress.
const LAB: (u32, u32) = (1200, 900);
/// Completed rounds of the run in that picture. A run of this drive ends with its fifth round.
const ROUNDS: usize = 4;
/// Time within which the run must complete these rounds.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Maximum size of a picture on a web page.
const MOST_BYTES: u64 = 200_000;

/// Render the README's pictures from real runs
#[derive(clap::Args)]
pub struct Pictures {
    /// Binary to show [default: the release binary, built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl Chore for Pictures {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let program = self.binary.map_or_else(|| plateau_program(root, false), Ok)?;
        all(root, &std::path::absolute(program)?)
    }
}

/// Renders all pictures.
fn all(root: &Path, program: &Path) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let folder = root.join("docs/pictures");
    std::fs::create_dir_all(&folder)?;

    let shown = demo(program, scratch.path())?;
    let lines = shown.lines().count();
    // Lines of 19.8 px, plus padding.
    let height = (lines as f64).mul_add(19.8, 40.0).ceil() as u32;
    draw(&write(scratch.path(), &terminal(&shown))?, (780, height), &folder.join("terminal.png"))?;

    let html = report(program, scratch.path())?;
    draw(&write(scratch.path(), &only_page(&html)?)?, (1200, 808), &folder.join("report.png"))?;

    let png = folder.join("lab.png");
    std::fs::write(&png, lab(program, scratch.path())?)?;
    check(&png, LAB)?;
    println!("look at {} before you commit them", folder.display());
    Ok(())
}

fn plateau(program: &Path, scratch: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(words)
        .env("PLATEAU_LIBRARY", scratch.join("runs"))
        .env("PLATEAU_STATE", scratch.join("state"));
    command
}

/// Returns the terminal output of the demo, without paths of this host.
fn demo(program: &Path, scratch: &Path) -> anyhow::Result<String> {
    let size = Winsize { ws_row: 48, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(Some(&size), None)?;
    let mut child = plateau(program, scratch, &["demo"])
        // On a dumb terminal, lines are not rewritten in place.
        .env("TERM", "dumb")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(terminal.slave.try_clone()?)
        .stderr(terminal.slave)
        .spawn()
        .context("the demo")?;
    let mut shown = Vec::new();
    match File::from(terminal.master).read_to_end(&mut shown) {
        // EIO means the end of the file: the other end of the terminal was closed.
        Err(error) if error.raw_os_error() != Some(Errno::EIO as i32) => return Err(error.into()),
        _ => {}
    }
    let shown = String::from_utf8(shown)?.replace('\r', "");
    ensure!(child.wait()?.success(), "the demo failed:\n{shown}");
    let is_place = |line: &&str| line.starts_with("report ") || line.contains(&*scratch.to_string_lossy());
    let lines: Vec<&str> = shown.trim_end().lines().filter(|line| !is_place(line)).collect();
    Ok(format!("$ plateau demo\n{}", lines.join("\n").trim_end()))
}

/// Returns a page that looks like a terminal showing this output.
fn terminal(shown: &str) -> String {
    let escaped = shown.replace('&', "&amp;").replace('<', "&lt;");
    let (prompt, rest) = escaped.split_once('\n').unwrap_or((&escaped, ""));
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><style>body {{ margin: 0; background: #10151b; color: #d8dee6 }}\n\
         pre {{ margin: 0; padding: 18px 22px; font: 15px/1.32 'DejaVu Sans Mono', monospace; white-space: pre-wrap }}\n\
         i {{ color: #8fb8e8; font-style: normal }}</style><pre><i>{prompt}</i>\n{rest}</pre>"
    )
}

/// Returns the report of a run as HTML.
fn report(program: &Path, scratch: &Path) -> anyhow::Result<String> {
    let html = scratch.join("report.html");
    let words = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/16", "--report"];
    let mut command = plateau(program, scratch, &words);
    command.arg(&html).stdout(Stdio::null()).stderr(Stdio::null());
    ensure!(command.status()?.success(), "the run for the report failed");
    Ok(std::fs::read_to_string(html)?)
}

/// Returns the report with all other pages hidden.
fn only_page(html: &str) -> anyhow::Result<String> {
    let title = html
        .find(&format!("<h2 class=\"plot-title\">{PAGE}<"))
        .with_context(|| format!("the report has no page '{PAGE}'"))?;
    let section = html[..title].rfind("<section").context("a page is a section")?;
    let id = html[section..].split('"').find(|part| part.starts_with("page-")).context("a page has an id")?;
    let style = format!(
        "<style>nav, button, article, section:not(#{id}) {{ display: none !important }} body {{ background: #fff !important }} \
         main, section {{ margin: 0 auto !important; box-shadow: none !important }}</style></head>"
    );
    Ok(html.replacen("</head>", &style, 1))
}

/// Returns a picture of the page of a run in progress, as `plateau serve` shows it.
fn lab(program: &Path, scratch: &Path) -> anyhow::Result<Vec<u8>> {
    let library = scratch.join("lab");
    let words = ["run", "iops", "sim:sata-mlc-2011", "--scale=1/8", "--name=reference drive", "--library"];
    let mut command = plateau(program, scratch, &words);
    let _run = Killed(command.arg(&library).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let server = Server::start(program, &library, &scratch.join("state"))?;
    let mut browser =
        Browser::open(&scratch.join("browser"))?.context("no browser found; install chromium")?;
    browser.sign_in(&server)?;
    let begun = Instant::now();
    loop {
        let runs: Value = serde_json::from_slice(&server.get("/api/runs?state=running")?)?;
        if let Some(id) = runs[0]["run"].as_str() {
            let run: Value = serde_json::from_slice(&server.get(&format!("/api/runs/{id}"))?)?;
            let rounds = run["variables"][0]["values"].as_array().map_or(0, Vec::len);
            if rounds >= ROUNDS {
                return browser.picture(&server.url(&format!("/runs/{id}")), LAB);
            }
        }
        ensure!(begun.elapsed() < PATIENCE, "the run has not completed {ROUNDS} rounds");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A process that is killed at the end.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Writes a page to be rendered; returns its path.
fn write(scratch: &Path, html: &str) -> anyhow::Result<PathBuf> {
    let page = scratch.join("page.html");
    std::fs::write(&page, html)?;
    Ok(page)
}

fn draw(page: &Path, (width, height): (u32, u32), png: &Path) -> anyhow::Result<()> {
    for browser in BROWSERS {
        let drawn = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--hide-scrollbars"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--screenshot={}", png.display()))
            .arg(format!("file://{}", page.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match drawn {
            Ok(status) if status.success() && png.exists() => return check(png, (width, height)),
            Ok(status) => bail!("{browser} failed with {status}"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).context(*browser),
        }
    }
    bail!("no browser found; install chromium")
}

fn check(png: &Path, (width, height): (u32, u32)) -> anyhow::Result<()> {
    let bytes = std::fs::metadata(png)?.len();
    ensure!(bytes <= MOST_BYTES, "{} has {bytes} B, more than {MOST_BYTES}", png.display());
    println!("{} ({width}x{height}, {bytes} B)", png.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_other_pages_of_a_report_are_hidden() {
        let html = format!(
            "<head></head><nav><span>{PAGE}</span></nav><section id=\"page-1\"></section>\
             <section class=\"x\" id=\"page-2\"><h2 class=\"plot-title\">{PAGE}</h2>"
        );
        let only = only_page(&html).expect("a page");
        assert!(only.contains("section:not(#page-2)") && only.ends_with("</h2>"), "{only}");
        assert!(only_page("<section id=\"page-1\">").is_err());
    }

    #[test]
    fn terminal_output_is_escaped() {
        let html = terminal("$ plateau demo\na < b & c");
        assert!(html.contains("<i>$ plateau demo</i>\na &lt; b &amp; c</pre>"), "{html}");
    }
}
