//! A random hill climb: perturbs a model's keys and keeps the changes that improve the fit.

use stdx::Rng;

use super::{FITTED_MIXES, Figure, Kind, Measured, Score, Simulated, errors, simulate};
use crate::{Model, Scale};

/// An error of this size counts half, and smaller ones count less, because there is little to gain in a cell
/// that already fits well.
const CLOSE: f64 = 0.15;
/// The weight of each kind of figure, relative to the cells of the IOPS test. Maxima depend on chance, and
/// times were read off a printed curve, so these kinds weigh less.
const SHARES: [(Kind, f64); 5] = [
    (Kind::Saturation, 0.15),
    (Kind::Throughput, 0.25),
    (Kind::Mean, 0.2),
    (Kind::Maximum, 0.03),
    (Kind::Time, 0.02),
];
/// A trial whose result is worse by this factor at the first scale is not simulated at the other scales.
const HOPELESS: f64 = 1.1;

/// Parameters of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit<'a> {
    /// Scales of the simulated drive; at least one. The fit uses the mean over all scales, so as not to fit the
    /// noise at a single scale.
    pub scales: &'a [Scale],
    /// Rounds of cells in each trial.
    pub rounds: u32,
    /// Number of trials.
    pub steps: u32,
    /// Seed for the trials.
    pub seed: u64,
    /// Keys with known values, which stay fixed; see [`movable_keys`].
    pub keep: &'a [String],
}

/// Fits the timing and the spare flash of `start` to `measured`, using only [`FITTED_MIXES`](super::FITTED_MIXES)
/// and the figures other than IOPS cells. After each trial that improves the fit, calls `on_better` with the
/// score at the first scale; the climb stops if it returns false.
///
/// # Panics
/// Panics if there is no scale.
pub fn fit(
    start: Model,
    measured: &Measured,
    how: &Fit<'_>,
    on_better: &mut dyn FnMut(u32, &Score) -> bool,
) -> Model {
    let mut rng = Rng::from_seed(how.seed);
    let mut best = start;
    let mut least = f64::INFINITY;
    for step in 0..=how.steps {
        let trial = if step == 0 { best.clone() } else { moved(&best, &mut rng, step, how.keep) };
        if trial.check().is_err() {
            continue;
        }
        let Some((loss, score)) = tried(&trial, measured, how, HOPELESS * least) else { continue };
        if loss < least {
            (best, least) = (trial, loss);
            if !on_better(step, &score) {
                break;
            }
        }
    }
    best
}

/// Returns the mean loss of a model over the scales, and its score at the first scale. Returns `None` if the loss at
/// the first scale already exceeds `most`.
fn tried(model: &Model, measured: &Measured, how: &Fit<'_>, most: f64) -> Option<(f64, Score)> {
    let (first, others) = how.scales.split_first().expect("a scale to fit at");
    let simulated = simulate(model, *first, measured, how.rounds);
    let score = Score::of(measured, &simulated.iops, first.divisor());
    let mut sum = loss(measured, &simulated);
    if sum > most {
        return None;
    }
    for scale in others {
        sum += loss(measured, &simulate(model, *scale, measured, how.rounds));
    }
    Some((sum / how.scales.len() as f64, score))
}

/// Returns the mean error of the fitted cells, plus the weighted mean error of each kind of figure. It
/// deliberately avoids medians: scores contain medians, and optimizing the reported metric would overstate
/// the quality of the fit. The IOPS of the write saturation test should be within 10 percent, so errors
/// beyond 8 percent are added a second time.
fn loss(measured: &Measured, simulated: &Simulated) -> f64 {
    let cells = errors(measured, &simulated.iops, |mix| FITTED_MIXES.contains(&mix));
    let of = |kind: Kind| -> Vec<f64> {
        simulated.figures.iter().filter(|figure| figure.kind == kind).map(Figure::error).collect()
    };
    let figures: f64 = SHARES.iter().map(|&(kind, share)| share * mean(&of(kind))).sum();
    let beyond: f64 = of(Kind::Saturation).into_iter().map(|error| (error - 0.08).max(0.0)).sum();
    mean(&cells) + figures + beyond
}

