//! CPU placement of load threads: near the device with one CPU each, or as requested.
//!
//! A thread that migrates loses its caches, and a thread on a different NUMA node than the device pays a
//! penalty on every I/O. On the other hand, a pinned thread has to wait while others use its CPU, so threads
//! are pinned only if at least one CPU remains for everything else.

mod divide;
pub(crate) mod error;
mod processor;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use record::errno::reason;
use record::{PathRemark, Placement};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::EngineError;
pub use error::{CpuListError, PlacementError};
use processor::Processor;

/// Value of `cpus_allowed` that disables pinning.
const ALL: &str = "all";
/// Mount point of sysfs on this host.
pub(crate) const SYS: &str = "/sys";

/// The CPUs of the host, and the CPUs that a load may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    allowed: Vec<Processor>,
    /// Number of online CPUs of the host.
    online: u32,
    /// The NUMA node of the device, if it is known and the host has several.
    near: Option<u32>,
    requested: Option<Placement>,
}

/// Thread placement for one workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seating {
    /// One CPU list per thread, or one list shared by all threads; empty if threads are not pinned.
    seats: Vec<Vec<u32>>,
    /// Number of CPUs that the threads can use at the same time.
    pub(crate) usable: u32,
    pub(crate) online: u32,
    /// The placement and the reason for it.
    pub(crate) text: String,
}

impl Places {
    /// Determines the CPUs available to this process; sysfs is mounted at `sys`. `near` is the NUMA node of the
    /// device, if known.
    ///
    /// # Errors
    /// Returns an error if the requested CPUs are not usable.
    pub fn of(sys: &Path, near: Option<u32>, requested: Option<Placement>) -> Result<Self, PlacementError> {
        let allowed = allowed(sys);
        let nodes: BTreeSet<u32> = allowed.iter().map(|p| p.node).collect();
        let near = near.filter(|node| nodes.len() > 1 && nodes.contains(node));
        let online = read(sys, "devices/system/cpu/online").and_then(|text| parse_cpu_list(&text).ok());
        let online = online.map_or(allowed.len(), |list| list.len()) as u32;
        let places = Self { allowed, online, near, requested };
        // An impossible request is reported before the target is accessed.
        places.seat(1, 0).map(|_| places.clone())
    }

    /// Assigns CPUs to `threads` threads, each with `helpers` helper threads. Helpers share the list of their
    /// thread, so if there are helpers, one list must serve all threads.
    pub(crate) fn seat(&self, threads: u16, helpers: u16) -> Result<Seating, PlacementError> {
        let all = u32::from(threads) * (1 + u32::from(helpers));
        let all_threads = all as usize;
        if self.requested == Some(Placement::CpusAllowed(ALL.into())) {
            return Ok(self.free(all, "not pinned, as requested".into()));
        }
        if let Some(requested) = &self.requested {
            let chosen = self.chosen(requested)?;
            let seats = if helpers == 0 && all_threads <= chosen.len() {
                chosen.iter().take(all_threads).map(|&number| vec![number]).collect()
            } else {
                vec![chosen]
            };
            let why = if matches!(requested, Placement::Share(_)) { ", its share" } else { " as requested" };
            return Ok(self.seating(seats, all, why));
        }
        let close: Vec<Processor> =
            self.allowed.iter().copied().filter(|p| self.near.is_none_or(|node| p.node == node)).collect();
        let of_node = self.near.map_or_else(String::new, |node| format!(" of the device's NUMA node {node}"));
        if helpers == 0 && all_threads <= close.len() && all_threads < self.allowed.len() {
            let seats =
                cores_first(&close).into_iter().take(all_threads).map(|number| vec![number]).collect();
            return Ok(self.seating(seats, all, &of_node));
        }
        if close.len() < self.allowed.len() {
            let seats = vec![close.iter().map(|p| p.number).collect()];
            return Ok(self.seating(seats, all, &of_node));
        }
        let processors = self.allowed.len();
        let text = if helpers > 0 {
            format!("not pinned: {all} threads, including helper threads")
        } else {
            format!("not pinned: {all} threads on {processors} CPUs leave none free")
        };
        Ok(self.free(all, text))
    }

