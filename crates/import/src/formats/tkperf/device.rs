//! The device description in a result file: output of hdparm, sdparm or nvme, or free text.

use crate::imported::Device;

/// Extracts the known fields, with the names that these tools use.
pub(super) fn device(text: &str, name: &str) -> Device {
    let pairs: Vec<(String, &str)> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim().trim_start_matches('-').trim().to_ascii_lowercase(), value.trim()))
        .collect();
    let field = |names: &[&str]| {
        let found = names.iter().find_map(|name| pairs.iter().find(|(key, _)| key == name));
        // Plateau writes `n.a.` for unknown values.
        found.map(|(_, value)| short(value)).filter(|value| !value.is_empty() && value != "n.a.")
    };
    // A free-text description starts with the name of the drive.
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.contains(':'));
    let model = field(&["model number", "mn", "product", "device model"]).or_else(|| first.map(short));
    Device {
        path: Some(short(name)).filter(|name| !name.is_empty()),
        vendor: field(&["vendor"]),
        model,
        serial: field(&["serial number", "sn"]),
        firmware: field(&["firmware revision", "firmware version", "fr", "revision level"]),
        interface: field(&["device interface"]),
        nand: None,
        capacity_bytes: capacity(&pairs),
        logical_block_bytes: sector(&pairs, LOGICAL),
        physical_block_bytes: sector(&pairs, PHYSICAL),
    }
}

/// Names of the sector sizes: hdparm (one name if both are equal), smartctl.
const LOGICAL: &[&str] =
    &["logical sector size", "logical/physical sector size", "sector size", "sector sizes"];
const PHYSICAL: &[&str] =
    &["physical sector size", "logical/physical sector size", "sector size", "sector sizes"];

/// Returns a sector size: the number before the unit, or before the word (`logical` or `physical`) in `512 bytes
/// logical, 4096 bytes physical`.
fn sector(pairs: &[(String, &str)], names: &[&str]) -> Option<u32> {
    let is_named = |key: &str| names.iter().any(|name| key.split_whitespace().eq(name.split_whitespace()));
    let (_, text) = pairs.iter().find(|(key, _)| is_named(key))?;
    let word = if names == LOGICAL { "logical" } else { "physical" };
    let part = text.split(',').find(|part| part.contains(word)).or_else(|| text.split(',').next())?;
    let digits: String = part.trim().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|bytes| (1..=1 << 20).contains(bytes))
}

/// Truncates a field, because a longer text is not a name.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect::<String>().trim().to_owned()
}

fn capacity(pairs: &[(String, &str)]) -> Option<u64> {
    let leading = |text: &str| -> Option<u64> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let of = |key: &str| pairs.iter().find(|(known, _)| known == key).map(|(_, value)| *value);
    let megabytes =
        of("device size with m = 1000*1000").and_then(leading).and_then(|m| m.checked_mul(1_000_000));
    megabytes.or_else(|| of("tnvmcap").and_then(leading)).filter(|bytes| *bytes < 1 << 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hdparm_nvme_and_free_text() {
        let sata = "\tModel Number:       STEC MACH16 M16ISD2-200UCP\n\tSerial Number:      STM00014A3C7\n\
                    \tFirmware Revision:  00000289\n\tdevice size with M = 1000*1000:      200049 MBytes (200 GB)\n";
        let found = device(sata, "x");
        assert_eq!(found.model.as_deref(), Some("STEC MACH16 M16ISD2-200UCP"));
        assert_eq!(found.capacity_bytes, Some(200_049_000_000));
        let nvme = "sn      : ABC\nmn      : WDC CL SN720\nfr      : 10103122\ntnvmcap : 256060514304\n";
        let found = device(nvme, "x");
        assert_eq!((found.serial.as_deref(), found.capacity_bytes), (Some("ABC"), Some(256_060_514_304)));
        let free = "Western Digital CL SN720 NVMe SSD 256GB\nFirmware Version: 10103122\n";
        let found = device(free, "x");
        assert_eq!(found.model.as_deref(), Some("Western Digital CL SN720 NVMe SSD 256GB"));
        assert_eq!(found.firmware.as_deref(), Some("10103122"));
        assert_eq!(device("", "name"), Device { path: Some("name".into()), ..Device::default() });
    }
}
