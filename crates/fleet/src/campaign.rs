//! Campaigns: the drives to test, the plans, and the number of repetitions.

use serde::Deserialize;

use crate::error::{FleetError, invalid};
use crate::expected::LEAST_MINUTES;
use crate::fitness::Limits;
use crate::inventory::{Drive, Inventory};
use crate::sharing::Contention;
use crate::words::name;

/// Limit on the number of jobs in a campaign.
const MOST_JOBS: usize = 10_000;

/// A campaign, as written in a TOML file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Campaign {
    /// Name of the campaign, with which the id of each of its runs begins.
    pub name: String,
    /// Number of times that each plan is run on each drive.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// Whether drives that share a link or an enclosure are tested at the same time.
    #[serde(default)]
    pub contention: Contention,
    /// Whether the repetitions of a plan on a drive are submitted as one job array.
    #[serde(default)]
    pub arrays: bool,
    /// Time limit of each job in minutes; by default twice the longest estimate.
    pub time_limit_minutes: Option<u32>,
    /// Whether jobs use a drive without checking its health, link and temperature first.
    #[serde(default)]
    pub unchecked: bool,
    /// Limits for the health of the drives.
    #[serde(default)]
    pub limits: Limits,
    /// The drives.
    pub drives: Vec<Selection>,
    /// The plans to run on each drive.
    pub plans: Vec<Work>,
}

/// A selection of drives. A drive is selected if it meets all conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Selection {
    /// Drives with these identities.
    #[serde(default)]
    pub identities: Vec<String>,
    /// Drives whose model contains this text.
    pub model: Option<String>,
    /// Drives with this firmware.
    pub firmware: Option<String>,
    /// Drives in this host.
    pub host: Option<String>,
    /// Drives in a slot with this name. Every host and every enclosure has its own names.
    pub slot: Option<String>,
    /// At most this many drives, the first ones by host and path.
    pub count: Option<usize>,
}

/// A plan to run on a drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Work {
    /// Name of the plan, which is part of each run's id.
    pub name: String,
    /// Tests.
    pub tests: Option<String>,
    /// A preset.
    pub preset: Option<String>,
    /// A plan file, by its path on the hosts.
    pub plan: Option<String>,
    /// Additional options of `plateau job`.
    #[serde(default)]
    pub options: Vec<String>,
}

impl Work {
    /// Returns the arguments for `plateau job` and `plateau plan` on `target`.
    #[must_use]
    pub fn arguments(&self, target: &str) -> Vec<String> {
        let mut words: Vec<String> = self.tests.iter().chain(&self.preset).cloned().collect();
        words.push(target.into());
        words.extend(self.plan.iter().flat_map(|plan| ["--plan".to_owned(), plan.clone()]));
        words.extend(self.options.iter().cloned());
        words
    }
}

const fn one() -> u32 {
    1
}