    /// Returns the CPU that loads use last, for work that should not disturb them; `None` if loads may use all
    /// CPUs.
    #[must_use]
    pub fn spare(&self) -> Option<u32> {
        let numbers = |processors: &[Processor]| processors.iter().map(|p| p.number).collect::<Vec<_>>();
        let used = match &self.requested {
            Some(Placement::CpusAllowed(all)) if all == ALL => return None,
            Some(requested) => self.chosen(requested).ok()?,
            None => {
                let close =
                    self.allowed.iter().copied().filter(|p| self.near.is_none_or(|node| p.node == node));
                let mut close = cores_first(&close.collect::<Vec<_>>());
                // Threads are pinned only if one CPU remains free, which is the last in this order.
                if close.len() == self.allowed.len() {
                    close.pop();
                }
                close
            }
        };
        let left: Vec<Processor> =
            self.allowed.iter().copied().filter(|p| !used.contains(&p.number)).collect();
        // The sibling of a used CPU shares its core.
        let is_alone = |p: &&Processor| {
            !self.allowed.iter().any(|other| other.core == p.core && used.contains(&other.number))
        };
        left.iter().find(is_alone).map(|p| p.number).or_else(|| numbers(&left).first().copied())
    }

    fn free(&self, threads: u32, text: String) -> Seating {
        let usable = threads.min(self.allowed.len() as u32).max(1);
        Seating { seats: Vec::new(), usable, online: self.online, text }
    }

    fn seating(&self, seats: Vec<Vec<u32>>, threads: u32, why: &str) -> Seating {
        let each = seats.len() == threads as usize && seats.iter().all(|seat| seat.len() == 1);
        let mut numbers: Vec<u32> = seats.iter().flatten().copied().collect();
        numbers.sort_unstable();
        let list = list_text(&numbers);
        let text = match (each, threads) {
            (true, 1) => format!("cpu {list}{why}"),
            (true, _) => format!("cpus {list}{why}, one thread each"),
            (false, _) => format!("cpus {list}{why}, shared by {threads} threads"),
        };
        let usable = threads.min(numbers.len() as u32).max(1);
        Seating { seats, usable, online: self.online, text }
    }

    /// Returns the requested CPUs, in the requested order.
    fn chosen(&self, requested: &Placement) -> Result<Vec<u32>, PlacementError> {
        let (option, text) = match requested {
            Placement::CpusAllowed(text) | Placement::Share(text) => ("cpus_allowed", text),
            Placement::NumaCpuNodes(text) => ("numa_cpu_nodes", text),
        };
        let numbers = parse_cpu_list(text).map_err(|source| PlacementError::List {
            option,
            text: text.clone(),
            source,
        })?;
        let mut chosen = Vec::new();
        for number in numbers {
            let found: Vec<u32> = match requested {
                Placement::CpusAllowed(_) | Placement::Share(_) => {
                    self.allowed.iter().filter(|p| p.number == number).map(|p| p.number).collect()
                }
                Placement::NumaCpuNodes(_) => {
                    let node: Vec<_> = self.allowed.iter().copied().filter(|p| p.node == number).collect();
                    cores_first(&node)
                }
            };
            if found.is_empty() {
                let there: BTreeSet<u32> = self
                    .allowed
                    .iter()
                    .map(|p| if matches!(requested, Placement::NumaCpuNodes(_)) { p.node } else { p.number })
                    .collect();
                let there = list_text(&there.into_iter().collect::<Vec<_>>());
                let (text, available) = (text.clone(), there);
                return Err(PlacementError::Unavailable { option, text, number, available });
            }
            chosen.extend(found);
        }
        Ok(chosen)
    }
}

/// Divides CPUs among concurrent loads on several targets, given each target's NUMA node, if known. Each target
/// gets its own cores, from the requested CPUs or from all CPUs. If there are enough, one core is left for
/// everything else. Returns `None` if pinning is disabled or there are fewer cores than targets.
///
/// # Errors
/// Returns an error if the requested CPUs are not usable.
pub fn shares(
    nodes: &[Option<u32>],
    requested: Option<&Placement>,
) -> Result<Vec<Option<Placement>>, EngineError> {
    let places = Places::of(Path::new(SYS), None, requested.cloned())?;
    if requested == Some(&Placement::CpusAllowed(ALL.into())) {
        return Ok(vec![requested.cloned(); nodes.len()]);
    }
    let chosen = requested.map(|requested| places.chosen(requested)).transpose()?;
    let mut usable = places.allowed;
    usable.retain(|p| chosen.as_ref().is_none_or(|chosen| chosen.contains(&p.number)));
    let share = |mut numbers: Vec<u32>| {
        numbers.sort_unstable();
        (!numbers.is_empty()).then(|| Placement::Share(list_text(&numbers)))
    };
    Ok(divide::divided(&usable, nodes, requested.is_none()).into_iter().map(share).collect())
}

