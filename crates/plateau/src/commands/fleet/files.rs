//! Inventories and campaigns as files.

use std::path::Path;

use ::fleet::{Campaign, FleetError, Inventory, Job};
use stdx::files::{Links, read_text};

use crate::failure::{Done, Exit, Failure};

/// Maximum size of an inventory, a list of drives or a campaign: 1,000 drives need less than 1 MB.
const MOST_BYTES: u64 = 16 << 20;

pub fn read(path: &Path) -> Done<String> {
    read_text(path, Links::Followed, MOST_BYTES)
        .map_err(|error| Failure::text(Exit::Usage, format!("cannot read {}: {error}", path.display())))
}

pub fn failure(error: FleetError) -> Failure {
    Failure::new(Exit::Usage, error)
}

pub fn read_inventory(path: &Path) -> Done<Inventory> {
    if !path.exists() {
        let text = format!("{} does not exist; write it with `plateau fleet inventory`", path.display());
        return Err(Failure::text(Exit::Usage, text));
    }
    Inventory::parse(&read(path)?).map_err(failure)
}

/// Returns a campaign and its jobs.
pub fn campaign(campaign: &Path, inventory: &Inventory) -> Done<(Campaign, Vec<Job>)> {
    let campaign = Campaign::parse(&read(campaign)?).map_err(failure)?;
    let drives = campaign.select(inventory).map_err(failure)?;
    let jobs = ::fleet::jobs(&campaign, inventory, &drives);
    Ok((campaign, jobs))
}
