//! The same model, scale and seed produce the same bytes on every machine and in every build. The fingerprints in
//! `tests/data/golden.txt` apply to both x86-64 and aarch64; `PLATEAU_BLESS=1` accepts an intended change.

mod common;

use common::{SECOND, fill, load, run};
use nandsim::{Load, MODELS, Model, Scale, Ssd, Tally, Until};
use stdx::access::Order;

/// Adds all of a run's results to the fingerprint.
fn fold(print: &mut u64, tally: &Tally) {
    let mut add = |word: u64| {
        *print = (*print ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    };
    for direction in [&tally.read, &tally.write] {
        [
            direction.ios,
            direction.bytes,
            direction.latency.sum() as u64,
            direction.latency.max().unwrap_or(0),
        ]
        .into_iter()
        .for_each(&mut add);
    }
    add(tally.start_ns);
    add(tally.end_ns);
    for tick in &tally.ticks {
        [tick.end_ns, tick.read_ios, tick.write_ios, tick.latency_sum_ns, tick.latency_max_ns]
            .into_iter()
            .for_each(&mut add);
    }
}

/// Returns the fingerprint of a short drive life: a purge, a fill, random writes, mixes of several block sizes,
/// idle time and a power cycle.
fn fingerprint(name: &str) -> u64 {
    let n = 1024;
    let mut ssd = Ssd::new(&Model::named(name).unwrap(), Scale::one_over(n).unwrap(), 7);
    let mut print = 0xcbf2_9ce4_8422_2325;
    ssd.purge();
    fold(&mut print, &fill(&mut ssd));
    let short = Load { tick_ns: SECOND / 50, ..load(&ssd, Order::Random, 0, 4096, Until::ForNs(SECOND / 4)) };
    fold(&mut print, &run(&mut ssd, &short));
    for (seed, (read_percent, block_bytes)) in
        [(100, 1 << 20), (65, 65_536), (35, 16_384), (95, 8192), (5, 512)].into_iter().enumerate()
    {
        let cell =
            Load { read_percent, block_bytes, seed: seed as u64, until: Until::ForNs(SECOND / 10), ..short };
        fold(&mut print, &run(&mut ssd, &cell));
    }
    ssd.idle(SECOND);
    ssd.power_cycle();
    fold(&mut print, &run(&mut ssd, &Load { seed: 9, ..short }));
    ssd.check().unwrap();
    print ^ ssd.state_hash()
}

#[test]
fn every_model_has_the_same_fingerprint_everywhere() {
    let lines: String =
        MODELS.iter().map(|(name, _)| format!("{name} {:016x}\n", fingerprint(name))).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden.txt");
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(path, &lines).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(lines, golden, "to accept an intended change, set PLATEAU_BLESS=1");
}

/// Floating-point sums, products, quotients and rounding are the same on every machine. Functions whose last bit
/// depends on a math library are not, and neither is a hash map's iteration order.
#[test]
fn nothing_machine_dependent_is_used() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for word in [
                ".ln(", ".ln_1p(", ".log(", ".log2(", ".log10(", ".exp(", ".exp2(", ".exp_m1(", ".powf(",
                ".powi(", ".sin(", ".cos(", ".tan(", ".cbrt(", "mul_add", "HashMap", "HashSet",
            ] {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} files seen");
}
