//! Warnings to read before comparing numbers from different runs.

use pts::{ABSENT, Outcome};
use record::{RunFile, Settings, TargetKind};

use crate::candidate::Candidate;
use report::parts::{absent, capacity, number, tool};

/// A property that should be the same in all runs.
struct Property {
    name: &'static str,
    /// `differs`, or `differ` if the name is plural.
    verb: &'static str,
    of: fn(&Candidate) -> String,
}

const PROPERTIES: &[Property] = &[
    Property { name: "class", verb: "differs", of: |c| c.document.profile.class.to_owned() },
    Property { name: "profile", verb: "differs", of: profile },
    Property { name: "kind of target", verb: "differs", of: |c| kind(&c.document.run) },
    Property { name: "mount options", verb: "differ", of: mount_options },
    Property {
        name: "cell time",
        verb: "differs",
        of: |c| setting(c, |settings| stdx::units::span(settings.cell_ns)),
    },
    Property { name: "preconditioning", verb: "differs", of: preconditioning },
    Property { name: "active range", verb: "differs", of: active_range },
    Property { name: "purge", verb: "differs", of: purge },
    Property { name: "write cache", verb: "differs", of: write_cache },
    Property { name: "sector size", verb: "differs", of: sectors },
    Property { name: "interface", verb: "differs", of: |c| known(c, |run| run.target.interface.as_ref()) },
    Property { name: "capacity", verb: "differs", of: |c| capacity(&c.document) },
    Property { name: "processor", verb: "differs", of: |c| known(c, |run| run.host.cpu.as_ref()) },
    Property { name: "board", verb: "differs", of: |c| known(c, |run| run.host.board.as_ref()) },
    Property {
        name: "BIOS version",
        verb: "differs",
        of: |c| known(c, |run| run.host.bios_version.as_ref()),
    },
    Property { name: "microcode", verb: "differs", of: |c| known(c, |run| run.host.microcode.as_ref()) },
    Property { name: "kernel", verb: "differs", of: |c| known(c, |run| run.host.kernel.as_ref()) },
    Property { name: "kernel command line", verb: "differs", of: kernel_line },
    Property { name: "I/O scheduler", verb: "differs", of: |c| known(c, |run| run.host.scheduler.as_ref()) },
    Property { name: "load engine", verb: "differs", of: engines },
    Property { name: "power source", verb: "differs", of: power },
    Property { name: "software", verb: "differs", of: |c| tool(&c.document) },
];

/// A warning to read before comparing numbers, with the value of each affected run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What differs between the runs (`write cache differs`), or a mark that only some of them have
    /// (`SIMULATED`).
    pub subject: String,
    /// Each value with the indices of the runs that have it.
    pub values: Vec<(Vec<usize>, String)>,
}

impl Warning {
    /// Groups runs with equal values, in the order of the first run in each group.
    fn of(subject: impl Into<String>, each: impl IntoIterator<Item = (usize, String)>) -> Self {
        let mut values: Vec<(Vec<usize>, String)> = Vec::new();
        for (run, text) in each {
            match values.iter_mut().find(|(_, known)| *known == text) {
                Some((runs, _)) => runs.push(run),
                None => values.push((vec![run], text)),
            }
        }
        Self { subject: subject.into(), values }
    }

