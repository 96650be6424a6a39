//! The whole test against a bench that only checks: impossible settings are found before anything is touched.

use pts::{Bench, Context, Stop, Test};
use record::{Direction, Note, Purged, RunFile, Segment, Series, TargetFacts, Workload};

use crate::failure::{Done, Exit, Failure};

/// Asks `run`'s tests for every workload they will want and validates it against the target.
pub fn check(run: &RunFile) -> Done {
    let context = Context::of(run).map_err(|text| Failure::text(Exit::Usage, text))?;
    for name in &run.tests {
        let test = Test::named(name).map_err(|text| Failure::text(Exit::Usage, text))?;
        let mut bench = Preflight { target: &run.target };
        if let Some(stop) = (test.run)(&context, &mut bench).stop {
            return Err(Failure::text(Exit::Usage, stop.to_string()));
        }
    }
    Ok(())
}

struct Preflight<'a> {
    target: &'a TargetFacts,
}

impl Preflight<'_> {
    fn answer(&self, workload: &Workload) -> Result<Segment, Stop> {
        let checked = workload.validate(self.target.capacity_bytes, self.target.logical_block_bytes);
        checked.map_err(|error| Stop::Failed(error.to_string()))?;
        // The same I/O count in every cell is steady after five rounds, which ends the check.
        let done = Direction { ios: 1, bytes: u64::from(workload.block_bytes), ..Direction::default() };
        Ok(Segment {
            workload: workload.clone(),
            start_ns: 0,
            end_ns: 1,
            read: Direction::default(),
            write: done,
            series: Series::default(),
            errors: Vec::new(),
            engine: String::new(),
            gap_before: None,
            host: None,
        })
    }
}

impl Bench for Preflight<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        Ok(Purged { method: String::new(), pts_purge: true, start_ns: 0, end_ns: 0 })
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
