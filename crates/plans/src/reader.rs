//! Parses a plan from TOML. All errors are reported at once, each with its line, column and key.

use std::ops::Range;

use stdx::nearest;
use toml::de::DeTable;

use crate::custom;
use crate::document::{Plan, Publisher};
use crate::settings::{Form, Given, Literal, SETTINGS, Setting, setting};
use crate::table::{Complaints, Key, KeyDoc, PlanError, docs, in_order, joined};
use crate::value::{Problem, Value};
use pts::{PROFILES, Profile, TESTS, Test};

/// All keys that a plan may contain, except the keys in `[settings]`, which are [`SETTINGS`].
pub static KEYS: std::sync::LazyLock<Vec<KeyDoc>> = std::sync::LazyLock::new(|| {
    let mut all = docs("", PLAN);
    all.extend(docs("publisher", PUBLISHER));
    all.extend(custom::docs());
    all
});

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
        about: "printed name of the plan",
        set: |draft, value| value.text().map(|text| draft.title = Some(text)),
    },
    Key {
        name: "about",
        about: "the purpose of the plan, in one line",
        set: |draft, value| value.text().map(|text| draft.about = Some(text)),
    },
    Key {
        name: "not-pts",
        about: "why results of the plan, even of PTS tests, are not PTS results; printed on each page",
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

impl Plan {
    /// Parses `text`, which was read from `file`.
    ///
    /// # Errors
    /// Returns all errors in file order.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<PlanError>> {
        let mut complaints = Complaints::new(file, text);
        let plan = match DeTable::parse(text) {
            Ok(table) => whole(&mut complaints, table.get_ref()),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                complaints.add(at, "", error.message().trim().replace('\n', "; "));
                Self::default()
            }
        };
        let errors = complaints.finish();
        if errors.is_empty() { Ok(plan) } else { Err(errors) }
    }
}

fn whole(complaints: &mut Complaints<'_>, table: &DeTable<'_>) -> Plan {
    let (mut draft, mut plan) = (Draft::default(), Plan { name: stem(complaints.file()), ..Plan::default() });
    let mut custom_tests = Vec::new();
    for (name, value) in in_order(table) {
        let path: &str = name.get_ref();
        let result = match path {
            "settings" => Value(value).table().map(|table| plan.settings = settings(complaints, path, table)),
            "publisher" => Value(value)
                .table()
                .map(|table| complaints.section(path, table, PUBLISHER, &mut plan.publisher)),
            "test" => Value(value).table().map(|table| custom_tests = custom::read_all(complaints, table)),
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
    plan.tests = order(complaints, &draft, &custom_tests);
    plan.title = draft.title.unwrap_or_else(|| plan.name.clone());
    plan.about = draft.about.unwrap_or_default();
    (plan.not_pts, plan.profile) = (draft.not_pts, draft.profile);
    plan.custom_tests = custom_tests.into_iter().filter_map(|(_, _, test)| test).collect();
    plan
}

/// Returns the file name without directory and extension.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}

/// Reads the settings of a run. Rejects the same combinations as the command line.
fn settings(complaints: &mut Complaints<'_>, path: &str, table: &DeTable<'_>) -> Vec<Given> {
    let mut all = Vec::new();
    for (name, value) in in_order(table) {
        let key = joined(path, name.get_ref());
        let Some(setting) = setting(name.get_ref()).filter(|setting| setting.is_in_plans()) else {
            let known = SETTINGS.iter().filter(|setting| setting.is_in_plans());
            complaints.unknown(name, &key, known.map(|setting| setting.name));
            continue;
        };
        match given(setting, Value(value)) {
            Ok(given) => all.push((name.span().start, given)),
            Err(problem) => complaints.add(problem.at.start, &key, problem.text),
        }
    }
    all.retain(|(_, given)| given.is_effective());
    for (at, given) in &all {
        let setting = given.setting();
        for other in
            setting.excludes.iter().filter(|other| all.iter().any(|(_, o)| o.setting().name == **other))
        {
            complaints.add(*at, &joined(path, setting.name), format!("cannot be used with {other}"));
        }
    }
    all.into_iter().map(|(_, given)| given).collect()
}

fn given(setting: &'static Setting, value: Value<'_>) -> Result<Given, Problem> {
    let literal = match setting.form {
        Form::List(_) => Literal::List(value.each(Value::text)?),
        _ => value.literal()?,
    };
    Given::new(setting, literal).or_else(|text| value.problem(text))
}

/// Returns the tests in order. Rejects unknown and duplicate tests, and custom tests that are not listed.
fn order(complaints: &mut Complaints<'_>, draft: &Draft, custom_tests: &[custom::Found]) -> Vec<String> {
    if draft.tests.is_empty() {
        if custom_tests.is_empty() && complaints.count() == 0 {
            complaints.add(
                0,
                "tests",
                "no tests listed and no custom test defined; add some, such as tests = [\"iops\"]",
            );
        }
        return custom_tests.iter().map(|(name, _, _)| name.clone()).collect();
    }
    let mut tests: Vec<String> = Vec::new();
    let profile = draft.profile.as_deref().map_or(Ok(&PROFILES[0]), Profile::named);
    for (name, at) in &draft.tests {
        let is_custom = custom_tests.iter().any(|(known, _, _)| known == name);
        let is_known = is_custom || profile.as_ref().is_ok_and(|p| Test::all_named(name, p).is_ok());
        if !is_known {
            let known = TESTS.iter().map(|test| test.name).chain(["tp"]);
            let known: Vec<&str> =
                known.chain(custom_tests.iter().map(|(name, _, _)| name.as_str())).collect();
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
    for (name, at, _) in custom_tests.iter().filter(|(name, _, _)| !tests.contains(name)) {
        complaints.add(
            at.start,
            &joined("test", name),
            "is not listed in `tests`; add it there, or remove it",
        );
    }
    tests
}