impl Campaign {
    /// Parses a campaign.
    ///
    /// # Errors
    /// Returns an error that says what the problem is and where.
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        let campaign: Self =
            toml::from_str(text).map_err(|error| invalid("the campaign", error.to_string().trim()))?;
        campaign.check().map_err(|problem| invalid("the campaign", problem))?;
        Ok(campaign)
    }

    fn check(&self) -> Result<(), String> {
        let is_name = |text: &str| {
            !text.is_empty() && text.len() <= 60 && name(text) == text && !text.starts_with(['-', '.'])
        };
        if let Some(bad) = std::iter::once(&self.name)
            .chain(self.plans.iter().map(|plan| &plan.name))
            .find(|name| !is_name(name))
        {
            return Err(format!(
                "'{bad}' is not a valid name: use up to 60 letters, digits, '-', '_' and '.'"
            ));
        }
        if self.drives.is_empty() || self.plans.is_empty() || self.repetitions == 0 {
            return Err("it needs [[drives]], [[plans]] and at least one repetition".into());
        }
        if let Some(minutes) = self.time_limit_minutes.filter(|minutes| *minutes < LEAST_MINUTES) {
            return Err(format!("time-limit-minutes = {minutes}: use at least {LEAST_MINUTES}"));
        }
        for plan in &self.plans {
            if [&plan.tests, &plan.preset, &plan.plan].into_iter().flatten().count() != 1 {
                return Err(format!("plan '{}' needs one of `tests`, `preset` and `plan`", plan.name));
            }
            let is_own = |option: &&String| {
                ["--erase", "--library", "--wait", "--plan", "--preset"]
                    .iter()
                    .any(|own| option.starts_with(own))
            };
            if let Some(option) = plan.options.iter().find(is_own) {
                return Err(format!("plan '{}': {option} is set by `plateau fleet submit`", plan.name));
            }
            // The job would purge the drive again each time Slurm requeues it.
            if let Some(option) = plan.options.iter().find(|option| option.starts_with("--restart-test")) {
                return Err(format!(
                    "plan '{}': {option} would repeat the purge at every requeue",
                    plan.name
                ));
            }
            if self.plans.iter().filter(|other| other.name == plan.name).count() > 1 {
                return Err(format!("several plans have the name '{}'", plan.name));
            }
        }
        Ok(())
    }

    /// Returns the selected drives, each once, in inventory order.
    ///
    /// # Errors
    /// Returns an error if a selection contains fewer drives than it requests, or none.
    pub fn select<'a>(&self, inventory: &'a Inventory) -> Result<Vec<&'a Drive>, FleetError> {
        let mut selected: Vec<&Drive> = Vec::new();
        for selection in &self.drives {
            let found = selection.of(inventory)?;
            selected.extend(found);
        }
        let mut all: Vec<&Drive> = inventory.drives.iter().collect();
        all.retain(|drive| selected.iter().any(|chosen| chosen.identity == drive.identity));
        let jobs = all.len() * self.plans.len() * self.repetitions as usize;
        if jobs > MOST_JOBS {
            return Err(invalid("the campaign", format!("it has {jobs} jobs; the limit is {MOST_JOBS}")));
        }
        Ok(all)
    }
}

impl Selection {
    fn of<'a>(&self, inventory: &'a Inventory) -> Result<Vec<&'a Drive>, FleetError> {
        let no_such = |problem: String| FleetError::NoSuchDrive { problem };
        for identity in &self.identities {
            if let Some(refused) =
                inventory.unusable.iter().find(|device| device.identity.as_ref() == Some(identity))
            {
                return Err(no_such(format!(
                    "can be tested as '{identity}': {}:{}: {}",
                    refused.host, refused.path, refused.reason
                )));
            }
            if inventory.drives.iter().all(|drive| drive.identity != *identity) {
                return Err(no_such(format!("has the identity '{identity}'")));
            }
        }
        let has = |text: Option<&String>, part: &String| {
            text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
        };
        // A slot can be written as the inventory or as Slurm's features write it.
        let is_in =
            |drive: &Drive, slot: &str| drive.slot.as_ref().is_some_and(|own| name(own) == name(slot));
        let is_selected = |drive: &&Drive| {
            (self.identities.is_empty() || self.identities.contains(&drive.identity))
                && self.model.as_ref().is_none_or(|model| has(drive.model.as_ref(), model))
                && self.firmware.as_ref().is_none_or(|firmware| drive.firmware.as_ref() == Some(firmware))
                && self.host.as_ref().is_none_or(|host| drive.host == *host)
                && self.slot.as_ref().is_none_or(|slot| is_in(drive, slot))
        };
        let mut found: Vec<&Drive> = inventory.drives.iter().filter(is_selected).collect();
        if let Some(count) = self.count {
            if found.len() < count {
                return Err(no_such(format!(
                    "is left for a selection of {count}: only {} match it",
                    found.len()
                )));
            }
            found.truncate(count);
        }
        if found.is_empty() { Err(no_such("matches a selection of the campaign".into())) } else { Ok(found) }
    }
}
