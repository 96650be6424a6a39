//! Assigns jobs to targets and to stages.

use std::collections::BTreeMap;
use std::path::PathBuf;

use device::{Drive, Manner, OpenOptions, SMALLEST_BYTES, SimFaults};
use engine::FolderFiles;
use fio::Job;
use loose::Loose;
use plans::settings::RunSettings;
use pts::PROFILES;
use record::{TargetFacts, Workload};
use stdx::units::MIB;

use crate::cli::Load;
use crate::failure::{Done, Exit, Failure};

/// The requested jobs.
pub struct LoadRequest {
    pub jobs: Vec<Job>,
    /// The job file, if any.
    pub file: Option<String>,
}

/// Requirements of all jobs on one target.
pub struct Need {
    pub filename: String,
    pub writes: bool,
    /// Whether the target is a new file that has to be written completely before the first job.
    pub lay_out: bool,
    /// The different manners in which its jobs drive it, by their numbers.
    manners: Vec<Manner>,
    end_bytes: Option<u64>,
    /// Whether its jobs access no target.
    pub loose: bool,
    files: Option<FolderFiles>,
}

fn manner_of(job: &Job) -> Manner {
    Manner { engine: job.engine, placement: job.placement.clone(), polling: job.polling }
}

/// Returns the different manners in which the jobs of a target drive it.
fn manners_of(jobs: &[Job], filename: Option<&str>) -> Vec<Manner> {
    let mut manners = Vec::new();
    for manner in jobs.iter().filter(|job| job.filename.as_deref() == filename).map(manner_of) {
        if !manners.contains(&manner) {
            manners.push(manner);
        }
    }
    manners
}

/// Returns the number of the manner in which a job drives its target.
pub fn manner_number(jobs: &[Job], job: usize) -> usize {
    let manner = manner_of(&jobs[job]);
    manners_of(jobs, jobs[job].filename.as_deref()).iter().position(|other| *other == manner).unwrap_or(0)
}

impl LoadRequest {
    /// Returns an error about a job, prefixed with `job.fio: [name]: `.
    pub fn about(&self, job: usize, problem: &str) -> Failure {
        let place = self
            .file
            .as_ref()
            .map_or_else(String::new, |file| format!("{file}: [{}]: ", self.jobs[job].name));
        Failure::text(Exit::Usage, format!("{place}{problem}"))
    }

    /// Returns the targets, ordered by the first job of each.
    pub fn needs(&self) -> Done<Vec<Need>> {
        let mut needs: Vec<Need> = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let filename = job.filename.clone().unwrap_or_default();
            let length = length_of(&filename);
            let end_bytes = job.end_bytes(length.unwrap_or(0));
            let loose = self.jobs.iter().all(|other| other.is_loose() || other.filename != job.filename);
            let is_new = !loose && length.is_none() && is_new_or_file(&filename);
            if is_new && !job.may_create {
                return Err(self.about(
                    index,
                    &format!("{filename} does not exist, and allow_file_create=0 forbids creating it"),
                ));
            }
            let lay_out = is_new && end_bytes.is_some() && job.needs_contents();
            let writes = job.writes() && !loose || lay_out;
            match needs.iter_mut().find(|need| need.filename == filename) {
                None => {
                    let manners = manners_of(&self.jobs, job.filename.as_deref());
                    let files = job.folder_files.clone();
                    needs.push(Need { filename, writes, lay_out, manners, end_bytes, loose, files });
                }
                Some(need) => {
                    need.writes |= writes;
                    need.lay_out |= lay_out;
                    need.end_bytes = need.end_bytes.max(end_bytes);
                }
            }
        }
        Ok(needs)
    }

    /// Returns the workloads on one target.
    pub fn on_target<'a>(
        &'a self,
        workloads: &'a [Vec<Workload>],
        filename: &'a str,
    ) -> impl Iterator<Item = &'a Workload> {
        let all = self.jobs.iter().zip(workloads);
        all.filter(move |(job, _)| job.filename.as_deref() == Some(filename)).flat_map(|(_, own)| own)
    }

    /// Returns the workloads of each job on its target.
    pub fn workloads(&self, targets: &BTreeMap<String, TargetFacts>, seed: u64) -> Done<Vec<Vec<Workload>>> {
        let mut all = Vec::with_capacity(self.jobs.len());
        for (index, job) in self.jobs.iter().enumerate() {
            let facts = &targets[job.filename.as_deref().unwrap_or_default()];
            let streams = job.streams(facts.capacity_bytes, index as u64, seed);
            let mut streams = streams.map_err(|problem| self.about(index, &problem))?;
            if facts.simulated.is_some() {
                // A sync after the last I/O would not change any figure.
                streams.iter_mut().for_each(|workload| workload.regime.syncs.end_fsync = false);
            }
            if facts.simulated.is_some() && job.start_delay_ns > 0 {
                return Err(
                    self.about(index, "startdelay: a simulated drive has its own time; use a real target")
                );
            }
            if facts.simulated.is_some() && job.steady_state().is_ok_and(|state| state.is_some()) {
                return Err(
                    self.about(index, "steadystate is not evaluated on simulated drives; use a real target")
                );
            }
            if facts.simulated.is_some() && job.logs_by_direction() {
                let problem = "write_lat_log in a mix: a simulated drive does not record response times by direction; use one \
                               job for reads and one for writes, or a real target";
                return Err(self.about(index, problem));
            }
            for workload in &streams {
                engine::check_priorities(workload).map_err(|error| self.about(index, &error.to_string()))?;
                let possible = workload.validate(facts.capacity_bytes, facts.logical_block_bytes);
                possible.map_err(|error| self.about(index, &format!("{}: {error}", facts.path)))?;
            }
            all.push(streams);
        }
        Ok(all)
    }
}

