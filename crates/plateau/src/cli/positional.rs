//! Interprets the words of `plateau run` and `plateau plan`: tests, a preset and targets, in any order.

use prepare::models;
use pts::{PROFILES, Profile, TESTS};
use stdx::nearest;

/// The word for all tests in the profile.
pub const ALL: &str = "all";
/// Common alternative names of test families.
pub const ALIASES: &[(&str, &str)] = &[("latency", "lat"), ("throughput", "tp"), ("saturation", "wsat")];

/// The words, grouped by meaning.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// Tests and families as named by `Test` and `Profile`, or the plan's own tests.
    pub tests: Vec<String>,
    pub preset: Option<&'static str>,
    pub targets: Vec<String>,
}

/// The meaning of a single word.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Tests(Vec<String>),
    Preset(&'static str),
    Target(String),
    /// The word is neither a known name nor an existing path.
    Unknown(String),
}

/// Classifies `words`. `custom_tests` are the tests of the plan that an option selected, if any. `exists`
/// returns whether a path exists.
///
/// # Errors
/// Returns an error that names the word that cannot be classified and suggests alternatives.
pub fn meaning(
    words: &[String],
    custom_tests: Option<&[String]>,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Meaning, String> {
    let mut meaning = Meaning::default();
    let mut unknown = Vec::new();
    for word in words {
        match word_of(word, custom_tests, exists)? {
            Word::Tests(tests) => meaning.tests.extend(tests),
            Word::Preset(name) if meaning.preset.is_some() => {
                return Err(format!(
                    "{} and {name} are both presets; a run has one",
                    meaning.preset.unwrap_or(name)
                ));
            }
            Word::Preset(name) => meaning.preset = Some(name),
            Word::Target(target) => meaning.targets.push(target),
            Word::Unknown(word) => unknown.push(word),
        }
    }
    let says_what_to_run = !meaning.tests.is_empty() || meaning.preset.is_some() || custom_tests.is_some();
    // A bare name denotes a new file only if it can have no other meaning.
    let may_be_new = says_what_to_run && meaning.targets.is_empty() && unknown.len() == 1;
    for word in unknown {
        if !may_be_new {
            return Err(no_such_test(&word, exists));
        }
        if let Some(model) = models::built_in(&word) {
            return Err(models::lacks_prefix(&word, model));
        }
        if let Some(hint) = of_simulator(&word) {
            return Err(hint);
        }
        let device = format!("/dev/{word}");
        if exists(&device) {
            return Err(format!("{word}: no such file; did you mean {device}? (./{word} names a new file)"));
        }
        meaning.targets.push(word);
    }
    Ok(meaning)
}

fn word_of(
    word: &str,
    custom_tests: Option<&[String]>,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Word, String> {
    if word.trim().is_empty() {
        return Err(
            "one of the words is empty, as when a shell variable is unset; specify tests and a target, such as \
             `plateau run iops TARGET`"
                .into(),
        );
    }
    if let Some(model) = models::simulated(word) {
        return Ok(Word::Target(models::in_full(word, model)?));
    }
    if PROFILES.iter().any(|profile| profile.name.eq_ignore_ascii_case(word)) && !exists(word) {
        return Err(no_such_test(word, exists));
    }
    if word.contains(['/', ':', '.']) {
        return Ok(Word::Target(word.to_owned()));
    }
    // `iops, lat` arrives as the words `iops,` and `lat`, or as a single word if it is quoted.
    let parts: Vec<&str> =
        word.split([',', ' ', '+']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let known: Vec<Option<String>> = parts.iter().map(|part| test_of(part, custom_tests)).collect();
    let preset = |part: &str| {
        let lower = part.to_lowercase();
        plans::PRESETS.iter().map(|preset| preset.name).find(|name| *name == lower && custom_tests.is_none())
    };
    if let [only] = &parts[..]
        && let Some(name) = preset(only)
    {
        return Ok(Word::Preset(name));
    }
    match known.iter().position(Option::is_none) {
        None => Ok(Word::Tests(known.into_iter().flatten().collect())),
        Some(place) if parts.len() > 1 && !exists(word) => match parts.iter().find_map(|part| preset(part)) {
            Some(name) => Err(format!(
                "'{name}' is a preset, which cannot be part of a list of tests; run it on its own: `plateau run {name} \
                 TARGET`"
            )),
            None => Err(no_such_test(parts[place], exists)),
        },
        Some(_) if exists(word) => Ok(Word::Target(word.to_owned())),
        Some(_) => Ok(Word::Unknown(word.to_owned())),
    }
}

/// Returns the test or family with this name or alias, ignoring case.
pub fn test_named(name: &str) -> Option<String> {
    test_of(name, None).filter(|name| name != ALL)
}

/// Returns the test, family or custom test that `part` names.
fn test_of(part: &str, custom_tests: Option<&[String]>) -> Option<String> {
    if custom_tests.is_some_and(|own| own.iter().any(|name| name == part)) {
        return Some(part.to_owned());
    }
    let lower = part.to_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(&lower[..], |(_, name)| name);
    let is_known = name == ALL || TESTS.iter().any(|test| test.name == name || test.family == name);
    is_known.then(|| name.to_owned())
}

/// Returns what to type for a simulated drive, if `word` names the simulator.
fn of_simulator(word: &str) -> Option<String> {
    let is_meant = ["sim", "simulated", "simulator"].contains(&&*word.to_lowercase());
    is_meant.then(|| format!("{word}: a simulated drive is sim:MODEL; `plateau sim list` lists the models"))
}

fn no_such_test(word: &str, exists: &dyn Fn(&str) -> bool) -> String {
    if let Some(hint) = of_simulator(word) {
        return hint;
    }
    let device = format!("/dev/{word}");
    if exists(&device) {
        return format!("no test or preset '{word}'; did you mean the device {device}?");
    }
    if let Some(model) = models::built_in(word) {
        return format!("no test or preset '{word}'; did you mean the simulated drive sim:{model}?");
    }
    if PROFILES.iter().any(|profile| profile.name.starts_with(&word.to_lowercase())) {
        return format!(
            "no test or preset '{word}'; a profile is selected with --profile {}",
            word.to_lowercase()
        );
    }
    let families = TESTS.iter().map(|test| test.family);
    let mut known: Vec<&str> = families.chain(TESTS.iter().map(|test| test.name)).collect();
    known.extend(plans::PRESETS.iter().map(|preset| preset.name));
    known.push(ALL);
    match nearest(word, known.iter().copied()) {
        Some(meant) => format!("no test or preset '{word}'; did you mean '{meant}'?"),
        None => format!(
            "no test or preset '{word}', and no such target; tests: {}; presets: {}; a target is a block device, a file, \
             or sim:MODEL",
            TESTS.iter().map(|test| test.name).collect::<Vec<_>>().join(", "),
            plans::PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
        ),
    }
}

/// Returns `tests` with `all` replaced by the families of `profile`.
pub fn expanded(tests: &[String], profile: &Profile) -> Vec<String> {
    let all = || profile.tests.iter().map(|listed| listed.family.to_owned()).collect();
    tests.iter().flat_map(|name| if name == ALL { all() } else { vec![name.clone()] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> Result<Meaning, String> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        meaning(&words, None, &|path| ["/dev/loop4", "old.bin", "image"].contains(&path))
    }

    fn meant(tests: &[&str], preset: Option<&'static str>, targets: &[&str]) -> Meaning {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Meaning { tests: owned(tests), preset, targets: owned(targets) }
    }

    #[test]
    fn tests_and_targets_are_distinguished_in_any_order() {
        for (text, expected) in [
            ("iops /dev/x", meant(&["iops"], None, &["/dev/x"])),
            ("/dev/x iops", meant(&["iops"], None, &["/dev/x"])),
            ("/dev/x /dev/y lat,tp", meant(&["lat", "tp"], None, &["/dev/x", "/dev/y"])),
            ("IOPS,Latency /dev/x", meant(&["iops", "lat"], None, &["/dev/x"])),
            ("throughput image", meant(&["tp"], None, &["image"])),
            ("all sim:sata-mlc-2011", meant(&["all"], None, &["sim:sata-mlc-2011"])),
            ("quick /dev/x", meant(&[], Some("quick"), &["/dev/x"])),
            ("/dev/x Map", meant(&[], Some("map"), &["/dev/x"])),
            ("iops new.bin", meant(&["iops"], None, &["new.bin"])),
            ("iops new", meant(&["iops"], None, &["new"])),
            ("lat sim:NVME-QLC", meant(&["lat"], None, &["sim:nvme-qlc-2024"])),
            ("lat SIM:sas-slc-2011", meant(&["lat"], None, &["sim:sas-slc-2011"])),
            ("iops, lat /dev/x", meant(&["iops", "lat"], None, &["/dev/x"])),
            ("iops , lat /dev/x", meant(&["iops", "lat"], None, &["/dev/x"])),
            ("lat sim:my.toml", meant(&["lat"], None, &["sim:my.toml"])),
            ("lat array:a.toml", meant(&["lat"], None, &["array:a.toml"])),
        ] {
            assert_eq!(sorted(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_suggest_similar_words() {
        for (text, part) in [
            ("quik /dev/x", "did you mean 'quick'"),
            ("ipos /dev/x", "did you mean 'iops'"),
            ("iops,lta /dev/x", "did you mean 'lat'"),
            ("iops loop4", "did you mean /dev/loop4?"),
            ("iops sim:sas-slc", "sas-slc-2011, sas-slc-fast-2011"),
            ("iops sim:sata-mcl-2011", "did you mean sim:sata-mlc-2011"),
            ("iops sim:zzz", "plateau sim list"),
            ("sim", "a simulated drive is sim:MODEL"),
            ("loop4", "did you mean the device /dev/loop4?"),
            ("something", "a target is a block device"),
            ("iops something /dev/x", "no test or preset 'something'"),
            ("quick one two", "no test or preset 'one'"),
            ("quick map /dev/x", "both presets"),
            ("map,quick /dev/x", "'map' is a preset, which cannot be part"),
            ("iops,quick /dev/x", "'quick' is a preset, which cannot be part"),
            ("lat ", "one of the words is empty"),
            ("iops sas-slc-2011", "did you mean sim:sas-slc-2011?"),
            ("SAS-SLC-2011", "did you mean the simulated drive sim:sas-slc-2011?"),
            ("lat sim:./own.txt", "must end in .toml"),
        ] {
            let error = sorted(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn custom_tests_of_a_plan_are_found_by_name() {
        let words = ["Burst".to_owned(), "/dev/x".to_owned()];
        let own = ["Burst".to_owned()];
        assert_eq!(meaning(&words, Some(&own), &|_| false), Ok(meant(&["Burst"], None, &["/dev/x"])));
        // A preset is a plan, and a plan was already selected.
        let words = ["quick".to_owned()];
        assert_eq!(meaning(&words, Some(&own), &|_| false), Ok(meant(&[], None, &["quick"])));
    }

    #[test]
    fn all_are_the_tests_of_the_profile() {
        let profile = Profile::named("pts-c-1.0").expect("a profile");
        let names = expanded(&["all".to_owned()], profile);
        assert_eq!(names.len(), profile.tests.len());
        assert!(names.contains(&"wsat".to_owned()));
    }
}
