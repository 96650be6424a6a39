//! Handles command lines that clap rejects: adds the common prefix and hints specific to this program.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fio::keys;
use import::examples::EXAMPLES;
use prepare::models;

use crate::cli::Cli;
use crate::cli::positional;
use crate::failure::{Exit, Failure};

/// Names of commands in other programs, with Plateau's equivalent commands.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["ls"], "`plateau runs` lists runs, and `plateau list` lists block devices"),
    (&["history", "result", "results"], "`plateau runs` lists runs"),
    (&["device", "devices", "disk", "disks", "drives", "lsblk"], "`plateau list` lists block devices"),
    (&["delete", "del", "remove"], "`plateau rm RUN` removes a run"),
    (&["rename"], "`plateau name RUN NAME` names a run"),
    (&["untag"], "`plateau tag RUN TAG --remove` removes a tag"),
    (&["diff"], "`plateau compare RUN RUN` compares runs"),
    (&["html", "pdf", "csv"], "`plateau report RUN` writes a report"),
    (&["view", "cat"], "`plateau show RUN` shows the results of a run"),
    (&["start", "test", "bench", "benchmark", "execute"], "`plateau run TESTS TARGET` runs tests"),
    (&["rehearse", "estimate", "dry-run"], "`plateau plan TESTS TARGET` estimates a run"),
    (&["last", "latest"], "`plateau show latest` shows the newest run"),
    (&["version"], "`plateau --version` prints the version"),
    (&["continue"], "`plateau resume RUN` continues a run"),
    (&["fio"], "`plateau load TARGET` takes fio's options and job files"),
    (&["erase", "wipe", "trim", "format", "sanitize"], "`plateau purge TARGET` purges a target"),
    (&["models"], "`plateau sim list` lists the models of simulated drives"),
    (&["presets"], "`plateau plan --list` lists the presets"),
    (
        &["tests", "profiles"],
        "`plateau help run` lists the tests and profiles, and `plateau plan --list` lists the presets",
    ),
];

/// Converts a clap error.
pub fn failure(error: &clap::Error) -> Failure {
    let hint = hint(error);
    let text = error.render().to_string();
    // Remove clap's unhelpful tip to pass `--yes` as a value, and its suggestions if there is a better hint.
    let is_tip = |line: &str| {
        let line = line.trim_start();
        let is_general = line.starts_with("tip: ") || line.starts_with("For more information");
        line.starts_with("tip: to pass") || (is_general && hint.is_some())
    };
    let lines: Vec<&str> = text.strip_prefix("error: ").unwrap_or(&text).trim_end().lines().collect();
    let parts = lines.split(|line| is_tip(line)).map(|part| part.join("\n").trim().to_owned());
    let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let hint = hint.map(|hint| format!("\n\n{hint}")).unwrap_or_default();
    Failure::text(Exit::Usage, format!("{text}{hint}"))
}

fn hint(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand)?.to_lowercase();
            of_command(&typed, error.get(ContextKind::SuggestedSubcommand).is_some())
        }
        ErrorKind::UnknownArgument => {
            let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
            of_argument(text(ContextKind::InvalidArg)?, |command| {
                usage.contains(&format!("plateau {command} "))
            })
        }
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => {
                let is_missing = |start: &str| missing.iter().any(|name| name.starts_with(start));
                MISSING.iter().find(|(start, _)| is_missing(start)).map(|(_, hint)| (*hint).to_owned())
            }
            _ => None,
        },
        // An option without its value, such as `--erase` at the end.
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue)?.is_empty() => {
            let hint = text(ContextKind::InvalidArg)?.starts_with("--erase");
            hint.then(|| "IDENTITY is the target's identity, which `plateau info TARGET` shows.".into())
        }
        _ => None,
    }
}

/// Prefixes of missing arguments, each with an explanation.
const MISSING: &[(&str, &str)] = &[
    (
        "<TARGET>",
        "TARGET is a block device, a file or sim:MODEL; `plateau list` lists the devices on this host.",
    ),
    (
        "--figure",
        "KEY is the key of a figure, such as iops.rnd4k.w; `plateau query 'SELECT DISTINCT figure_key FROM figure'` \
         lists all.",
    ),
    ("<DRIVE|MODEL>", "`plateau drives` lists the drives and models of the runs in the library."),
    (
        "<RUN>",
        "RUN is an id, a prefix of one, the name of a run, or `latest`; `plateau runs` lists the runs.",
    ),
    ("<MODEL>", "`plateau sim list` lists the models of simulated drives."),
    ("<SQL>", "SQL is one SELECT statement, such as `plateau query 'SELECT * FROM run LIMIT 5'`."),
];

/// Returns the hint for an unknown command, in lower case. `is_near` says whether clap suggests similar
/// commands.
fn of_command(typed: &str, is_near: bool) -> Option<String> {
    if let Some((_, hint)) = OTHER_NAMES.iter().find(|(names, _)| names.contains(&typed)) {
        return Some(format!("{hint}."));
    }
    let program = Cli::command();
    let commands = || program.get_subcommands().map(clap::Command::get_name);
    if let Some(command) = commands().find(|name| *name == typed) {
        return Some(format!("Commands are in lower case and come first: `plateau {command}`."));
    }
    if positional::test_named(typed).is_some() || plans::PRESETS.iter().any(|preset| preset.name == typed) {
        return Some(format!(
            "`plateau run {typed} TARGET` runs it; `plateau help run` describes tests and options."
        ));
    }
    // Within `help`, clap suggests nothing.
    let near = stdx::nearest(typed, commands()).filter(|_| !is_near)?;
    Some(format!("Did you mean `{near}`?"))
}

