//! Kernel mitigations, which make each system call more expensive and lower the host's throughput ceiling.

use super::check::{Check, Finding, Scene, read};

pub(super) const CHECK: Check = Check { name: "kernel mitigations", look };

fn look(scene: &Scene<'_>) -> Finding {
    let files = scene.entries("devices/system/cpu/vulnerabilities", "");
    let states: Vec<(String, String)> = files
        .iter()
        .filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), read(path)?)))
        .collect();
    judge(&states)
}

/// Returns the finding for the vulnerabilities, given each one's name and mitigation as reported by the kernel.
fn judge(states: &[(String, String)]) -> Finding {
    if states.is_empty() {
        return Finding::not_here("the kernel reports none");
    }
    let on: Vec<&str> = states
        .iter()
        .filter(|(_, text)| text.starts_with("Mitigation"))
        .map(|(name, _)| name.as_str())
        .collect();
    if on.is_empty() {
        return Finding::ok("none active");
    }
    Finding::warn(
        format!("{} active ({}); system calls take longer", on.len(), on.join(", ")),
        "nothing, unless results are host-limited; in that case boot with mitigations=off if the host is used \
         only for testing",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn};

    #[test]
    fn enabled_ones_are_named() {
        let states = |text: &str| [("spectre_v2".to_owned(), text.to_owned())];
        assert_eq!(judge(&[]).verdict, NotHere);
        assert_eq!(judge(&states("Not affected")).verdict, Ok);
        assert_eq!(judge(&states("Vulnerable")).verdict, Ok);
        let finding = judge(&states("Mitigation: Retpolines"));
        assert_eq!(finding.verdict, Warn);
        assert!(finding.found.contains("1 active (spectre_v2)"), "{}", finding.found);
    }
}
