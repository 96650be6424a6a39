//! The request for a run. The command line takes precedence over the plan, and the plan over the profile.

use std::path::{Path, PathBuf};

use device::{OpenOptions, SimFaults};
use plans::settings::{Given, RunSettings};
use plans::{Plan, Preset};
use pts::{Profile, Test};
use record::{Driving, Labels, PlanFacts};

use crate::cli::plan_file;
use crate::cli::positional::{self, Meaning};
use crate::cli::{RequestOptions, ResumableSettings};
use crate::failure::{Done, Exit, Failure};
use crate::run::driving;

/// Default version of the specification.
const USUAL_PROFILE: &str = "pts-e-2.0";
/// Default seed for a run and for its simulated drive.
pub const USUAL_SEED: u64 = 1;

/// A requested run.
#[derive(Debug)]
pub struct RunRequest {
    /// Test names without duplicates, with families expanded.
    pub tests: Vec<String>,
    pub target: String,
    pub profile: &'static Profile,
    /// The profile's settings, overridden by those in the plan and then by those on the command line.
    pub run: RunSettings,
    pub open: OpenOptions,
    /// The parts of the plan that the run stores.
    pub plan: Option<PlanFacts>,
    /// The plan's logo for the report.
    pub logo: Option<PathBuf>,
    /// The operator's labels for the run.
    pub labels: Labels,
}

/// A plan, and the folder that its paths are relative to.
struct Chosen {
    plan: Plan,
    folder: PathBuf,
}

impl RunRequest {
    /// Returns the requested run, on one target.
    ///
    /// # Errors
    /// Returns an error if a value is missing or unknown, or if there is more than one target.
    pub fn of(options: &RequestOptions, handling: &ResumableSettings) -> Done<Self> {
        let mut each = Self::each_of("plan", options, handling)?;
        if each.len() > 1 {
            let targets: Vec<&str> = each.iter().map(|request| &request.target[..]).collect();
            let text = format!("this command takes one target, not {}: {}", each.len(), targets.join(", "));
            return Err(Failure::text(Exit::Usage, text));
        }
        Ok(each.remove(0))
    }

    /// Returns one requested run per target, at least one.
    ///
    /// # Errors
    /// Returns an error if a value is missing or unknown.
    pub fn each(options: &RequestOptions, handling: &ResumableSettings) -> Done<Vec<Self>> {
        Self::each_of("run", options, handling)
    }

    /// Returns one requested run per target, at least one. `command` is the command to recommend if a value is
    /// missing.
    ///
    /// # Errors
    /// Returns an error if a value is missing or unknown.
    pub fn each_of(command: &str, options: &RequestOptions, handling: &ResumableSettings) -> Done<Vec<Self>> {
        let usage = |text: String| Failure::text(Exit::Usage, text);
        let named = named_plan(options)?;
        let custom_tests: Option<Vec<String>> = named
            .as_ref()
            .map(|chosen| chosen.plan.custom_tests.iter().map(|test| test.name.clone()).collect());
        let exists = |path: &str| Path::new(path).exists();
        let meaning = positional::meaning(&options.words, custom_tests.as_deref(), &exists).map_err(usage)?;
        let chosen = match meaning.preset {
            Some(name) => Some(of_preset(name)?),
            None => named,
        };
        check_complete(command, &meaning, chosen.as_ref()).map_err(usage)?;
        if let (Some(name), Some(chosen)) = (meaning.preset.or(options.preset.as_deref()), &chosen) {
            check_part(command, &meaning, name, &chosen.plan).map_err(usage)?;
        }
        let typed: Vec<Given> = options.settings.given().iter().chain(handling.given()).cloned().collect();
        let profile = options.profile.as_deref();
        let by = |target: &String| Self::by(profile, &typed, &meaning.tests, target, chosen.as_ref());
        meaning.targets.iter().map(by).collect::<Result<_, _>>().map_err(usage)
    }

    fn by(
        profile: Option<&str>,
        typed: &[Given],
        tests: &[String],
        target: &str,
        chosen: Option<&Chosen>,
    ) -> Result<Self, String> {
        let plan = chosen.map(|chosen| &chosen.plan);
        let tests =
            if tests.is_empty() { plan.map(|plan| &plan.tests[..]).unwrap_or_default() } else { tests };
        let profile = profile.or(plan.and_then(|plan| plan.profile.as_deref()));
        let profile = Profile::named(profile.unwrap_or(USUAL_PROFILE))?;
        let mut run = RunSettings::of(profile.settings(USUAL_SEED));
        run.apply(plan.into_iter().flat_map(|plan| &plan.settings).chain(typed))?;
        let (engine, polling) = driving::way(Some(&run.driving))?;
        let open = OpenOptions {
            engine,
            polling,
            size_bytes: run.size_bytes,
            scale: run.scale.clone(),
            sim_seed: run.settings.seed,
            placement: run.placement.clone(),
            sim_faults: run.sim_faults.clone().map(SimFaults::Typed),
            ..OpenOptions::default()
        };
        let logo = chosen.and_then(|chosen| Some(chosen.folder.join(chosen.plan.publisher.logo.as_ref()?)));
        let tests = expand(&positional::expanded(tests, profile), profile, plan)?;
        run.check()?;
        Ok(Self {
            plan: plan.map(|plan| kept(plan, &tests)),
            tests,
            target: target.to_owned(),
            profile,
            run,
            open,
            logo,
            labels: Labels::default(),
        })
    }

