//! Demand variation: IOPS and response times at different numbers of threads and outstanding I/Os. ECW, CBW (clause
//! 13) and DIRTH (clause 14 of PTS-E 1.1 and PTS 2.0) share this flow.

mod answers;
mod pages;
mod pattern;
mod points;

use record::Note;

use crate::conclusions::incidents::Incidents;
use crate::flows::precondition::Precondition;
use crate::flows::rounds::{Verdict, judge};
use crate::method::history::{History, Tracked};
use crate::method::timeline::course;
use crate::{Bench, Context, Outcome, Stop};
use answers::{DemandAnswers, Drawn};
use pattern::{
    BEFORE_HISTOGRAM_MINUTES, BETWEEN_MINUTES, HIGHEST, HISTOGRAM_MINUTES, HISTOGRAM_ROUNDS,
    VARIATION_ROUNDS, demands,
};
use points::{Chosen, Point};

pub(crate) use pattern::{CELLS, Pattern, Stimulus};

pub(crate) fn run(pattern: Pattern, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = DemandAnswers {
        pattern,
        purge: None,
        // Tracks the first minute of each round.
        precondition: Precondition::tracking(1, "Pre Conditioning TC32-QD32".into()),
        between: Vec::new(),
        rounds: Vec::new(),
        history: History::of(vec!["DV TC32-QD32".into()]),
        converged: false,
        chosen: None,
        histograms: Vec::new(),
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut DemandAnswers) -> Result<(), Stop> {
    answers.pattern.check(context)?;
    answers.purge = Some(bench.purge()?);
    let minute = |round, step| answers.pattern.writes(context, HIGHEST, (round, step), 1);
    answers.precondition.run(context, bench, &mut answers.incidents, minute)?;
    vary(context, bench, answers)?;
    answers.chosen = Chosen::of(&answers.means());
    let Some(chosen) = answers.chosen else { return Ok(()) };
    for (index, demand) in chosen.demands().into_iter().enumerate() {
        let round = HISTOGRAM_ROUNDS + index as u32;
        let writes =
            bench.write(&answers.pattern.writes(context, demand, (round, 0), BEFORE_HISTOGRAM_MINUTES))?;
        answers.incidents.see(&writes);
        let minutes = BEFORE_HISTOGRAM_MINUTES;
        let pre_writes = course(&writes, 0.0, f64::from(minutes), minutes as usize);
        answers.histograms.push(Drawn { pre_writes, segment: None });
        let segment = bench.run(&answers.pattern.load(context, demand, (round, 1), HISTOGRAM_MINUTES))?;
        answers.incidents.see(&segment);
        answers.histograms[index].segment = Some(segment);
    }
    Ok(())
}

/// Part B: rounds over all demands, from high to low, until the values for the highest demand are steady.
fn vary(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut DemandAnswers) -> Result<(), Stop> {
    for round in 1.. {
        bench.note(Note::RoundStarted { round, cells: CELLS })?;
        let seeds = VARIATION_ROUNDS + round;
        let writes =
            bench.write(&answers.pattern.writes(context, HIGHEST, (seeds, CELLS), BETWEEN_MINUTES))?;
        answers.incidents.see(&writes);
        // A gap before the writes does not affect the round, but a later gap interrupts it.
        let mut gap = writes.gap_before.map(|_| 0);
        let start = f64::from((round - 1) * (BETWEEN_MINUTES + CELLS));
        answers.between.extend(course(&writes, start, f64::from(BETWEEN_MINUTES), BETWEEN_MINUTES as usize));
        let mut cells = Vec::with_capacity(CELLS as usize);
        for (step, demand) in (0..).zip(demands()) {
            let segment = bench.run(&answers.pattern.load(context, demand, (seeds, step), 1))?;
            gap = segment.gap_before.map(|_| step as usize + 1).or(gap);
            answers.incidents.see(&segment);
            cells.push(Point::of(demand, &segment));
        }
        let tracked = Tracked { value: cells[0].iops, host_limited: cells[0].host_limited };
        answers.rounds.push(cells);
        let verdict = judge(context, bench, &mut answers.history, round, gap, vec![tracked])?;
        answers.converged = verdict == Verdict::Steady;
        if verdict != Verdict::Continue {
            break;
        }
    }
    bench.note(Note::RoundsEnded)
}
