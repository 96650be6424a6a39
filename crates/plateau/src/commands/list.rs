//! `plateau list`.

use device::Listed;
use serde_json::{Value, json};
use stdx::units::amount_base10;

use crate::cli::Cli;
use crate::failure::Done;
use crate::output::printer;

pub fn run(cli: &Cli) -> Done {
    let devices = device::list()?;
    if cli.json {
        return printer::print_json(&devices.iter().map(document).collect());
    }
    if devices.is_empty() {
        return printer::print("this host has no block devices; try sim:MODEL (see `plateau sim list`)\n");
    }
    printer::print(&devices.iter().map(text).collect::<String>())
}

fn document(device: &Listed) -> Value {
    json!({
        "path": device.path,
        "kind": device.kind,
        "identity": device.identity,
        "model": device.model,
        "capacity_bytes": device.capacity_bytes,
        "can_be_tested": device.refusals.is_empty(),
        "in_use": device.in_use,
        "refusals": device.refusals,
    })
}

fn text(device: &Listed) -> String {
    let capacity = device.capacity_bytes.map_or_else(String::new, amount_base10);
    let verdict = match device.refusals.as_slice() {
        [] => format!(
            "can be tested; everything on it is lost with --erase '{}'",
            device.identity.as_deref().unwrap_or_default()
        ),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            format!("no: {first}{more}")
        }
    };
    let model = device.model.as_deref().unwrap_or("");
    format!("{:<15} {:<9} {capacity:>9}  {model:<24} {verdict}\n", device.path, device.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_in_use_says_by_whom() {
        let mut device = Listed {
            path: "/dev/sda".into(),
            kind: "SATA".into(),
            identity: Some("S1".into()),
            model: None,
            capacity_bytes: Some(1_000_000_000),
            refusals: vec!["sda1 is mounted at /; it is in use".into(), "it has partitions".into()],
            in_use: true,
        };
        assert!(text(&device).contains("no: sda1 is mounted at /; it is in use (and 1 more)"));
        assert_eq!(document(&device)["can_be_tested"], false);
        device.refusals.clear();
        assert!(text(&device).contains("--erase 'S1'"));
    }
}
