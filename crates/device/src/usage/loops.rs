//! The backing of loop devices, as reported by their driver, because the path in `/sys` may now refer to
//! another file.
//!
//! The driver queries the file system of the backing file and waits for its server. A query that the driver
//! does not answer before a deadline is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use record::errno::reason;
use rustix::fs::OFlags;

use super::facts::{Facts, Kind, Span};
use super::overlay::Overlays;
use super::stored::node_at;
use super::thing::{Thing, opened, thing_at};
use crate::ioctl::{self, LoopStatus};
use sysfs::{DeviceNumber, Roots, SysDevice};

/// Number of pauses while a loop device is being detached but still listed with its backing file.
const DETACH_LOOKS: u32 = 20;
const DETACH_PAUSE: Duration = Duration::from_millis(5);
/// Time that a query may take. If a file system has not answered by then, its server has probably stopped.
const DEADLINE: Duration = Duration::from_secs(2);

/// Adds the backing if the device is a loop device.
pub(super) fn add(facts: &mut Facts, place: usize, device: &SysDevice, overlays: &Overlays<'_>) {
    let mut looks = 0;
    let (path, status) = loop {
        let path = match device.attribute("loop/backing_file") {
            Some(path) => path,
            // The kernel cannot show a path that is longer than a page.
            None if is_attached(device) => format!("the file below {}", device.kname),
            None => return,
        };
        let status = status(device);
        // ENXIO: the device is being detached.
        let is_leaving = status.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENXIO));
        if !is_leaving || looks == DETACH_LOOKS {
            break (PathBuf::from(path), status);
        }
        std::thread::sleep(DETACH_PAUSE);
        looks += 1;
    };
    let unseen = |why: &str, help: &str| {
        format!("the backing file of {} cannot be determined ({why}); {help}", device.kname)
    };
    const ELSEWHERE: &str = "run as root on the host itself, or detach the loop device";
    match status {
        Ok(status) => {
            let span = Span::of(status.offset_bytes, status.size_limit_bytes);
            let lower = node_at(facts, overlays, thing_of(&status), &path);
            facts.layer(place, lower, span, Kind::Loop);
            if facts.nodes[lower].problem.is_some() {
                let why = "its volume may be an overlay that is not visible from here";
                facts.add_unseen(unseen(why, ELSEWHERE), true);
            }
        }
        // Looking up the path could take just as long.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            let why = format!("its file system has not answered for {} s", DEADLINE.as_secs());
            let help = format!(
                "resume or stop the server of {} (FUSE, network), or detach {}",
                path.display(),
                device.kname
            );
            facts.add_unseen(unseen(&why, &help), false);
        }
        Err(error) => {
            let found = thing_at(&path);
            if let Some(thing) = found {
                let lower = node_at(facts, overlays, thing, &path);
                facts.layer(place, lower, Span::ALL, Kind::Loop);
            }
            // If this user may not query the driver, the path is the best available information.
            if found.is_none() || error.kind() != io::ErrorKind::PermissionDenied {
                facts.add_unseen(unseen(&reason(&error), ELSEWHERE), false);
            }
        }
    }
}

fn is_attached(device: &SysDevice) -> bool {
    device.position().join("loop/backing_file").exists()
}

fn thing_of(status: &LoopStatus) -> Thing {
    match status.backing_device {
        0 => Thing::File { volume: DeviceNumber::from_raw(status.volume), inode: status.inode },
        number => Thing::Device(DeviceNumber::from_raw(number)),
    }
}

/// A loop device and its backing.
#[derive(Debug, Clone)]
pub(crate) struct Backing {
    device: SysDevice,
    status: LoopStatus,
}

