//! Reads a load's jobs from the command line or a job file.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;
use std::path::Path;

use fio::{Included, Job, Surroundings};
use prepare::models;
use stdx::files::{Links, ReadError};

use super::plan::{LoadRequest, usage};
use crate::cli::Load;
use crate::failure::{Done, Exit, Failure};

/// File name extensions of job files.
const JOB_FILES: &[&str] = &[".fio", ".job", ".ini"];
/// The name of standard input as a job file.
const STANDARD_INPUT: &str = "-";
/// Options allowed with a job file; they apply to its jobs that do not set them.
const WITH_JOB_FILE: &[&str] = &["filename", "cpus_allowed", "numa_cpu_nodes", "hipri", "sqthread_poll"];
/// Maximum size of a job file, which is written by hand.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the job file or the command-line options.
pub fn request(options: &Load) -> Done<LoadRequest> {
    let given = options.words.given();
    let has = |wanted: &[&str]| given.iter().any(|(name, _)| wanted.contains(name));
    let (jobs, file) = match &options.target {
        Some(path) if is_job_file(path) => (of_file(path, given)?, Some(path.clone())),
        Some(_) if has(&["filename"]) => {
            return Err(usage("both a target and --filename are specified; use one of them".into()));
        }
        None if !has(&["filename", "name", "directory"]) => {
            return Err(usage(
                "no target; name one, such as /dev/nvme0n1, a file or sim:MODEL, or a job file".into(),
            ));
        }
        target => (fio::jobs_of(target.as_deref(), given).map_err(usage)?, None),
    };
    let about = |name: &str, problem: &str| match &file {
        Some(file) => usage(format!("{file}: [{name}]: {problem}")),
        None => usage(format!("{name}: {problem}")),
    };
    let mut expanded = Vec::new();
    for job in fio::selected(jobs, &options.section).map_err(usage)? {
        let name = job.name.clone();
        expanded.extend(job.expanded().map_err(|problem| about(&name, &problem))?);
    }
    for job in &mut expanded {
        job.filename = job.filename.as_deref().map(models::target).transpose()?;
        if !job.randrepeat {
            job.seed = job.seed.or_else(|| Some(drawn_seed()));
        }
    }
    fio::share_duplicates(&mut expanded, options.seed);
    Ok(LoadRequest { jobs: expanded, file })
}

fn of_file(path: &str, given: &[(&str, String)]) -> Done<Vec<Job>> {
    let mut defaults = Job::default();
    for (name, value) in given {
        if !WITH_JOB_FILE.contains(name) {
            return Err(usage(format!("--{name} cannot be combined with a job file; put it into {path}")));
        }
        fio::set(&mut defaults, name, Some(value)).map_err(|text| usage(format!("--{text}")))?;
    }
    let surroundings = Surroundings { variable: &|name| std::env::var(name).ok(), include: &included };
    let name = if path == STANDARD_INPUT { "standard input" } else { path };
    fio::parse(name, &text_of(path)?, &defaults, &surroundings).map_err(usage)
}

/// Reads a file that a job file includes; as in fio, a name may be relative to that file.
fn included(from: &str, name: &str) -> Included {
    let beside = Path::new(from).with_file_name(name);
    let path = if Path::new(name).exists() { Path::new(name) } else { &beside };
    let text =
        stdx::files::read_text(path, Links::Followed, MOST_BYTES).map_err(|error| error.to_string())?;
    Ok((path.display().to_string(), text))
}

/// Returns a random seed, short enough to be typed.
fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

fn is_job_file(target: &str) -> bool {
    target == STANDARD_INPUT
        || models::simulated(target).is_none() && JOB_FILES.iter().any(|ending| target.ends_with(ending))
}

fn text_of_input() -> Done<String> {
    let unusable = |text: String| Failure::text(Exit::Unusable, format!("standard input: {text}"));
    let mut text = String::new();
    let read = std::io::stdin().take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| unusable(error.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(unusable(format!("more than {MOST_BYTES} bytes: not a job file")));
    }
    Ok(text)
}

fn text_of(path: &str) -> Done<String> {
    if path == STANDARD_INPUT {
        return text_of_input();
    }
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
