//! Describes a fitted model, and compares it with the measurement cell by cell.

use nandsim::fit::{Cell, FITTED_MIXES, HELD_OUT_MIXES, Measured, Row, Score, Simulated};
use nandsim::{Calibration, Model};
use record::RunFile;
use stdx::units::{block_size, grouped};

/// Updates the description of the model: its origin, the quality of the fit, and deviations.
pub fn describe(
    model: &mut Model,
    from: &str,
    file: &RunFile,
    measured: &Measured,
    simulated: &Simulated,
    score: Score,
) {
    let drive = file.target.model.as_deref().unwrap_or(&file.target.path);
    model.name = format!("fit-{}", file.id);
    model.description = format!("Fitted to run {} on {drive}, starting from {from}", file.id);
    model.version = 1;
    let mixes = |mixes: &[u8]| mixes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    model.calibration = Calibration {
        source: format!(
            "Fitted to the IOPS test of run {} on {drive}: mixes of {} percent reads; {} are held out",
            file.id,
            mixes(&FITTED_MIXES),
            mixes(&HELD_OUT_MIXES)
        ),
        aim_percent: 0.0,
        scores: vec![score],
        rows: Row::of(measured, &simulated.iops),
        figures: Vec::new(),
        notes: Vec::new(),
    };
    let mut worst: Vec<(f64, String)> = cells(measured, simulated)
        .map(|(cell, iops)| {
            let share = iops / cell.iops;
            let block = block_size(cell.block_bytes.into());
            (
                share.max(1.0 / share),
                format!(
                    "{block} at {} percent reads reaches {:.0} % of the measured IOPS.",
                    cell.read_percent,
                    100.0 * share
                ),
            )
        })
        .filter(|(off, _)| *off > 1.3)
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    model.misfits = worst.into_iter().take(10).map(|(_, text)| text).collect();
    model.misfits.push(
        "Only the IOPS test was fitted: fresh writes, sequential rates and latencies come from the original \
         model or result from the fit."
            .into(),
    );
}

/// Returns each measured cell with its simulated IOPS.
pub fn cells<'a>(measured: &'a Measured, simulated: &'a Simulated) -> impl Iterator<Item = (&'a Cell, f64)> {
    measured.cells.iter().zip(simulated.iops.iter().copied())
}

/// Formats simulated IOPS and their ratio to the measured IOPS.
#[must_use]
pub fn table(measured: &Measured, simulated: &Simulated) -> String {
    let column = |of: &dyn Fn(&Cell) -> u32| {
        let mut all: Vec<u32> = measured.cells.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let mixes = column(&|cell| cell.read_percent.into());
    let mut out = "simulated IOPS, and their percentage of the measured IOPS\n".to_owned();
    out.push_str(&format!(
        "{:>10}{}\n",
        "reads",
        mixes.iter().map(|mix| format!("{mix:>17}%")).collect::<String>()
    ));
    for block in column(&|cell| cell.block_bytes) {
        out.push_str(&format!("{:>10}", block_size(block.into())));
        for mix in &mixes {
            let found = cells(measured, simulated)
                .find(|(cell, _)| (cell.block_bytes, u32::from(cell.read_percent)) == (block, *mix));
            out.push_str(&found.map_or(" ".repeat(18), |(cell, iops)| {
                format!("{:>12} {:>4.0}%", grouped(iops, 0), 100.0 * iops / cell.iops)
            }));
        }
        out.push('\n');
    }
    out
}
