//! The cells of a custom test, averaged over the result rounds.

use record::{CustomCell, Segment};

use super::answers::CustomAnswers;
use super::figures::{Load, Mean, demand};
use crate::Context;
use crate::method::timeline::mean;
use crate::quality::few_ios;

/// Averages every cell over the result rounds, in loop order; empty before the first completed round.
pub fn means(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<Mean> {
    let rounds = &answers.rounds[answers.results()];
    if rounds.is_empty() {
        return Vec::new();
    }
    let of = |(index, cell): (usize, &CustomCell)| {
        let same = || rounds.iter().filter_map(move |round| round.get(index));
        let maxima = same().filter_map(Segment::max_latency_ms);
        Mean {
            load: Load { access: cell.access, read_percent: cell.read_percent },
            block_bytes: cell.block_bytes,
            demand: demand(context, cell),
            iops: mean(same().map(Segment::iops)).unwrap_or(0.0),
            megabytes: mean(same().map(Segment::megabytes_per_second)).unwrap_or(0.0),
            mean_ms: mean(same().filter_map(Segment::mean_latency_ms)),
            max_ms: maxima.max_by(f64::total_cmp).filter(|_| context.has_maxima()),
            host_limited: same().any(Segment::is_host_limited),
            coarse: same().any(few_ios::has_few),
        }
    };
    answers.cells.iter().enumerate().map(of).collect()
}
