//! Runs, as lists show and filter them.

use jiff::Timestamp;
use record::RunFile;
use stdx::text::on_one_line;

/// The data about a run that lists show and filter by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// Id of the run.
    pub id: String,
    /// Start.
    pub created: Timestamp,
    /// Names of the tests.
    pub tests: Vec<String>,
    /// Profile.
    pub profile: String,
    /// Description of the target.
    pub target: String,
    /// Name given by the operator.
    pub name: Option<String>,
    /// Tags given by the operator.
    pub tags: Vec<String>,
    /// Notes by the operator.
    pub notes: Vec<String>,
    /// Serial number of the drive.
    pub serial: Option<String>,
    /// Identities of the target and of an array's members.
    pub identities: Vec<String>,
    /// Models of the drive, of the simulated drive, and of the members of an array.
    pub models: Vec<String>,
}

impl ListedRun {
    /// Returns the data that lists show about a run.
    #[must_use]
    pub fn of(file: &RunFile) -> Self {
        let target = &file.target;
        let simulated = target.simulated.as_ref().map(|simulated| &simulated.model);
        let members = || target.array.iter().flat_map(|array| &array.members);
        let own = target.model.iter().chain(simulated);
        Self {
            id: file.id.clone(),
            created: file.created,
            tests: file.tests.clone(),
            profile: file.profile.clone(),
            target: on_one_line(&file.target_line()).into_owned(),
            name: file.labels.name.clone(),
            tags: file.labels.tags.clone(),
            notes: file.labels.notes.clone(),
            serial: target.serial.clone(),
            identities: std::iter::once(&target.identity)
                .chain(members().map(|member| &member.identity))
                .cloned()
                .collect(),
            models: own.chain(members().filter_map(|member| member.model.as_ref())).cloned().collect(),
        }
    }
}
