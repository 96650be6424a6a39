//! Assigns jobs to targets and to stages.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use device::{Drive, OpenOptions, SimFaults};
use engine::{Engine, Polling};
use fio::Job;
use plans::settings::RunSettings;
use pts::PROFILES;
use record::{Placement, TargetFacts, Workload};
use stdx::files::{Links, ReadError};

use crate::cli::Load;
use crate::cli::models;
use crate::failure::{Done, Exit, Failure};

/// File name extensions of job files.
const JOB_FILES: &[&str] = &[".fio", ".job", ".ini"];
/// Options that are allowed with a job file; they apply to jobs in it that do not set them.
const WITH_JOB_FILE: &[&str] = &["filename", "cpus_allowed", "numa_cpu_nodes", "hipri", "sqthread_poll"];
/// Maximum size of a job file, which is written by hand.
const MOST_BYTES: u64 = 1 << 20;

/// The requested jobs.
pub struct LoadRequest {
    pub jobs: Vec<Job>,
    /// The job file, if any.
    pub file: Option<String>,
}

/// Requirements of the jobs of one target.
pub struct Need {
    pub filename: String,
    pub writes: bool,
    manner: Manner,
    end_bytes: Option<u64>,
}

/// How I/Os are submitted to a target; the same for all of its jobs.
#[derive(Clone, PartialEq, Eq)]
struct Manner {
    engine: Engine,
    placement: Option<Placement>,
    polling: Polling,
}

impl Manner {
    fn of(job: &Job) -> Self {
        Self { engine: job.engine, placement: job.placement.clone(), polling: job.polling }
    }

    /// Describes the first difference in fio's terms.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        match other {
            _ if self.engine != other.engine => Some("uses a different ioengine than"),
            _ if self.placement != other.placement => Some("uses different CPUs than"),
            _ if self.polling != other.polling => Some("polls differently than"),
            _ => None,
        }
    }
}

/// Reads the job file, or the options of the command line.
pub fn request(options: &Load) -> Done<LoadRequest> {
    let given = options.words.given();
    let filename = given.iter().any(|(name, _)| *name == "filename");
    let mut request = match &options.target {
        Some(path) if is_job_file(path) => of_file(path, given)?,
        Some(_) if filename => {
            return Err(usage("both a target and --filename given; use one of them".into()));
        }
        None if !filename => {
            return Err(usage(
                "no target; name one, such as /dev/nvme0n1, a file or sim:MODEL, or a job file".into(),
            ));
        }
        target => of_words(target.as_deref(), given)?,
    };
    for job in &mut request.jobs {
        job.filename = job.filename.as_deref().map(models::target).transpose()?;
        if !job.randrepeat {
            job.seed = job.seed.or_else(|| Some(drawn_seed()));
        }
    }
    Ok(request)
}

fn usage(text: String) -> Failure {
    Failure::text(Exit::Usage, text)
}

fn of_words(target: Option<&str>, given: &[(&str, String)]) -> Done<LoadRequest> {
    let mut job = Job::named("load", target);
    for (name, value) in given {
        fio::set(&mut job, name, Some(value)).map_err(|text| usage(format!("--{text}")))?;
    }
    // fio's random map is supported in job files only.
    job.norandommap = true;
    Ok(LoadRequest { jobs: vec![job], file: None })
}

fn of_file(path: &str, given: &[(&str, String)]) -> Done<LoadRequest> {
    let mut defaults = Job::default();
    for (name, value) in given {
        if !WITH_JOB_FILE.contains(name) {
            return Err(usage(format!("--{name} cannot be combined with a job file; put it into {path}")));
        }
        fio::set(&mut defaults, name, Some(value)).map_err(|text| usage(format!("--{text}")))?;
    }
    let jobs = fio::parse(path, &text_of(path)?, &defaults).map_err(usage)?;
    if let Some(job) = jobs.iter().find(|job| job.filename.is_none()) {
        return Err(usage(format!(
            "{path}: [{}] has no filename; add one, or use --filename for all jobs without one",
            job.name
        )));
    }
    Ok(LoadRequest { jobs, file: Some(path.to_owned()) })
}

/// Returns a random seed, short enough to be typed.
fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

fn is_job_file(target: &str) -> bool {
    models::simulated(target).is_none() && JOB_FILES.iter().any(|ending| target.ends_with(ending))
}