/// Returns the loop devices at or below a device, except those that cannot be queried.
pub(crate) fn backings(roots: &Roots, number: DeviceNumber) -> Vec<Backing> {
    let (mut found, mut seen, mut next) = (Vec::new(), BTreeSet::new(), vec![number]);
    while let Some(number) = next.pop() {
        let Some(device) = seen.insert(number).then(|| SysDevice::find(roots, number).ok()).flatten() else {
            continue;
        };
        if device.is_partition() {
            next.extend(device.disk_number());
        }
        let lower = device.lower_devices().unwrap_or_default();
        next.extend(lower.iter().filter_map(|kname| roots.number_of(kname)));
        if is_attached(&device)
            && let Ok(status) = status(&device)
        {
            next.extend(
                Some(DeviceNumber::from_raw(status.backing_device)).filter(|_| status.backing_device != 0),
            );
            found.push(Backing { device, status });
        }
    }
    found
}

/// Returns why one of these loop devices may no longer map to the same bytes: another process remapped it, or
/// the query is not answered.
pub(crate) fn moved(backings: &[Backing]) -> Option<String> {
    backings.iter().find_map(|Backing { device, status: checked }| match status(device) {
        Ok(now) if now == *checked => None,
        Ok(_) => Some(format!(
            "{} no longer reaches the bytes that were checked: another process has changed its offset, size limit or \
             backing file (LOOP_SET_STATUS64)",
            device.kname
        )),
        Err(error) => Some(format!(
            "{} can no longer be queried ({error}), so it may not reach the bytes that were checked",
            device.kname
        )),
    })
}

/// Returns the driver's response.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if the query is not answered in time.
fn status(device: &SysDevice) -> io::Result<LoopStatus> {
    let queried = device.clone();
    let query = move || ioctl::loop_status(opened(&queried, OFlags::RDONLY)?.as_fd());
    answered(device.number, DEADLINE, query)
}

type Answers = Receiver<io::Result<LoopStatus>>;

/// Pending queries. A thread is already waiting for each of these answers, so no second thread is started.
static UNANSWERED: Mutex<BTreeMap<DeviceNumber, Answers>> = Mutex::new(BTreeMap::new());

fn unanswered() -> MutexGuard<'static, BTreeMap<DeviceNumber, Answers>> {
    UNANSWERED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answered(
    number: DeviceNumber,
    deadline: Duration,
    query: impl FnOnce() -> io::Result<LoopStatus> + Send + 'static,
) -> io::Result<LoopStatus> {
    let is_waiting = |earlier: &Answers| matches!(earlier.try_recv(), Err(TryRecvError::Empty));
    if unanswered().get(&number).is_some_and(is_waiting) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    // A response that has arrived by now may be out of date.
    unanswered().remove(&number);
    let (answer, answers) = mpsc::channel();
    // After the deadline, the response is discarded.
    Builder::new().name("loop".into()).spawn(move || drop(answer.send(query())))?;
    match answers.recv_timeout(deadline) {
        Ok(status) => status,
        Err(RecvTimeoutError::Timeout) => {
            unanswered().insert(number, answers);
            Err(io::ErrorKind::TimedOut.into())
        }
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::Other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_without_an_answer_is_not_repeated_until_it_has_one() {
        let number = DeviceNumber { major: 7, minor: u32::MAX };
        let status =
            LoopStatus { volume: 1, inode: 2, backing_device: 0, offset_bytes: 0, size_limit_bytes: 0 };
        let ask = |deadline, query: Box<dyn FnOnce() -> io::Result<LoopStatus> + Send>| {
            answered(number, deadline, query).map_err(|error| error.kind())
        };
        let (resume, stopped) = mpsc::channel::<()>();
        let hanging = move || {
            let _ = stopped.recv();
            Err(io::ErrorKind::Other.into())
        };
        assert_eq!(ask(Duration::from_millis(1), Box::new(hanging)), Err(io::ErrorKind::TimedOut));
        let unasked = Box::new(|| panic!("it was asked again"));
        assert_eq!(ask(DEADLINE, unasked), Err(io::ErrorKind::TimedOut));
        drop(resume);
        // Repeat until the first query has been answered.
        let answer = loop {
            match ask(DEADLINE, Box::new(move || Ok(status))) {
                Err(io::ErrorKind::TimedOut) => std::thread::yield_now(),
                other => break other,
            }
        };
        assert_eq!(answer, Ok(status));
    }
}
