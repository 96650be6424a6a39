//! Parses a plan from TOML. Reports all errors in one pass, each with line, column and key.

use std::ops::Range;

use stdx::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable};

use super::value::{Problem, Value};
use super::{Plan, PlanError, PlanSettings, Publisher, own};
use crate::limits;
use crate::{PROFILES, Profile, TESTS, Test};

/// A key of a table in a plan.
pub(super) struct Key<T> {
    pub name: &'static str,
    pub about: &'static str,
    pub set: fn(&mut T, Value<'_>) -> Result<(), Problem>,
}

/// Documentation of a key, for manuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyDoc {
    /// Table that contains the key; empty for the top level.
    pub table: &'static str,
    /// Name as written in the file.
    pub name: &'static str,
    /// Meaning of the key, with its unit.
    pub about: &'static str,
}

/// All keys that a plan may contain.
pub static KEYS: std::sync::LazyLock<Vec<KeyDoc>> = std::sync::LazyLock::new(|| {
    let mut all = docs("", PLAN);
    all.extend(docs("settings", SETTINGS));
    all.extend(docs("publisher", PUBLISHER));
    all.extend(own::docs());
    all
});

pub(super) fn docs<T>(table: &'static str, keys: &[Key<T>]) -> Vec<KeyDoc> {
    keys.iter().map(|key| KeyDoc { table, name: key.name, about: key.about }).collect()
}

/// Values read from the top level of the file.
#[derive(Default)]
struct Draft {
    title: Option<String>,
    about: Option<String>,
    not_pts: Option<String>,
    profile: Option<String>,
    tests: Vec<(String, Range<usize>)>,
}

const PLAN: &[Key<Draft>] = &[
    Key {
        name: "title",
        about: "name of the plan, as printed",
        set: |draft, value| value.text().map(|text| draft.title = Some(text)),
    },
    Key {
        name: "about",
        about: "what it is for, in one line",
        set: |draft, value| value.text().map(|text| draft.about = Some(text)),
    },
    Key {
        name: "not-pts",
        about: "why none of its results, including those of PTS tests, is a PTS result; printed on each page",
        set: |draft, value| value.text().map(|text| draft.not_pts = Some(text)),
    },
    Key {
        name: "profile",
        about: "version of the specification, as with `--profile`",
        set: |draft, value| {
            let text = value.text()?;
            let profile = Profile::named(&text).or_else(|why| value.problem(why))?;
            draft.profile = Some(profile.name.into());
            Ok(())
        },
    },
    Key {
        name: "tests",
        about: "tests to run, in order: PTS tests and custom ones; default: all custom tests in file order",
        set: |draft, value| {
            for item in value.list()? {
                draft.tests.push((item.text()?, item.at()));
            }
            Ok(())
        },
    },
];

const PUBLISHER: &[Key<Publisher>] = &[
    Key {
        name: "sponsor",
        about: "test sponsor, printed in the header",
        set: |publisher, value| value.text().map(|text| publisher.sponsor = Some(text)),
    },
    Key {
        name: "auditor",
        about: "auditor, printed on the first page",
        set: |publisher, value| value.text().map(|text| publisher.auditor = Some(text)),
    },
    Key {
        name: "notes",
        about: "special notes for the first page: a string or an array of strings",
        set: |publisher, value| value.each(Value::text).map(|notes| publisher.notes = notes),
    },
    Key {
        name: "logo",
        about: "PNG or JPEG file of up to 1 MiB; path relative to the plan's directory",
        set: |publisher, value| value.text().map(|text| publisher.logo = Some(text)),
    },
];

