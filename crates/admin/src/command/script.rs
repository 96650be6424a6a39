//! A mock [`Admin`] that expects a scripted sequence of commands and returns the scripted responses.
//!
//! Unexpected commands and unused steps fail the test.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Admin, Data, NvmeCommand, ScsiAnswer};
use crate::error::AdminError;
use crate::fault::Fault;

/// A command that the test expects.
#[derive(Debug, PartialEq, Eq)]
enum Sent {
    /// Opcode, namespace, and dwords 10 and 11.
    Nvme(u8, u32, u32, u32),
    Scsi(Vec<u8>),
    Discard,
}

/// The response to a command.
pub(crate) enum Answer {
    Ok,
    Bytes(Vec<u8>),
    Nvme(u16),
    Scsi(u8, Vec<u8>),
    Errno(i32),
}

struct Step {
    sent: Sent,
    /// Expected start of the data sent with the command.
    with: Option<Vec<u8>>,
    answer: Answer,
    erases: bool,
}

/// A mock device with memory.
pub(crate) struct Script {
    steps: VecDeque<Step>,
    pub(crate) memory: Vec<u8>,
    now_ns: u64,
    /// The `all_namespaces` argument of each [`Admin::recheck`].
    pub(crate) rechecks: Vec<bool>,
    /// Number of rechecks that succeed. All later rechecks report that the device is in use.
    pub(crate) in_use_from: usize,
    /// Duration of the next long NVMe command.
    pub(crate) long_seconds: u64,
}

impl Script {
    pub(crate) fn new(memory_bytes: usize) -> Self {
        Self {
            steps: VecDeque::new(),
            memory: vec![0x5a; memory_bytes],
            now_ns: 0,
            rechecks: Vec::new(),
            in_use_from: usize::MAX,
            long_seconds: 0,
        }
    }

    fn expect(mut self, sent: Sent, answer: Answer) -> Self {
        self.steps.push_back(Step { sent, with: None, answer, erases: false });
        self
    }

    pub(crate) fn nvme(self, opcode: u8, namespace: u32, cdw10: u32, answer: Answer) -> Self {
        self.nvme_with(opcode, namespace, (cdw10, 0), answer)
    }

    pub(crate) fn nvme_with(self, opcode: u8, namespace: u32, dwords: (u32, u32), answer: Answer) -> Self {
        self.expect(Sent::Nvme(opcode, namespace, dwords.0, dwords.1), answer)
    }

    pub(crate) fn scsi(self, command: &[u8], answer: Answer) -> Self {
        self.expect(Sent::Scsi(command.to_vec()), answer)
    }

    pub(crate) fn discard(self, answer: Answer) -> Self {
        self.expect(Sent::Discard, answer)
    }

    /// Requires the last step to send the given bytes, followed only by zeroes.
    pub(crate) fn with(mut self, bytes: &[u8]) -> Self {
        self.steps.back_mut().expect("a step").with = Some(bytes.to_vec());
        self
    }

    /// Makes the last step erase the mock's memory.
    pub(crate) fn erasing(mut self) -> Self {
        self.steps.back_mut().expect("a step").erases = true;
        self
    }

    /// Asserts that all steps were used.
    pub(crate) fn finish(&self) {
        assert!(
            self.steps.is_empty(),
            "never sent: {:?}",
            self.steps.iter().map(|s| &s.sent).collect::<Vec<_>>()
        );
    }

    fn next(&mut self, sent: &Sent, data: Data<'_>) -> Result<Answer, Fault> {
        let step = self.steps.pop_front().unwrap_or_else(|| panic!("not in the script: {sent:x?}"));
        assert_eq!(&step.sent, sent, "another command was expected");
        if step.erases {
            self.memory.fill(0);
        }
        match (step.answer, data) {
            (Answer::Errno(errno), _) => Err(Fault::Kernel(std::io::Error::from_raw_os_error(errno))),
            (Answer::Bytes(bytes), Data::In(room)) => {
                let length = bytes.len().min(room.len());
                room[..length].copy_from_slice(&bytes[..length]);
                Ok(Answer::Ok)
            }
            (answer, Data::Out(bytes)) => {
                if let Some(with) = step.with {
                    assert_eq!(bytes[..with.len()], with, "the data sent with {sent:x?}");
                    assert!(bytes[with.len()..].iter().all(|&byte| byte == 0));
                }
                Ok(answer)
            }
            (answer, _) => Ok(answer),
        }
    }
}