    /// Returns the warning as one sentence, with the names of the runs.
    pub(crate) fn sentence(&self, runs: &[Candidate]) -> String {
        let value = |(of, text): &(Vec<usize>, String)| {
            let names: Vec<&str> = of.iter().map(|run| runs[*run].name.as_str()).collect();
            format!("{}: {text}", names.join(", "))
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        format!("{}: {}", self.subject, values.join("; "))
    }
}

/// Caveats for individual runs, then differences between the runs.
pub(crate) fn warnings(runs: &[Candidate]) -> Vec<Warning> {
    let mut warnings = states(runs);
    warnings.extend(host_limited(runs));
    warnings.extend(demands(runs));
    for property in PROPERTIES {
        let values: Vec<(usize, String)> = runs.iter().map(property.of).enumerate().collect();
        let is_known = values.iter().any(|(_, value)| !is_placeholder(value));
        if is_known && values.iter().any(|(_, value)| *value != values[0].1) {
            warnings.push(Warning::of(format!("{} {}", property.name, property.verb), values));
        }
    }
    warnings
}

/// Returns one warning for each kind of mark that any run has.
fn states(runs: &[Candidate]) -> Vec<Warning> {
    let mut titles: Vec<(&str, Vec<(usize, String)>)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for mark in run.document.marks(None) {
            let more = match mark.details.len() {
                0 | 1 => String::new(),
                count => format!("; and {} more", count - 1),
            };
            let text = mark.details.first().map(|text| format!("{text}{more}")).unwrap_or_default();
            match titles.iter_mut().find(|(title, _)| *title == mark.title) {
                Some((_, each)) => each.push((index, text)),
                None => titles.push((mark.title, vec![(index, text)])),
            }
        }
    }
    titles.into_iter().map(|(title, each)| Warning::of(title, each)).collect()
}

/// If there are more figures, they are counted instead of listed.
const LISTED: usize = 4;

/// Lists host-limited figures: differences between them may be due to the hosts, and equal values may reflect the same
/// limit.
fn host_limited(runs: &[Candidate]) -> Option<Warning> {
    let each: Vec<Vec<&str>> = runs
        .iter()
        .map(|run| {
            let limited =
                run.figures.iter().filter(|figure| figure.host_limited && !figure.values.is_empty());
            limited.map(|figure| figure.name.as_str()).collect()
        })
        .collect();
    let listed = |(run, names): (&Candidate, &Vec<&str>)| match names.len() {
        0 => "none".to_owned(),
        count if count > LISTED => {
            format!("{count} of {}, such as {}", run.figures.len(), names[..LISTED].join(", "))
        }
        _ => names.join(", "),
    };
    let subject = "figures marked * are host-limited: they and their differences may reflect the host rather \
                   than the drive";
    let any = each.iter().any(|names| !names.is_empty());
    any.then(|| Warning::of(subject, runs.iter().zip(&each).map(listed).enumerate()))
}

fn known(candidate: &Candidate, fact: fn(&RunFile) -> Option<&String>) -> String {
    fact(&candidate.document.run).cloned().unwrap_or_else(|| unknown(candidate))
}

/// Placeholder for a fact that a measured run lacks.
const UNKNOWN: &str = "unknown";

/// Returns the placeholder for a fact that neither the host nor the drive reports, or that an imported file does
/// not contain.
fn unknown(candidate: &Candidate) -> String {
    match candidate.document.run.origin {
        Some(_) => absent(&candidate.document).into(),
        None => UNKNOWN.into(),
    }
}

/// Returns whether `value` says only that the value is unknown. Such values differ by the kind of the run, which is no
/// difference between the hosts or drives.
fn is_placeholder(value: &str) -> bool {
    [UNKNOWN, ABSENT].contains(&value)
}

/// Returns the kernel command line, without the words that differ between any two installations.
fn kernel_line(run: &Candidate) -> String {
    let line = known(run, |run| run.host.kernel_command_line.as_ref());
    let of_installation = |word: &&str| {
        ["BOOT_IMAGE=", "initrd=", "root=", "resume="].iter().any(|prefix| word.starts_with(prefix))
    };
    let words: Vec<&str> = line.split_whitespace().filter(|word| !of_installation(word)).collect();
    words.join(" ")
}

fn engines(run: &Candidate) -> String {
    match &run.document.engines[..] {
        [] => unknown(run),
        engines => engines.join(", "),
    }
}

/// Returns the name of the power source, `none`, or the placeholder for an unknown source.
fn power(run: &Candidate) -> String {
    let source =
        run.document.meter.as_ref().map(|meter| meter.source.clone().unwrap_or_else(|| ABSENT.into()));
    source.unwrap_or_else(|| none_known(run))
}

/// Returns `none`, or the placeholder for an imported run, whose file may simply lack the value.
fn none_known(run: &Candidate) -> String {
    if run.document.run.origin.is_some() { ABSENT.into() } else { "none".into() }
}