const SETTINGS: &[Key<PlanSettings>] = &[
    Key {
        name: "tc",
        about: "threads (TC), 1 to 256",
        set: |settings, value| value.whole(&limits::TC).map(|tc| settings.tc = Some(tc)),
    },
    Key {
        name: "qd",
        about: "outstanding I/Os per thread (QD), 1 to 1024",
        set: |settings, value| value.whole(&limits::QD).map(|qd| settings.qd = Some(qd)),
    },
    Key {
        name: "cell-seconds",
        about: "seconds per cell; all other durations of a run scale with it",
        set: |settings, value| value.number(&limits::CELL_SECONDS).map(|s| settings.cell_seconds = Some(s)),
    },
    Key {
        name: "max-rounds",
        about: "rounds after which a test ends without steady state, 5 to 25",
        set: |settings, value| value.whole(&limits::ROUNDS).map(|n| settings.max_rounds = Some(n)),
    },
    Key {
        name: "keep-going",
        about: "true: continue after 25 rounds until steady state, for at most 100",
        set: |settings, value| value.flag().map(|flag| settings.keep_going = flag),
    },
    Key {
        name: "precondition",
        about: "preconditioning of PTS tests, in multiples of the capacity, 1 to 10",
        set: |settings, value| value.whole(&limits::CAPACITIES).map(|n| settings.precondition = Some(n)),
    },
    Key {
        name: "pc-ar",
        about: "percentage of the LBA space that preconditioning touches (PC AR)",
        set: |settings, value| value.whole(&limits::PC_AR).map(|percent| settings.pc_ar = Some(percent)),
    },
    Key {
        name: "test-ar",
        about: "percentage of the LBA space that the test touches (Test AR)",
        set: |settings, value| value.whole(&limits::TEST_AR).map(|percent| settings.test_ar = Some(percent)),
    },
    Key {
        name: "ar-amount",
        about: "LBA space touched within the Test AR, such as \"8GiB\", or \"all\" (AR Amount)",
        set: |settings, value| {
            let text = value.text()?;
            if text != "all" {
                value
                    .size()
                    .map_err(|problem| Problem { text: format!("{}, or all", problem.text), ..problem })?;
            }
            settings.ar_amount = Some(text);
            Ok(())
        },
    },
    Key {
        name: "ar-segments",
        about: "number of segments of the AR amount (AR Segments)",
        set: |settings, value| {
            let limit = limits::Limit { range: 1..=u32::MAX, why: "an AR amount needs a segment" };
            value.whole(&limit).map(|n| settings.ar_segments = Some(n))
        },
    },
    Key {
        name: "composite-fits-sectors",
        about: "true: on devices with large sectors, ECW and CBW use the smallest possible I/Os instead of \
                smaller ones",
        set: |settings, value| value.flag().map(|flag| settings.composite_fits_sectors = flag),
    },
    Key {
        name: "seed",
        about: "seed of all offsets, mixes and buffers, and of a simulated drive",
        set: |settings, value| value.seed().map(|seed| settings.seed = Some(seed)),
    },
    Key {
        name: "size",
        about: "size of a regular file, such as \"1GiB\"",
        set: |settings, value| value.size().map(|text| settings.size = Some(text)),
    },
    Key {
        name: "scale",
        about: "simulated drives: divide capacity and minutes by this, such as \"1/64\"",
        set: |settings, value| value.text().map(|text| settings.scale = Some(text)),
    },
    Key {
        name: "sim-fault",
        about: "simulated drives: a fault to inject, or an array of faults",
        set: |settings, value| value.each(Value::text).map(|faults| settings.sim_faults = faults),
    },
    Key {
        name: "purge-method",
        about: "purge method, as listed by `plateau info`",
        set: |settings, value| value.text().map(|text| settings.purge_method = Some(text)),
    },
    Key {
        name: "verify-purge",
        about: "true: write samples before each purge and look for them afterwards",
        set: |settings, value| value.flag().map(|flag| settings.verify_purge = flag),
    },
    Key {
        name: "write-cache",
        about: "the drive's volatile write cache: \"profile\", \"keep\", \"on\" or \"off\"",
        set: |settings, value| {
            let words = ["profile", "keep", "on", "off"].map(|word| (word, word));
            value.word(&words).map(|word| settings.write_cache = Some(word.into()))
        },
    },
    Key {
        name: "tune",
        about: "true: set scheduler, merging, statistics, throttling and governor for the run, and restore \
                them afterwards",
        set: |settings, value| value.flag().map(|flag| settings.tune = flag),
    },
    Key {
        name: "lba-format",
        about: "NVMe: number of the LBA format during the run, as listed by `plateau info`",
        set: |settings, value| {
            value.whole(&limits::LBA_FORMAT).map(|number| settings.lba_format = Some(number))
        },
    },
    Key {
        name: "cpus_allowed",
        about: "CPUs for the load threads, such as \"0-3,8\"; \"all\": do not pin",
        set: |settings, value| value.text().map(|text| settings.cpus_allowed = Some(text)),
    },
    Key {
        name: "numa_cpu_nodes",
        about: "the same, as NUMA nodes",
        set: |settings, value| value.text().map(|text| settings.numa_cpu_nodes = Some(text)),
    },
];