impl Seating {
    /// Pins the calling thread. The load continues if a thread cannot be pinned; the failure is returned as a
    /// remark.
    pub(crate) fn take(&self, thread: u16) -> Option<PathRemark> {
        let seat = match &self.seats[..] {
            [] => return None,
            [shared] => shared,
            each => &each[usize::from(thread)],
        };
        let mut set = CpuSet::new();
        seat.iter().for_each(|&number| set.set(number as usize));
        let pinned = sched_setaffinity(None, &set);
        pinned.err().map(|errno| PathRemark::NotPinned { cause: reason(&errno.into()) })
    }
}

/// Orders CPUs: first one CPU of each core, with the first core last because much of the kernel's own work
/// runs there; then the remaining CPUs of each core.
fn cores_first(processors: &[Processor]) -> Vec<u32> {
    let first = processors.iter().map(|p| p.core).min();
    let mut order: Vec<(usize, bool, u32)> = processors
        .iter()
        .map(|p| {
            let rank = processors.iter().filter(|q| q.core == p.core && q.number < p.number).count();
            (rank, Some(p.core) == first, p.number)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, _, number)| number).collect()
}

fn allowed(sys: &Path) -> Vec<Processor> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let numbers = (0..CpuSet::MAX_CPU).filter(|&number| set.is_set(number)).map(|number| number as u32);
    let nodes = nodes(sys);
    numbers
        .map(|number| {
            let siblings =
                read(sys, &format!("devices/system/cpu/cpu{number}/topology/thread_siblings_list"));
            let siblings = siblings.and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_default();
            let node = nodes.iter().find(|(_, list)| list.contains(&number)).map_or(0, |(node, _)| *node);
            Processor { number, core: siblings.into_iter().min().unwrap_or(number), node }
        })
        .collect()
}

/// Returns the NUMA nodes and their CPUs.
fn nodes(sys: &Path) -> Vec<(u32, Vec<u32>)> {
    let Ok(entries) = fs::read_dir(sys.join("devices/system/node")) else { return Vec::new() };
    let node = |name: String| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        let list = read(sys, &format!("devices/system/node/{name}/cpulist"))?;
        Some((number, parse_cpu_list(&list).ok()?))
    };
    let mut all: Vec<_> = entries
        .flatten()
        .filter_map(|entry| node(entry.file_name().to_string_lossy().into_owned()))
        .collect();
    all.sort_unstable();
    all
}

fn read(sys: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(sys.join(path)).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Parses a CPU list such as `0-3,8`, in the format of the kernel and fio.
///
/// # Errors
/// Returns an error if the list is not valid; the error says why.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, CpuListError> {
    const MOST: u32 = 4096;
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|number| *number < MOST);
            number.ok_or_else(|| CpuListError::Part(part.to_owned()))
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(CpuListError::Reversed(part.to_owned()));
        }
        for number in first..=last {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    Ok(numbers)
}

