//! Groups of runs whose drives have something in common.

use crate::candidate::Candidate;

/// The property that all runs in a group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// The model of the drive.
    Model,
    /// Model and firmware.
    Firmware,
    /// The drive itself.
    Drive,
}

impl GroupBy {
    /// All kinds, as named on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("model", Self::Model), ("firmware", Self::Firmware), ("drive", Self::Drive)];

    fn of(self, run: &Candidate) -> String {
        let target = &run.document.run.target;
        let model = target.model.as_deref().unwrap_or(&target.path);
        match self {
            Self::Model => model.to_owned(),
            Self::Firmware => {
                format!("{model}, firmware {}", target.firmware.as_deref().unwrap_or("unknown"))
            }
            Self::Drive => match run.drive() {
                drive if drive.contains(model) => drive,
                drive => format!("{model}, {drive}"),
            },
        }
    }
}

/// Runs that are summarized together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The value that the runs share.
    pub name: String,
    /// Indices of the runs.
    pub runs: Vec<usize>,
}

/// Groups the runs, in the order of their first runs.
pub(crate) fn grouped_by(runs: &[Candidate], by: GroupBy) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let name = by.of(run);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(index),
            None => groups.push(Group { name, runs: vec![index] }),
        }
    }
    groups
}
