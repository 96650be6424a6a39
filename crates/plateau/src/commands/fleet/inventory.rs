//! `plateau fleet inventory`.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use ::fleet::{Inventory, gres_conf, nodes_conf};
use cluster::files::{failure, read};
use serde_json::{Value, json};
use stdx::files::Folder;
use stdx::text::on_one_line;
use stdx::units::amount_base10;

use crate::cli::{Cli, FleetInventory};
use crate::commands::list;
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use stdx::table::table;

const FILE: &str = "inventory.json";

pub fn run(cli: &Cli, options: &FleetInventory) -> Done {
    let mut hosts = BTreeMap::new();
    for given in &options.from {
        let Some((host, path)) = given.split_once('=') else {
            let text = format!(
                "--from {given}: use HOST=FILE, where FILE has the output of `plateau list --json` on HOST"
            );
            return Err(Failure::text(Exit::Usage, text));
        };
        let listed = Inventory::parse_list(host, &read(path.as_ref())?).map_err(failure)?;
        hosts.insert(host.to_owned(), listed);
    }
    if options.from.is_empty() {
        let host = stdx::host_name();
        let documents: Value = device::list()?.iter().map(list::document).collect();
        hosts.insert(host.clone(), Inventory::parse_list(&host, &documents.to_string()).map_err(failure)?);
    }
    let known = options.dir.join(FILE);
    let earlier = if known.exists() {
        Inventory::parse(&read(&known)?).map_err(failure)?
    } else {
        Inventory::default()
    };
    let inventory = Inventory::after(&earlier, &hosts).map_err(failure)?;
    let mut parameters = BTreeMap::new();
    for given in &options.node {
        let known = given.split_once('=').filter(|(host, _)| hosts.contains_key(*host));
        let (host, more) = known.ok_or_else(|| {
            Failure::text(
                Exit::Usage,
                format!("--node {given}: use HOST=PARAMETERS, with a host in the inventory"),
            )
        })?;
        parameters.insert(host.to_owned(), on_one_line(more).into_owned());
    }
    let changes: Vec<String> = inventory
        .changes(&earlier)
        .iter()
        .map(|change| on_one_line(&change.to_string()).into_owned())
        .collect();
    let folder = Folder::make(&options.dir, true).map_err(cannot_write)?;
    for (name, text) in [
        ("gres.conf", gres_conf(&inventory)),
        ("nodes.conf", nodes_conf(&inventory, &parameters)),
        // Write the inventory last, because its existence implies that the other files exist.
        (FILE, inventory.json()),
    ] {
        folder.replace(OsStr::new(name), text.as_bytes()).map_err(cannot_write)?;
    }
    if cli.json {
        return printer::print_json(&json!({
            "drives": inventory.drives,
            "unusable": inventory.unusable,
            "changes": changes,
            "dir": places::text_of(&options.dir),
        }));
    }
    printer::print(&text(&inventory, &changes, &places::text_of(&options.dir)))
}

fn cannot_write(error: stdx::files::WriteError) -> Failure {
    let text = format!("cannot write {:#}", anyhow::Error::new(error));
    Failure::text(Exit::Run, text)
}

fn text(inventory: &Inventory, changes: &[String], dir: &str) -> String {
    let mut rows = vec![["drive", "host", "path", "size", "model", "firmware"].map(str::to_owned)];
    for drive in &inventory.drives {
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        rows.push(
            [
                drive.identity.clone(),
                drive.host.clone(),
                drive.path.clone(),
                drive.capacity_bytes.map_or_else(|| "unknown".into(), amount_base10),
                known(&drive.model),
                known(&drive.firmware),
            ]
            .map(|cell| on_one_line(&cell).into_owned()),
        );
    }
    let mut out = if inventory.drives.is_empty() { "no drive can be tested\n".into() } else { table(&rows) };
    if !inventory.unusable.is_empty() {
        out.push_str("\ncannot be tested\n");
    }
    for device in &inventory.unusable {
        out.push_str(&on_one_line(&format!("{}:{}  {}", device.host, device.path, device.reason)));
        out.push('\n');
    }
    out.push_str("\nchanges since the last inventory\n");
    changes.iter().for_each(|change| out.push_str(&format!("{change}\n")));
    if changes.is_empty() {
        out.push_str("none\n");
    }
    out.push_str(&format!(
        "\nwrote {FILE}, gres.conf and nodes.conf to {dir}\nnext: include both files in the configuration of Slurm, then \
         `scontrol reconfigure`\n"
    ));
    out
}
