//! I/O scheduler, which delays and reorders I/Os, although the drive itself schedules them best.

use super::check::{Check, QueueSetting};
use super::tuning;

pub(super) const CHECK: Check = Check { name: "scheduler", look: |scene| SCHEDULER.look(scene) };

const SCHEDULER: QueueSetting = QueueSetting {
    attribute: "scheduler",
    recommended: "none",
    meaning: |text| tuning::active(text).into(),
    offered: |text| text.split_whitespace().any(|word| word.trim_matches(['[', ']']) == "none"),
    harm: "it delays and reorders I/Os before they reach the drive",
};
