//! Reads a custom test from its table in a plan and expands its loops into the cells of a round.

mod keys;
mod steps;
mod streams;

use std::collections::BTreeMap;
use std::ops::Range;

use record::{
    Access, CustomAverage, CustomCell, CustomFigure, CustomRounds, CustomStep, CustomTest, read_percent_of,
};
use stdx::units::SECOND_NS;
use toml::de::DeTable;

use crate::table::{Complaints, KeyDoc, docs as docs_of, in_order, joined};
use crate::value::Value;
use keys::{Draft, Loop, ORDER, TEST, TRACK, TrackedCell, WRITE};
use pts::TESTS;
use pts::profile::{CELL_NS, Demand};
use pts::steady::WINDOW_ROUNDS;
use steps::{ORIGINAL, STEP};
use streams::STREAM;

/// Time limit for a round.
const LONGEST_ROUND_NS: u128 = SECOND_NS as u128 * 86_400 * 30;
/// Maximum number of cells per round, which limits memory and run time.
const MOST_CELLS: usize = 2_000;

/// Maximum length of a test name, which must fit into the sheet name of a spreadsheet.
const MOST_LETTERS: usize = 31;

/// A custom test: its name, its position in the file, and, if it is valid, the test itself.
pub type Found = (String, Range<usize>, Option<CustomTest>);

pub fn docs() -> Vec<KeyDoc> {
    let mut all = docs_of("test.NAME", TEST);
    all.extend(docs_of("test.NAME.precondition", WRITE));
    all.extend(docs_of("test.NAME.streams", STREAM));
    all.extend(docs_of("test.NAME.track", TRACK));
    all.extend(docs_of("test.NAME.steps", STEP));
    all.extend(docs_of("test.NAME.steps.original", ORIGINAL));
    all
}

/// Reads every table under `test`.
pub fn read_all(complaints: &mut Complaints<'_>, tests: &DeTable<'_>) -> Vec<Found> {
    let mut all = Vec::new();
    for (name, value) in in_order(tests) {
        let key = joined("test", name.get_ref());
        if let Some(problem) = wrong_name(name.get_ref()) {
            complaints.add(name.span().start, &key, problem);
        }
        let test = match Value(value).table() {
            Ok(table) => read(complaints, &key, name.get_ref(), name.span(), table),
            Err(problem) => {
                complaints.add(problem.at.start, &key, problem.text);
                None
            }
        };
        all.push((name.get_ref().to_string(), name.span(), test));
    }
    all
}

fn wrong_name(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > MOST_LETTERS || !name.chars().all(plain) {
        return Some(format!("use up to {MOST_LETTERS} lowercase letters, digits and hyphens"));
    }
    let taken = TESTS.iter().any(|test| test.name == name || test.family == name);
    taken.then(|| format!("'{name}' is a PTS test; choose another name"))
}

fn read(
    complaints: &mut Complaints<'_>,
    path: &str,
    name: &str,
    at: Range<usize>,
    table: &DeTable<'_>,
) -> Option<CustomTest> {
    let mut draft = Draft::default();
    let errors = complaints.count();
    complaints.section(path, table, TEST, &mut draft);
    if complaints.count() > errors {
        return None;
    }
    let places: BTreeMap<&str, usize> =
        in_order(table).into_iter().map(|(key, _)| (key.get_ref().as_ref(), key.span().start)).collect();
    match draft.test(name) {
        Ok(test) => Some(test),
        Err((key, problem)) => {
            let place = places.get(key);
            complaints.add(place.copied().unwrap_or(at.start), &joined(path, key), problem);
            None
        }
    }
}

