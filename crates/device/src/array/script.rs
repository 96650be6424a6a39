//! A mock environment that expects a scripted sequence of commands and returns the scripted responses.
//! Unexpected commands and unused steps fail the test.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::Duration;

use super::outside::{Outside, Ran};

/// A mock environment.
#[derive(Default)]
pub(crate) struct Script {
    steps: VecDeque<(String, io::Result<Ran>)>,
    attributes: BTreeMap<String, String>,
    pub(crate) set: Vec<String>,
    pub(crate) devices: Vec<String>,
    pub(crate) pauses: u32,
}

impl Script {
    /// Expects a command line that succeeds and prints `out`.
    pub(crate) fn answers(self, command: &str, out: &str) -> Self {
        self.step(command, Ok(Ran { success: true, out: out.into(), err: String::new() }))
    }

    /// Expects a command line that fails and prints `err`.
    pub(crate) fn fails(self, command: &str, err: &str) -> Self {
        self.step(command, Ok(Ran { success: false, out: String::new(), err: err.into() }))
    }

    /// Expects a command whose program is not installed.
    pub(crate) fn missing(self, command: &str) -> Self {
        self.step(command, Err(io::ErrorKind::NotFound.into()))
    }

    fn step(mut self, command: &str, answer: io::Result<Ran>) -> Self {
        self.steps.push_back((command.into(), answer));
        self
    }

    pub(crate) fn with(mut self, attribute: &str, value: &str) -> Self {
        self.attributes.insert(attribute.into(), value.into());
        self
    }

    pub(crate) fn over(self) {
        assert!(self.steps.is_empty(), "left over: {:?}", self.steps);
    }
}

impl Outside for Script {
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran> {
        let command = format!("{program} {}", arguments.join(" "));
        let (expected, answer) = self.steps.pop_front().unwrap_or_else(|| panic!("not expected: {command}"));
        assert_eq!(command, expected);
        answer
    }

    fn attribute(&mut self, device: &str, name: &str) -> Option<String> {
        self.attributes.get(&format!("{device}/{name}")).cloned()
    }

    fn set_attribute(&mut self, device: &str, name: &str, value: &str) -> io::Result<()> {
        self.set.push(format!("{device}/{name}={value}"));
        Ok(())
    }

    fn devices(&mut self) -> io::Result<Vec<String>> {
        Ok(self.devices.clone())
    }

    fn pause(&mut self, _: Duration) {
        self.pauses += 1;
    }
}
