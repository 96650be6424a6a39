//! Memory for simulated drives. Their mapping tables are accessed at random. Without huge pages, the simulation
//! spends most of its time on address translation.

use std::ffi::c_void;
use std::ops::Range;

use nandsim::Memory;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Minimum memory size for which huge pages are requested: less than one huge page would not benefit.
const LEAST_BYTES: usize = 2 << 20;

/// Requests huge pages for the unused parts of `memory`. Does nothing if the kernel does not support huge
/// pages.
pub(super) fn ask_for_huge_pages(memory: Range<*const u8>) {
    let page = page_size();
    let inside = memory.start.align_offset(page);
    let bytes = (memory.end.addr() - memory.start.addr()).saturating_sub(inside) / page * page;
    if bytes >= LEAST_BYTES {
        let start = memory.start.wrapping_add(inside).cast_mut().cast::<c_void>();
        // SAFETY: this advice changes neither content nor access, whatever is mapped there; the caller owns the memory.
        let _only_faster = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
    }
}

/// Prefetches the cache line at this address, if the CPU supports this.
pub(super) fn fetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint that reads nothing and never faults, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _no_hint = place;
}

/// Memory operations for simulated drives. On architectures other than x86-64, no prefetch intrinsic is
/// available, so the simulation prefetches several mapping entries at once instead.
pub(super) const MEMORY: Memory = Memory {
    advise: ask_for_huge_pages,
    fetch: if cfg!(target_arch = "x86_64") { Some(fetch) } else { None },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether huge pages were requested for `address`.
    fn is_advised(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        maps.lines().any(|line| {
            let bounds = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let hex = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(start), Some(end))) = bounds.map(|(start, end)| (hex(start), hex(end))) {
                inside = (start..end).contains(&address);
            }
            inside && line.starts_with("VmFlags:") && line.split_whitespace().any(|flag| flag == "hg")
        })
    }

    #[test]
    fn large_memory_is_to_have_huge_pages_and_keeps_what_is_in_it() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            skips::skip!("this kernel has no huge pages that are asked for");
            return;
        }
        let memory = vec![7u8; 64 << 20];
        let middle = memory.as_ptr().addr() + memory.len() / 2;
        assert!(!is_advised(middle));
        ask_for_huge_pages(memory.as_ptr_range());
        assert!(is_advised(middle));
        assert!(memory.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn unusual_offsets_and_empty_ranges_are_accepted() {
        let memory = vec![7u8; 3 << 20];
        ask_for_huge_pages(memory[1..memory.len() - 1].as_ptr_range());
        ask_for_huge_pages(memory[..0].as_ptr_range());
        assert!(memory.iter().all(|&byte| byte == 7));
    }
}
