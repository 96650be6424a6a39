//! Decisions of `plateau job`: what it locks, what it waits for, and when it no longer continues a run.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;

use device::Refusal;
use failure::{Done, Exit, Failure};
use record::Library;

use crate::{by_serial, others};

/// Name of this program's processes.
const PROGRAM: &str = "plateau";

/// Rejects an id that a library or a command would take for something else.
///
/// # Errors
/// [`Exit::Usage`] with the reason.
pub fn check_id(id: &str) -> Done {
    let problem = if !record::is_run_id(id) {
        ": use letters, digits, '-', '_' and '.'"
    } else if record::run_label::name(id).is_err() {
        ", because RUN would mean another run"
    } else if record::is_reserved_run_id(id) {
        ", because it is reserved in a library"
    } else {
        return Ok(());
    };
    Err(Failure::text(Exit::Usage, format!("'{id}' cannot be the id of a run{problem}")))
}

/// Rejects the runs of a campaign if a job would reject one of their ids, or two runs have the same id.
///
/// # Errors
/// [`Exit::Usage`] with the reason.
pub fn check_ids(ids: &[&str]) -> Done {
    let mut known = BTreeSet::new();
    for id in ids {
        check_id(id)?;
        if !known.insert(id) {
            let text = format!("two runs would have the id '{id}'; rename a plan of the campaign");
            return Err(Failure::text(Exit::Usage, text));
        }
    }
    Ok(())
}

/// Returns whether all that prevents the use of a target is another process of Plateau, which will end.
#[must_use]
pub fn is_used_by_plateau(refusals: &[Refusal]) -> bool {
    let is_plateau =
        |refusal: &Refusal| matches!(refusal, Refusal::OpenBy { process, .. } if process == PROGRAM);
    refusals.iter().any(is_plateau)
        && refusals.iter().all(|refusal| is_plateau(refusal) || matches!(refusal, Refusal::Busy))
}

/// Returns whether a target is an array of drives.
#[must_use]
pub fn is_array(target: &str) -> bool {
    target.starts_with("array:")
}

/// Returns the names of the locks for the target of a new run. A drive's lock is named after its identity, which the
/// operator has typed, and a file's lock after its path.
#[must_use]
pub fn keys(target: &str, erase: &[String]) -> Vec<String> {
    let identity = target.strip_prefix(by_serial::PREFIX).map(str::to_owned);
    let is_device = || std::fs::metadata(target).is_ok_and(|found| found.file_type().is_block_device());
    match (identity, erase) {
        (Some(identity), _) => vec![identity],
        (None, [_, ..]) if is_array(target) || is_device() => erase.to_vec(),
        _ => vec![others::file_key(target)],
    }
}

/// Returns why the run must not continue again in the same way, although nothing else prevents it. Each continuation
/// repeats the interrupted purge or workload, so a scheduler would wear out the drive. If the operator starts the job
/// again nevertheless, it continues once more. `count` is the number of continuations since the last result, and `most` the
/// number from which on the run is held.
#[must_use]
pub fn is_fruitless(library: &Library, id: &str, count: usize, most: usize) -> Option<String> {
    if count < most {
        return None;
    }
    let (subject, count) = (format!("the fruitless continuations of {id}"), count.to_string());
    if record::noted(library.root(), &subject).as_ref() == Some(&count) {
        return None;
    }
    if let Err(error) = record::note(library.root(), &subject, &count) {
        log::warn!("could not note that run {id} is held: {error}");
    }
    Some(format!(
        "run {id} was continued {count} times without completing a purge or a workload, each of which is repeated from its \
         beginning; give the job more time, then release it or start it again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Access;

    #[test]
    fn only_a_target_that_plateau_uses_is_worth_waiting_for() {
        let open_by = |process: &str| Refusal::OpenBy {
            what: "loop0".into(),
            pid: 7,
            process: process.into(),
            access: Access::Writing,
        };
        assert!(is_used_by_plateau(&[open_by("plateau"), Refusal::Busy]));
        for refusals in [
            vec![],
            vec![Refusal::Busy],
            vec![open_by("dd")],
            vec![open_by("plateau"), open_by("dd")],
            vec![open_by("plateau"), Refusal::Partitions { names: "loop0p1".into() }],
        ] {
            assert!(!is_used_by_plateau(&refusals), "{refusals:?}");
        }
    }

    #[test]
    fn the_lock_of_a_drive_is_its_identity_and_that_of_a_file_its_path() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name).to_str().expect("a path").to_owned();
        assert_eq!(keys("serial:S1", &[]), keys("serial:S1", &["S1".into()]));
        let erase = ["t.bin".to_owned()];
        for name in ["a", "b"] {
            std::fs::create_dir(path(name)).expect("a folder");
        }
        let (a, b) = (path("a/t.bin"), path("b/t.bin"));
        assert_ne!(keys(&a, &erase), keys(&b, &erase), "the same identity");
        std::os::unix::fs::symlink(path("a"), path("link")).expect("a link");
        let planned = keys(&path("link/t.bin"), &[]);
        std::fs::write(&a, "x").expect("a file");
        assert_eq!((&planned, keys(&a, &erase)), (&keys(&path("link/t.bin"), &erase), planned.clone()));
    }
}
