//! QMP, the control channel of QEMU: JSON messages, one per line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// Timeout for a response; QEMU normally responds immediately.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

pub struct Qmp {
    lines: BufReader<UnixStream>,
}

impl Qmp {
    pub fn connect(socket: &Path) -> anyhow::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        let mut qmp = Self { lines: BufReader::new(stream) };
        qmp.message()?;
        qmp.ask("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Executes a command; ignores events that arrive before the response.
    pub fn ask(&mut self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        let line = json!({ "execute": command, "arguments": arguments }).to_string() + "\n";
        self.lines.get_mut().write_all(line.as_bytes())?;
        loop {
            let message = self.message()?;
            if let Some(error) = message.get("error") {
                bail!("QEMU refused {command}: {error}");
            }
            if let Some(answer) = message.get("return") {
                return Ok(answer.clone());
            }
        }
    }

    /// Waits for an event about a device.
    pub fn wait_for(&mut self, event: &str, device: &str) -> anyhow::Result<()> {
        loop {
            let message = self.message().with_context(|| format!("cannot wait for {event} of {device}"))?;
            if message["event"] == event && message["data"]["device"] == device {
                return Ok(());
            }
        }
    }

    fn message(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        let bytes = self.lines.read_line(&mut line).context("QEMU does not answer")?;
        if bytes == 0 {
            bail!("QEMU closed its control channel");
        }
        serde_json::from_str(&line).with_context(|| format!("QEMU said {line}"))
    }
}