/// Keys that belong on the command line and are never allowed in a plan, with the reason.
const NEVER: &[(&str, &str)] = &[
    ("erase", "a plan cannot confirm the loss of data; type --erase for each run"),
    ("target", "a plan names no target; name it on the command line"),
];

/// Collects all errors in a text.
pub(super) struct Complaints<'a> {
    file: &'a str,
    text: &'a str,
    all: Vec<(usize, PlanError)>,
}

impl Complaints<'_> {
    pub fn add(&mut self, at: usize, key: &str, problem: impl Into<String>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let error = PlanError {
            file: self.file.into(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key: key.into(),
            problem: problem.into(),
        };
        self.all.push((at, error));
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Reads the keys of a table by their definitions in `keys`.
    pub fn section<T>(&mut self, path: &str, table: &DeTable<'_>, keys: &[Key<T>], into: &mut T) {
        for (name, value) in in_order(table) {
            let key = joined(path, name.get_ref());
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(known) => {
                    if let Err(problem) = (known.set)(into, Value(value)) {
                        self.add(problem.at.start, &key, problem.text);
                    }
                }
                None => self.unknown(name, &key, keys.iter().map(|key| key.name)),
            }
        }
    }

    fn unknown<'k>(
        &mut self,
        name: &Spanned<DeString<'_>>,
        key: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        let told = NEVER.iter().find(|(word, _)| word == name.get_ref()).map(|(_, why)| (*why).to_owned());
        let text = told.unwrap_or_else(|| match nearest(name.get_ref(), known.clone()) {
            Some(meant) => format!("unknown key; did you mean '{meant}'?"),
            None => format!("unknown key; available keys: {}", known.collect::<Vec<_>>().join(", ")),
        });
        self.add(name.span().start, key, text);
    }
}

/// Keys in file order.
pub(super) fn in_order<'a>(
    table: &'a DeTable<'a>,
) -> Vec<(&'a Spanned<DeString<'a>>, &'a Spanned<toml::de::DeValue<'a>>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(name, _)| name.span().start);
    all
}

pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

pub(super) fn read(file: &str, text: &str) -> Result<Plan, Vec<PlanError>> {
    let mut complaints = Complaints { file, text, all: Vec::new() };
    let plan = match DeTable::parse(text) {
        Ok(table) => whole(&mut complaints, table.get_ref()),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            complaints.add(at, "", error.message().trim().replace('\n', "; "));
            Plan::default()
        }
    };
    if complaints.all.is_empty() {
        return Ok(plan);
    }
    complaints.all.sort_by_key(|(at, _)| *at);
    Err(complaints.all.into_iter().map(|(_, error)| error).collect())
}

