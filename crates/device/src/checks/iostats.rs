//! Block-layer statistics: the kernel reads the clock twice per I/O.

use super::check::{Check, QueueSetting};

pub(super) const CHECK: Check = Check { name: "iostats", look: |scene| IOSTATS.look(scene) };

const IOSTATS: QueueSetting = QueueSetting {
    attribute: "iostats",
    recommended: "0",
    meaning: str::to_owned,
    offered: |_| true,
    harm: "the kernel timestamps each I/O; the CPU time this costs matters if the host is near its limit",
};
