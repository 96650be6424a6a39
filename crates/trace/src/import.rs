//! Converts text from other tools into a trace, line by line.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use stdx::Flow;

use crate::TraceError;
use crate::assembly::Timed;
use crate::file::{Origin, Summary, Writer};
use crate::formats::{Bad, FORMATS, Format, Parse};
use crate::lines::{Line, Lines};
use crate::order::Order;
use crate::pairs::Pairs;
use crate::sink::{Sink, State, Volumes};

/// Number of lines that are used to detect the format.
const LINES_TO_RECOGNIZE: usize = 100;
/// Number of errors that are kept with their lines.
const KEPT_COMPLAINTS: usize = 20;
/// Maximum number of bytes that an error quotes from a line.
const QUOTED_BYTES: usize = 80;
/// Number of lines between two calls of the progress function.
const PROGRESS_LINES: u64 = 1 << 16;

/// What to import.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// The format; None to detect it.
    pub format: Option<&'static Format>,
    /// The volume, disk or file whose I/Os are imported; None for the first one.
    pub volume: Option<&'a str>,
    /// Name of the input, for the header.
    pub name: &'a str,
}

/// A line that is not an I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Number of the line, from 1.
    pub line: u64,
    /// The defect.
    pub bad: Bad,
    /// The beginning of the line.
    pub text: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.bad, self.text)
    }
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The format.
    pub format: &'static Format,
    /// Totals of the trace.
    pub summary: Summary,
    /// Number of lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// The volume whose I/Os are in the trace.
    pub volume: String,
    /// Number of I/Os on other volumes, which were skipped.
    pub other_volumes: u64,
    /// Names of the other volumes and their numbers of I/Os, up to a limit.
    pub others: BTreeMap<String, u64>,
    /// Completions without an issue.
    pub unmatched: u64,
    /// Number of bad lines.
    pub bad_lines: u64,
    /// The first bad lines.
    pub complaints: Vec<Complaint>,
}

/// The conversion of one input.
struct Conversion<W> {
    parser: Box<dyn Parse>,
    state: State,
    timed: Timed<W>,
    lines: u64,
    bad_lines: u64,
    complaints: Vec<Complaint>,
}

impl<W: Write> Conversion<W> {
    fn new(format: &'static Format, output: W, choice: &Choice<'_>) -> Result<Self, TraceError> {
        let origin = Origin {
            source: format!("{}: {}", format.name, choice.name),
            resolution_ns: format.resolution_ns,
            is_anonymised: false,
        };
        let chosen = choice.volume.map(|volume| volume.as_bytes().to_vec());
        let state = State {
            order: Order::default(),
            pairs: Pairs::default(),
            volumes: Volumes { chosen, skipped: 0, others: BTreeMap::new() },
            ready: Vec::new(),
            lost_events: 0,
            first_time: None,
        };
        let timed = Timed { writer: Writer::new(output, &origin)?, first_ns: None };
        let parser = (format.parser)();
        Ok(Self { parser, state, timed, lines: 0, bad_lines: 0, complaints: Vec::new() })
    }

    #[inline]
    fn take(&mut self, line: Line<'_>) -> Result<(), TraceError> {
        self.lines += 1;
        let (text, result) = match line {
            Line::TooLong => (&b""[..], Err(Bad::TooLong)),
            Line::Text(text) if text.is_empty() || text[0] == b'#' => (text, Ok(())),
            Line::Text(text) => (text, self.parser.line(text, &mut Sink { state: &mut self.state })),
        };
        if let Err(bad) = result {
            self.complain(bad, text);
        }
        for io in self.state.ready.drain(..) {
            self.timed.push(io)?;
        }
        Ok(())
    }

    #[cold]
    fn complain(&mut self, bad: Bad, text: &[u8]) {
        self.bad_lines += 1;
        if self.complaints.len() < KEPT_COMPLAINTS {
            self.complaints.push(Complaint { line: self.lines, bad, text: quoted(text) });
        }
    }

    /// Writes all pending I/Os and the summary.
    fn finish(mut self, format: &'static Format, bytes: u64) -> Result<(W, Imported), TraceError> {
        let State { mut order, mut pairs, volumes, lost_events, .. } = self.state;
        while let Some(io) = pairs.pop() {
            order.push(io).map_or(Ok(()), |io| self.timed.push(io))?;
        }
        while let Some(io) = order.pop() {
            self.timed.push(io)?;
        }
        if self.timed.first_ns.is_none() {
            let reason = match volumes.skipped {
                0 => self.complaints.first().map(ToString::to_string),
                _ => Some("all of its I/Os are on other volumes".to_owned()),
            };
            return Err(TraceError::Empty { reason });
        }
        let (output, summary) = self.timed.writer.finish(lost_events, order.moved)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let imported = Imported {
            format,
            summary,
            lines: self.lines,
            bytes,
            volume: volumes.chosen.as_deref().map(text).unwrap_or_default(),
            other_volumes: volumes.skipped,
            others: volumes.others.iter().map(|(name, count)| (text(name), *count)).collect(),
            unmatched: pairs.unmatched,
            bad_lines: self.bad_lines,
            complaints: self.complaints,
        };
        Ok((output, imported))
    }
}

/// Converts `input` into a trace. `on_progress` receives the number of bytes read so far.
///
/// # Errors
/// Returns an error if the format is unknown, the input contains no I/O, or reading or writing fails. Bad lines are not
/// errors; they are counted and skipped.
pub fn import<R: Read, W: Write>(
    input: R,
    output: W,
    choice: &Choice<'_>,
    on_progress: &mut dyn FnMut(u64) -> Flow,
) -> Result<(W, Imported), TraceError> {
    let mut lines = Lines::new(input);
    let (format, kept) = recognized(&mut lines, choice.format)?;
    let mut conversion = Conversion::new(format, output, choice)?;
    for line in &kept {
        conversion.take(line.as_deref().map_or(Line::TooLong, Line::Text))?;
    }
    while let Some(line) = lines.next().map_err(TraceError::Read)? {
        conversion.take(line)?;
        if conversion.lines.is_multiple_of(PROGRESS_LINES) && on_progress(lines.bytes) == Flow::Stop {
            return Err(TraceError::Stopped);
        }
    }
    conversion.finish(format, lines.bytes)
}

/// A line that was read ahead; None if it was too long.
type Ahead = Option<Vec<u8>>;

/// Returns the first lines and their format.
fn recognized<R: Read>(
    lines: &mut Lines<R>,
    chosen: Option<&'static Format>,
) -> Result<(&'static Format, Vec<Ahead>), TraceError> {
    if let Some(format) = chosen {
        return Ok((format, Vec::new()));
    }
    let mut kept = Vec::new();
    while kept.len() < LINES_TO_RECOGNIZE
        && let Some(line) = lines.next().map_err(TraceError::Read)?
    {
        let Line::Text(text) = line else {
            kept.push(None);
            continue;
        };
        kept.push(Some(text.to_vec()));
        if let Some(format) = FORMATS.iter().find(|format| (format.recognizes)(text)) {
            return Ok((format, kept));
        }
    }
    Err(TraceError::UnknownFormat)
}

fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(QUOTED_BYTES)]);
    let end = if line.len() > QUOTED_BYTES { "..." } else { "" };
    format!("{}{end}", stdx::text::on_one_line(&text))
}
