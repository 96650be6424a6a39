//! Compares response times of both tools, cell by cell.
//!
//! Both tools include the system call that submits an I/O, so the figure from fio is `lat`, not `clat`.

use record::{Segment, Workload};

use super::fio;
use super::pair::Pair;
use super::rule::{CLOSE_PERCENTILES, Tally, spread};

const NAMES: [&str; 2] = ["p50", "p99"];
const SHARES: [f64; 2] = [0.5, 0.99];

/// Returns pairs of our percentile and fio's, in ns.
pub fn percentiles(segment: &Segment, fios: &fio::FioRun) -> [(f64, f64); 2] {
    let direction = if fios.of_reads { &segment.read } else { &segment.write };
    let ours = SHARES.map(|share| direction.latency.quantile(share).map_or(f64::NAN, |ns| ns as f64));
    [(ours[0], fios.percentiles_ns[0]), (ours[1], fios.percentiles_ns[1])]
}

/// Prints the percentiles and returns the number of disagreements: percentiles that are repeatable with both
/// tools but differ by more than allowed.
pub fn verdict(pairs: &[Pair], cells: &[&Workload]) -> u32 {
    println!();
    println!(
        "{:<20} {:>4} {:>13} {:>7} {:>13} {:>7} {:>8}",
        "cell", "", "plateau (us)", "sd", "fio (us)", "sd", "ratio"
    );
    let mut tally = Tally::of("percentiles", CLOSE_PERCENTILES);
    for cell in cells {
        for (i, name) in NAMES.into_iter().enumerate() {
            let same = |p: &&Pair| {
                (p.workload.block_bytes, p.workload.read_percent) == (cell.block_bytes, cell.read_percent)
            };
            let of = |value: &dyn Fn(&Pair) -> f64| {
                spread(&pairs.iter().filter(same).map(value).collect::<Vec<_>>())
            };
            let (ours, fios) = (of(&|p| p.percentiles[i].0), of(&|p| p.percentiles[i].1));
            let finding = tally.find(&ours, &fios, of(&|p| p.idle_share).mean);
            let ratio = ours.mean / fios.mean;
            println!(
                "{:<20} {name:>4} {:>13.1} {:>6.1}% {:>13.1} {:>6.1}% {ratio:>8.3}  {finding}",
                cell.to_string(),
                ours.mean / 1e3,
                ours.deviation_share * 100.0,
                fios.mean / 1e3,
                fios.deviation_share * 100.0
            );
        }
    }
    println!("{tally}");
    tally.wrong()
}

#[cfg(test)]
mod tests {
    use super::super::tests::pairs_with;
    use super::*;

    #[test]
    fn percentiles_that_repeat_must_agree() {
        let wrong = |ours: [f64; 5], fios: [f64; 5]| {
            let pairs = pairs_with(ours.into_iter().zip(fios).map(|pair| [pair; 2]).collect());
            let cells: Vec<&Workload> = pairs.iter().take(1).map(|p| &p.workload).collect();
            verdict(&pairs, &cells)
        };
        assert_eq!(wrong([100.0; 5], [102.2; 5]), 0);
        assert_eq!(wrong([100.0; 5], [102.6; 5]), 2);
        assert_eq!(wrong([100.0, 200.0, 50.0, 170.0, 20.0], [120.0; 5]), 0, "the figures are not repeatable");
        assert_eq!(wrong([f64::NAN; 5], [120.0; 5]), 0, "nothing was measured");
    }
}
