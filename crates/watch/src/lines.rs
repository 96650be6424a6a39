//! A run as lines. Screens and plain text consist of the same lines.

mod command;
mod hour;
mod label;
mod now;
mod window;
mod wrap;

use follow::live::{Live, Place, estimate_text};
use ratatui::text::{Line, Span};
use record::Health;
use stdx::units::{CELSIUS, amount_base10, grouped, span};

use self::label::labelled;
use self::wrap::wrapped;
use crate::paint::Paint;
use crate::shown::{Item, Shown};

/// Maximum number of lines of the target's description. The last line is truncated.
const TARGET_LINES: usize = 2;

/// The sections of a run, in order of importance.
pub(crate) struct Sections {
    pub head: Vec<Line<'static>>,
    pub now: Vec<Line<'static>>,
    pub window: Vec<Line<'static>>,
    pub drive: Vec<Line<'static>>,
    pub hour: Vec<Line<'static>>,
    pub command: Vec<Line<'static>>,
}

impl Sections {
    /// Returns the sections for a screen of `width` columns. The window, the drive and the command are `right` columns
    /// wide.
    pub fn of(shown: &Shown, paint: Paint, width: usize, right: usize) -> Self {
        let live = Live::of(&shown.snapshot);
        let fitted = |lines: Vec<Line<'static>>, width| -> Vec<Line<'static>> {
            lines.into_iter().map(|line| paint.cut(line, width)).collect()
        };
        Self {
            head: fitted(head(shown, &live, paint, width), width),
            now: fitted(now::lines(shown, &live, paint, width), width),
            window: fitted(window::lines(&live, paint, right), right),
            drive: fitted(drive(shown, &live, paint), right),
            hour: fitted(hour::lines(shown, paint, width), width),
            command: fitted(command::lines(shown, paint, right), right),
        }
    }
}

/// Returns the runs as plain text.
#[must_use]
pub fn plain(items: &[Item], width: usize) -> String {
    let paint = Paint::PLAIN;
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let lines = match &item.shown {
            Ok(shown) => {
                let Sections { head, now, window, drive, hour, command } =
                    Sections::of(shown, paint, width, width);
                [head, now, window, drive, hour, command].concat()
            }
            Err(why) => vec![Line::from(paint.text(&format!("{}  cannot be read: {why}", item.id)))],
        };
        for line in lines {
            let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }
    out
}

/// Returns the line for a run in a list. If `width` is too small for everything, the figure and less
/// important parts are omitted, but never the marks of a displayed figure.
pub(crate) fn row(item: &Item, paint: Paint, is_selected: bool, ids: usize, width: usize) -> Line<'static> {
    let pointer = if is_selected { "> " } else { "  " };
    let id = format!("{:<ids$}", item.id);
    let id = if is_selected { paint.bold(&id) } else { paint.plain(&id) };
    let start = vec![paint.plain(pointer), id, Span::raw("  ")];
    let shown = match &item.shown {
        Ok(shown) => shown,
        Err(why) => return Line::from([start, vec![paint.bad(&format!("cannot be read: {why}"))]].concat()),
    };
    let marks: Vec<_> =
        shown.marks().into_iter().flat_map(|mark| [Span::raw("  "), paint.mark(mark)]).collect();
    let line = |what: &str, figure: &str| {
        Line::from([&start[..], &[paint.plain(what), paint.plain(figure)], &marks].concat())
    };
    let Some(live) = shown.present() else { return line(verdict(shown), "") };
    let figure = live.seconds.last().map(|second| format!("  {} IOPS", grouped(second.iops, 0)));
    let figure = figure.unwrap_or_default();
    let short = now::short_place(live);
    let ways = [line(&now::place(live), &figure), line(&short, &figure)];
    ways.into_iter().find(|line| line.width() <= width).unwrap_or_else(|| line(&short, ""))
}

fn verdict(shown: &Shown) -> &'static str {
    shown.snapshot.standing.verdict()
}

fn head(shown: &Shown, live: &Live<'_>, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let file = &shown.snapshot.run.file;
    let name = file.labels.name.as_deref().unwrap_or(&file.id);
    let mut first = vec![paint.bold(name), Span::raw("  ")];
    first.push(match shown.snapshot.standing {
        pts::Standing::Incomplete | pts::Standing::Unsteady => paint.bad(verdict(shown)),
        pts::Standing::Running => paint.good(verdict(shown)),
        _ => paint.plain(verdict(shown)),
    });
    for mark in shown.marks() {
        first.extend([Span::raw("  "), paint.mark(mark)]);
    }
    let mut lines = vec![Line::from(first)];
    if file.labels.name.is_some() {
        lines.push(Line::from(paint.soft(&file.id)));
    }
    let mut target = wrapped(&paint.text(&format!("{}  {}", file.target_line(), file.profile)), width);
    let rest = target.split_off(target.len().min(TARGET_LINES - 1)).join(" ");
    target.extend(Some(rest).filter(|rest| !rest.is_empty()));
    lines.extend(target.iter().map(|line| Line::from(paint.soft(line))));
    if shown.is_running() {
        lines.extend(course(live, paint, width));
    }
    // The sentence about a full window would repeat what is shown below it.
    let is_repeated = shown.present().is_some()
        && !live.variables.is_empty()
        && live.variables.iter().all(|variable| variable.shares.is_some());
    if !is_repeated {
        // While the run reports what it is doing, its round and cell are shown below. They are updated once a second,
        // so the numbers from the journal would contradict them.
        let meaning = live.meaning.as_ref().filter(|_| shown.present().is_some());
        let sentence = wrapped(&paint.text(meaning.unwrap_or(&live.sentence)), width);
        lines.extend(sentence.into_iter().map(|line| Line::from(paint.plain(&line))));
    }
    lines
}

