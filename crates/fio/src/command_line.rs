//! fio command lines: several jobs, and options with one or two dashes.

use std::ffi::OsString;

use super::{Job, PROGRAM, keys, set};

/// Options that cannot be combined within a job.
const ONE_OF: &[[&str; 2]] = &[
    ["bs", "bssplit"],
    ["rwmixread", "rwmixwrite"],
    ["cpus_allowed", "numa_cpu_nodes"],
    ["hipri", "sqthread_poll"],
];

/// Returns two options of one job that cannot be combined.
#[must_use]
pub fn conflict(job: &[(&'static str, String)]) -> Option<[&'static str; 2]> {
    let has = |wanted: &str| job.iter().any(|(name, _)| *name == wanted);
    ONE_OF.iter().find(|[one, other]| has(one) && has(other)).copied()
}

/// Returns the jobs of a command line. As in fio, each name starts a job, and options before the first name apply to
/// all jobs. `target` is the target of jobs that specify none.
///
/// # Errors
/// Returns all problems, one per line, each with its option.
pub fn jobs_of(target: Option<&str>, given: &[(&str, String)]) -> Result<Vec<Job>, String> {
    let mut defaults = Job::named("load", target);
    let mut jobs: Vec<Job> = Vec::new();
    let mut in_job = false;
    let mut complaints = Vec::new();
    for (name, value) in given {
        if *name == "name" && !value.is_empty() {
            in_job = value != "global";
            if in_job {
                jobs.push(defaults.begun(value.clone()));
            }
            continue;
        }
        let job = jobs.last_mut().filter(|_| in_job).unwrap_or(&mut defaults);
        complaints.extend(set(job, name, Some(value)).err().map(|text| format!("--{text}")));
    }
    if !complaints.is_empty() {
        return Err(complaints.join("\n"));
    }
    if jobs.is_empty() {
        // Without a job name, this is not a fio command line, so offsets are independent, as in the PTS.
        defaults.norandommap = true;
        jobs.push(defaults);
    }
    Ok(jobs)
}

/// Returns the jobs with these names, or all jobs if `names` is empty.
///
/// # Errors
/// Returns an error with the first name that does not match any job.
pub fn selected(jobs: Vec<Job>, names: &[String]) -> Result<Vec<Job>, String> {
    if let Some(missing) = names.iter().find(|name| jobs.iter().all(|job| job.name != **name)) {
        return Err(format!("section {missing}: no job has this name"));
    }
    Ok(jobs.into_iter().filter(|job| names.is_empty() || names.contains(&job.name)).collect())
}

/// Returns the arguments. Adds a second dash to each fio option that has only one, because fio accepts both forms. Only
/// long names after `load` are changed.
pub fn with_two_dashes(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let Some(command) = arguments.iter().position(|argument| argument == "load") else { return arguments };
    for argument in &mut arguments[command + 1..] {
        let Some(option) = argument.to_str().and_then(|text| text.strip_prefix('-')) else { continue };
        let name = option.split('=').next().unwrap_or(option);
        let of_job = || keys().any(|key| key.names().any(|known| known == name));
        if name.len() > 1 && (of_job() || PROGRAM.iter().any(|row| row.name == name)) {
            *argument = format!("--{option}").into();
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_fio_may_have_one_dash() {
        let changed = |line: &str| {
            let arguments = with_two_dashes(line.split(' ').map(OsString::from));
            arguments.join(std::ffi::OsStr::new(" ")).into_string().expect("text")
        };
        let line = "plateau load -rw=read -bs 4k --size=1 -h -5 -x";
        assert_eq!(changed(line), "plateau load --rw=read --bs 4k --size=1 -h -5 -x");
        assert_eq!(changed("plateau run -rw=read"), "plateau run -rw=read");
    }

    #[test]
    fn each_name_starts_a_job() {
        let words = |line: &'static str| -> Vec<(&'static str, String)> {
            line.split(' ')
                .filter_map(|word| word.split_once('='))
                .map(|(name, value)| (name, value.to_owned()))
                .collect()
        };
        let jobs = jobs_of(Some("x"), &words("bs=8k name=a rw=write name=b iodepth=4")).unwrap();
        let seen: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.writes(), job.iodepth)).collect();
        assert_eq!(seen, [("a", true, 1), ("b", false, 4)]);
        assert!(jobs.iter().all(|job| job.blocks[0][0].block_bytes == 8192));
        assert_eq!(jobs_of(None, &words("rw=read")).unwrap().len(), 1);
        let error = jobs_of(None, &words("bs=x iodepth=0")).unwrap_err();
        assert_eq!(error.lines().count(), 2, "{error}");
    }
}
