//! The guest at the other end of a serial line: takes a shell command, gives back what it printed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::hardware::{DISK_BYTES, Target};

/// The kernel and the modules, on a busy host that emulates.
const READY_WITHIN: Duration = Duration::from_secs(180);
/// The longest command is a short test.
const ANSWER_WITHIN: Duration = Duration::from_secs(240);
/// Drivers look for disks in the background.
const DISK_WITHIN: Duration = Duration::from_secs(20);
/// A background program gets as far as a check wants it to.
const PROGRESS_WITHIN: Duration = Duration::from_secs(120);

/// Something as large as a disk, and nowhere zero.
pub const CONTENT: &str = "/tmp/content";

pub struct Guest {
    line: BufReader<UnixStream>,
    /// Nothing is waited for longer than that.
    deadline: Instant,
    /// How long an answer may take.
    patience: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub code: u8,
    pub out: String,
    pub err: String,
}

impl Guest {
    pub fn new(line: UnixStream, deadline: Instant) -> Self {
        Self { line: BufReader::new(line), deadline, patience: READY_WITHIN }
    }

    pub fn wait_until_ready(&mut self) -> anyhow::Result<()> {
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

    /// Runs a shell command to its end.
    pub fn run(&mut self, command: &str) -> anyhow::Result<Ran> {
        assert!(!command.contains('\n'), "one line is one command");
        self.line.get_mut().write_all(format!("{command}\n").as_bytes())?;
        let head = self.answer().with_context(|| format!("no answer to: {command}"))?;
        let (code, out, err) = parse_head(&head).with_context(|| format!("the guest replied {head}"))?;
        let mut bytes = vec![0; out + err];
        self.line.read_exact(&mut bytes)?;
        let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
        Ok(Ran { code, out: text(&bytes[..out]), err: text(&bytes[out..]) })
    }

    /// Runs a shell command that has to succeed; gives what it printed.
    pub fn sh(&mut self, command: &str) -> anyhow::Result<String> {
        let ran = self.run(command)?;
        ensure!(ran.code == 0, "`{command}` ended with {}: {}{}", ran.code, ran.out, ran.err);
        Ok(ran.out.trim_end().to_owned())
    }

    /// Runs our program.
    pub fn plateau(&mut self, arguments: &str) -> anyhow::Result<Ran> {
        self.run(&format!("plateau {arguments}"))
    }

    /// Runs our program, which has to succeed and to print one JSON document.
    pub fn json(&mut self, arguments: &str) -> anyhow::Result<Value> {
        let ran = self.plateau(&format!("{arguments} --json"))?;
        ensure!(ran.code == 0, "`plateau {arguments}` ended with {}: {}", ran.code, ran.err);
        serde_json::from_str(&ran.out).with_context(|| format!("`plateau {arguments}` printed {}", ran.out))
    }

    /// Runs our program, which has to end with `code`; gives what it said about that.
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

    /// The node of a disk; waits for it.
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

    /// Puts [`CONTENT`] on a disk.
    pub fn fill(&mut self, device: &str) -> anyhow::Result<()> {
        // An emulated processor takes seconds to make it, so it is made once.
        let pieces = DISK_BYTES / (1 << 20);
        self.sh(&format!(
            "[ -s {CONTENT} ] || yes somebody | dd of={CONTENT} bs=1M iflag=fullblock count={pieces} 2>/dev/null; \
             dd if={CONTENT} of={device} bs=1M 2>/dev/null; sync"
        ))
        .map(drop)
    }

    /// What has to be typed to erase a disk.
    pub fn identity(&mut self, device: &str) -> anyhow::Result<String> {
        let info = self.json(&format!("info {device}"))?;
        Ok(info["target"]["identity"].as_str().context("no identity")?.to_owned())
    }

    /// Starts our program in the background.
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
                let said = self.run("cat /tmp/job.out /tmp/job.err")?;
                bail!("waited {PROGRESS_WITHIN:?} for {what}; plateau said: {}", said.out);
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits until the program in the background has ended.
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