/// Returns the parts of the run, with the current one emphasized.
fn course(live: &Live<'_>, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    for (index, step) in live.steps.iter().enumerate() {
        let name = match step.place {
            Place::Done => paint.good(&step.name),
            Place::Now => paint.bold(&format!("[{}]", step.name)),
            Place::Ahead => paint.soft(&step.name),
        };
        let arrow = paint.soft(if index + 1 < live.steps.len() { " >" } else { "" });
        let mut last = lines.pop().unwrap_or_default();
        if index > 0 && last.width() + 1 + name.width() + arrow.width() > width {
            lines.push(std::mem::take(&mut last));
        } else if index > 0 {
            last.push_span(" ");
        }
        last.push_span(name);
        last.push_span(arrow);
        lines.push(last);
    }
    lines
}

/// Returns the drive, the amount written, and the age of the displayed data.
fn drive(shown: &Shown, live: &Live<'_>, paint: Paint) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if live.written_bytes > 0 || live.expected_written_bytes.is_some() {
        lines.push(labelled("written", vec![paint.plain(&written(shown, live))], paint));
    }
    let celsius = shown.present().and_then(|now| now.temperature_celsius);
    let health = live.health.map_or_else(Vec::new, |health| health_texts(health, celsius, paint));
    if !health.is_empty() {
        lines.push(labelled("drive", separated(health), paint));
    }
    if let (true, Some(left)) = (shown.is_running(), live.left_ns) {
        lines.push(labelled("time left", vec![paint.plain(&estimate_text(left))], paint));
    }
    let entries = &shown.snapshot.loaded.entries;
    if let (Some(entry), Some(age_ns)) = (entries.last(), shown.record_age_ns()) {
        let ago = if shown.is_running() { format!(", {} ago", span(age_ns)) } else { String::new() };
        let mut spans = vec![paint.plain(&format!("record {}{ago}", entry.seq))];
        if shown.is_running() && shown.present().is_none() {
            spans.push(paint.bad("  no news from the process"));
        }
        lines.push(labelled("journal", spans, paint));
    }
    lines
}

fn written(shown: &Shown, live: &Live<'_>) -> String {
    let by_load = shown.present().and_then(|now| now.load_written_bytes).unwrap_or(0);
    let bytes = live.written_bytes.saturating_add(by_load);
    let written = amount_base10(bytes);
    match live.expected_written_bytes {
        Some((_, longest)) if bytes > longest => {
            format!("{written}, more than the estimated {}", amount_base10(longest))
        }
        Some((shortest, longest)) if shortest == longest => {
            format!("{written} of {}", amount_base10(shortest))
        }
        Some((shortest, longest)) => {
            format!("{written} of {} to {}", amount_base10(shortest), amount_base10(longest))
        }
        None => written,
    }
}

fn health_texts(health: &Health, celsius: Option<i16>, paint: Paint) -> Vec<Span<'static>> {
    let mut texts = Vec::new();
    if let Some(celsius) = celsius.or(health.temperature_celsius) {
        texts.push(paint.plain(&format!("{celsius} {CELSIUS}")));
    }
    if health.throttling == Some(true) {
        texts.push(paint.bad("throttling"));
    }
    if let Some(used) = health.percentage_used {
        texts.push(paint.plain(&format!("{used} % of endurance used")));
    }
    if let Some(spare) = health.available_spare_percent {
        texts.push(paint.plain(&format!("{spare} % spare")));
    }
    if let Some(errors) = health.media_errors.filter(|errors| *errors > 0) {
        texts.push(paint.bad(&format!("{errors} media errors")));
    }
    if let Some(warning) = health.critical_warning.filter(|warning| *warning != 0) {
        texts.push(paint.bad(&format!("critical warning {warning:#04x}")));
    }
    texts
}

fn separated(spans: Vec<Span<'static>>) -> Vec<Span<'static>> {
    let mut out = Vec::new();
    for span in spans {
        if !out.is_empty() {
            out.push(Span::raw("  "));
        }
        out.push(span);
    }
    out
}