/// Returns the mean of the weighted errors; 0 if there are none.
fn mean(errors: &[f64]) -> f64 {
    errors.iter().map(|&error| counted(error)).sum::<f64>() / errors.len().max(1) as f64
}

/// Returns the weight of an error: roughly the square of a small error, and never more than 1, so that a
/// hopeless cell does not dominate. It increases strictly with the error.
fn counted(error: f64) -> f64 {
    let error = error.min(1e6);
    error / (1.0 + error) * error / (CLOSE + error)
}

/// Relative sizes of changes to keys, used in rotation: large steps find other optima, and small steps refine
/// the current one.
const REACH: [f64; 3] = [0.5, 0.12, 0.04];

/// A key that a fit may change.
enum Key<'a> {
    Real(&'a mut f64),
    Whole(&'a mut u64),
}

/// Returns the names of the model keys that a fit may change, as they appear in the model's file:
/// `timing.program_us`.
#[must_use]
pub fn movable_keys(model: &Model) -> Vec<&'static str> {
    movable(&mut model.clone()).into_iter().map(|(name, _)| name).collect()
}

/// Returns the keys that a fit may change, with their values.
fn movable(model: &mut Model) -> Vec<(&'static str, Key<'_>)> {
    let (geometry, timing, firmware) = (&mut model.geometry, &mut model.timing, &mut model.firmware);
    let mut keys: Vec<(&'static str, Key<'_>)> = vec![
        ("geometry.effective_op_percent", Key::Real(&mut geometry.effective_op_percent)),
        ("timing.read_us", Key::Real(&mut timing.read_us)),
        ("timing.program_us", Key::Real(&mut timing.program_us)),
        ("timing.channel_mb_per_s", Key::Real(&mut timing.channel_mb_per_s)),
        ("timing.link_mb_per_s", Key::Real(&mut timing.link_mb_per_s)),
        ("timing.read_command_us", Key::Real(&mut timing.read_command_us)),
        ("timing.write_command_us", Key::Real(&mut timing.write_command_us)),
        ("timing.map_unit_us", Key::Real(&mut timing.map_unit_us)),
        ("timing.read_latency_us", Key::Real(&mut timing.read_latency_us)),
        ("timing.write_latency_us", Key::Real(&mut timing.write_latency_us)),
        ("timing.modify_us", Key::Real(&mut timing.modify_us)),
        ("timing.program_suspend_us", Key::Real(&mut timing.program_suspend_us)),
        ("firmware.map_bytes_per_write", Key::Real(&mut firmware.map_bytes_per_write)),
    ];
    if let Some(cache) = &mut model.cache {
        keys.push(("cache.program_us", Key::Real(&mut cache.program_us)));
        keys.push(("cache.read_us", Key::Real(&mut cache.read_us)));
        keys.push(("cache.fold_from_percent", Key::Real(&mut cache.fold_from_percent)));
        keys.push(("cache.bytes", Key::Whole(&mut cache.bytes)));
    }
    if firmware.ring_skips_percent > 0.0 {
        keys.push(("firmware.ring_skips_percent", Key::Real(&mut firmware.ring_skips_percent)));
    }
    if let Some(hybrid) = &mut model.hybrid {
        keys.push(("hybrid.modify_us", Key::Real(&mut hybrid.modify_us)));
        keys.push(("hybrid.merge_us", Key::Real(&mut hybrid.merge_us)));
        keys.push(("hybrid.log_bytes", Key::Whole(&mut hybrid.log_bytes)));
    }
    keys
}

