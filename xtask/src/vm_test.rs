//! `cargo xtask vm-test [FILTER]`: the real binary on emulated drives in a virtual machine.
//!
//! QEMU gives NVMe, SCSI, SATA and virtio disks that nobody can lose, a power switch and hands that pull a
//! drive out. What is needed is taken from Debian packages (`kit`), the guest is a kernel and one shell
//! script that does what it is told over a serial line (`guest`), and every check is a function of this
//! program (`checks`). `docs/vm-test.md` says what this shows and what it cannot show.

mod checks;
mod guest;
mod hardware;
mod initramfs;
mod inside;
mod kit;
mod lab;
mod machine;
mod qmp;
mod vmlinux;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};

use checks::GROUPS;
pub use inside::run as run_inside;
use kit::{Kit, Missing};
use lab::Lab;

const USAGE: &str = "usage: cargo xtask vm-test [--list] [--binary PROGRAM] [FILTER]\n\
                     FILTER is a part of a group's or a check's name; PROGRAM is a plateau to try instead of one \
                     that is built";

/// Things that belong together, in one file.
struct Group {
    /// As in FILTER.
    name: &'static str,
    /// A command that succeeds in the guest where the program has what is checked.
    needs: Option<&'static str>,
    checks: &'static [Check],
}

/// One thing that must be so.
struct Check {
    /// What is so.
    name: &'static str,
    run: fn(&mut Lab) -> anyhow::Result<()>,
}

impl Check {
    fn matches(&self, group: &Group, filter: Option<&str>) -> bool {
        filter.is_none_or(|part| group.name.contains(part) || self.name.contains(part))
    }
}

/// What was asked for.
#[derive(Default)]
struct Options<'a> {
    filter: Option<&'a str>,
    /// A program that was built before.
    binary: Option<&'a Path>,
    list: bool,
}

fn parse(arguments: &[String]) -> anyhow::Result<Options<'_>> {
    let mut options = Options::default();
    let mut rest = arguments;
    while let [first, more @ ..] = rest {
        rest = more;
        match (first.as_str(), more) {
            ("--list", _) => options.list = true,
            ("--binary", [path, behind @ ..]) => {
                options.binary = Some(Path::new(path));
                rest = behind;
            }
            (part, _) if !part.starts_with('-') && options.filter.is_none() => options.filter = Some(part),
            _ => bail!(USAGE),
        }
    }
    Ok(options)
}

/// Runs every check that matches, as TAP; fails when one of them does.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let options = parse(arguments)?;
    let wanted: Vec<(&Group, &Check)> = GROUPS
        .iter()
        .flat_map(|group| group.checks.iter().map(move |check| (group, check)))
        .filter(|(group, check)| check.matches(group, options.filter))
        .collect();
    if options.list {
        wanted.iter().for_each(|(group, check)| println!("{:12} {}", group.name, check.name));
        return Ok(());
    }
    if wanted.is_empty() {
        bail!("no check matches '{}'; --list names them", options.filter.unwrap_or_default());
    }
    let folder = root.join("target/vm-test");
    std::fs::create_dir_all(&folder)?;
    let kit = match Kit::obtain(&folder) {
        Ok(kit) => kit,
        Err(Missing(reason)) => {
            println!("1..0 # SKIP {reason}");
            return Ok(());
        }
    };
    let plateau = options.binary.map_or_else(|| build(root), |path| Ok(path.to_owned()))?;
    let initramfs = initramfs::build(&kit, &folder, &plateau)?;
    println!("# {}, Linux {}, {}", kit.qemu_version, kit.kernel_release, kit.accelerator.name());
    judge(&wanted, &mut Lab::new(kit, &folder, initramfs)?)
}

/// The optimised program: it is what users have, and an emulated processor is slow enough.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--package", "plateau"])
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    if status.success() { Ok(root.join("target/release/plateau")) } else { bail!("plateau does not build") }
}

fn judge(wanted: &[(&Group, &Check)], lab: &mut Lab) -> anyhow::Result<()> {
    let begun = Instant::now();
    println!("1..{}", wanted.len());
    let (mut failed, mut skipped) = (0, 0);
    for (i, (group, check)) in wanted.iter().enumerate() {
        let (number, check_begun) = (i + 1, Instant::now());
        let what = format!("{number} - {}: {}", group.name, check.name);
        if let Some(needed) = group.needs
            && lab.guest()?.run(needed)?.code != 0
        {
            skipped += 1;
            println!("ok {what} # SKIP this program fails `{needed}`");
            continue;
        }
        let result = (check.run)(lab);
        match result {
            Ok(()) => println!("ok {what} # {:.1} s", check_begun.elapsed().as_secs_f64()),
            Err(error) => {
                failed += 1;
                println!("not ok {what} # {:.1} s", check_begun.elapsed().as_secs_f64());
                format!("{error:#}").lines().for_each(|line| println!("#   {line}"));
                lab.last_words().lines().for_each(|line| println!("#   kernel: {line}"));
                // What a failed check left behind shall not fail the next one.
                lab.power_cut();
            }
        }
    }
    let passed = wanted.len() - failed - skipped;
    println!("# {passed} hold, {failed} fail, {skipped} skipped, in {:.0} s", begun.elapsed().as_secs_f64());
    if failed == 0 { Ok(()) } else { bail!("{failed} of {} checks failed", wanted.len()) }
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
        let check = Check { name: "a mounted disk is refused", run: |_| Ok(()) };
        let group = Group { name: "refusals", needs: None, checks: &[] };
        assert!(check.matches(&group, None));
        assert!(check.matches(&group, Some("refus")) && check.matches(&group, Some("mounted")));
        assert!(!check.matches(&group, Some("nvme")));
    }
}
