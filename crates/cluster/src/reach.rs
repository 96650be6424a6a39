//! Whether the jobs of a campaign can use its library: checked before anything is submitted, because each job would
//! otherwise be held on its own host.

use std::collections::BTreeMap;
use std::path::Path;

use failure::{Done, Exit, Failure};
use fleet::{Job, Program};
use output::printer;
use record::{Library, Turn, TurnError, turn_of_submission};
use stdx::text::{on_one_line, with_causes};

use crate::exports::{Client, Exports};
use crate::scheduler;

/// Number of hosts that a message names.
const MOST_NAMED: usize = 4;

/// File systems of one host, by the number that the kernel reports (statfs(2)).
const LOCAL: &[(u32, &str)] = &[
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0xca45_1a4e, "bcachefs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlay"),
];

/// File systems that several hosts can use at the same time.
const SHARED: &[(u32, &str)] = &[
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x5346_414f, "AFS"),
];

/// Checks that the jobs can use the library and write their output. Scripts may be meant for other hosts, so if they are
/// only written, a library that is not shared is reported, but not refused.
///
/// # Errors
/// Returns an error if they cannot, unless `is_each_hosts`: the library is on the disks of the hosts on purpose.
pub fn check(
    library: &Library,
    program: &Program,
    jobs: &[&Job],
    is_each_hosts: bool,
    are_written: bool,
) -> Done {
    if is_each_hosts {
        return Ok(());
    }
    let hosts = if are_written { BTreeMap::new() } else { scheduler::hosts() };
    match not_shared(library, Path::new(&program.logs), jobs, &hosts) {
        Some(text) if are_written => printer::notice(&format!("note: {text}")),
        Some(text) => {
            let hint = "or add --not-shared, which is meant for hosts that each have these folders on their own disks and send \
                 their runs with `plateau forward`, and for a file server whose exports to these hosts `exportfs` does not list by name, \
                 pattern or network";
            return Err(Failure::text(Exit::Usage, format!("{text}, {hint}. Nothing was submitted")));
        }
        None => {}
    }
    Ok(())
}

/// Takes the lock of the library for submissions, because, of two concurrent submissions, neither would know the jobs of
/// the other. The first thing that a job does is to take a lock there as well. Jobs run as the user who submits them, so
/// what fails here fails on every host.
///
/// # Errors
/// Returns an error if this user cannot create files in the library, its file system has no locks, or another submission
/// is in progress.
pub fn turn(library: &Library) -> Done<Turn> {
    let root = library.root();
    match turn_of_submission(root) {
        Ok(turn) => Ok(turn),
        Err(TurnError::Busy { .. }) => {
            let text = format!(
                "another campaign is being submitted to the library {}; submit this one when that is done. Nothing was submitted",
                root.display()
            );
            Err(Failure::text(Exit::Busy, text))
        }
        Err(error) => {
            let text = format!(
                "the jobs could not use the library {}: {}; they run as you, so make it writable for you, or choose another \
                 one with --library DIR. Nothing was submitted",
                root.display(),
                with_causes(&error)
            );
            Err(Failure::text(Exit::Run, text))
        }
    }
}

/// Returns why jobs on other hosts would not use this library or these logs, but folders of the same names on disks of their
/// own; `None` if they use the same. `hosts` has the host name of each node, if Slurm reports it.
fn not_shared(
    library: &Library,
    logs: &Path,
    jobs: &[&Job],
    hosts: &BTreeMap<String, String>,
) -> Option<String> {
    let places = [("library", library.root()), ("folder of the output", logs)];
    let local = places.into_iter().filter_map(|(what, path)| Some((what, path, local_kind(path)?)));
    let local: Vec<_> = local.collect();
    if local.is_empty() {
        return None;
    }
    let exports = Exports::of_this_host();
    let others: Vec<(&str, Client)> = others(jobs, hosts, &stdx::host_name())
        .into_iter()
        .map(|node| (node, exports.client(&[node, hosts.get(node).map_or(node, String::as_str)])))
        .collect();
    local.into_iter().find_map(|(what, path, kind)| {
        let without = others.iter().filter(|(_, client)| !exports.are_writable(path, client));
        let without: Vec<&str> = without.map(|(node, _)| *node).collect();
        (!without.is_empty()).then(|| {
            format!(
                "the {what} {} is on a disk of this host ({kind}), but drives of the campaign are in {}; use a file system \
                 that all hosts share (--library DIR, --logs DIR)",
                path.display(),
                on_one_line(&listed(&without)),
            )
        })
    })
}

