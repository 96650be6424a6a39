//! `cargo xtask vm-test [FILTER]`: runs the real binary on emulated drives in a virtual machine.
//!
//! QEMU provides disposable NVMe, SCSI, SATA and virtio disks, a power switch, and hot removal of a drive. Everything
//! that it needs comes from Debian packages (`kit`). The guest is a kernel and one shell script that executes
//! commands from a serial line (`guest`), and every check is a function in this program (`checks`).
//! `docs/measurements/vm-test.md` explains what this proves and what it cannot prove.

mod check;
mod checks;
mod inside;

use std::path::{Path, PathBuf};

use std::time::{Duration, Instant};

use anyhow::bail;
use vmlab::{Lab, Lacking, Missing, Session};

use crate::chore::{Chore, plateau_program};
use crate::readme;
use check::{Check, Group};
use checks::GROUPS;
pub use inside::Inside;

/// Folder of the machine, in the workspace.
const FOLDER: &str = "target/vm-test";
/// Time limit for all checks in `ci`.
const LIMIT_CI: Duration = Duration::from_secs(8 * 60);
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Run the real binary on emulated drives in a virtual machine
#[derive(Default, clap::Args)]
pub struct VmTest {
    /// Part of the name of a group or check
    filter: Option<String>,
    /// A plateau binary to test instead of building one
    #[arg(long, value_name = "PROGRAM")]
    binary: Option<PathBuf>,
    /// Boot the kernel in this Debian package (the .deb file of linux-image-VERSION-amd64)
    #[arg(long, value_name = "PACKAGE")]
    kernel: Vec<PathBuf>,
    /// List the checks
    #[arg(long)]
    list: bool,
    /// Run the part for `cargo xtask ci`, with the release build of what is committed
    #[arg(long)]
    ci: bool,
}

impl VmTest {
    fn selects(&self, group: &Group, check: &Check) -> bool {
        let named =
            self.filter.as_deref().is_none_or(|part| group.name.contains(part) || check.name.contains(part));
        named && (check.ci || !self.ci)
    }
}

impl Chore for VmTest {
    /// Runs every matching check and prints TAP; fails if a check fails.
    fn run(self, root: &Path) -> anyhow::Result<()> {
        if self.list {
            selected(&self).iter().for_each(|(group, check)| println!("{:12} {}", group.name, check.name));
            return Ok(());
        }
        if let Some(reason) = judged(root, &self)? {
            println!("1..0 # SKIP {reason}");
        }
        Ok(())
    }
}

/// Runs the part for `cargo xtask ci`; returns the reason if nothing was checked.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    judged(root, &VmTest { ci: true, ..VmTest::default() })
}

fn selected(options: &VmTest) -> Vec<(&'static Group, &'static Check)> {
    let all = GROUPS.iter().flat_map(|group| group.checks.iter().map(move |check| (group, check)));
    all.filter(|(group, check)| options.selects(group, check)).collect()
}

fn judged(root: &Path, options: &VmTest) -> anyhow::Result<Option<String>> {
    let selected = selected(options);
    if selected.is_empty() {
        bail!(
            "no check matches '{}'; --list prints all names",
            options.filter.as_deref().unwrap_or_default()
        );
    }
    let plateau = match &options.binary {
        Some(path) => path.clone(),
        // In an emulated machine, the checks take much longer with the unoptimised binary of the tests. This one has
        // already been built for the commands in the documents.
        None if options.ci => readme::release_program(root)?,
        None => plateau_program(root, false)?,
    };
    let tools = network_tools();
    let own = [(&*plateau, "bin/plateau")];
    let programs: Vec<(&Path, &str)> =
        own.into_iter().chain(tools.iter().map(|(path, name)| (&**path, *name))).collect();
    let limit = if options.ci { LIMIT_CI } else { LIMIT };
    match Session::prepare(&root.join(FOLDER), &options.kernel, &programs, limit) {
        Ok(mut session) => judge(&selected, &mut session.lab).map(|()| None),
        Err(error) => error.downcast::<Missing>().map(|Missing(reason)| Some(reason)),
    }
}

