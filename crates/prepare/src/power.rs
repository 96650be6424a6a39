//! The power source of a run: which sources are allowed, when they are opened, and the idle power before the first
//! test.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::{Audience, Step};
use device::Armed;
use engine::Places;
use plans::settings::RunSettings;
use power::{Named, Sampler, Surroundings};
use record::{Entry, Event, Placement, RunFile};

use failure::{Done, Exit, Failure};

/// Default duration of the idle power measurement.
const USUAL_IDLE: Duration = Duration::from_secs(30);
/// Interval at which stop requests are checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A requested power source.
#[derive(Debug, Clone)]
pub struct Requested {
    named: Named,
    idle: Duration,
}

/// An open power source, and the duration of the idle power measurement.
#[derive(Debug)]
pub struct Metering {
    /// Reads the source.
    pub sampler: Sampler,
    idle: Duration,
}

/// Returns the source named on the command line.
///
/// # Errors
/// Returns an error if there is no source with that name, or if the source is not allowed.
pub fn requested(run: &RunSettings) -> Done<Option<Requested>> {
    let Some(source) = &run.power else {
        if run.power_idle_seconds.is_some() {
            return Err(Failure::text(Exit::Usage, "--power-idle requires --power, such as --power rapl"));
        }
        return Ok(None);
    };
    let named = Named::parse(source)?;
    if named.kind().needs_trust && device::has_more_privileges_than_its_caller() {
        let text = format!("--power {source}: not available if Plateau has more privileges than its caller");
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(Some(Requested { named, idle: run.power_idle_seconds.map_or(USUAL_IDLE, Duration::from_secs_f64) }))
}

/// Rejects a source that would measure several targets at once.
///
/// # Errors
/// Returns an error if the source would measure several targets at once.
pub fn check_campaign(requested: Option<&Requested>) -> Done {
    match requested {
        Some(Requested { named, .. }) if !named.kind().is_per_drive => {
            let text = format!(
                "--power {} does not measure each target separately; test one target at a time",
                named.kind().syntax()
            );
            Err(Failure::text(Exit::Usage, text))
        }
        _ => Ok(()),
    }
}

/// Returns the source of a resumed run, which is the one it was started with. If others may have written `run.json`, a
/// program or port in it is used only if the command line also names it.
///
/// # Errors
/// Returns an error if the command line names a different source, or if it must name this source but does not.
pub fn of_resumed(
    file: &RunFile,
    typed: &RunSettings,
    is_own: Result<(), String>,
) -> Done<Option<Requested>> {
    let usage = |text: String| Err(Failure::text(Exit::Usage, text));
    match (&file.power, &typed.power) {
        (None, None) => requested(typed),
        (None, Some(_)) => usage(format!("run {} started without a power source; omit --power", file.id)),
        (Some(was), Some(is)) if was.source != *is => {
            usage(format!("a run continues with the power source it started with: --power '{}'", was.source))
        }
        (Some(was), is) => {
            let run = RunSettings { power: Some(was.source.clone()), ..typed.clone() };
            let requested = requested(&run)?;
            let needs_trust = requested.as_ref().is_some_and(|requested| requested.named.kind().needs_trust);
            match is_own {
                Err(why) if needs_trust && is.is_none() => Err(Failure::text(
                    Exit::Refused,
                    format!(
                        "{why}, so the power source recorded in it cannot be trusted; if it is the right source, confirm with --power '{}'",
                        was.source
                    ),
                )),
                _ => Ok(requested),
            }
        }
    }
}

/// Opens the power source for an armed target.
///
/// # Errors
/// Returns an error if the source cannot be opened or read.
pub fn open(requested: &Requested, armed: &Armed, placement: Option<&Placement>) -> Done<Metering> {
    let around = Surroundings {
        drive: armed.sysfs_directory(),
        bound: armed.power_bound(),
        ..Surroundings::default()
    };
    let sys = around.sys.clone();
    let near = device::attached(&armed.facts().path).numa_node;
    // The load reports an impossible placement.
    let places = Places::of(&sys, near, placement.cloned()).ok();
    let spare = places.and_then(|places| places.spare());
    let sampler = Sampler::start(requested.named.open(around)?, spare);
    Ok(Metering { sampler, idle: requested.idle })
}

impl Metering {
    /// Measures the idle power, unless the run has already measured it or is stopped during the measurement. Sends no
    /// command to the drive and does not change its clock.
    pub fn idle(
        &self,
        entries: &[Entry],
        interrupted: &AtomicBool,
        progress: &mut dyn Audience,
    ) -> Option<Event> {
        if entries.iter().any(|entry| matches!(entry.event, Event::IdlePower { .. })) {
            return None;
        }
        let length_ns = u64::try_from(self.idle.as_nanos()).unwrap_or(u64::MAX);
        progress.step(Step::Idle { length_ns });
        let measured = self.sampler.begin().and_then(|()| {
            let end = Instant::now() + self.idle;
            while Instant::now() < end && !interrupted.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK_EVERY.min(end.saturating_duration_since(Instant::now())));
            }
            self.sampler.end()
        });
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        match measured {
            Ok(power) => power.map(|power| Event::IdlePower { length_ns, power }),
            Err(error) => {
                progress.print_line(&format!("warning: the idle power was not measured: {error}"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(source: Option<&str>) -> RunSettings {
        let settings = pts::PROFILES[0].settings(1);
        RunSettings { power: source.map(str::to_owned), ..RunSettings::of(settings) }
    }

    #[test]
    fn mistakes_are_found_before_anything_is_opened() {
        assert!(requested(&typed(None)).expect("nothing").is_none());
        let idle_only = RunSettings { power_idle_seconds: Some(5.0), ..typed(None) };
        assert!(requested(&idle_only).unwrap_err().message().contains("requires --power"));
        assert!(
            requested(&typed(Some("watts")))
                .unwrap_err()
                .message()
                .contains("--power: 'watts' is not a power source")
        );
        let meter = requested(&typed(Some("command:/bin/meter"))).expect("a name");
        assert!(check_campaign(meter.as_ref()).unwrap_err().message().contains("one target at a time"));
        let sensor = requested(&typed(Some("hwmon:nvme"))).expect("a name");
        assert!(check_campaign(sensor.as_ref()).is_ok());
    }
}
