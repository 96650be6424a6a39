//! A run as a page of text, and as one JSON document.

use std::collections::BTreeMap;

use console::{columns, health};
use estimate::cost::TestCost;
use pts::exhibit::{Cell, Exhibit, Table};
use pts::explain::Explanation;
use pts::{Acceptance, Outcome, Profile, Reason, Replayed, Standing, host_limit};
use record::{Ceiling, Entry, Event, Loaded, Run, RunFile, TargetFacts};
use report::parts::number;
use serde_json::{Value, json};
use stdx::text::on_one_line;
use stdx::units::{count_of, grouped, span};

use crate::places;
use crate::provenance::provenance;
use failure::message::erase;
use failure::{Done, Exit, Failure};
use host::checks;

/// Separator between two key figures on a line.
const FIGURE_GAP: &str = "   ";
/// Default width of a terminal.
const TERMINAL_COLUMNS: usize = 80;

/// A run reconstructed from its journal.
pub struct Summary {
    /// The run.
    pub run: Run,
    /// Its journal.
    pub loaded: Loaded,
    /// Its evaluated tests.
    pub replayed: Replayed,
    /// Whether a process is executing the run.
    is_in_progress: bool,
}

impl Summary {
    /// Loads and evaluates a run.
    pub fn of(run: Run) -> Done<Self> {
        let loaded = run.load()?;
        Self::read(run, loaded, false)
    }

    /// Evaluates a run whose journal was read after it was determined whether a process is executing the run.
    pub fn read(run: Run, loaded: Loaded, is_in_progress: bool) -> Done<Self> {
        let replayed =
            pts::replay(&run.file, &loaded.entries).map_err(|text| Failure::text(Exit::Run, text))?;
        Ok(Self { run, loaded, replayed, is_in_progress })
    }

    /// Returns the summary of a run that another process may be executing.
    pub fn live(run: Run) -> Done<Self> {
        // Check this before loading the journal; otherwise, a run that completed in the meantime would be shown
        // as interrupted. If this cannot be determined, for example without file locks, the run counts as not
        // in progress.
        let is_in_progress = run.is_in_progress().unwrap_or(false);
        Ok(Self { is_in_progress, ..Self::of(run)? })
    }

    fn is_closed(&self) -> bool {
        self.loaded.entries.iter().any(|e| matches!(e.event, Event::Closed))
    }

