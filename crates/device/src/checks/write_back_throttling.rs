//! Write-back throttling: the kernel delays buffered writes and discards to favour reads.

use super::check::{Check, QueueSetting};

pub(super) const CHECK: Check = Check { name: "write-back throttling", look: |scene| THROTTLING.look(scene) };

const THROTTLING: QueueSetting = QueueSetting {
    attribute: "wbt_lat_usec",
    recommended: "0",
    meaning: str::to_owned,
    offered: |_| true,
    harm: "the kernel delays discards and buffered writes while reads exceed this many microseconds",
};