/// Returns the name of the profile; for an imported run, the name of the tool that measured it.
pub(crate) fn profile(run: &Candidate) -> String {
    let file = &run.document.run;
    file.origin.as_ref().map_or_else(
        || file.profile.clone(),
        |origin| match &origin.profile {
            Some(profile) => format!("{profile} ({}, imported)", origin.tool),
            None => format!("none ({})", origin.tool),
        },
    )
}

fn sectors(run: &Candidate) -> String {
    match run.document.run.target.logical_block_bytes {
        0 => unknown(run),
        bytes => format!("{bytes} B"),
    }
}

fn mount_options(run: &Candidate) -> String {
    match &run.document.file_system {
        Some(facts) => facts.mount_options.clone().unwrap_or_else(|| ABSENT.into()),
        None => "none".into(),
    }
}

fn kind(run: &RunFile) -> String {
    if let Some(array) = &run.target.array {
        return array.words();
    }
    match (&run.target.kind, &run.target.simulated) {
        (TargetKind::Imported, _) => match run.origin.as_ref().and_then(|origin| origin.simulated.as_deref())
        {
            Some(label) => format!("imported, {label}"),
            None => "imported".into(),
        },
        (_, Some(sim)) => format!("simulated at scale 1/{}", sim.scale_divisor),
        (TargetKind::File, None) => match &run.file_system {
            Some(facts) => format!("file on {}", facts.kind),
            None => "file".into(),
        },
        (_, None) => "block device".into(),
    }
}

/// Tests that several runs have in common, but not with the same TC and QD.
fn demands(runs: &[Candidate]) -> Option<Warning> {
    let of = |run: &Candidate, test: &str| {
        run.document.outcomes.iter().find(|outcome| outcome.test == test).map(depth)
    };
    let mut tests: Vec<&str> = Vec::new();
    for outcome in runs.iter().flat_map(|run| &run.document.outcomes) {
        let depths: Vec<String> = runs.iter().filter_map(|run| of(run, &outcome.test)).collect();
        if !tests.contains(&outcome.test.as_str()) && depths.windows(2).any(|pair| pair[0] != pair[1]) {
            tests.push(&outcome.test);
        }
    }
    let value = |run: &Candidate| {
        let shared = run.document.outcomes.iter().filter(|outcome| tests.contains(&outcome.test.as_str()));
        let each: Vec<String> =
            shared.map(|outcome| format!("{} {}", outcome.title, depth(outcome))).collect();
        if each.is_empty() { "none of these tests".to_owned() } else { each.join(", ") }
    };
    (!tests.is_empty()).then(|| Warning::of("TC and QD differ", runs.iter().map(value).enumerate()))
}

fn depth(outcome: &Outcome) -> String {
    match (outcome.header.threads, outcome.header.queue_depth) {
        (None, None) => ABSENT.to_owned(),
        (threads, depth) => format!("TC {} QD {}", number(threads), number(depth)),
    }
}

fn preconditioning(run: &Candidate) -> String {
    setting(run, |settings| {
        format!("{}X over {} %", settings.precondition_capacities, settings.precondition_range_percent)
    })
}

fn active_range(run: &Candidate) -> String {
    setting(run, |settings| {
        let amount = settings.active_range_amount_bytes.map(|bytes| {
            format!(", {} in {} segments", stdx::units::amount_base2(bytes), settings.active_range_segments)
        });
        format!("{} %{}", settings.test_range_percent, amount.unwrap_or_default())
    })
}

fn write_cache(run: &Candidate) -> String {
    run.document.write_cache()
}

/// Returns a setting of the run; an imported file may lack it.
fn setting(run: &Candidate, of: fn(&Settings) -> String) -> String {
    run.document.run.settings.as_ref().map_or_else(|| ABSENT.into(), of)
}

fn purge(run: &Candidate) -> String {
    run.document.outcomes.first().map_or_else(|| "none".into(), |outcome| outcome.header.purge.clone())
}
