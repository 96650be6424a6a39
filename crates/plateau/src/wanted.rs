//! The requested run: from the command line, then the plan, then the defaults.

use std::path::{Path, PathBuf};

use device::OpenOptions;
use pts::plan::PlanSettings;
use pts::{Plan, Preset, Profile, Test};
use record::{CacheChoice, Driving, Handling, Labels, Placement, PlanFacts};
use stdx::units::parse_size;

use crate::cli::{Asked, Changes};
use crate::failure::{Done, Exit, Failure};
use crate::words::{self, Meaning};
use crate::{driving, plan_file};

/// Default version of the specification.
const USUAL_PROFILE: &str = "pts-e-2.0";
/// Default seed of a run and of its simulated drive.
pub const USUAL_SEED: u64 = 1;

/// A requested run.
#[derive(Debug)]
pub struct Wanted {
    /// Test names without duplicates; families are expanded.
    pub tests: Vec<String>,
    pub target: String,
    pub profile: &'static Profile,
    pub changes: Changes,
    pub seed: u64,
    pub open: OpenOptions,
    pub placement: Option<Placement>,
    /// How I/Os are submitted to the kernel.
    pub driving: Option<Driving>,
    /// The parts of the plan that the run stores.
    pub plan: Option<PlanFacts>,
    /// The plan's logo for the report.
    pub logo: Option<PathBuf>,
    /// The plan's treatment of the drive.
    pub handling: Handling,
    /// The operator's labels of the run.
    pub labels: Labels,
}

/// A plan, and the folder to which its paths are relative.
struct Chosen {
    plan: Plan,
    folder: PathBuf,
}

impl Wanted {
    /// Returns the requested run, on one target.
    ///
    /// # Errors
    /// When something is missing or unknown, or there is more than one target.
    pub fn of(asked: &Asked) -> Done<Self> {
        let mut each = Self::each(asked)?;
        if each.len() > 1 {
            let targets: Vec<&str> = each.iter().map(|wanted| &wanted.target[..]).collect();
            let text = format!("this takes one target, not {}: {}", each.len(), targets.join(", "));
            return Err(Failure::text(Exit::Usage, text));
        }
        Ok(each.remove(0))
    }

    /// Returns one requested run per target, at least one.
    ///
    /// # Errors
    /// When something is missing or unknown.
    pub fn each(asked: &Asked) -> Done<Vec<Self>> {
        let usage = |text: String| Failure::text(Exit::Usage, text);
        let typed = typed_plan(asked)?;
        let own_tests: Option<Vec<String>> =
            typed.as_ref().map(|chosen| chosen.plan.own_tests.iter().map(|test| test.name.clone()).collect());
        let exists = |path: &str| Path::new(path).exists();
        let meaning = words::meaning(&asked.words, own_tests.as_deref(), &exists).map_err(usage)?;
        let chosen = match meaning.preset {
            Some(name) => Some(of_preset(name)?),
            None => typed,
        };
        check_complete(&meaning, chosen.as_ref()).map_err(usage)?;
        let by = |target: &String| Self::by(asked, &meaning.tests, target, chosen.as_ref());
        meaning.targets.iter().map(by).collect::<Result<_, _>>().map_err(usage)
    }

    fn by(asked: &Asked, tests: &[String], target: &str, chosen: Option<&Chosen>) -> Result<Self, String> {
        let plan = chosen.map(|chosen| &chosen.plan);
        let tests =
            if tests.is_empty() { plan.map(|plan| &plan.tests[..]).unwrap_or_default() } else { tests };
        let nothing = PlanSettings::default();
        let settings = plan.map_or(&nothing, |plan| &plan.settings);
        let profile = asked.profile.as_deref().or(plan.and_then(|plan| plan.profile.as_deref()));
        let profile = Profile::named(profile.unwrap_or(USUAL_PROFILE))?;
        let size = asked.size.as_ref().or(settings.size.as_ref());
        let seed = asked.seed.or(settings.seed).unwrap_or(USUAL_SEED);
        let placement = placement_of(asked, settings);
        let planned_faults = (!settings.sim_faults.is_empty()).then(|| settings.sim_faults.clone());
        let driving = driving::asked(&asked.driving);
        let (engine, polling) = driving::way(driving.as_ref())?;
        let open = OpenOptions {
            engine,
            polling,
            size_bytes: size
                .map(|text| parse_size(text))
                .transpose()
                .map_err(|why| format!("--size: {why}"))?,
            scale: asked.scale.clone().or_else(|| settings.scale.clone()),
            sim_seed: seed,
            placement: placement.clone(),
            sim_faults: asked.sim_faults.chosen().or(planned_faults),
            ..OpenOptions::default()
        };
        let logo = chosen.and_then(|chosen| Some(chosen.folder.join(chosen.plan.publisher.logo.as_ref()?)));
        let tests = laid_out(&words::expanded(tests, profile), profile, plan)?;
        Ok(Self {
            plan: plan.map(|plan| kept(plan, &tests)),
            tests,
            target: target.to_owned(),
            profile,
            changes: changes(&asked.changes, settings),
            seed,
            open,
            placement,
            driving,
            logo,
            handling: handling(settings),
            labels: Labels::default(),
        })
    }
}

