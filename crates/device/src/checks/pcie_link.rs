//! PCIe link: a link with fewer lanes or a slower generation than the drive supports limits the results.

use std::path::Path;

use super::check::{Check, Finding, Scene, read};

pub(super) const CHECK: Check = Check { name: "PCIe link", look };

/// Speed per lane in GT/s, and number of lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    speed: f64,
    width: u32,
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} GT/s x{}", self.speed, self.width)
    }
}

fn look(scene: &Scene<'_>) -> Finding {
    let Some(function) = scene.nearest_with("current_link_speed") else {
        return Finding::not_here("the target is not attached by PCIe");
    };
    let port = function.parent().and_then(|port| link(port, "max"));
    judge(link(&function, "current"), link(&function, "max"), port)
}

fn link(dir: &Path, which: &str) -> Option<Link> {
    let speed = read(dir.join(format!("{which}_link_speed")))?;
    let width = read(dir.join(format!("{which}_link_width")))?;
    Some(Link { speed: speed.split_whitespace().next()?.parse().ok()?, width: width.parse().ok()? })
        .filter(|link| link.width > 0)
}

fn judge(now: Option<Link>, drive: Option<Link>, port: Option<Link>) -> Finding {
    let (Some(now), Some(drive)) = (now, drive) else {
        return Finding::not_here("the kernel does not report the link speed");
    };
    if now.speed >= drive.speed && now.width >= drive.width {
        return Finding::ok(now.to_string());
    }
    let found = format!("{now}, but the drive supports {drive}");
    match port {
        Some(port) if port.speed < drive.speed || port.width < drive.width => Finding::warn(
            format!("{found}; the slot supports {port} at most"),
            "move the drive to a slot that matches its speed and width, or note in the report that the slot \
             limits the drive",
        ),
        _ => Finding::invalid(
            found,
            "reseat the drive and its cables, and check bifurcation and link speed in the firmware setup",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn, WouldInvalidate};

    #[test]
    fn a_link_below_both_ends_is_a_fault_and_a_slow_slot_a_limit() {
        let link = |speed, width| Some(Link { speed, width });
        let cases = [
            (link(16.0, 4), link(16.0, 4), link(16.0, 8), Ok),
            (link(16.0, 2), link(16.0, 4), link(16.0, 4), WouldInvalidate),
            (link(2.5, 4), link(16.0, 4), None, WouldInvalidate),
            (link(8.0, 4), link(16.0, 4), link(8.0, 4), Warn),
            (None, link(16.0, 4), None, NotHere),
        ];
        for (now, drive, port, verdict) in cases {
            assert_eq!(judge(now, drive, port).verdict, verdict, "{now:?} {drive:?} {port:?}");
        }
        assert_eq!(judge(link(16.0, 4), link(16.0, 4), None).found, "16 GT/s x4");
    }
}
