//! The guest, which receives shell commands over a serial line and returns their output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::hardware::{DISK_BYTES, Target};

/// Timeout for the boot, on a busy host without KVM.
const READY_WITHIN: Duration = Duration::from_secs(180);
/// Timeout for a command. The longest command is a short test.
const ANSWER_WITHIN: Duration = Duration::from_secs(240);
/// Timeout for a disk to appear: drivers probe in the background.
const DISK_WITHIN: Duration = Duration::from_secs(20);
/// Timeout for a background program to reach a state.
const PROGRESS_WITHIN: Duration = Duration::from_secs(120);

/// A file as large as a disk, containing no zero bytes.
pub const CONTENT: &str = "/tmp/content";

/// The guest.
pub struct Guest {
    line: BufReader<UnixStream>,
    /// Upper limit for all waits.
    deadline: Instant,
    /// Timeout for a response.
    patience: Duration,
}

/// Result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Guest {
    pub(crate) fn new(line: UnixStream, deadline: Instant) -> Self {
        Self { line: BufReader::new(line), deadline, patience: READY_WITHIN }
    }

    pub(crate) fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        while self.answer().context("the guest does not boot")? != "@ready" {}
        self.patience = ANSWER_WITHIN;
        Ok(())
    }

    fn answer(&mut self) -> anyhow::Result<String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        ensure!(left > Duration::ZERO, "the time limit of all checks has passed");
        self.line.get_ref().set_read_timeout(Some(left.min(self.patience)))?;
        let mut line = String::new();
        ensure!(self.line.read_line(&mut line)? > 0, "the machine is off");
        Ok(line.trim_end().to_owned())
    }

    /// Runs a shell command to completion.
    pub fn run(&mut self, command: &str) -> anyhow::Result<Ran> {
        assert!(!command.contains('\n'), "one line is one command");
        self.line.get_mut().write_all(format!("{command}\n").as_bytes())?;
        let head = self.answer().with_context(|| format!("the guest did not answer: {command}"))?;
        let (code, out, err) =
            parse_head(&head).with_context(|| format!("unexpected reply from the guest: {head}"))?;
        let mut bytes = vec![0; out + err];
        self.line.read_exact(&mut bytes)?;
        let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
        Ok(Ran { code, out: text(&bytes[..out]), err: text(&bytes[out..]) })
    }

    /// Runs a shell command that must succeed; returns its output.
    pub fn sh(&mut self, command: &str) -> anyhow::Result<String> {
        let ran = self.run(command)?;
        ensure!(ran.code == 0, "`{command}` ended with {}: {}{}", ran.code, ran.out, ran.err);
        Ok(ran.out.trim_end().to_owned())
    }

    /// Runs plateau.
    pub fn plateau(&mut self, arguments: &str) -> anyhow::Result<Ran> {
        self.run(&format!("plateau {arguments}"))
    }

    /// Runs plateau, which must succeed and print one JSON document.
    pub fn json(&mut self, arguments: &str) -> anyhow::Result<Value> {
        let ran = self.plateau(&format!("{arguments} --json"))?;
        ensure!(ran.code == 0, "`plateau {arguments}` ended with {}: {}", ran.code, ran.err);
        serde_json::from_str(&ran.out).with_context(|| format!("`plateau {arguments}` printed {}", ran.out))
    }

    /// Runs plateau, which must exit with `code`; returns its standard error.
    pub fn fails(&mut self, code: u8, arguments: &str) -> anyhow::Result<String> {
        let ran = self.plateau(arguments)?;
        ensure!(
            ran.code == code,
            "`plateau {arguments}` ended with {} instead of {code}: {}{}",
            ran.code,
            ran.out,
            ran.err
        );
        Ok(ran.err)
    }

    /// Waits for a disk and returns its device node.
    pub fn device(&mut self, target: Target) -> anyhow::Result<String> {
        let namespace = target.namespace.map(|id| id.to_string()).unwrap_or_default();
        let command = format!("find-disk {} {namespace}", target.serial);
        let deadline = Instant::now() + DISK_WITHIN;
        loop {
            let ran = self.run(&command)?;
            let node = format!("/dev/{}", ran.out.trim());
            if ran.code == 0 && self.run(&format!("test -b {node}"))?.code == 0 {
                return Ok(node);
            }
            ensure!(Instant::now() < deadline, "the guest does not see {target:?}");
            sleep(Duration::from_millis(100));
        }
    }

    /// Writes [`CONTENT`] to a disk.
    pub fn fill(&mut self, device: &str) -> anyhow::Result<()> {
        // The file is created only once, because creating it takes seconds on an emulated CPU.
        let pieces = DISK_BYTES / (1 << 20);
        self.sh(&format!(
            "[ -s {CONTENT} ] || yes somebody | dd of={CONTENT} bs=1M iflag=fullblock count={pieces} 2>/dev/null; \
             dd if={CONTENT} of={device} bs=1M 2>/dev/null; sync"
        ))
        .map(drop)
    }

    /// Returns the identity that confirms the erasure of a disk.
    pub fn identity(&mut self, device: &str) -> anyhow::Result<String> {
        let info = self.json(&format!("info {device}"))?;
        Ok(info["target"]["identity"].as_str().context("no identity")?.to_owned())
    }

    /// Starts plateau in the background.
    pub fn start(&mut self, arguments: &str) -> anyhow::Result<()> {
        let command = format!(
            "rm -f /tmp/job.*; (plateau {arguments} >/tmp/job.out 2>/tmp/job.err; echo $? >/tmp/job.code) \
             >/dev/null 2>&1 &"
        );
        self.sh(&command).map(drop)
    }

    /// Waits until a shell command succeeds.
    pub fn wait_for(&mut self, what: &str, command: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + PROGRESS_WITHIN;
        while self.run(command)?.code != 0 {
            if Instant::now() > deadline {
                let output = self.run("cat /tmp/job.out /tmp/job.err")?;
                bail!("waited {PROGRESS_WITHIN:?} for {what}; plateau said: {}", output.out);
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits for the background program to exit.
    pub fn wait_for_end(&mut self) -> anyhow::Result<Ran> {
        self.wait_for("its end", "test -s /tmp/job.code")?;
        let code = self.sh("cat /tmp/job.code")?.parse().context("an exit code")?;
        Ok(Ran { code, out: self.sh("cat /tmp/job.out")?, err: self.sh("cat /tmp/job.err")? })
    }
}

fn parse_head(head: &str) -> Option<(u8, usize, usize)> {
    let mut words = head.strip_prefix("@done ")?.split_whitespace();
    let code = words.next()?.parse().ok()?;
    Some((code, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_says_how_much_comes() {
        assert_eq!(parse_head("@done 3 12 0"), Some((3, 12, 0)));
        assert_eq!(parse_head("@done 3 12"), None);
        assert_eq!(parse_head("Kernel panic"), None);
    }
}
