//! A random climb: the keys of a model are moved a little, and what fits better stays.

use stdx::Rng;

use super::{FITTED_MIXES, Figure, Measured, Score, Simulated, error, errors, median, simulate};
use crate::{Model, Scale};

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Scale of the simulated drive.
    pub scale: Scale,
    /// Rounds of cells in each trial.
    pub rounds: u32,
    /// Trials.
    pub steps: u32,
    /// Seed of the trials.
    pub seed: u64,
}

/// Moves the timing and the spare flash of `start` towards `measured`, fitting only
/// [`FITTED_MIXES`](super::FITTED_MIXES) and the figures beside the cells. Reports the score after each
/// trial that fits better; when the receiver returns false the climb ends there.
pub fn fit(
    start: Model,
    measured: &Measured,
    how: &Fit,
    on_better: &mut dyn FnMut(u32, &Score) -> bool,
) -> Model {
    let mut rng = Rng::from_seed(how.seed);
    let mut best = start;
    let mut least = f64::INFINITY;
    for step in 0..=how.steps {
        let trial = if step == 0 { best.clone() } else { moved(&best, &mut rng, step) };
        if trial.check().is_err() {
            continue;
        }
        let simulated = simulate(&trial, how.scale, measured, how.rounds);
        let loss = loss(measured, &simulated);
        if loss < least {
            (best, least) = (trial, loss);
            if !on_better(step, &Score::of(measured, &simulated.iops, how.scale.divisor())) {
                break;
            }
        }
    }
    best
}

/// Median and mean of the fitted cells and the mean of the other figures. The IOPS of the write saturation
/// shall be within 10 percent: what goes beyond 8 counts again.
fn loss(measured: &Measured, simulated: &Simulated) -> f64 {
    let cells = errors(measured, &simulated.iops, |mix| FITTED_MIXES.contains(&mix));
    let error_of = |figure: &Figure| error(figure.measured, figure.simulated);
    let figures: Vec<f64> = simulated.figures.iter().map(error_of).collect();
    let saturation = simulated.figures.iter().filter(|figure| figure.unit == "IOPS");
    let beyond: f64 = saturation.map(|figure| (error_of(figure) - 0.08).max(0.0)).sum();
    median(&cells) + mean(&cells) + mean(&figures) + 2.0 * beyond
}

/// One cell that is hopelessly off shall not decide.
fn mean(errors: &[f64]) -> f64 {
    if errors.is_empty() {
        return 0.0;
    }
    errors.iter().map(|error| error.min(1.5)).sum::<f64>() / errors.len() as f64
}

/// The model with about a third of its keys moved, every third time far.
fn moved(model: &Model, rng: &mut Rng, step: u32) -> Model {
    let mut next = model.clone();
    let reach = if step.is_multiple_of(3) { 0.5 } else { 0.12 };
    let mut whole: Vec<&mut u64> = Vec::new();
    let (geometry, timing) = (&mut next.geometry, &mut next.timing);
    let mut keys: Vec<&mut f64> = vec![
        &mut geometry.effective_op_percent,
        &mut timing.read_us,
        &mut timing.program_us,
        &mut timing.channel_mb_per_s,
        &mut timing.link_mb_per_s,
        &mut timing.read_command_us,
        &mut timing.write_command_us,
        &mut timing.map_unit_us,
        &mut timing.read_latency_us,
        &mut timing.write_latency_us,
        &mut timing.modify_us,
        &mut timing.program_suspend_us,
    ];
    if let Some(cache) = &mut next.cache {
        keys.extend([&mut cache.program_us, &mut cache.read_us]);
        whole.push(&mut cache.bytes);
    }
    if next.firmware.ring_skips_percent > 0.0 {
        keys.push(&mut next.firmware.ring_skips_percent);
    }
    if let Some(hybrid) = &mut next.hybrid {
        keys.extend([&mut hybrid.modify_us, &mut hybrid.merge_us]);
        whole.push(&mut hybrid.log_bytes);
    }
    for key in keys {
        if rng.percent(35) {
            *key = (*key * factor(rng, reach) * 1000.0).round() / 1000.0;
        }
    }
    for key in whole {
        if rng.percent(35) {
            *key = (*key as f64 * factor(rng, reach)) as u64;
        }
    }
    next
}

/// Between 1 / (1 + `reach`) and 1 + `reach`, either way alike.
fn factor(rng: &mut Rng, reach: f64) -> f64 {
    let by = 1.0 + reach * (rng.below(1001) as f64 / 1000.0);
    if rng.percent(50) { by } else { 1.0 / by }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_reach_as_far_up_as_down() {
        let mut rng = Rng::from_seed(1);
        let factors: Vec<f64> = (0..1000).map(|_| factor(&mut rng, 0.5)).collect();
        assert!(factors.iter().all(|&by| (0.66..=1.5).contains(&by)));
        let up = factors.iter().filter(|&&by| by > 1.0).count();
        assert!((400..600).contains(&up), "{up} of 1000 go up");
    }

    #[test]
    fn a_moved_model_is_another_one_with_the_same_shape() {
        let model = Model::named("sas-slc-2011").unwrap();
        let next = moved(&model, &mut Rng::from_seed(2), 1);
        assert_ne!(next, model);
        assert_eq!(next.geometry.channels, model.geometry.channels);
    }
}