/// Options of other programs, with the equivalent options of `plateau run`.
const OTHER_OPTIONS: &[(&[&str], &str)] = &[
    (&["--threads", "--jobs"], "--tc N sets the number of threads"),
    (&["--depth", "--queue-depth"], "--qd N sets the queue depth"),
    (&["--time", "--duration", "--seconds"], "--cell-seconds S sets the length of a cell"),
    (
        &["--output", "-o", "--out", "--format"],
        "--report FILE writes a report; its extension selects the format",
    ),
];

/// Options of `plateau run`, with the equivalent options of `plateau load`.
const LOAD_OPTIONS: &[(&[&str], &str)] = &[
    (&["--tc", "--jobs"], "--numjobs N sets the number of threads"),
    (&["--qd", "--depth", "--queue-depth"], "--iodepth N sets the queue depth"),
    (
        &["--time", "--duration", "--seconds", "--cell-seconds"],
        "--runtime S --time_based sets the length of the load",
    ),
];

/// Returns the hint for an option that confirms an action in other programs.
fn of_confirmation(argument: &str, of: &impl Fn(&str) -> bool) -> Option<&'static str> {
    if of("rm") && ["-y", "-f", "-r", "-rf", "--force", "--confirm"].contains(&argument) {
        return Some("Confirm with --yes: `plateau rm --yes RUN`.");
    }
    if !takes_erase(&Cli::command(), "", of) {
        return None;
    }
    ["--yes", "-y", "--force", "-f", "--confirm"].contains(&argument).then_some(
        "To confirm that all data on the target may be erased, give the target's identity: --erase IDENTITY. \
         `plateau info TARGET` shows the identity.",
    )
}

/// Returns whether the command line uses a subcommand of `command` that takes `--erase`.
fn takes_erase(command: &clap::Command, path: &str, of: &impl Fn(&str) -> bool) -> bool {
    command.get_subcommands().any(|command| {
        let path = format!("{path}{}", command.get_name());
        let takes = command.get_arguments().any(|argument| argument.get_long() == Some("erase"));
        (takes && of(&path)) || takes_erase(command, &format!("{path} "), of)
    })
}

/// Returns the hint for a fio option in a command that runs tests.
fn accepted_by_load(argument: &str, option: &str) -> Option<String> {
    keys().find(|key| key.names().any(|name| name == option))?;
    let own = match option {
        "iodepth" => " Its queue depth is set by --qd.",
        "numjobs" => " Its number of threads is set by --tc.",
        _ => "",
    };
    Some(format!(
        "{argument} is a fio option, which `plateau load` accepts; the PTS defines the workloads of a test.{own}"
    ))
}

/// `of` returns whether the command line uses a given command.
fn of_argument(argument: &str, of: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(hint) = of_confirmation(argument, &of) {
        return Some(hint.into());
    }
    let option = argument.strip_prefix("--").map(|name| name.replace('-', "_"));
    // Some of these are also fio options, but have a different meaning.
    if ["run", "plan", "resume"].into_iter().any(&of)
        && let Some((_, hint)) = OTHER_OPTIONS.iter().find(|(names, _)| names.contains(&argument))
    {
        return Some(format!("{hint}."));
    }
    if let Some(option) = &option
        && ["run", "plan", "resume"].into_iter().any(&of)
        && let Some(hint) = accepted_by_load(argument, option)
    {
        return Some(hint);
    }
    if of("load")
        && let Some((_, hint)) = LOAD_OPTIONS.iter().find(|(names, _)| names.contains(&argument))
    {
        return Some(format!("{hint}."));
    }
    if of("load")
        && let Some(why) = option.and_then(|option| fio::why_refused(&option))
    {
        return Some(format!("{argument} is a fio option that Plateau does not support: {why}."));
    }
    if of("report") && argument == "--open" {
        return Some("`plateau open RUN` writes the report and opens it.".into());
    }
    if of("compare") && ["-o", "--output", "--out", "--format", "-f"].contains(&argument) {
        return Some("--html FILE, --pdf FILE and --csv FILE write the comparison.".into());
    }
    if of("report") && ["-o", "--output", "--out", "--format", "-f"].contains(&argument) {
        return Some(
            "The file follows RUN, and its extension selects the format: `plateau report RUN out.pdf`."
                .into(),
        );
    }
    if argument.starts_with('-') { None } else { of_word(argument, of) }
}

/// Returns a hint for an argument that is not an option.
fn of_word(argument: &str, of: impl Fn(&str) -> bool) -> Option<String> {
    if of("load") && argument.bytes().all(|byte| byte.is_ascii_digit()) {
        // `threads` is a fio switch.
        return Some("--numjobs N sets the number of threads, and --iodepth N the queue depth.".into());
    }
    if of("load") {
        return Some(format!("Specify the load with fio options, such as --rw={argument} or --bs=4k."));
    }
    if of("sim fit") {
        return Some(format!("--output names the file to write: `plateau sim fit RUN --output {argument}`."));
    }
    if of("list") {
        return Some("`plateau info TARGET` shows one target.".into());
    }
    if of("demo") {
        let model = models::simulated(argument).unwrap_or("MODEL");
        return Some(format!(
            "The demo takes no target; choose its simulated drive with --model {model}, or run tests on a target with \
             `plateau run`."
        ));
    }
    if of("examples") {
        return Some(match EXAMPLES.iter().find(|example| example.name.eq_ignore_ascii_case(argument)) {
            Some(example) => format!("`plateau examples --install {}` adds it to the library.", example.name),
            None => {
                let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
                format!("`plateau examples --install NAME` adds one to the library: {}.", names.join(", "))
            }
        });
    }
    if of("drives") {
        return Some(format!("`plateau runs {argument}` lists the runs that match."));
    }
    if of("show") {
        return Some("`plateau show` takes one run; `plateau compare RUN RUN` compares several.".into());
    }
    None
}