impl Admin for Script {
    fn nvme(&mut self, command: &NvmeCommand, data: Data<'_>) -> Result<u32, Fault> {
        let [cdw10, cdw11, rest @ ..] = command.cdw10_to_15;
        assert_eq!(rest, [0; 4]);
        match self.next(&Sent::Nvme(command.opcode, command.namespace, cdw10, cdw11), data)? {
            Answer::Nvme(status) => Err(Fault::Nvme(status)),
            Answer::Bytes(result) => Ok(u32::from(result[0])),
            _ => Ok(0),
        }
    }

    fn nvme_long(
        &mut self,
        command: &NvmeCommand,
        meanwhile: &mut dyn FnMut(&mut dyn Admin),
    ) -> Result<u32, Fault> {
        let answer = self.nvme(command, Data::None);
        for _ in 0..std::mem::take(&mut self.long_seconds) {
            self.pause(Duration::from_secs(1));
            meanwhile(self);
        }
        answer
    }

    fn scsi(&mut self, command: &[u8], data: Data<'_>, _: Duration) -> Result<ScsiAnswer, Fault> {
        match self.next(&Sent::Scsi(command.to_vec()), data)? {
            Answer::Scsi(status, sense) => Ok(ScsiAnswer { status, sense }),
            // A SCSI adapter returns the ATA drive's registers.
            _ if command[0] == 0x85 => Ok(ScsiAnswer { status: 2, sense: registers(0x50, 0, 0, 0) }),
            _ => Ok(ScsiAnswer::default()),
        }
    }

    fn discard(&mut self) -> Result<(), Fault> {
        self.next(&Sent::Discard, Data::None).map(drop)
    }

    fn write_zeroes(&mut self, start_bytes: u64, length_bytes: u64) -> Result<(), Fault> {
        self.memory[start_bytes as usize..][..length_bytes as usize].fill(0);
        Ok(())
    }

    fn write(&mut self, at_bytes: u64, content: &[u8]) -> Result<(), Fault> {
        self.memory[at_bytes as usize..][..content.len()].copy_from_slice(content);
        Ok(())
    }

    fn read(&mut self, at_bytes: u64, content: &mut [u8]) -> Result<(), Fault> {
        content.copy_from_slice(&self.memory[at_bytes as usize..][..content.len()]);
        Ok(())
    }

    fn recheck(&mut self, all_namespaces: bool) -> Result<(), AdminError> {
        self.rechecks.push(all_namespaces);
        if self.rechecks.len() > self.in_use_from {
            return Err(AdminError::Recheck("in use".into()));
        }
        Ok(())
    }

    fn pause(&mut self, length: Duration) {
        self.now_ns += length.as_nanos() as u64;
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

/// Returns an ATA Status Return descriptor with these registers.
pub(crate) fn registers(status: u8, error: u8, count: u16, lba: u64) -> Vec<u8> {
    let (count, lba) = (count.to_be_bytes(), lba.to_le_bytes());
    let mut sense = vec![0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 1, error, count[0], count[1]];
    sense.extend([lba[3], lba[0], lba[4], lba[1], lba[5], lba[2], 0x40, status]);
    sense
}

/// Fixed-format sense data; `progress` in units of 1/65536.
pub(crate) fn sense(key: u8, code: (u8, u8), progress: Option<u16>) -> Vec<u8> {
    let [high, low] = progress.unwrap_or(0).to_be_bytes();
    let valid = if progress.is_some() { 0x80 } else { 0 };
    vec![0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code.0, code.1, 0, valid, high, low]
}
