//! IOMMU: the cost of address translation for each I/O.

use super::check::{Check, Finding, Scene, read};

pub(super) const CHECK: Check = Check { name: "IOMMU", look };

fn look(scene: &Scene<'_>) -> Finding {
    let group = scene.nearest_with("iommu_group");
    judge(group.and_then(|dir| read(dir.join("iommu_group/type"))).as_deref())
}

/// Returns the finding for the type of the drive's IOMMU domain.
fn judge(domain: Option<&str>) -> Finding {
    let fix = "boot with iommu=pt if the host's share of the response times is large";
    match domain {
        None => Finding::not_here("the drive's DMA does not go through an IOMMU"),
        Some("identity") => Finding::ok("passthrough: addresses are not translated"),
        Some("DMA-FQ") => Finding::ok("translates addresses and flushes in batches (DMA-FQ)"),
        Some(other) => {
            Finding::warn(format!("translates addresses and flushes after each I/O ({other})"), fix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn};

    #[test]
    fn only_the_strict_kind_is_worth_a_word() {
        let cases = [(None, NotHere), (Some("identity"), Ok), (Some("DMA-FQ"), Ok), (Some("DMA"), Warn)];
        for (domain, verdict) in cases {
            assert_eq!(judge(domain).verdict, verdict, "{domain:?}");
        }
    }
}