/// A key, and the problem with it.
type Contradiction = (&'static str, String);

impl Draft {
    fn test(&self, name: &str) -> Result<CustomTest, Contradiction> {
        let (steps, cells) =
            if self.steps.is_empty() { (Vec::new(), self.cells()?) } else { self.replayed()? };
        let tracked = self.tracked(&cells)?;
        let rounds = self.rounds.unwrap_or(CustomRounds::Fixed(1));
        let average = self.average(rounds, &tracked)?;
        if self.finds_knee && cells.len() < 3 {
            return Err(("find-knee", "finding a knee requires at least three cells".into()));
        }
        Ok(CustomTest {
            name: name.into(),
            title: self.title.clone().unwrap_or_else(|| name.into()),
            purpose: self.purpose.clone().unwrap_or_else(|| "see the plan".into()),
            purge: self.purge,
            precondition: self.precondition.clone(),
            streams: self.streams.clone(),
            cells,
            steps,
            rounds,
            tracked,
            figure: self.figure.unwrap_or(CustomFigure::Iops),
            average,
            finds_knee: self.finds_knee,
        })
    }

    /// Workloads in the order of `rw`; a mixed workload is repeated for each percentage of reads.
    fn loads(&self) -> Result<Vec<(Access, u8)>, Contradiction> {
        if !self.streams.is_empty() {
            let is_random = self.streams.iter().any(|stream| stream.access == Access::Random);
            let access = if is_random { Access::Random } else { Access::Sequential };
            return Ok(vec![(access, read_percent_of(&self.streams))]);
        }
        if self.rw.is_empty() {
            return Err(("rw", "is missing; add it, such as rw = \"randread\"".into()));
        }
        let mixed = self.rw.iter().any(|(_, read)| read.is_none());
        if mixed && self.mixes.is_empty() {
            return Err(("rwmixread", "is missing: rw and randrw need percentages of reads".into()));
        }
        if !mixed && !self.mixes.is_empty() {
            return Err(("rwmixread", "applies only to rw and randrw, and rw lists neither".into()));
        }
        let of = |(access, read): &(Access, Option<u8>)| -> Vec<(Access, u8)> {
            read.map_or_else(|| self.mixes.clone(), |read| vec![read])
                .into_iter()
                .map(|r| (*access, r))
                .collect()
        };
        Ok(self.rw.iter().flat_map(of).collect())
    }

    fn loops(&self) -> Result<Vec<Loop>, Contradiction> {
        let is_separate = !self.tc.is_empty() || !self.qd.is_empty();
        if is_separate && !self.demands.is_empty() {
            return Err(("demand", "replaces tc and qd; remove them".into()));
        }
        let standard = match self.demands.is_empty() {
            true => vec![Loop::Rw, Loop::Bs, Loop::Tc, Loop::Qd],
            false => vec![Loop::Rw, Loop::Bs, Loop::Demand],
        };
        if self.order.is_empty() {
            return Ok(standard);
        }
        let word =
            |sought: &Loop| ORDER.iter().find(|(_, known)| known == sought).map_or("", |(word, _)| word);
        if let Some(strange) = self.order.iter().find(|one| !standard.contains(one)) {
            return Err(("order", format!("\"{}\" is not a loop of this test", word(strange))));
        }
        // Loops that are missing from `order` are the innermost, in the standard order.
        let rest = standard.into_iter().filter(|one| !self.order.contains(one));
        Ok(self.order.iter().copied().chain(rest).collect())
    }

    /// Returns the block sizes in the order of `bs` or, if there are streams, the size of the largest I/O.
    fn block_sizes(&self) -> Result<Vec<u32>, Contradiction> {
        let Some(largest) = self.streams.iter().map(|stream| stream.block_bytes).max() else {
            return Ok(self.blocks.clone());
        };
        if !self.rw.is_empty() || !self.blocks.is_empty() || !self.mixes.is_empty() {
            return Err(("streams", "replaces rw, rwmixread and bs; remove them".into()));
        }
        let sum: u32 = self.streams.iter().map(|stream| u32::from(stream.share_percent)).sum();
        if sum != 100 {
            return Err(("streams", format!("the shares add up to {sum} % instead of 100 %")));
        }
        Ok(vec![largest])
    }

    /// Returns the steps of a trace with their cells.
    fn replayed(&self) -> Result<(Vec<CustomStep>, Vec<CustomCell>), Contradiction> {
        let others = [
            ("streams", self.streams.is_empty()),
            ("rw", self.rw.is_empty()),
            ("rwmixread", self.mixes.is_empty()),
            ("bs", self.blocks.is_empty()),
            ("tc", self.tc.is_empty()),
            ("qd", self.qd.is_empty()),
            ("demand", self.demands.is_empty()),
            ("order", self.order.is_empty()),
            ("ramp_time", self.ramp_ns == 0),
            ("rounds", self.rounds.is_none()),
            ("track", self.track.is_empty()),
            ("find-knee", !self.finds_knee),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, is_absent)| !is_absent) {
            return Err((key, "does not apply to a test with steps; remove it".into()));
        }
        if self.steps.len() > MOST_CELLS {
            return Err(("steps", format!("there are more than {MOST_CELLS} steps")));
        }
        let length_ns = self.run_ns.unwrap_or(CELL_NS);
        let (steps, cells): (Vec<_>, Vec<_>) =
            self.steps.iter().map(|step| step.of_length(length_ns)).unzip();
        let cells: Vec<CustomCell> = cells.into_iter().flatten().collect();
        if cells.is_empty() {
            return Err(("steps", "no step reads or writes".into()));
        }
        let total_ns = u128::from(length_ns) * self.steps.len() as u128;
        if total_ns > LONGEST_ROUND_NS {
            return Err(("runtime", "the steps would take more than 30 days".into()));
        }
        Ok((steps, cells))
    }

    fn cells(&self) -> Result<Vec<CustomCell>, Contradiction> {
        let (loads, blocks) = (self.loads()?, self.block_sizes()?);
        if blocks.is_empty() {
            return Err(("bs", "is missing; add it, such as bs = \"4KiB\"".into()));
        }
        let mut cells = vec![CustomCell {
            access: Access::Random,
            read_percent: 0,
            block_bytes: 0,
            threads: None,
            queue_depth: None,
            run_ns: self.run_ns.unwrap_or(CELL_NS),
            ramp_ns: self.ramp_ns,
        }];
        for one in self.loops()? {
            cells = cells.iter().flat_map(|cell| self.varied(*cell, one, &loads, &blocks)).collect();
            if cells.len() > MOST_CELLS {
                return Err(("rw", format!("the loops yield more than {MOST_CELLS} cells per round")));
            }
        }
        let total_ns: u128 = cells.iter().map(|cell| u128::from(cell.run_ns + cell.ramp_ns)).sum();
        if total_ns > LONGEST_ROUND_NS {
            return Err(("runtime", "a round would take more than 30 days".into()));
        }
        Ok(cells)
    }

    fn varied(&self, cell: CustomCell, one: Loop, loads: &[(Access, u8)], blocks: &[u32]) -> Vec<CustomCell> {
        match one {
            Loop::Rw => loads
                .iter()
                .map(|&(access, read_percent)| CustomCell { access, read_percent, ..cell })
                .collect(),
            Loop::Bs => blocks.iter().map(|&block_bytes| CustomCell { block_bytes, ..cell }).collect(),
            Loop::Tc if self.tc.is_empty() => vec![cell],
            Loop::Tc => self.tc.iter().map(|&tc| CustomCell { threads: Some(tc), ..cell }).collect(),
            Loop::Qd if self.qd.is_empty() => vec![cell],
            Loop::Qd => self.qd.iter().map(|&qd| CustomCell { queue_depth: Some(qd), ..cell }).collect(),
            Loop::Demand => {
                let of = |demand: &Demand| CustomCell {
                    threads: Some(demand.threads),
                    queue_depth: Some(demand.queue_depth),
                    ..cell
                };
                self.demands.iter().map(of).collect()
            }
        }
    }

    fn tracked(&self, cells: &[CustomCell]) -> Result<Vec<u32>, Contradiction> {
        let mut all = Vec::new();
        for tracked in &self.track {
            let fits = |cell: &&CustomCell| tracked.matches(cell);
            match cells.iter().filter(fits).count() {
                1 => {
                    all.extend(cells.iter().position(|cell| tracked.matches(cell)).map(|place| place as u32))
                }
                0 => return Err(("track", "no cell of the loops matches".into())),
                many => {
                    return Err((
                        "track",
                        format!("{many} cells match; also specify rw, rwmixread, bs, tc or qd"),
                    ));
                }
            }
        }
        match (self.rounds, cells.len()) {
            (Some(CustomRounds::UntilSteady), 1) => Ok(vec![0]),
            (Some(CustomRounds::UntilSteady), _) if all.is_empty() => Err((
                "track",
                "is missing: specify which cells determine steady state, such as track = { rw = \
                 \"randwrite\", bs = \"4KiB\" }"
                    .into(),
            )),
            _ => Ok(all),
        }
    }

    fn average(&self, rounds: CustomRounds, tracked: &[u32]) -> Result<CustomAverage, Contradiction> {
        let most = match rounds {
            CustomRounds::Fixed(rounds) => rounds,
            CustomRounds::UntilSteady => WINDOW_ROUNDS as u32,
        };
        let rounds = self.average.unwrap_or(most);
        if rounds > most {
            return Err((
                "average",
                format!("{rounds} rounds requested, but the test has only {most}; use at most {most}"),
            ));
        }
        if self.from_steady && (tracked.is_empty() || most < WINDOW_ROUNDS as u32) {
            let text = "\"steady\" requires track and at least five rounds";
            return Err(("average-from", text.into()));
        }
        Ok(CustomAverage { rounds, from_steady: self.from_steady })
    }
}

impl TrackedCell {
    fn matches(&self, cell: &CustomCell) -> bool {
        let rw = self.rw.is_none_or(|(access, read)| {
            access == cell.access && read.is_none_or(|read| read == cell.read_percent)
        });
        rw && self.mix.is_none_or(|mix| mix == cell.read_percent)
            && self.block_bytes.is_none_or(|bytes| bytes == cell.block_bytes)
            && self.threads.is_none_or(|tc| cell.threads == Some(tc))
            && self.queue_depth.is_none_or(|qd| cell.queue_depth == Some(qd))
    }
}
