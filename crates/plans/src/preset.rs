//! Built-in plans: test suites used by reviewers and by other tools, and two of our own.

use crate::document::Plan;

/// A named built-in plan.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name on the command line.
    pub name: &'static str,
    /// The plan as TOML.
    pub text: &'static str,
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset { name: "quick", text: include_str!("../presets/quick.toml") },
    Preset { name: "map", text: include_str!("../presets/map.toml") },
    Preset { name: "tkperf", text: include_str!("../presets/tkperf.toml") },
    Preset { name: "tssdr", text: include_str!("../presets/tssdr.toml") },
    Preset { name: "anandtech-qd", text: include_str!("../presets/anandtech-qd.toml") },
    Preset { name: "anandtech-qd-random", text: include_str!("../presets/anandtech-qd-random.toml") },
    Preset { name: "anandtech-qd-mixed", text: include_str!("../presets/anandtech-qd-mixed.toml") },
    Preset { name: "ezfio", text: include_str!("../presets/ezfio.toml") },
];

impl Preset {
    /// Looks up the preset called `name`.
    ///
    /// # Errors
    /// Returns an error if the name is unknown; the message lists all known names.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let known: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            format!("no preset '{name}'; available presets: {}", known.join(", "))
        })
    }

    /// Parses the preset.
    ///
    /// # Panics
    /// Panics if the built-in text is invalid; a test parses every preset.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let read = Plan::read(&format!("{}.toml", self.name), self.text);
        read.unwrap_or_else(|errors| panic!("the preset {} is invalid: {}", self.name, errors[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RunSettings;
    use record::{CacheChoice, CustomRounds, CustomTest};

    fn seconds(test: &CustomTest) -> u64 {
        let rounds = match test.rounds {
            CustomRounds::Fixed(rounds) => rounds,
            CustomRounds::UntilSteady => 5,
        };
        let cells: u64 = test.cells.iter().map(|cell| cell.run_ns + cell.ramp_ns).sum();
        let writes: u64 = test.precondition.iter().filter_map(|write| write.limit_ns).sum();
        (cells * u64::from(rounds) + writes) / 1_000_000_000
    }

    #[test]
    fn every_preset_is_a_plan_that_says_it_is_not_the_pts() {
        for preset in PRESETS {
            let plan = preset.plan();
            assert_eq!(plan.name, preset.name);
            assert!(plan.not_pts.is_some() && !plan.about.is_empty(), "{}", preset.name);
            assert!(!plan.tests.is_empty(), "{}", preset.name);
        }
    }

    /// TKperf, ezFIO and presets that examine a drive in its current state do not change the write cache; one
    /// review requires the cache to be off.
    #[test]
    fn only_the_preset_whose_source_sets_the_write_cache_sets_it() {
        for preset in PRESETS {
            let plan = preset.plan();
            let profile = pts::Profile::named(plan.profile.as_deref().unwrap()).unwrap();
            let mut run = RunSettings::of(profile.settings(1));
            run.apply(&plan.settings).unwrap();
            let is_set = preset.name == "tssdr";
            assert_eq!(run.handling.write_cache.is_none(), is_set, "{}", preset.name);
            assert!(is_set || run.handling.write_cache == Some(CacheChoice::Keep), "{}", preset.name);
            assert_eq!(plan.in_words().contains("write-cache keep"), !is_set, "{}", plan.in_words());
            assert!(!is_set || profile.write_cache == pts::WriteCache::Disabled);
        }
    }

    #[test]
    fn presets_have_the_lengths_that_their_sources_state() {
        let plan = |name: &str| Preset::named(name).unwrap().plan();
        let sweep = plan("anandtech-qd");
        let demands: Vec<u32> = sweep.custom_tests[0]
            .cells
            .iter()
            .map(|cell| u32::from(cell.threads.unwrap()) * u32::from(cell.queue_depth.unwrap()))
            .collect();
        assert_eq!(demands, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        assert_eq!(sweep.custom_tests.iter().map(seconds).collect::<Vec<_>>(), [2400, 2400]);
        assert!(
            sweep.custom_tests.iter().flat_map(|test| &test.cells).all(|cell| cell.ramp_ns == 60_000_000_000)
        );
        let review = plan("tssdr");
        assert_eq!(review.custom_tests[0].cells.len(), 56);
        assert_eq!(seconds(&review.custom_tests[0]), 1_400 * 60);
        let quick: u64 = plan("quick").custom_tests.iter().map(seconds).sum();
        assert!((1_500..=1_800).contains(&quick), "{quick} s");
    }
}
