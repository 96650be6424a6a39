//! Facts about a file on the file system of the temporary directory.

use sysfs::{Roots, look};

#[test]
fn a_temporary_file_is_on_a_known_file_system() {
    let file = tempfile::tempfile().expect("a file");
    let Some(found) = look(&file, &Roots::default()) else {
        skips::skip!("the mount table does not show the temporary directory");
        return;
    };
    assert!(!found.facts.kind.is_empty() && found.facts.block_bytes.is_power_of_two(), "{found:?}");
    assert!(found.facts.mount_options.starts_with("rw"), "{found:?}");
    assert_eq!(found.counters.is_some(), !found.facts.devices.is_empty(), "{found:?}");
}

#[test]
fn a_file_of_proc_has_no_device() {
    let file = std::fs::File::open("/proc/self/status").expect("proc");
    let found = look(&file, &Roots::default()).expect("proc is mounted");
    assert_eq!(found.facts.kind, "proc");
    assert!(found.counters.is_none() && found.facts.devices.is_empty());
}
