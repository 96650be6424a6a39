//! Runs the tests on a bench that only checks their workloads, to find impossible settings before anything is changed.

use pts::{Bench, Context, Stop, Task};
use record::{Direction, Note, Purged, RunFile, Segment, Series, TargetFacts, Workload};
use stdx::units::amount_base2;

use failure::message::of_drive;
use failure::{Done, Exit, Failure};

/// Validates every workload of `run`'s tests against the target.
///
/// # Errors
/// Returns an error that describes the first impossible workload.
pub fn check(run: &RunFile) -> Done {
    let context = Context::of(run).map_err(|text| Failure::text(Exit::Usage, text))?;
    for name in &run.tests {
        let task = Task::named(run, name).map_err(|text| Failure::text(Exit::Usage, text))?;
        let mut bench = Preflight { target: &run.target, memory_bytes: run.host.memory_bytes };
        if let Some(stop) = task.run(&context, &mut bench).stop {
            return Err(Failure::text(Exit::Usage, stop.to_string()));
        }
    }
    Ok(())
}

struct Preflight<'a> {
    target: &'a TargetFacts,
    memory_bytes: Option<u64>,
}

impl Preflight<'_> {
    /// Each outstanding I/O has a buffer on a real device, but none on a simulated drive.
    fn check_memory(&self, workload: &Workload) -> Result<(), Stop> {
        let Some(memory) = self.memory_bytes.filter(|_| self.target.simulated.is_none()) else {
            return Ok(());
        };
        let (block, outstanding) = (u64::from(workload.block_bytes), u64::from(workload.outstanding()));
        let most = memory / 2 / block;
        if outstanding <= most {
            return Ok(());
        }
        Err(Stop::Failed(format!(
            "workload {workload}: TC {} x QD {} needs buffers of {}, more than half of this host's memory; \
             use a QD of up to {}",
            workload.threads,
            workload.queue_depth,
            amount_base2(outstanding * block),
            (most / u64::from(workload.threads)).max(1)
        )))
    }

    fn answer(&self, workload: &Workload) -> Result<Segment, Stop> {
        device::check(workload, self.target).map_err(|error| Stop::Failed(of_drive(&error)))?;
        self.check_memory(workload)?;
        // Because all cells have equal I/O counts, steady state is reached after five rounds, which ends the check.
        let done = Direction { ios: 1, bytes: u64::from(workload.block_bytes), ..Direction::default() };
        Ok(Segment {
            workload: workload.clone(),
            start_ns: 0,
            end_ns: 1,
            read: Direction::default(),
            write: done,
            series: Series::default(),
            errors: Vec::new(),
            io_path: record::IoEngine::Simulated.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: None,
            detail: None,
        })
    }
}

impl Bench for Preflight<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        Ok(Purged {
            method: String::new(),
            name: None,
            pts_purge: true,
            start_ns: 0,
            end_ns: 0,
            evidence: Vec::new(),
            samples_read: false,
        })
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }
    fn idle(&mut self, _: u64) -> Result<(), Stop> {
        Ok(())
    }
    fn note(&mut self, _: Note) -> Result<(), Stop> {
        Ok(())
    }
}
