//! Swap: on a host that swaps, processes stall, including the load threads.

use stdx::units::{KIB, amount_base2};

use super::check::{Check, Finding, Scene};

pub(super) const CHECK: Check = Check { name: "swap", look };

fn look(scene: &Scene<'_>) -> Finding {
    judge(&scene.proc("swaps").unwrap_or_default())
}

/// Parses `/proc/swaps`: a heading, then the name, type, size and used KiB of each area.
fn judge(swaps: &str) -> Finding {
    let used = |line: &str| line.split_whitespace().nth(3).and_then(|field| field.parse::<u64>().ok());
    let areas: Vec<u64> = swaps.lines().skip(1).filter_map(used).collect();
    let used_bytes = areas.iter().sum::<u64>() * KIB;
    match (areas.len(), used_bytes) {
        (0, _) => Finding::ok("none"),
        (_, 0) => Finding::ok("configured but unused"),
        (_, bytes) => Finding::warn(
            format!("{} of memory is swapped out", amount_base2(bytes)),
            "swapoff -a, or add memory to the host",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{Ok, Warn};

    #[test]
    fn only_swap_that_is_used_counts() {
        let heading = "Filename Type Size Used Priority\n";
        for (areas, verdict) in [
            ("", Ok),
            ("/dev/sda2 partition 1000 0 -2", Ok),
            ("/dev/sda2 partition 1000 0 -2\n/swap file 1000 512 -3", Warn),
        ] {
            assert_eq!(judge(&format!("{heading}{areas}")).verdict, verdict, "{areas}");
        }
    }
}