fn text_of(path: &str) -> Done<String> {
    let unusable = |text: String| Failure::text(Exit::Unusable, format!("{path}: {text}"));
    let text = stdx::files::read_text(Path::new(path), Links::Followed, MOST_BYTES);
    text.map_err(|error| {
        unusable(match error {
            ReadError::System(error) => error.to_string(),
            other => format!(
                "{other}: not a job file; the name of a target must not end in {}",
                JOB_FILES.join(", ")
            ),
        })
    })
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

    /// Returns the targets in the order of their first job.
    pub fn needs(&self) -> Done<Vec<Need>> {
        let mut needs: Vec<Need> = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let filename = job.filename.clone().unwrap_or_default();
            let length = length_of(&filename);
            let end_bytes = job.end_bytes(length.unwrap_or(0));
            match needs.iter_mut().find(|need| need.filename == filename) {
                None => {
                    needs.push(Need { filename, writes: job.writes(), manner: Manner::of(job), end_bytes });
                }
                Some(need) => {
                    if let Some(what) = Manner::of(job).difference(&need.manner) {
                        return Err(self.about(index, &format!("{what} other jobs of the same target")));
                    }
                    need.writes |= job.writes();
                    need.end_bytes = need.end_bytes.max(end_bytes);
                }
            }
        }
        Ok(needs)
    }

    /// Returns the positions of concurrent jobs, one list per consecutive stage.
    pub fn stages(&self) -> Vec<Vec<usize>> {
        let mut stages: Vec<Vec<usize>> = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            match stages.last_mut().filter(|_| !job.stonewall) {
                Some(stage) => stage.push(index),
                None => stages.push(vec![index]),
            }
        }
        stages
    }

    /// Returns the workloads of each job on its target.
    pub fn workloads(&self, targets: &BTreeMap<String, TargetFacts>, seed: u64) -> Done<Vec<Vec<Workload>>> {
        let mut all = Vec::with_capacity(self.jobs.len());
        for (index, job) in self.jobs.iter().enumerate() {
            let facts = &targets[job.filename.as_deref().unwrap_or_default()];
            let streams = job.streams(facts.capacity_bytes, index as u64, seed);
            let streams = streams.map_err(|problem| self.about(index, &problem))?;
            for workload in &streams {
                let possible = workload.validate(facts.capacity_bytes, facts.logical_block_bytes);
                possible.map_err(|error| self.about(index, &format!("{}: {error}", facts.path)))?;
            }
            all.push(streams);
        }
        Ok(all)
    }
}

/// Returns the length of an existing regular file.
fn length_of(filename: &str) -> Option<u64> {
    std::fs::metadata(filename).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}

fn is_new_or_file(filename: &str) -> bool {
    !filename.starts_with("sim:") && std::fs::metadata(filename).map_or(true, |meta| meta.is_file())
}

impl Need {
    /// Opens the target. Refuses options for simulated drives if none of the targets is simulated.
    pub fn open(&self, options: &Load, any_simulated: bool, libraries: &[PathBuf]) -> Done<Drive> {
        let is_file = is_new_or_file(&self.filename);
        let for_simulated = self.is_simulated() || !any_simulated;
        let length = length_of(&self.filename).unwrap_or(0);
        let mut run = RunSettings::of(PROFILES[0].settings(options.seed));
        run.apply(options.sim_faults.given()).map_err(usage)?;
        let open = OpenOptions {
            // An existing file keeps its length unless the jobs extend beyond it.
            size_bytes: self.end_bytes.filter(|end| is_file && *end > length),
            scale: options.scale.clone().filter(|_| for_simulated),
            sim_seed: options.seed,
            sim_faults: run.sim_faults.filter(|_| for_simulated).map(SimFaults::Typed),
            engine: self.manner.engine,
            placement: self.manner.placement.clone(),
            polling: self.manner.polling,
            libraries: libraries.to_vec(),
            ..OpenOptions::default()
        };
        Ok(device::open(&self.filename, &open)?)
    }

    pub fn is_simulated(&self) -> bool {
        self.filename.starts_with("sim:")
    }
}

/// Assigns the typed identities to the targets.
///
/// # Errors
/// Returns an error if an identity matches no target, because the user probably meant another one.
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
        LoadRequest { jobs: fio::parse("x.fio", text, &Job::default()).unwrap(), file: Some("x.fio".into()) }
    }

    #[test]
    fn stonewalls_make_stages() {
        let stages = |text: &str| request(text).stages();
        assert_eq!(stages("[a]\n[b]\n[c]\nstonewall\n[d]\n"), [vec![0, 1], vec![2, 3]]);
        assert_eq!(stages("[a]\nstonewall\n[b]\n"), [vec![0, 1]]);
        assert_eq!(stages("[global]\nstonewall\n[a]\n[b]\n"), [[0], [1]]);
    }

    #[test]
    fn a_target_has_the_needs_of_all_its_jobs() {
        let jobs = request(
            "[a]\nfilename=x\nsize=1m\n[b]\nfilename=x\nrw=write\noffset=4m\nsize=1m\n[c]\nfilename=y\n",
        );
        let needs = jobs.needs().unwrap();
        assert_eq!((needs.len(), needs[0].writes, needs[0].end_bytes), (2, true, Some(5 << 20)));
        assert!(!needs[1].writes && needs[1].end_bytes.is_none());
        let engines = request("[a]\nfilename=x\n[b]\nfilename=x\nioengine=libaio\n").needs();
        assert!(engines.err().unwrap().message().contains("uses a different ioengine than"));
        let places = request("[a]\nfilename=x\ncpus_allowed=0\n[b]\nfilename=x\ncpus_allowed=1\n").needs();
        assert!(places.err().unwrap().message().contains("uses different CPUs than"));
        let polled =
            request("[a]\nfilename=x\nhipri\n[b]\nfilename=x\n[c]\nfilename=y\nsqthread_poll\n").needs();
        assert!(polled.err().unwrap().message().contains("polls differently than"));
    }
}