pub fn usage(text: String) -> Failure {
    Failure::text(Exit::Usage, text)
}

/// Returns the length of an existing regular file.
fn length_of(filename: &str) -> Option<u64> {
    std::fs::metadata(filename).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}

fn is_new_or_file(filename: &str) -> bool {
    !filename.starts_with("sim:") && std::fs::metadata(filename).map_or(true, |meta| meta.is_file())
}

impl Need {
    /// Opens the target. Rejects options for simulated drives if none of the targets is simulated.
    pub fn open(&self, options: &Load, any_simulated: bool, libraries: &[PathBuf]) -> Done<Drive> {
        let is_file = is_new_or_file(&self.filename);
        let for_simulated = self.is_simulated() || !any_simulated;
        let length = length_of(&self.filename);
        let mut manners = self.manners.iter().cloned();
        let first = manners.next().unwrap_or_default();
        let mut run = RunSettings::of(PROFILES[0].settings(options.seed));
        run.apply(options.sim_faults.given()).map_err(usage)?;
        let open = OpenOptions {
            // An existing file keeps its length unless the jobs extend beyond it. A new file has a whole number of MiB.
            size_bytes: match (self.end_bytes.filter(|_| is_file), length) {
                (Some(end), Some(length)) => (end > length).then_some(end),
                (Some(end), None) if end > 0 => Some(end.next_multiple_of(MIB).max(SMALLEST_BYTES)),
                (end, _) => end,
            },
            scale: options.scale.clone().filter(|_| for_simulated),
            sim_seed: options.seed,
            sim_faults: run.sim_faults.filter(|_| for_simulated).map(SimFaults::Typed),
            engine: first.engine,
            placement: first.placement,
            polling: first.polling,
            other_manners: manners.collect(),
            expected_run: options.verify_run,
            libraries: libraries.to_vec(),
            ..OpenOptions::default()
        };
        Ok(device::open(&self.filename, &open)?)
    }

    /// Returns the load without a target, which creates the files that it needs.
    pub fn without_target(&self) -> Done<Loose> {
        let mut manners = self.manners.iter().cloned();
        let Manner { engine, placement, polling } = manners.next().unwrap_or_default();
        let (size_bytes, other_manners) = (self.end_bytes, manners.collect());
        let open =
            OpenOptions { size_bytes, engine, placement, polling, other_manners, ..OpenOptions::default() };
        Ok(Loose::open(&self.filename, &open, self.files.as_ref())?)
    }

    /// Returns whether files are created.
    pub fn creates(&self) -> bool {
        self.lay_out || self.files.is_some()
    }

    pub fn is_simulated(&self) -> bool {
        !self.loose && self.filename.starts_with("sim:")
    }
}

/// Assigns the typed identities to targets.
///
/// # Errors
/// Returns an error if an identity matches no target, because the user probably meant a different target.
pub fn confirmations(typed: &[String], writing: &[&TargetFacts]) -> Done<Vec<Option<String>>> {
    if let [only] = writing {
        return match typed {
            [] => Ok(vec![None]),
            [one] => Ok(vec![Some(one.clone())]),
            _ => Err(Failure::text(
                Exit::Refused,
                format!("{} identities for one target ({})", typed.len(), only.path),
            )),
        };
    }
    if let Some(stranger) = typed.iter().find(|text| writing.iter().all(|facts| facts.identity != **text)) {
        let text = format!("--erase '{stranger}' does not match any target that the jobs write to");
        return Err(Failure::text(Exit::Refused, text));
    }
    Ok(writing.iter().map(|facts| typed.iter().find(|text| **text == facts.identity).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> LoadRequest {
        let jobs = fio::parse("x.fio", text, &Job::default(), &fio::Surroundings::none()).unwrap();
        let jobs = jobs.into_iter().map(|mut job| {
            job.filename.get_or_insert_with(|| "d".into());
            job
        });
        let jobs = jobs.flat_map(|job| job.expanded().unwrap()).collect();
        LoadRequest { jobs, file: Some("x.fio".into()) }
    }

    #[test]
    fn a_target_has_the_needs_of_all_its_jobs() {
        let jobs = request(
            "[a]\nfilename=x\nsize=1m\n[b]\nfilename=x\nrw=write\noffset=4m\nsize=1m\n[c]\nfilename=y\n",
        );
        let needs = jobs.needs().unwrap();
        assert_eq!((needs.len(), needs[0].writes, needs[0].end_bytes), (2, true, Some(5 << 20)));
        assert!(!needs[1].writes && needs[1].end_bytes.is_none());
    }

    #[test]
    fn jobs_of_a_target_may_drive_it_differently() {
        let text = "[a]\nfilename=x\n[b]\nfilename=y\nhipri\n[c]\nfilename=x\nioengine=libaio\n[d]\nfilename=x\n\
                    cpus_allowed=1\n[e]\nfilename=x\nioengine=libaio\n";
        let request = request(text);
        let numbers: Vec<usize> = (0..5).map(|job| manner_number(&request.jobs, job)).collect();
        assert_eq!(numbers, [0, 0, 1, 2, 1]);
        let needs = request.needs().unwrap();
        assert_eq!(needs.iter().map(|need| need.manners.len()).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(needs[0].manners[1].engine, engine::Engine::Libaio);
    }
}