    /// Returns the state: `complete`, `running` or `not complete`.
    pub fn state(&self) -> &'static str {
        match (self.is_closed(), self.is_in_progress) {
            (true, _) => "complete",
            (false, true) => "running",
            (false, false) => "not complete",
        }
    }

    /// Returns why a run that is neither complete nor in progress stopped, if it recorded a reason.
    fn stopped(&self) -> Option<&str> {
        let reason = self.loaded.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Interrupted { reason } => Some(Some(reason.as_str())),
            Event::Resumed { .. } => Some(None),
            _ => None,
        });
        reason.flatten().filter(|_| !self.is_closed() && !self.is_in_progress)
    }

    fn is_running(&self) -> bool {
        !self.is_closed() && self.is_in_progress
    }

    /// Returns the current activity of a run in progress, and when it started; `None` for other runs.
    pub fn in_progress(&self) -> Option<String> {
        if !self.is_running() {
            return None;
        }
        let now = record::wall_now();
        let age = |since: jiff::Timestamp| elapsed(since, now);
        let last = self.loaded.entries.last().map_or(self.run.file.created, |entry| entry.wall);
        let phase = estimate::phase::phase(&self.loaded.entries);
        Some(format!("running for {}; {phase}; last record {} ago", age(self.run.file.created), age(last)))
    }

    /// Returns the state of the run.
    pub fn standing(&self) -> Standing {
        Standing::of(&self.loaded.entries, &self.replayed.outcomes, self.is_in_progress)
    }

    /// Returns the results as text.
    pub fn text(&self) -> String {
        let file = &self.run.file;
        let mut out = String::new();
        let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<9} {text}\n"));
        line("run", &file.id);
        labels(&file.labels).iter().for_each(|(name, text)| line(name, text));
        if let Some(doing) = self.in_progress() {
            line("state", &doing);
        }
        provenance(&self.run).iter().for_each(|words| line("copy", words));
        line("target", &target(file));
        let members = file.target.array.iter().flat_map(|array| &array.members);
        members.for_each(|member| line("member", &format!("{} {}", member.path, member.words())));
        if let Some(ceiling) = &file.ceiling {
            line("host", &host_limits(ceiling));
        }
        if let Some(concurrent) = &file.concurrent {
            let targets = concurrent.targets.join(", ");
            line("alongside", &format!("{targets} (campaign {})", concurrent.campaign));
        }
        ways(&self.loaded.entries).iter().for_each(|way| line("engine", way));
        let profile = profile(file);
        if let Some(origin) = &file.origin {
            line("origin", &origin_text(origin));
            for stated in &origin.marks {
                line("mark", &format!("{}: {}", stated.mark.title(), stated.details.join("; ")));
            }
            origin.remarks.iter().for_each(|remark| line("note", remark));
        }
        for outcome in &self.replayed.outcomes {
            // A run may contain tests that are not in its profile.
            let is_listed = file.origin.is_some() || outcome.clause.is_some();
            line("test", &title(outcome, if is_listed { profile } else { outcome.header.requirement }));
            line("verdict", &verdict(outcome, self.is_in_progress));
            if outcome.converged != Some(true) {
                let texts = outcome.explained.iter().map(ToString::to_string);
                texts.filter(|text| !outcome.notes.contains(text)).for_each(|text| line("state", &text));
            }
            outcome.notes.iter().for_each(|note| line("note", note));
            self.spent()
                .iter()
                .filter(|spent| spent.test == outcome.test)
                .for_each(|spent| line("took", &spent.to_string()));
        }
        if let Some(reason) = self.stopped() {
            line("stopped", &on_one_line(reason));
        }
        if !self.replayed.modified.is_empty() {
            line("modified", &pts::listed(&self.replayed.modified));
        }
        if let Some(health) = health::over(&self.loaded.entries) {
            line("health", &health);
        }
        if let Some(found) = checks::of_run(&self.loaded.entries) {
            line("checks", &checks::summary(found));
        }
        if let Some(torn) = self.loaded.torn {
            line("note", &format!("{torn} and was ignored"));
        }
        out + &self.tables() + &self.figures()
    }

    /// Formats the tables of all tests.
    fn tables(&self) -> String {
        let mut out = String::new();
        // A test that stopped early has no values for some of its tables.
        let shown = |outcome: &'_ Outcome| {
            let is_whole = outcome.stop.is_none();
            move |(_, table): &(String, &Table)| is_whole || table.has_values()
        };
        let outcomes = self.replayed.outcomes.iter();
        let all: Vec<(String, &Table)> =
            outcomes.flat_map(|outcome| named_tables(outcome).filter(shown(outcome))).collect();
        // Several tests, or jobs in an imported run, may have tables with the same heading.
        let mut tables_by_heading: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, table) in &all {
            *tables_by_heading.entry(&table.heading).or_default() += 1;
        }
        for (place, table) in &all {
            out.push('\n');
            if tables_by_heading[table.heading.as_str()] > 1 {
                out.push_str(&format!("{place}\n"));
            }
            out.push_str(&report::text_table(table));
        }
        out
    }

    /// Formats the key figures, one line per test, and explains the host-limited mark if it is used.
    fn figures(&self) -> String {
        let outcomes = &self.replayed.outcomes;
        let lines: Vec<String> = outcomes.iter().map(key_figures).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() {
            return String::new();
        }
        let marked = |figure: &pts::KeyFigure| figure.value.is_some() && figure.host_limited;
        let is_marked = outcomes.iter().flat_map(|outcome| &outcome.key_figures).any(marked);
        // As below tables, in two lines of less than 80 columns.
        let legend =
            if is_marked { host_limit::legend().replace("; ", ";\n  ") + "\n" } else { String::new() };
        format!("\n{}\n{legend}", lines.join("\n"))
    }

    /// Returns the results as a document.
    pub fn json(&self) -> Value {
        let file = &self.run.file;
        json!({
            "run": file.id,
            "path": places::text_of(&self.run.dir),
            "created": file.created.to_string(),
            "state": self.state(),
            "name": file.labels.name,
            "tags": file.labels.tags,
            "notes": file.labels.notes,
            "in_progress": self.in_progress(),
            "copy": provenance(&self.run),
            "profile": file.profile,
            "target": file.target,
            "host": file.host,
            "ceiling": file.ceiling,
            "engines": ways(&self.loaded.entries),
            "settings": file.settings,
            "origin": file.origin,
            "concurrent": file.concurrent,
            "modified": pts::texts(&self.replayed.modified),
            "health": health::over(&self.loaded.entries),
            "host_checks": checks::of_run(&self.loaded.entries),
            "journal_sha256": self.loaded.digest.to_string(),
            "spent": self.spent().iter().map(spent_json).collect::<Vec<_>>(),
            "tests": self.replayed.outcomes.iter().map(outcome_json).collect::<Vec<_>>(),
            "verdict": self.verdict(),
        })
    }

    /// Returns whether one of the run's tests rejects the drive.
    pub fn is_rejected(&self) -> bool {
        let verdicts = self.replayed.outcomes.iter().filter_map(|outcome| outcome.acceptance.as_ref());
        verdicts.into_iter().any(|acceptance| !acceptance.is_pass())
    }

    /// Returns the tests' actual and estimated costs.
    fn spent(&self) -> Vec<TestCost> {
        estimate::cost::of_run(&self.run.file, &self.loaded.entries)
    }

    /// Returns the verdict on all tests.
    pub fn verdict(&self) -> &'static str {
        self.standing().verdict()
    }
}

