//! `plateau list`.

use device::{Enclosure, Listed};
use serde_json::{Value, json};
use stdx::text::on_one_line;
use stdx::units::amount_base10;

use crate::cli::Cli;
use crate::failure::Done;
use crate::failure::message::{erase, of_drive, of_refusal};
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

pub fn document(device: &Listed) -> Value {
    let attached = device::attached(&device.path);
    json!({
        "path": device.path,
        "kind": device.kind,
        "identity": device.identity,
        "model": device.model,
        "firmware": device.firmware,
        "capacity_bytes": device.capacity_bytes,
        "can_be_tested": reasons(device).is_empty(),
        "in_use": device.in_use,
        "refusals": reasons(device),
        "links": attached.links.into_iter().map(|link| link.name).collect::<Vec<_>>(),
        "enclosure": attached.enclosure.map(|enclosure| match enclosure {
            Enclosure::Id(id) => json!({ "id": id }),
            Enclosure::Local(local) => json!({ "local": local }),
        }),
        "slot": attached.slot,
    })
}

/// Returns why a device cannot be tested.
pub fn reasons(device: &Listed) -> Vec<String> {
    let unusable = device.unusable.iter().map(|error| of_drive(error));
    unusable.chain(device.refusals.iter().map(of_refusal)).collect()
}

fn text(device: &Listed) -> String {
    let capacity = device.capacity_bytes.map_or_else(String::new, amount_base10);
    let verdict = match reasons(device).as_slice() {
        [] => format!(
            "can be tested; {} confirms that everything on it may be erased",
            // A line break would start another line in the list.
            on_one_line(&erase(&device.identity))
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
    fn a_device_in_use_names_its_user() {
        let (device, at) = ("sda1".to_owned(), "/".to_owned());
        let mounted = device::Refusal::Mounted { device, at, namespace_of: None };
        let mut device = Listed {
            path: "/dev/sda".into(),
            kind: "SATA".into(),
            identity: Some("S1".into()),
            model: None,
            firmware: None,
            capacity_bytes: Some(1_000_000_000),
            refusals: vec![mounted, device::Refusal::Partitions { names: "sda1".into() }],
            unusable: None,
            in_use: true,
        };
        assert!(text(&device).contains("no: sda1 is mounted at /, so it is in use"));
        assert_eq!(document(&device)["can_be_tested"], false);
        device.refusals.clear();
        assert!(text(&device).contains("--erase 'S1'"));
        device.identity = Some("it's; rm\n".into());
        assert!(text(&device).contains(r"--erase 'it'\''s; rm"), "{}", text(&device));
        assert_eq!(text(&device).lines().count(), 1);
    }
}