    /// Returns the requested I/O path; `None` if the engine is chosen automatically.
    pub fn driving(&self) -> Option<Driving> {
        (self.run.driving != Driving::default()).then(|| self.run.driving.clone())
    }
}

/// Reads the plan or preset named by an option.
fn named_plan(options: &RequestOptions) -> Done<Option<Chosen>> {
    if let Some(path) = &options.plan {
        let plan =
            plan_file::read(path)?.map_err(|errors| Failure::text(Exit::Usage, plan_file::lines(&errors)))?;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        return Ok(Some(Chosen { plan, folder }));
    }
    options.preset.as_deref().map(of_preset).transpose()
}

fn of_preset(name: &str) -> Done<Chosen> {
    let preset = Preset::named(name).map_err(|text| Failure::text(Exit::Usage, text))?;
    Ok(Chosen { plan: preset.plan(), folder: PathBuf::new() })
}

fn check_complete(command: &str, meaning: &Meaning, chosen: Option<&Chosen>) -> Result<(), String> {
    let has_tests = !meaning.tests.is_empty() || chosen.is_some();
    match (has_tests, meaning.targets.is_empty()) {
        (true, false) => Ok(()),
        (true, true) => {
            let name = chosen.map_or_else(|| meaning.tests.join(","), |chosen| chosen.plan.name.clone());
            Err(format!(
                "{name} needs a target: a block device, a file or sim:MODEL, such as `plateau {command} {name} \
                 /dev/nvme0n1`"
            ))
        }
        (false, false) => Err(without_tests(command, &meaning.targets)),
        (false, true) => Err(format!(
            "a {command} needs tests and a target, such as `plateau {command} iops TARGET`, or a preset and a target, \
             such as `plateau {command} quick TARGET`"
        )),
    }
}

/// Returns the message about targets without tests. A file of jobs or a plan among them was probably not meant as a
/// target.
fn without_tests(command: &str, targets: &[String]) -> String {
    let named = |extension| targets.iter().find(|target| target.ends_with(extension));
    let others = |file| {
        let others: Vec<&str> = targets.iter().filter(|target| *target != file).map(String::as_str).collect();
        if others.is_empty() { "TARGET".to_owned() } else { others.join(" ") }
    };
    if let Some(plan) = named(".toml") {
        return format!(
            "{plan}: no tests specified; if this file is a plan, type `plateau {command} --plan {plan} {}`",
            others(plan)
        );
    }
    if let Some(jobs) = named(".fio") {
        return format!(
            "{jobs}: no tests specified; if this file contains fio jobs, type `plateau load {jobs}`"
        );
    }
    let target = targets.join(" ");
    format!(
        "{target}: no tests specified; add some, such as `plateau {command} iops {target}`, or a preset, such as \
         `plateau {command} quick {target}`"
    )
}

/// Rejects tests that are not part of the preset, because they would run with its settings and under its
/// name.
fn check_part(command: &str, meaning: &Meaning, name: &str, preset: &Plan) -> Result<(), String> {
    let Some(test) = meaning.tests.iter().find(|test| !preset.tests.contains(test)) else { return Ok(()) };
    let target = meaning.targets.join(" ");
    Err(format!(
        "'{test}' is not part of the preset '{name}', and a {command} has either tests or a preset: `plateau {command} \
         {} {target}` runs the test, `plateau {command} {name} {target}` the preset",
        meaning.tests.join(",")
    ))
}

/// Expands the requested tests in order; a family stands for all of its tests in the profile.
fn expand(names: &[String], profile: &Profile, plan: Option<&Plan>) -> Result<Vec<String>, String> {
    let mut tests: Vec<String> = Vec::new();
    let mut take = |name: &str| {
        if tests.iter().any(|known| known == name) {
            return Err(format!("duplicate test '{name}'"));
        }
        tests.push(name.into());
        Ok(())
    };
    for name in names {
        if plan.is_some_and(|plan| plan.custom_test(name).is_some()) {
            take(name)?;
            continue;
        }
        for test in Test::all_named(name, profile)? {
            take(test.name)?;
        }
    }
    Ok(tests)
}

