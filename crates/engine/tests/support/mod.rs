//! A temporary file as the target of a load.
#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses a part of it")]

#[path = "../../../device/tests/support/files.rs"]
mod files;
#[path = "../../../device/tests/support/seccomp.rs"]
pub mod seccomp;

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use engine::{
    Answer, Choices, Choosing, Clock, Engine, EngineError, Flow, LoadOptions, LoadOutcome, Places, Polling,
    StreamOptions, Target, Tick,
};
use record::{Segment, Workload};

pub use files::*;

/// Prints why a test was skipped.
pub fn skip(reason: &str) {
    skips::skip!("{reason}");
}

/// An open target.
pub struct Opened {
    name: String,
    file: File,
    is_buffered: bool,
    clock: Clock,
    options: LoadOptions,
}

/// Opens `file` with a length of `bytes`, bypassing the page cache if its file system permits that.
pub fn opened(file: &TempFile, bytes: u64, engine: Engine) -> Opened {
    file.open().set_len(bytes).expect("a length");
    let direct = File::options().read(true).write(true).custom_flags(libc::O_DIRECT).open(file.path());
    let is_buffered = direct.is_err();
    Opened {
        name: file.path().display().to_string(),
        file: direct.unwrap_or_else(|_| file.open()),
        is_buffered,
        clock: Clock::start(),
        options: LoadOptions {
            engine,
            places: Places::of(Path::new("/sys"), None, None).expect("CPUs"),
            polling: Polling::No,
            unpolled: None,
            choices: Choices::default(),
            expected_run: None,
            others: Vec::new(),
        },
    }
}

impl Opened {
    fn target(&self) -> Target<'_> {
        let mut target = Target::new(&self.name, self.file.as_fd(), self.clock, &self.options);
        target.is_buffered = self.is_buffered;
        target
    }

    pub fn is_buffered(&self) -> bool {
        self.is_buffered
    }

    /// Chooses the engines for these workloads.
    pub fn choose(&mut self, workloads: &[Workload], by: &Choosing<'_>) {
        self.options.choices = engine::choose(&self.target(), workloads, by);
    }

    pub fn run(&self, workload: &Workload) -> Result<LoadOutcome, EngineError> {
        engine::run(&self.target(), workload, &mut |_: &Tick| Flow::Continue)
    }

    /// Runs a workload, including its content verification if enabled.
    pub fn run_checked(&self, workload: &Workload) -> Result<Answer, EngineError> {
        let workloads = std::slice::from_ref(workload);
        let mut answers = engine::run_concurrently(
            &self.target(),
            workloads,
            &[StreamOptions::default()],
            &mut |_, _: &Tick| Flow::Continue,
        )?;
        Ok(answers.remove(0))
    }

    /// Runs a workload to completion.
    pub fn finish(&self, workload: &Workload) -> Segment {
        match self.run(workload).expect("a run") {
            LoadOutcome::Finished(segment) => segment,
            LoadOutcome::Stopped => panic!("nobody stopped it"),
        }
    }
}
