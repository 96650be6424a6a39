//! Development commands: `cargo xtask ci`, `cargo xtask tidy`, `cargo xtask crosscheck` and others.
#![forbid(unsafe_code)]

mod bench;
mod ci;
mod crosscheck;
mod deny;
mod dist;
mod kills;
mod newcomer;
mod pictures;
mod readme;
mod source;
mod stacks;
mod stress;
mod swarm;
mod test;
mod test_binaries;
mod tidy;
mod vm_test;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One command.
struct Command {
    /// Name on the command line.
    name: &'static str,
    /// One-line description.
    about: &'static str,
    /// Runs it with the arguments after its name.
    run: fn(&Path, &[String]) -> anyhow::Result<()>,
}

/// Every command.
const COMMANDS: &[Command] = &[
    Command { name: "ci", about: "everything a change must pass, cheapest first", run: ci::run },
    Command { name: "test", about: "every test, two binaries at a time; or those named", run: test::run },
    Command { name: "tidy", about: "rules of form; --bless accepts permitted changes", run: tidy::run },
    Command {
        name: "crosscheck",
        about: "the IOPS test, compared with fio on one target",
        run: crosscheck::run,
    },
    Command {
        name: "deny",
        about: "licences, sources and advisories of Cargo.lock; [--offline]",
        run: deny::run,
    },
    Command {
        name: "dist",
        about: "the files of a release; [--allow-dirty] [--check] [--try [FILTER]]",
        run: dist::run,
    },
    Command {
        name: "newcomer",
        about: "the toy test of CONTRIBUTING.md, followed in a copy",
        run: newcomer::run,
    },
    Command {
        name: "readme",
        about: "every command of the documents, typed in a fresh clone; [PAGE]",
        run: readme::run,
    },
    Command { name: "pictures", about: "the pictures of the README, from real runs", run: pictures::run },
    Command {
        name: "bench",
        about: "promised numbers, measured; without a name, lists the benchmarks",
        run: bench::run,
    },
    Command { name: "swarm", about: "simulated runs with a crash at every event", run: swarm::run },
    Command { name: "kills", about: "real kills at chosen system calls, then resumed", run: kills::run },
    Command {
        name: "stress",
        about: "tests of devices, signals and time, many times alongside a copy; [FILTER]... [--times N] \
                [--alone]",
        run: stress::run,
    },
    Command {
        name: "stacks",
        about: "random stacks of devices: none in use is written to",
        run: stacks::run,
    },
    Command {
        name: "vm-test",
        about: "the program on emulated drives in a virtual machine",
        run: vm_test::run,
    },
    Command {
        name: "vm-inside",
        about: "the part of vm-test that runs in its guest",
        run: vm_test::run_inside,
    },
    Command {
        name: "power-inside",
        about: "the part of kills power that runs in the guest of vm-test",
        run: kills::run_power_inside,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = arguments
        .split_first()
        .and_then(|(name, rest)| Some((COMMANDS.iter().find(|c| c.name == name)?, rest)))
    else {
        eprintln!("usage: cargo xtask COMMAND");
        COMMANDS.iter().for_each(|c| eprintln!("  {:10} {}", c.name, c.about));
        return ExitCode::from(2);
    };
    match (command.run)(&root(), rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the workspace root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace").into()
}