/// Formats a CPU list of ascending numbers; the inverse of `parse_cpu_list`.
fn list_text(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the CPUs of a server with two nodes of two cores each; CPUs 4 to 7 are the second CPUs of cores
    /// 0 to 3.
    fn server(near: Option<u32>, requested: Option<Placement>) -> Places {
        let processor = |number| Processor { number, core: number % 4, node: number % 4 / 2 };
        Places { allowed: (0..8).map(processor).collect(), online: 8, near, requested }
    }

    fn seated(places: &Places, threads: u16) -> (Vec<Vec<u32>>, String) {
        let seating = places.seat(threads, 0).unwrap();
        (seating.seats, seating.text)
    }

    #[test]
    fn threads_are_near_the_device_on_cores_of_their_own() {
        let near = server(Some(1), None);
        assert_eq!(seated(&near, 1), (vec![vec![3]], "cpu 3 of the device's NUMA node 1".into()));
        let (seats, text) = seated(&near, 2);
        assert_eq!(
            (seats, text.as_str()),
            (vec![vec![3], vec![2]], "cpus 2-3 of the device's NUMA node 1, one thread each")
        );
        assert_eq!(seated(&near, 4).0, [[3], [2], [7], [6]], "then the second CPU of each core");
        let (seats, text) = seated(&near, 5);
        assert_eq!(seats, [[2, 3, 6, 7]]);
        assert!(text.ends_with("shared by 5 threads"), "{text}");
        assert_eq!(near.seat(5, 0).unwrap().usable, 4);
        let helped = near.seat(1, 2).unwrap();
        assert_eq!(
            (helped.seats, helped.usable),
            (vec![vec![2, 3, 6, 7]], 3),
            "helpers share their thread's seat"
        );
    }

    #[test]
    fn threads_are_not_pinned_if_that_would_leave_no_cpu_free() {
        let anywhere = server(None, None);
        assert_eq!(seated(&anywhere, 1), (vec![vec![1]], "cpu 1".into()));
        assert_eq!(seated(&anywhere, 7).0.len(), 7);
        let (seats, text) = seated(&anywhere, 8);
        assert_eq!((seats.len(), text.as_str()), (0, "not pinned: 8 threads on 8 CPUs leave none free"));
        let one = Places { allowed: server(None, None).allowed[..1].to_vec(), ..anywhere.clone() };
        assert!(seated(&one, 1).1.starts_with("not pinned"));
        assert_eq!(anywhere.seat(1, 2).unwrap().text, "not pinned: 3 threads, including helper threads");
        assert_eq!(one.seat(32, 0).unwrap().usable, 1);
    }

    #[test]
    fn a_spare_cpu_is_one_that_loads_use_last() {
        assert_eq!(server(None, None).spare(), Some(4), "the second CPU of the first core");
        assert_eq!(server(Some(1), None).spare(), Some(0), "a core of the other node");
        let requested = |text: &str| server(None, Some(Placement::CpusAllowed(text.into()))).spare();
        assert_eq!(requested("0-2"), Some(3));
        assert_eq!(requested("0-3"), Some(4), "only siblings are left");
        assert_eq!(requested("0-7"), None);
        assert_eq!(requested("all"), None);
        let one = Places { allowed: server(None, None).allowed[..1].to_vec(), ..server(None, None) };
        assert_eq!(one.spare(), Some(0), "its only CPU is not pinned");
    }

    #[test]
    fn requested_cpus_take_precedence() {
        let cpus = |text: &str| server(Some(1), Some(Placement::CpusAllowed(text.into())));
        assert_eq!(
            seated(&cpus("5,0-1"), 2),
            (vec![vec![5], vec![0]], "cpus 0,5 as requested, one thread each".into())
        );
        assert_eq!(seated(&cpus("5"), 2), (vec![vec![5]], "cpus 5 as requested, shared by 2 threads".into()));
        assert_eq!(seated(&cpus("all"), 2), (Vec::new(), "not pinned, as requested".into()));
        let nodes = server(Some(1), Some(Placement::NumaCpuNodes("0".into())));
        assert_eq!(seated(&nodes, 3).0, [[1], [0], [5]]);
        for (requested, problem) in
            [("8", "available: 0-7"), ("x", "not a number"), ("3-1", "reversed"), ("", "not a number")]
        {
            let text = cpus(requested).seat(1, 0).unwrap_err().to_string();
            assert!(text.contains(problem) && text.starts_with("cpus_allowed"), "{requested}: {text}");
        }
        let missing =
            server(None, Some(Placement::NumaCpuNodes("2".into()))).seat(1, 0).unwrap_err().to_string();
        assert!(missing.contains("available: 0-1"), "{missing}");
    }

    #[test]
    fn threads_run_on_the_requested_cpus_of_this_host() {
        let places = Places::of(Path::new(SYS), None, None).unwrap();
        assert!(!places.allowed.is_empty() && places.online as usize >= places.allowed.len(), "{places:?}");
        let number = places.allowed[0].number;
        let requested = Placement::CpusAllowed(number.to_string());
        let seating = Places::of(Path::new(SYS), None, Some(requested)).unwrap().seat(1, 0).unwrap();
        std::thread::spawn(move || {
            assert_eq!(seating.take(0), None);
            let set = sched_getaffinity(None).unwrap();
            assert!(set.is_set(number as usize) && set.count() == 1);
        })
        .join()
        .unwrap();
    }

    proptest! {
        #[test]
        fn lists_are_read_as_they_are_written(numbers in prop::collection::btree_set(0u32..200, 1..40)) {
            let numbers: Vec<u32> = numbers.into_iter().collect();
            prop_assert_eq!(parse_cpu_list(&list_text(&numbers)), Ok(numbers));
        }

        #[test]
        fn every_thread_has_a_seat_that_it_may_use(threads in 1u16..40, helpers in 0u16..3, near in prop::option::of(0u32..2)) {
            let places = server(near, None);
            let seating = places.seat(threads, helpers).unwrap();
            prop_assert!(seating.usable >= 1 && seating.usable <= (u32::from(threads) * (1 + u32::from(helpers))).min(8));
            prop_assert!([0, 1, usize::from(threads)].contains(&seating.seats.len()));
            prop_assert!(seating.seats.iter().all(|seat| !seat.is_empty()));
            prop_assert!(seating.seats.iter().flatten().all(|number| *number < 8));
        }
    }
}