/// Returns the operator's labels for a run, one per line.
fn labels(labels: &record::Labels) -> Vec<(&'static str, String)> {
    let name = labels.name.clone().map(|name| ("name", name));
    let tags = (!labels.tags.is_empty()).then(|| ("tags", labels.tags.join(", ")));
    let notes = labels.notes.iter().map(|note| ("note", note.clone()));
    name.into_iter().chain(tags).chain(notes).collect()
}

/// Formats the time between two wall-clock times; 0 if the clock was set back.
fn elapsed(since: jiff::Timestamp, now: jiff::Timestamp) -> String {
    span(u64::try_from(now.duration_since(since).as_nanos()).unwrap_or(0))
}

/// Returns the options that confirm erasing the target; one per member for an array.
pub fn erase_options(target: &TargetFacts) -> String {
    match &target.array {
        None => erase([&target.identity]),
        Some(array) => erase(array.members.iter().map(|member| &member.identity)),
    }
}

/// Returns the target on one line, even if its name contains control characters.
pub fn target(file: &RunFile) -> String {
    on_one_line(&file.target_line()).into_owned()
}

/// Returns the revision of the PTS, or its equivalent for an imported run.
pub fn profile(file: &RunFile) -> &str {
    match &file.origin {
        Some(_) => "imported, not PTS",
        None => Profile::named(&file.profile).map_or(file.profile.as_str(), |p| p.revision),
    }
}

fn origin_text(origin: &record::Origin) -> String {
    let date = origin.date.as_deref().map(|date| format!(", {date}")).unwrap_or_default();
    if let Some(run) = &origin.exported_run {
        return format!("export of run {run} ({}{date}), measured by {}", origin.file, origin.tool);
    }
    let (how, typed) =
        if origin.transcribed { ("published figures", ", transcribed") } else { ("result file", "") };
    format!("{how} of {}{typed} ({}{date}); not measured by Plateau", origin.tool, origin.file)
}