/// Time limit for chores that run their own programs in the machine.
const PROGRAMS_LIMIT: Duration = Duration::from_secs(150 * 60);

/// Calls `action` with the machine, which contains these programs and boots the given kernel, if any. If a
/// requirement is missing, returns an error instead of skipping.
pub fn with_programs(
    root: &Path,
    programs: &[(&Path, &str)],
    kernel: &[PathBuf],
    action: impl FnOnce(&mut Lab) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    action(&mut Session::prepare(&root.join(FOLDER), kernel, programs, PROGRAMS_LIMIT)?.lab)
}

/// Returns those of this host's programs that the checks with several hosts need and that are installed. Busybox has
/// programs with the same names that can do less.
fn network_tools() -> Vec<(PathBuf, &'static str)> {
    let find = |name: &str| {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
            .map(|dir| Path::new(dir).join(name))
            .into_iter()
            .find(|path| path.is_file())
    };
    let tools = [("ip", "bin/ip.host"), ("tc", "bin/tc.host"), ("curl", "bin/curl.host")];
    tools.into_iter().filter_map(|(name, inside)| Some((find(name)?, inside))).collect()
}

fn judge(selected: &[(&Group, &Check)], lab: &mut Lab) -> anyhow::Result<()> {
    let begun = Instant::now();
    println!("1..{}", selected.len());
    let (mut failed, mut skipped) = (0, 0);
    for (i, (group, check)) in selected.iter().enumerate() {
        let (number, check_begun) = (i + 1, Instant::now());
        let what = format!("{number} - {}: {}", group.name, check.name);
        match attempt(group, check, lab) {
            Ok(None) => println!("ok {what} # {:.1} s", check_begun.elapsed().as_secs_f64()),
            Ok(Some(reason)) => {
                skipped += 1;
                println!("ok {what} # SKIP {reason}");
            }
            Err(error) => {
                failed += 1;
                println!("not ok {what} # {:.1} s", check_begun.elapsed().as_secs_f64());
                format!("{error:#}").lines().for_each(|line| println!("#   {line}"));
                lab.last_words().lines().for_each(|line| println!("#   kernel: {line}"));
                // Reset the machine, so that a failed check does not affect the next check.
                lab.power_cut();
                if lab.is_over() {
                    println!("Bail out! the time limit of all checks has passed");
                    break;
                }
            }
        }
    }
    let done = begun.elapsed().as_secs_f64();
    println!("# {} checks: {failed} failed, {skipped} skipped, in {done:.0} s", selected.len());
    if failed == 0 { Ok(()) } else { bail!("{failed} of {} checks failed", selected.len()) }
}

/// Runs one check; returns the reason if the program or the kernel does not meet a requirement.
fn attempt(group: &Group, check: &Check, lab: &mut Lab) -> anyhow::Result<Option<String>> {
    if let Some(needed) = group.needs
        && lab.guest()?.run(needed)?.code != 0
    {
        return Ok(Some(format!("`{needed}` fails here")));
    }
    match (check.run)(lab) {
        Ok(()) => Ok(None),
        Err(error) => error.downcast::<Lacking>().map(|Lacking(reason)| Some(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> =
            GROUPS.iter().flat_map(|g| g.checks.iter().map(|c| (g.name, c.name))).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_filter_is_a_part_of_a_name() {
        let check = Check { name: "a mounted disk is refused", ci: false, run: |_| Ok(()) };
        let group = Group { name: "refusals", needs: None, checks: &[] };
        let matches = |filter: Option<&str>, ci| {
            VmTest { filter: filter.map(str::to_owned), ci, ..VmTest::default() }.selects(&group, &check)
        };
        assert!(matches(None, false) && matches(Some("refus"), false) && matches(Some("mounted"), false));
        assert!(!matches(Some("nvme"), false) && !matches(None, true));
    }
}
