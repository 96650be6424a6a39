//! Targets named by an identifier of the drive, such as `serial:S4EWNX0R1234`, because kernel names change.

use device::{Listed, list};

use failure::{Done, Exit, Failure};

/// Beginning of a target that is named by an identity.
pub const PREFIX: &str = "serial:";

/// Returns the path of the drive that `target` names; a path or a simulated drive is returned unchanged.
///
/// # Errors
/// Returns an error if no drive has the identity, or if several have it.
pub fn resolve(target: &str) -> Done<String> {
    match target.strip_prefix(PREFIX) {
        Some(identity) => only(&list()?, identity),
        None => Ok(target.to_owned()),
    }
}

fn only(devices: &[Listed], identity: &str) -> Done<String> {
    let mut found = devices.iter().filter(|device| device.identity.as_deref() == Some(identity));
    match (found.next(), found.next()) {
        (Some(device), None) => Ok(device.path.clone()),
        (None, _) => {
            let text = format!(
                "no drive in this host has the identity '{identity}'; `plateau list` lists the drives"
            );
            Err(Failure::text(Exit::Unusable, text))
        }
        (Some(one), Some(other)) => {
            let text = format!("{} and {} both have the identity '{identity}'", one.path, other.path);
            Err(Failure::text(Exit::Refused, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_matches_at_most_one_drive() {
        let device = |path: &str| Listed {
            path: path.into(),
            kind: "NVMe".into(),
            identity: Some("S1".into()),
            model: None,
            firmware: None,
            capacity_bytes: None,
            refusals: Vec::new(),
            unusable: None,
            in_use: false,
        };
        let one = [device("/dev/a")];
        assert_eq!(only(&one, "S1").map_err(|e| e.message()), Ok("/dev/a".into()));
        assert_eq!(only(&one, "S2").map_err(|e| e.exit), Err(Exit::Unusable));
        assert_eq!(only(&[device("/dev/a"), device("/dev/b")], "S1").map_err(|e| e.exit), Err(Exit::Refused));
        assert_eq!(resolve("./file").map_err(|e| e.message()), Ok("./file".into()));
    }
}