/// Formats the host's ceiling on one line.
fn host_limits(ceiling: &Ceiling) -> String {
    let clock = format!("clock {} ({:.0} ns)", ceiling.clock.source, ceiling.clock.cost_ns);
    let ring = ceiling.no_op_ring.last().or(ceiling.null.last());
    let rate = ring.map_or_else(String::new, |cost| {
        format!("{} IOPS at QD {} and ", grouped(1e9 / cost.cpu_ns, 0), cost.queue_depth)
    });
    format!("{clock}; per thread {rate}{:.1} GB/s of data", ceiling.data_bytes_per_second / 1e9)
}

/// Returns a test's title, with the profile that contains it, thread count and queue depth.
fn title(outcome: &Outcome, profile: &str) -> String {
    let Outcome { title, header, .. } = outcome;
    match (header.threads, header.queue_depth) {
        (None, None) => format!("{title}, {profile}, TC and QD {}", pts::ABSENT),
        (threads, depth) => format!("{title}, {profile}, TC {} QD {}", number(threads), number(depth)),
    }
}

/// Returns the distinct I/O paths and placements of the load; empty for simulated drives.
fn ways(entries: &[Entry]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in entries {
        let (Event::Measured(segment) | Event::Preconditioned(segment)) = &entry.event else { continue };
        let Some(host) = &segment.host else { continue };
        let way = format!("{}; {}", segment.io_path, host.placement);
        if !all.contains(&way) {
            all.push(way);
        }
    }
    all
}

/// Returns the number of completed rounds, which some tests call zones or cycles.
fn completed_rounds(outcome: &Outcome) -> String {
    let round = pts::Test::named(&outcome.test).map_or("round", |test| test.round_name);
    count_of(outcome.rounds, &format!("completed {round}"))
}

fn verdict(outcome: &Outcome, is_in_progress: bool) -> String {
    if is_in_progress && outcome.stop == Some(pts::Stop::EndOfJournal) {
        return format!("none yet: {} so far", completed_rounds(outcome));
    }
    if let Some(acceptance) = &outcome.acceptance {
        return acceptance.to_string();
    }
    match (outcome.converged, outcome.window.first()) {
        (Some(true), Some((_, w))) => format!("steady state in rounds {}-{}", w.first_round, w.last_round),
        // The source of an imported run gave a verdict without the values.
        (Some(true), None) => {
            format!("steady state in rounds {}, according to the source", outcome.header.rounds)
        }
        (Some(_), _) => format!("steady state NOT reached in {}", outcome.missed_rounds()),
        (None, _) if outcome.stop.is_none() && !outcome.loops.is_empty() => {
            "complete; not judged: too few rounds for steady state".to_owned()
        }
        (None, _) if outcome.stop.is_none() => "complete; this test does not require steady state".to_owned(),
        (None, _) => format!(
            "not complete: {}; {}",
            completed_rounds(outcome),
            outcome.stop.as_ref().map_or_else(String::new, ToString::to_string)
        ),
    }
}

fn tables(outcome: &Outcome) -> impl Iterator<Item = &Table> {
    named_tables(outcome).map(|(_, table)| table)
}

/// Returns a test's tables, each with its test and page.
fn named_tables(outcome: &Outcome) -> impl Iterator<Item = (String, &Table)> {
    let exhibits = outcome.pages.iter().flat_map(|page| page.exhibits.iter().map(move |each| (page, each)));
    exhibits.filter_map(|(page, exhibit)| match exhibit {
        Exhibit::Table(table) => Some((format!("{}: {}", outcome.title, page.title), table)),
        _ => None,
    })
}

