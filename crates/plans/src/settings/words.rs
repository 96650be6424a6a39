//! Settings that accept a fixed set of words, each with its description in the help and its value.

use record::{CacheChoice, SaturationLoad, SaturationUntil};

/// Settings of the drive's volatile write cache: word, description in the help, and value.
pub(super) const CACHE_CHOICES: &[(&str, &str, CacheChoice)] = &[
    ("profile", "As the profile requires", CacheChoice::Profile),
    ("keep", "Leave it unchanged", CacheChoice::Keep),
    ("on", "On (WCE)", CacheChoice::On),
    ("off", "Off (WCD)", CacheChoice::Off),
];

/// The conditions that end WSAT.
pub(super) const SATURATION_UNTIL: &[(&str, &str, SaturationUntil)] = &[
    (
        "first",
        "Whichever comes first: amount, time or, since PTS-E 1.1, steady state",
        SaturationUntil::First,
    ),
    ("all", "Whichever comes last: amount or time, for at most 240 h", SaturationUntil::All),
    ("time", "Time only", SaturationUntil::Time),
];

/// The optional workloads of WSAT.
pub(super) const SATURATION_LOADS: &[(&str, &str, SaturationLoad)] = &[
    ("oltp", "Random 8 KiB, 65 % reads", SaturationLoad::Oltp),
    ("video", "Sequential 128 KiB, 90 % reads (video on demand)", SaturationLoad::Video),
    ("metadata", "Sequential 0.5 KiB, 50 % reads", SaturationLoad::Metadata),
    ("composite", "The composite of CBW, 40 % reads", SaturationLoad::Composite),
];

/// The loads of a burn-in.
pub(super) const BURN_IN_LOADS: &[(&str, &str, &str)] = &[
    ("mixed", "Random 64 KiB, 50 % reads", "mixed"),
    ("jesd219", "The enterprise workload of JESD219, with I/Os of 4 KiB and more", "jesd219"),
];

/// Returns the words with their descriptions, for the help.
pub(super) fn words<T>(all: &[(&'static str, &'static str, T)]) -> Vec<(&'static str, &'static str)> {
    all.iter().map(|(word, about, _)| (*word, *about)).collect()
}

/// Returns each word with its value.
pub(super) fn choices<T: Copy>(all: &[(&'static str, &'static str, T)]) -> Vec<(&'static str, T)> {
    all.iter().map(|(word, _, choice)| (*word, *choice)).collect()
}