/// Returns the plan's treatment of the drive.
fn handling(settings: &PlanSettings) -> Handling {
    let write_cache = match settings.write_cache.as_deref() {
        Some("profile") => Some(CacheChoice::Profile),
        Some("keep") => Some(CacheChoice::Keep),
        Some("on") => Some(CacheChoice::On),
        Some("off") => Some(CacheChoice::Off),
        _ => None,
    };
    Handling {
        purge_method: settings.purge_method.clone(),
        verify_purge: settings.verify_purge,
        write_cache,
        tune: settings.tune,
        lba_format: settings.lba_format,
    }
}

/// Reads the plan or preset that an option names.
fn typed_plan(asked: &Asked) -> Done<Option<Chosen>> {
    if let Some(path) = &asked.plan {
        let plan =
            plan_file::read(path)?.map_err(|errors| Failure::text(Exit::Usage, plan_file::told(&errors)))?;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        return Ok(Some(Chosen { plan, folder }));
    }
    asked.preset.as_deref().map(of_preset).transpose()
}

fn of_preset(name: &str) -> Done<Chosen> {
    let preset = Preset::named(name).map_err(|text| Failure::text(Exit::Usage, text))?;
    Ok(Chosen { plan: preset.plan(), folder: PathBuf::new() })
}

fn check_complete(meaning: &Meaning, chosen: Option<&Chosen>) -> Result<(), String> {
    let has_tests = !meaning.tests.is_empty() || chosen.is_some();
    match (has_tests, meaning.targets.is_empty()) {
        (true, false) => Ok(()),
        (true, true) => {
            let name = chosen.map_or_else(|| meaning.tests.join(","), |chosen| chosen.plan.name.clone());
            Err(format!(
                "{name} needs a target: a block device, a file or sim:MODEL, such as `plateau run {name} /dev/nvme0n1`"
            ))
        }
        (false, false) => {
            let target = meaning.targets.join(" ");
            Err(format!(
                "{target}: which tests? Name some, such as `plateau run iops {target}`, or a preset, such as `plateau run \
                 quick {target}`"
            ))
        }
        (false, true) => {
            Err("a run needs tests and a target, such as `plateau run iops TARGET`, or a preset and a \
                              target, such as `plateau run quick TARGET`"
                .into())
        }
    }
}

fn placement_of(asked: &Asked, settings: &PlanSettings) -> Option<Placement> {
    let typed = |cpus: &Option<String>, nodes: &Option<String>| {
        let cpus = cpus.clone().map(Placement::CpusAllowed);
        cpus.or_else(|| nodes.clone().map(Placement::NumaCpuNodes))
    };
    typed(&asked.cpus_allowed, &asked.numa_cpu_nodes)
        .or_else(|| typed(&settings.cpus_allowed, &settings.numa_cpu_nodes))
}

/// Merges the typed changes with those of the plan; typed ones take precedence.
fn changes(typed: &Changes, planned: &PlanSettings) -> Changes {
    let limited = typed.max_rounds.is_some() || typed.keep_going;
    Changes {
        tc: typed.tc.or(planned.tc),
        qd: typed.qd.or(planned.qd),
        cell_seconds: typed.cell_seconds.or(planned.cell_seconds),
        max_rounds: if limited { typed.max_rounds } else { planned.max_rounds },
        keep_going: if limited { typed.keep_going } else { planned.keep_going },
        precondition: typed.precondition.or(planned.precondition),
        pc_ar: typed.pc_ar.or(planned.pc_ar),
        test_ar: typed.test_ar.or(planned.test_ar),
        ar_amount: typed.ar_amount.clone().or_else(|| planned.ar_amount.clone()),
        ar_segments: typed.ar_segments.or(planned.ar_segments),
        composite_fits_sectors: typed.composite_fits_sectors || planned.composite_fits_sectors,
    }
}

