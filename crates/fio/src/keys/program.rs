//! fio's own command-line options, which are not job options.

use super::entry::Standing;

/// A command-line option.
pub struct ProgramOption {
    /// Name of the option, without the dashes.
    pub name: &'static str,
    /// Placeholder of its value; `None` if it has none.
    pub value: Option<&'static str>,
    /// How its meaning compares with fio's; `None` if it is refused.
    pub standing: Option<Standing>,
    /// The option's meaning, or the reason why it has no effect or is refused.
    pub about: &'static str,
}

const fn option(
    name: &'static str,
    value: Option<&'static str>,
    standing: Standing,
    about: &'static str,
) -> ProgramOption {
    ProgramOption { name, value, standing: Some(standing), about }
}

const fn refused(name: &'static str, about: &'static str) -> ProgramOption {
    ProgramOption { name, value: None, standing: None, about }
}

/// Every command-line option.
pub const PROGRAM: &[ProgramOption] = &[
    option("output", Some("FILE"), Standing::Ignored, "the result goes to standard output"),
    option(
        "output-format",
        Some("FORMAT"),
        Standing::Differs,
        "`normal`, `terse`, `json` or `json+`, which is the same as `json`",
    ),
    option("minimal", None, Standing::Same, "print the result as terse fields"),
    option("terse-version", Some("N"), Standing::Same, "version of the terse fields: only `3`"),
    option("readonly", None, Standing::Same, "reject jobs that write"),
    option("section", Some("NAME"), Standing::Same, "run only the named sections of a job file"),
    option("eta", Some("WHEN"), Standing::Ignored, "progress is shown if standard error is a terminal"),
    option(
        "eta-interval",
        Some("TIME"),
        Standing::Ignored,
        "progress is shown if standard error is a terminal",
    ),
    option(
        "eta-newline",
        Some("TIME"),
        Standing::Ignored,
        "progress is shown if standard error is a terminal",
    ),
    option("status-interval", Some("TIME"), Standing::Ignored, "the result is printed once, at the end"),
    option("alloc-size", Some("KB"), Standing::Ignored, "memory is allocated as needed"),
    option("max-jobs", Some("N"), Standing::Ignored, "up to 256 jobs are accepted"),
    option("warnings-fatal", None, Standing::Ignored, "unknown options are always errors"),
    option("aux-path", Some("FOLDER"), Standing::Ignored, "no state files are written"),
    option("help", None, Standing::Differs, "Plateau's help"),
    option("version", None, Standing::Differs, "Plateau's version"),
    refused("debug", "internal traces are not available"),
    refused("parse-only", "`plateau plan` is for tests; a load is checked completely before its first I/O"),
    refused("merge-blktrace-only", "a load does not replay or record a list of I/Os"),
    refused("bandwidth-log", "each job has its own log: write_bw_log"),
    refused("append-terse", "choose one format with output-format"),
    refused("cpuclock-test", "`plateau check` examines the host"),
    refused("crctest", "checksums are not measured"),
    refused("cmdhelp", "`plateau load --help` lists the options"),
    refused("enghelp", "`plateau load --help` lists the options"),
    refused("showcmd", "job files are not converted to command lines"),
    refused(
        "server",
        "a load runs on this host; `plateau load --start-at` and `--merge` combine several hosts",
    ),
    refused("daemonize", "a load runs in the foreground"),
    refused(
        "client",
        "a load runs on this host; `plateau load --start-at` and `--merge` combine several hosts",
    ),
    refused("remote-config", "a load runs on this host"),
    refused("idle-prof", "the result contains the CPU time of the load"),
    refused("inflate-log", "logs are not compressed"),
    refused("trigger-file", "a load does not start other programs"),
    refused("trigger-timeout", "a load does not start other programs"),
    refused("trigger", "a load does not start other programs"),
    refused("trigger-remote", "a load does not start other programs"),
];