fn whole(complaints: &mut Complaints<'_>, table: &DeTable<'_>) -> Plan {
    let (mut draft, mut plan) = (Draft::default(), Plan { name: stem(complaints.file), ..Plan::default() });
    let mut own = Vec::new();
    for (name, value) in in_order(table) {
        let path: &str = name.get_ref();
        let result = match path {
            "settings" => Value(value).table().map(|table| {
                complaints.section(path, table, SETTINGS, &mut plan.settings);
                contradictions(complaints, table, &plan.settings);
            }),
            "publisher" => Value(value)
                .table()
                .map(|table| complaints.section(path, table, PUBLISHER, &mut plan.publisher)),
            "test" => Value(value).table().map(|table| own = own::read_all(complaints, table)),
            _ => match PLAN.iter().find(|key| key.name == path) {
                Some(key) => (key.set)(&mut draft, Value(value)),
                None => {
                    let tables = ["settings", "publisher", "test"].into_iter();
                    complaints.unknown(name, path, PLAN.iter().map(|key| key.name).chain(tables));
                    Ok(())
                }
            },
        };
        if let Err(problem) = result {
            complaints.add(problem.at.start, path, problem.text);
        }
    }
    plan.tests = order(complaints, &draft, &own);
    plan.title = draft.title.unwrap_or_else(|| plan.name.clone());
    plan.about = draft.about.unwrap_or_default();
    (plan.not_pts, plan.profile) = (draft.not_pts, draft.profile);
    plan.own_tests = own.into_iter().filter_map(|(_, _, test)| test).collect();
    plan
}

/// File name without directory and extension.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}

/// Rejects combinations of settings that the command line rejects, too.
fn contradictions(complaints: &mut Complaints<'_>, table: &DeTable<'_>, settings: &PlanSettings) {
    let both = [
        ("keep-going", "max-rounds", settings.keep_going && settings.max_rounds.is_some()),
        (
            "numa_cpu_nodes",
            "cpus_allowed",
            settings.numa_cpu_nodes.is_some() && settings.cpus_allowed.is_some(),
        ),
    ];
    for (name, other, _) in both.into_iter().filter(|(_, _, both)| *both) {
        let at = in_order(table).into_iter().find(|(key, _)| key.get_ref() == name);
        let at = at.map_or(0, |(key, _)| key.span().start);
        complaints.add(at, &joined("settings", name), format!("cannot be used with {other}"));
    }
}

/// The tests in order. Rejects unknown and duplicate tests, and custom tests that are not listed.
fn order(complaints: &mut Complaints<'_>, draft: &Draft, own: &[own::Found]) -> Vec<String> {
    if draft.tests.is_empty() {
        if own.is_empty() && complaints.all.is_empty() {
            complaints.add(
                0,
                "tests",
                "no tests listed and no custom test defined; add some, such as tests = [\"iops\"]",
            );
        }
        return own.iter().map(|(name, _, _)| name.clone()).collect();
    }
    let mut tests: Vec<String> = Vec::new();
    let profile = draft.profile.as_deref().map_or(Ok(&PROFILES[0]), Profile::named);
    for (name, at) in &draft.tests {
        let is_own = own.iter().any(|(known, _, _)| known == name);
        let is_known = is_own || profile.as_ref().is_ok_and(|p| Test::all_named(name, p).is_ok());
        if !is_known {
            let known = TESTS.iter().map(|test| test.name).chain(["tp"]);
            let known: Vec<&str> = known.chain(own.iter().map(|(name, _, _)| name.as_str())).collect();
            let text = match nearest(name, known.iter().copied()) {
                Some(meant) => format!("no test '{name}'; did you mean '{meant}'?"),
                None => format!("no test '{name}'; available tests: {}", known.join(", ")),
            };
            complaints.add(at.start, "tests", text);
        } else if tests.contains(name) {
            complaints.add(at.start, "tests", format!("duplicate test '{name}'"));
        }
        tests.push(name.clone());
    }
    for (name, at, _) in own.iter().filter(|(name, _, _)| !tests.contains(name)) {
        complaints.add(
            at.start,
            &joined("test", name),
            "is not listed in `tests`; add it there, or remove it",
        );
    }
    tests
}
