//! Workloads that verify their data: the findings become part of the segment. A failed I/O ends the workload and
//! also becomes part of the segment, because wrong data and failed I/Os are both results of such a workload.
//! Losing the drive remains an error.

use record::{
    Direction, ErrorCount, FailedIo, IoEngine, Segment, Series, Verified, Workload, WrongData, WrongPlace,
    errno,
};

use stdx::units::SECOND_NS;

use super::concurrent::{self, StreamOptions};
use super::target::Target;
use super::verify_report::{self, VerifyReport, Wrong};
use crate::error::{EngineError, FailedOperation, FailureCause};
use crate::options::Engine;
use crate::outcome::LoadOutcome;
use crate::progress::{Flow, Tick};

/// Error numbers that indicate that the drive is gone.
const GONE: [i32; 3] = [libc::ENODEV, libc::ENXIO, libc::ESHUTDOWN];

/// Verifies a workload on a real target and reads back everything that it wrote.
///
/// # Errors
/// Returns the errors of [`run`](super::run::run), except for failed I/Os.
pub fn run(
    target: &Target<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<LoadOutcome, EngineError> {
    let start_ns = target.clock.now_ns();
    let workloads = std::slice::from_ref(workload);
    match concurrent::run(target, workloads, &[StreamOptions::reading_back(true)], &mut |_, tick| {
        on_tick(tick)
    }) {
        Ok(mut answers) => {
            let answer = answers.remove(0);
            let verified = answer.verified.as_ref().map(verified_of);
            Ok(match answer.outcome {
                LoadOutcome::Finished(segment) => LoadOutcome::Finished(Segment { verified, ..segment }),
                // Wrong data is a result of the workload, because repeating the workload might not find it
                // again.
                LoadOutcome::Stopped => match verified.filter(|verified| verified.wrong_blocks > 0) {
                    Some(verified) => {
                        let times = (start_ns, target.clock.now_ns(), SECOND_NS);
                        LoadOutcome::Finished(without_amounts(
                            workload,
                            times,
                            engine_of(target),
                            verified,
                            Vec::new(),
                        ))
                    }
                    None => LoadOutcome::Stopped,
                },
            })
        }
        Err(EngineError::Io(failure)) => {
            let kind = match failure.cause {
                FailureCause::Errno(number) if GONE.contains(&number) => {
                    return Err(EngineError::Io(failure));
                }
                FailureCause::Errno(number) => errno::name(number),
                FailureCause::Short(_) => return Err(EngineError::Io(failure)),
            };
            let failed = FailedIo {
                kind,
                read: failure.operation == FailedOperation::Read,
                offset_bytes: failure.offset_bytes,
                length_bytes: failure.length_bytes,
            };
            let times = (start_ns, target.clock.now_ns(), SECOND_NS);
            let errors = failure.errors;
            Ok(LoadOutcome::Finished(ended_by(workload, times, engine_of(target), failed, errors)))
        }
        Err(error) => Err(error),
    }
}

/// Returns the requested engine. If the load fails or is stopped, it is not known whether a fallback engine was used.
fn engine_of(target: &Target<'_>) -> IoEngine {
    match target.options.engine {
        Engine::Auto | Engine::IoUring => IoEngine::IoUring,
        Engine::Libaio => IoEngine::Libaio,
        Engine::Threads => IoEngine::Threads,
        Engine::IoUringCmd => IoEngine::IoUringCmd,
        Engine::Null => IoEngine::Null,
        Engine::Space(_) => IoEngine::Space,
        Engine::Scsi => IoEngine::Sg,
        Engine::Files(_) => IoEngine::Files,
    }
}

/// Returns the segment of a workload that was ended by a failed I/O. The amounts completed before the failure
/// are unknown.
#[must_use]
pub fn ended_by(
    workload: &Workload,
    times: (u64, u64, u64),
    engine: IoEngine,
    failed: FailedIo,
    errors: Vec<ErrorCount>,
) -> Segment {
    let errors = match errors.is_empty() {
        true => vec![ErrorCount { kind: failed.kind.clone(), count: 1 }],
        false => errors,
    };
    let verified = Verified { failed: Some(failed), ..Verified::default() };
    without_amounts(workload, times, engine, verified, errors)
}

/// Returns the segment of a workload that a finding ended early. It has a start, an end and an interval in
/// nanoseconds, but no amounts.
#[must_use]
pub fn without_amounts(
    workload: &Workload,
    (start_ns, end_ns, interval_ns): (u64, u64, u64),
    engine: IoEngine,
    verified: Verified,
    errors: Vec<ErrorCount>,
) -> Segment {
    let end_ns = end_ns.max(start_ns + 1);
    let intervals = (end_ns - start_ns).div_ceil(interval_ns.max(1)) as usize;
    let none = || vec![0; intervals].into();
    let series = Series {
        interval_ns,
        read_ios: none(),
        write_ios: none(),
        latency_mean_ns: none(),
        latency_max_ns: none(),
        times: None,
    };
    Segment {
        workload: workload.clone(),
        start_ns,
        end_ns,
        read: Direction::default(),
        write: Direction::default(),
        series,
        errors,
        io_path: engine.into(),
        gap_before: None,
        on_file: None,
        power: None,
        host: None,
        verified: Some(verified),
        synced: None,
        detail: None,
    }
}

fn verified_of(report: &VerifyReport) -> Verified {
    let place = |place: &verify_report::WrongPlace| WrongPlace {
        offset_bytes: place.offset_bytes,
        length_bytes: place.length_bytes,
        wrong: match place.wrong {
            Wrong::Corrupt => WrongData::Corrupt,
            Wrong::Misdirected { .. } => WrongData::Misdirected,
            Wrong::Lost { .. } => WrongData::Lost,
            Wrong::Unstamped => WrongData::Unstamped,
        },
    };
    Verified {
        checked_blocks: report.checked,
        // What cannot be checked does not pass.
        wrong_blocks: report.wrong() + report.unchecked,
        places: report.places.iter().map(place).collect(),
        failed: None,
    }
}