/// Returns the names of the first hosts, and how many others there are.
fn listed(hosts: &[&str]) -> String {
    let named = hosts[..hosts.len().min(MOST_NAMED)].join(", ");
    match hosts.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} other hosts"),
    }
}

/// Returns the hosts of the jobs' drives that are not this host.
fn others<'a>(jobs: &[&'a Job], hosts: &BTreeMap<String, String>, own: &str) -> Vec<&'a str> {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut others: Vec<&str> = Vec::new();
    for job in jobs {
        let node = job.drive.host.as_str();
        let host = hosts.get(node).map_or(node, String::as_str);
        if short(host) != short(own) && !others.contains(&node) {
            others.push(node);
        }
    }
    others
}

/// Returns the kind of the file system if it belongs to one host. The path need not exist.
fn local_kind(path: &Path) -> Option<&'static str> {
    kind(LOCAL, file_system(path)?)
}

/// Prints a notice if several hosts can use the file system of a library, so that its runs need not be forwarded.
pub fn note_if_shared(root: &Path) {
    if let Some(kind) = shared_kind(root) {
        let text = format!(
            "note: the library {} is on a file system that several hosts can use ({kind}); a server with this --library \
             shows its runs although they are not forwarded",
            root.display()
        );
        printer::notice(&text);
    }
}

/// Returns the kind of the file system if several hosts can use it at the same time. The path need not exist.
fn shared_kind(path: &Path) -> Option<&'static str> {
    kind(SHARED, file_system(path)?)
}

fn kind(kinds: &[(u32, &'static str)], number: u32) -> Option<&'static str> {
    kinds.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// Returns the kernel's number for the file system of a path, or of the folder above it that exists.
fn file_system(path: &Path) -> Option<u32> {
    let found = path.ancestors().find_map(|place| rustix::fs::statfs(place).ok())?;
    Some(found.f_type as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::{Campaign, Inventory};

    #[test]
    fn only_drives_of_other_hosts_need_a_shared_file_system() {
        let list = |host: &str, identity: &str| {
            let text = format!(r#"[{{"path": "sim:a", "kind": "simulated", "identity": "{identity}"}}]"#);
            (host.to_owned(), Inventory::parse_list(host, &text).expect("a list"))
        };
        let lists = [list("n1", "D1"), list("n2", "D2"), list("far", "D3")];
        let inventory = Inventory::of(&lists.into_iter().collect()).expect("an inventory");
        let text = "name = \"q\"\n[[drives]]\nidentities = [\"D1\", \"D2\", \"D3\"]\n[[plans]]\nname = \"p\"\ntests = \"iops\"\n";
        let campaign = Campaign::parse(text).expect("a campaign");
        let drives = campaign.select(&inventory).expect("drives");
        let jobs = fleet::jobs(&campaign, &inventory, &drives);
        let jobs: Vec<&Job> = jobs.iter().collect();
        assert_eq!(others(&jobs, &BTreeMap::new(), "n1.example"), ["far", "n2"]);
        let hosts = BTreeMap::from([("n1", "me"), ("n2", "me"), ("far", "me")]);
        let hosts = hosts.into_iter().map(|(node, host)| (node.to_owned(), host.to_owned())).collect();
        assert_eq!(others(&jobs, &hosts, "me"), [""; 0]);
    }

    #[test]
    fn a_file_system_is_local_or_shared_or_unknown() {
        let proc = Path::new("/proc/self/no-such-folder");
        assert_eq!((local_kind(proc), shared_kind(proc)), (None, None), "neither");
        assert_eq!((kind(SHARED, 0x6969), kind(LOCAL, 0x6969)), (Some("NFS"), None));
        assert!(LOCAL.iter().all(|(number, _)| kind(SHARED, *number).is_none()));
    }

    #[test]
    fn a_library_is_usable_if_a_job_could_take_its_lock() {
        let dir = tempfile::tempdir().expect("a folder");
        let library = Library::at(dir.path().join("runs"));
        let taken = turn(&library).expect("it can be created");
        let text = turn(&library).expect_err("it is in use").message();
        assert!(text.contains("another campaign is being submitted"), "{text}");
        assert!(record::turn_of_run(library.root(), "fleet-submit").is_ok(), "a job, whatever its name");
        taken.end();
        turn(&library).expect("it is free").end();
        std::fs::write(dir.path().join("file"), "").expect("written");
        let text = turn(&Library::at(dir.path().join("file"))).expect_err("a file").message();
        assert!(text.contains("the jobs could not use the library") && text.contains("file: "), "{text}");
    }
}