fn outcome_json(outcome: &Outcome) -> Value {
    json!({
        "test": outcome.test,
        "converged": outcome.converged,
        "rounds": outcome.rounds,
        "window": outcome.window.iter().map(|(name, s)| json!({
            "variable": name,
            "first_round": s.first_round,
            "last_round": s.last_round,
            "mean": s.mean,
            "range": s.range,
            "range_allowed": s.range_allowed,
            "slope": s.slope,
            "intercept": s.intercept,
            "slope_excursion": s.slope_excursion,
            "slope_allowed": s.slope_allowed,
            "correlation": s.correlation,
            "steady": s.steady,
            "host_limited": s.host_limited,
        })).collect::<Vec<_>>(),
        "explained": outcome.explained.iter().map(explained_json).collect::<Vec<_>>(),
        "tables": tables(outcome).map(table_json).collect::<Vec<_>>(),
        "key_figures": outcome.key_figures.iter().map(|figure| json!({
            "name": figure.name,
            "value": figure.value,
            "unit": figure.unit.symbol(),
            "host_limited": figure.host_limited,
        })).collect::<Vec<_>>(),
        "acceptance": outcome.acceptance.as_ref().map(acceptance_json),
        "notes": outcome.notes,
        "stopped": outcome.stop.as_ref().map(ToString::to_string),
    })
}

fn acceptance_json(acceptance: &Acceptance) -> Value {
    let reason = |reason: &Reason| {
        json!({
            "reason": reason.kind(),
            "text": reason.to_string(),
            "offset_bytes": reason.offset_bytes(),
        })
    };
    json!({
        "verdict": acceptance.word(),
        "reasons": acceptance.reasons.iter().map(reason).collect::<Vec<_>>(),
        "unchecked": acceptance.unchecked,
    })
}

fn spent_json(spent: &TestCost) -> Value {
    json!({
        "test": spent.test,
        "ended": spent.ended,
        "taken": spent.taken,
        "expected": spent.expected(),
        "shortest": spent.estimated.map(|(shortest, _)| shortest),
        "longest": spent.estimated.map(|(_, longest)| longest),
    })
}

fn explained_json(explanation: &Explanation) -> Value {
    json!({
        "variable": explanation.variable,
        "latest": explanation.latest,
        "blocked_by": explanation.blocked_by(),
        "diagnosis": explanation.diagnosis.map(|diagnosis| diagnosis.to_string()),
        "forecast": explanation.forecast.map(|forecast| forecast.to_string()),
        "text": explanation.to_string(),
    })
}

fn table_json(table: &Table) -> Value {
    let cell = |cell: &Cell| match cell {
        Cell::Value(value) | Cell::HostLimited(value) => json!(value),
        Cell::Absent(_) => Value::Null,
    };
    json!({
        "heading": table.heading,
        "row_heading": table.row_heading,
        "column_heading": table.column_heading,
        "columns": table.columns,
        "rows": table.rows.iter().map(|row| json!({
            "name": row.name,
            "values": row.cells.iter().map(cell).collect::<Vec<_>>(),
            "host_limited": row.cells.iter().map(|cell| matches!(cell, Cell::HostLimited(_))).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// Formats key figures in lines that fit a terminal: `RND 4KiB W 19,561 IOPS`.
fn key_figures(outcome: &Outcome) -> String {
    let has_figures = outcome.key_figures.iter().any(|figure| figure.value.is_some());
    if outcome.stop.is_some() && !has_figures && !outcome.key_figures.is_empty() {
        return format!("not complete: {} has no key figures yet", outcome.title);
    }
    let figure = |f: &pts::KeyFigure| match f.value {
        Some(value) => {
            let value = host_limit::marked(grouped(value, f.decimals), f.host_limited);
            format!("{} {value} {}", f.name, f.unit)
        }
        None => format!("{} {}", f.name, f.absent),
    };
    // Figures from a test that is incomplete or not in steady state must not look like valid results.
    let doubt = match (&outcome.stop, outcome.converged) {
        _ if outcome.key_figures.is_empty() => None,
        (Some(_), _) => Some("not complete:"),
        (None, Some(false)) => Some("not steady:"),
        (None, _) => None,
    };
    let mut lines: Vec<String> = doubt.into_iter().map(str::to_owned).collect();
    for figure in outcome.key_figures.iter().map(figure) {
        match lines.last_mut() {
            Some(last) if columns(last) + FIGURE_GAP.len() + columns(&figure) <= TERMINAL_COLUMNS => {
                last.push_str(FIGURE_GAP);
                last.push_str(&figure);
            }
            _ => lines.push(figure),
        }
    }
    lines.join("\n")
}
