//! Merging: the kernel combines adjacent I/Os, so the drive receives larger I/Os than the test issued.

use super::check::{Check, QueueSetting};

pub(super) const CHECK: Check = Check { name: "nomerges", look: |scene| NOMERGES.look(scene) };

const NOMERGES: QueueSetting = QueueSetting {
    attribute: "nomerges",
    recommended: "2",
    meaning: str::to_owned,
    offered: |_| true,
    harm: "the kernel may merge adjacent small I/Os into one in sequential tests",
};