/// Expands the requested tests in order; a family stands for all its tests in the profile.
fn laid_out(names: &[String], profile: &Profile, plan: Option<&Plan>) -> Result<Vec<String>, String> {
    let mut tests: Vec<String> = Vec::new();
    let mut take = |name: &str| {
        if tests.iter().any(|known| known == name) {
            return Err(format!("duplicate test '{name}'"));
        }
        tests.push(name.into());
        Ok(())
    };
    for name in names {
        if plan.is_some_and(|plan| plan.own_test(name).is_some()) {
            take(name)?;
            continue;
        }
        for test in Test::all_named(name, profile)? {
            take(test.name)?;
        }
    }
    Ok(tests)
}

/// Returns what a run stores of a plan: the plan's own tests that it runs, and the data for the report.
fn kept(plan: &Plan, tests: &[String]) -> PlanFacts {
    let publisher = &plan.publisher;
    PlanFacts {
        name: plan.name.clone(),
        title: plan.title.clone(),
        not_pts: plan.not_pts.clone(),
        sponsor: publisher.sponsor.clone(),
        auditor: publisher.auditor.clone(),
        notes: publisher.notes.clone(),
        logo: publisher.logo.as_ref().map(|_| crate::publication::LOGO.to_owned()),
        // Set once the image has been read.
        logo_sha256: None,
        own_tests: plan.own_tests.iter().filter(|test| tests.contains(&test.name)).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &str, preset: Option<&str>) -> Asked {
        Asked {
            words: words.split_whitespace().map(str::to_owned).collect(),
            preset: preset.map(str::to_owned),
            ..Asked::default()
        }
    }

    #[test]
    fn with_a_plan_the_only_name_is_the_target() {
        let wanted = Wanted::of(&asked("/dev/x", Some("tkperf"))).unwrap();
        assert_eq!(wanted.target, "/dev/x");
        assert_eq!(wanted.tests[..2], ["iops", "lat"]);
        assert_eq!((wanted.profile.name, wanted.changes.tc), ("pts-e-1.0", Some(1)));
        assert_eq!(wanted.plan.unwrap().own_tests.len(), 5);
    }

    #[test]
    fn a_part_of_a_plan_can_be_asked_for() {
        let wanted = Wanted::of(&asked("qd-seq-write ./x", Some("anandtech-qd"))).unwrap();
        assert_eq!(wanted.tests, ["qd-seq-write"]);
        assert_eq!(wanted.plan.unwrap().own_tests.len(), 1);
    }

    #[test]
    fn the_map_is_a_test_and_a_preset() {
        let wanted = Wanted::of(&asked("map ./x", None)).unwrap();
        assert_eq!((wanted.tests, wanted.plan.unwrap().name), (vec!["map".to_owned()], "map".to_owned()));
    }

    #[test]
    fn the_command_line_wins_over_the_plan() {
        let mut asked = asked("/dev/x", Some("tkperf"));
        asked.changes.tc = Some(8);
        asked.profile = Some("pts-e-1.1".into());
        let wanted = Wanted::of(&asked).unwrap();
        assert_eq!((wanted.changes.tc, wanted.changes.qd), (Some(8), Some(1)));
        assert_eq!(wanted.profile.name, "pts-e-1.1");
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = |asked: &Asked| Wanted::of(asked).unwrap_err().message();
        assert!(missing(&asked("", None)).contains("needs tests and a target"));
        assert!(missing(&asked("iops", None)).contains("iops needs a target"));
        assert!(missing(&asked("./x", None)).contains("which tests?"));
        assert!(missing(&asked("iops ./x ./y", None)).contains("one target, not 2"));
        assert!(missing(&asked("./x", Some("quik"))).contains("available presets: quick"));
        assert!(missing(&asked("iops,iops ./x", None)).contains("duplicate test"));
    }
}