/// Returns the parts of a plan that a run stores: the custom tests that it runs, and the data for the report.
fn kept(plan: &Plan, tests: &[String]) -> PlanFacts {
    let publisher = &plan.publisher;
    PlanFacts {
        name: plan.name.clone(),
        title: plan.title.clone(),
        not_pts: plan.not_pts.clone(),
        sponsor: publisher.sponsor.clone(),
        auditor: publisher.auditor.clone(),
        notes: publisher.notes.clone(),
        logo: publisher.logo.as_ref().map(|_| record::run_files::LOGO.to_owned()),
        // Set after the image has been read.
        logo_sha256: None,
        custom_tests: plan.custom_tests.iter().filter(|test| tests.contains(&test.name)).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::PlannedSettings;

    fn options(words: &str, preset: Option<&str>) -> RequestOptions {
        RequestOptions {
            words: words.split_whitespace().map(str::to_owned).collect(),
            preset: preset.map(str::to_owned),
            ..RequestOptions::default()
        }
    }

    fn request(options: &RequestOptions) -> Done<RunRequest> {
        RunRequest::of(options, &ResumableSettings::default())
    }

    #[test]
    fn with_a_plan_a_single_word_is_the_target() {
        let request = request(&options("/dev/x", Some("tkperf"))).unwrap();
        assert_eq!(request.target, "/dev/x");
        assert_eq!(request.tests[..2], ["iops", "lat"]);
        assert_eq!((request.profile.name, request.run.settings.threads), ("pts-e-1.0", 1));
        assert_eq!(request.plan.unwrap().custom_tests.len(), 5);
    }

    #[test]
    fn a_part_of_a_plan_can_be_requested() {
        let request = request(&options("qd-seq-write ./x", Some("anandtech-qd"))).unwrap();
        assert_eq!(request.tests, ["qd-seq-write"]);
        assert_eq!(request.plan.unwrap().custom_tests.len(), 1);
    }

    #[test]
    fn the_map_is_a_test_and_a_preset() {
        let request = request(&options("map ./x", None)).unwrap();
        assert_eq!((request.tests, request.plan.unwrap().name), (vec!["map".to_owned()], "map".to_owned()));
    }

    #[test]
    fn the_command_line_wins_over_the_plan() {
        let mut options = options("/dev/x", Some("tkperf"));
        options.settings = PlannedSettings::of(vec![plans::settings::typed("tc", "8").unwrap()]);
        options.profile = Some("pts-e-1.1".into());
        let handling = ResumableSettings::of(vec![plans::settings::typed("write-cache", "off").unwrap()]);
        let request = RunRequest::of(&options, &handling).unwrap();
        assert_eq!((request.run.settings.threads, request.run.settings.queue_depth), (8, 1));
        assert_eq!(request.profile.name, "pts-e-1.1");
        assert_eq!(request.run.handling.write_cache, Some(record::CacheChoice::Off));
    }

    #[test]
    fn a_test_outside_the_preset_is_refused() {
        for (words, preset) in
            [("iops quick ./x", None), ("iops ./x", Some("quick")), ("all ./x", Some("map"))]
        {
            let message = request(&options(words, preset)).unwrap_err().message();
            assert!(message.contains("is not part of the preset"), "{words}: {message}");
        }
        let message = request(&options("iops,lat quick ./x", None)).unwrap_err().message();
        assert!(message.contains("`plateau plan iops,lat ./x` runs"), "{message}");
        assert!(message.contains("`plateau plan quick ./x` the preset"), "{message}");
        assert_eq!(request(&options("lat tkperf ./x", None)).unwrap().tests, ["lat"], "a part of the preset");
    }

    #[test]
    fn missing_values_are_named() {
        let missing = |options: &RequestOptions| request(options).unwrap_err().message();
        assert!(missing(&options("", None)).contains("needs tests and a target"));
        assert!(missing(&options("iops", None)).contains("iops needs a target"));
        assert!(missing(&options("./x", None)).contains("no tests specified"));
        let plan = missing(&options("./x.toml ./y", None));
        assert!(plan.ends_with("type `plateau plan --plan ./x.toml ./y`"), "{plan}");
        let jobs = missing(&options("./x.fio", None));
        assert!(jobs.ends_with("type `plateau load ./x.fio`"), "{jobs}");
        assert!(missing(&options("iops ./x ./y", None)).contains("one target, not 2"));
        assert!(missing(&options("./x", Some("quik"))).contains("available presets: quick"));
        assert!(missing(&options("iops,iops ./x", None)).contains("duplicate test"));
    }
}