/// Returns a copy of the model in which about a third of the keys, none of them in `keep`, are changed.
fn moved(model: &Model, rng: &mut Rng, step: u32, keep: &[String]) -> Model {
    let mut next = model.clone();
    let reach = REACH[step as usize % REACH.len()];
    for (name, key) in movable(&mut next) {
        if keep.iter().any(|kept| kept == name) || !rng.percent(35) {
            continue;
        }
        let by = factor(rng, reach);
        match key {
            Key::Real(real) => *real = (*real * by * 1000.0).round() / 1000.0,
            Key::Whole(whole) => *whole = (*whole as f64 * by) as u64,
        }
    }
    next
}

/// Returns a factor between 1 / (1 + `reach`) and 1 + `reach`; increases and decreases are equally likely.
fn factor(rng: &mut Rng, reach: f64) -> f64 {
    let by = 1.0 + reach * (rng.below(1001) as f64 / 1000.0);
    if rng.percent(50) { by } else { 1.0 / by }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::HELD_OUT_MIXES;

    #[test]
    fn factors_above_and_below_one_are_equally_likely() {
        let mut rng = Rng::from_seed(1);
        let factors: Vec<f64> = (0..1000).map(|_| factor(&mut rng, 0.5)).collect();
        assert!(factors.iter().all(|&by| (0.66..=1.5).contains(&by)));
        let up = factors.iter().filter(|&&by| by > 1.0).count();
        assert!((400..600).contains(&up), "{up} of 1000 factors are above 1");
    }

    #[test]
    fn small_errors_weigh_little_and_hopeless_ones_equally() {
        let slope = |error: f64| (counted(error + 1e-6) - counted(error)) / 1e-6;
        assert!(slope(0.01) < 0.3 * slope(0.1), "roughly quadratic at first");
        assert!(
            slope(2.0) < 0.3 * slope(0.1) && slope(9.0) > 0.0,
            "nearly flat beyond, but still increasing"
        );
        assert!((0.99..=1.0).contains(&counted(f64::INFINITY)));
        assert_eq!(mean(&[]), 0.0);
    }

    /// Held-out cells do not affect the loss, whatever their values.
    #[test]
    fn only_the_fitted_mixes_count() {
        let measured = Measured::of_model("nvme-tlc-2018").expect("it was fitted").only_cells();
        let iops = |of: fn(u8) -> f64| measured.cells.iter().map(|c| c.iops * of(c.read_percent)).collect();
        let loss_of = |iops| loss(&measured, &Simulated { iops, figures: vec![], write_amplification: None });
        assert_eq!(loss_of(iops(|mix| if HELD_OUT_MIXES.contains(&mix) { 9.0 } else { 1.0 })), 0.0);
        for fitted in FITTED_MIXES {
            let at =
                measured.cells.iter().position(|c| c.read_percent == fitted).expect("a cell with this mix");
            let mut iops: Vec<f64> = iops(|_| 1.0);
            iops[at] *= 2.0;
            assert!(loss_of(iops) > 0.0, "{fitted}");
        }
    }

    #[test]
    fn a_move_changes_parameters_but_not_the_geometry() {
        let model = Model::named("sas-slc-2011").unwrap();
        let next = moved(&model, &mut Rng::from_seed(2), 1, &[]);
        assert_ne!(next, model);
        assert_eq!(next.geometry.channels, model.geometry.channels);
    }

    /// Fixed keys keep their values, and all keys exist in the model's file.
    #[test]
    fn fixed_keys_keep_their_values() {
        for (name, text) in crate::MODELS {
            let model = Model::named(name).unwrap();
            let file: toml::Table = text.parse().unwrap();
            let keys: Vec<String> = movable_keys(&model).into_iter().map(str::to_owned).collect();
            for key in &keys {
                let (section, key) = key.split_once('.').unwrap();
                let written = file.get(section).and_then(|section| section.get(key));
                let value = model.to_toml().parse::<toml::Table>().unwrap()[section][key].clone();
                assert!(written.is_some() || value.as_float() == Some(0.0), "{name}: {section}.{key}");
            }
            let mut rng = Rng::from_seed(2);
            assert!((0..20).all(|step| moved(&model, &mut rng, step, &keys) == model), "{name}");
        }
    }
}
