//! Fuzzes the output of `storcli` and `perccli`: drives, volumes, operations and failures.

#![cfg_attr(fuzzing, no_main)]

// A dependency of the parser below.
use serde_json as _;
use source::storcli::{Answer, Operation};

/// Only the parser is compiled in, without the crate around it.
#[path = "../../crates/admin/src"]
mod source {
    pub mod storcli;
}

fuzz::target!(|bytes: &[u8]| {
    let Ok(answer) = Answer::read(&String::from_utf8_lossy(bytes)) else { return };
    let plain = |text: &str| text.chars().count() <= 200 && !text.chars().any(char::is_control);
    assert!(plain(&answer.description) && answer.details.iter().all(|detail| plain(&detail.message)));
    let _ = answer.adapter();
    for address in ["/c0/e252/s0", "/c0/s0"] {
        if let Some(drive) = answer.drive(address) {
            assert!(drive.logical_block_bytes.is_power_of_two() && drive.capacity_bytes >= 512);
            assert!(drive.physical_block_bytes >= drive.logical_block_bytes);
            assert!(drive.serial.is_none_or(|serial| plain(&serial) && !serial.is_empty()));
        }
    }
    for volume in answer.volumes(0) {
        assert!(volume.naa.is_none_or(|naa| naa.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }
    for operation in answer.operations() {
        assert!(!matches!(operation, Operation::Running(share) if !(0.0..=1.0).contains(&share)));
    }
});
