//! Inventories and campaigns as files.

use std::path::Path;

use failure::{Done, Exit, Failure};
use fleet::{Campaign, FleetError, Inventory, Job};
use stdx::files::{Links, read_text};

/// Maximum size of an inventory, a list of drives or a campaign: 1,000 drives need less than 1 MB.
const MOST_BYTES: u64 = 16 << 20;

/// Reads an inventory, a list of drives or a campaign.
///
/// # Errors
/// Returns an error if the file cannot be read or is too large.
pub fn read(path: &Path) -> Done<String> {
    read_text(path, Links::Followed, MOST_BYTES)
        .map_err(|error| Failure::text(Exit::Usage, format!("cannot read {}: {error}", path.display())))
}

/// Returns the failure for input that is not valid.
#[must_use]
pub fn failure(error: FleetError) -> Failure {
    Failure::new(Exit::Usage, error)
}

/// Reads an inventory.
///
/// # Errors
/// Returns an error that says how to write an inventory if there is none, or what is wrong with it.
pub fn read_inventory(path: &Path) -> Done<Inventory> {
    if !path.exists() {
        let text = format!("{} does not exist; write it with `plateau fleet inventory`", path.display());
        return Err(Failure::text(Exit::Usage, text));
    }
    Inventory::parse(&read(path)?).map_err(failure)
}

/// Returns a campaign and its jobs.
///
/// # Errors
/// Returns an error if the campaign is not valid, or selects drives that are not in the inventory.
pub fn campaign(campaign: &Path, inventory: &Inventory) -> Done<(Campaign, Vec<Job>)> {
    let campaign = Campaign::parse(&read(campaign)?).map_err(failure)?;
    let drives = campaign.select(inventory).map_err(failure)?;
    let jobs = fleet::jobs(&campaign, inventory, &drives);
    Ok((campaign, jobs))
}
