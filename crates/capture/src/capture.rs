//! The capture: reads the buffers of all CPUs, sorts the events, and writes the trace.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use stdx::Flow;
use trace::{Assembly, Event, EventLayout, Origin, Role, Summary, events_of_page};

use crate::error::CaptureError;
use crate::instance::Instance;
use crate::subject::{Kind, Subject};

/// By the time the buffers are read, events older than this have arrived from all CPUs.
const SETTLED_NS: u64 = 2_000_000;

/// Names of the lost-event counters in a buffer's statistics.
const LOSSES: [&str; 3] = ["overrun", "commit overrun", "dropped events"];

/// Result of a capture.
#[derive(Debug, Clone, Copy)]
pub struct Captured {
    /// Totals of the trace; `lost_events` counts events dropped because a buffer was full.
    pub summary: Summary,
    /// Completions of I/Os that were issued before the capture or whose issue event was lost.
    pub unmatched: u64,
}

/// The buffers being read.
struct Buffers {
    files: Vec<File>,
    layouts: Vec<EventLayout>,
    page: Vec<u8>,
    events: Vec<Event>,
}

impl Buffers {
    /// Drains the buffers.
    fn drain(&mut self) -> Result<(), CaptureError> {
        for file in &mut self.files {
            loop {
                match file.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => events_of_page(&self.page[..length], &self.layouts, &mut self.events),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(source) => {
                        return Err(CaptureError::Tracer { file: "trace_pipe_raw".into(), source });
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes on the events up to the given time, in order.
    fn pass<W: Write>(&mut self, until_ns: u64, assembly: &mut Assembly<W>) -> Result<(), CaptureError> {
        self.events.sort_by_key(|event| event.at_ns);
        let settled = self.events.partition_point(|event| event.at_ns <= until_ns);
        for event in self.events.drain(..settled) {
            assembly.add(&event)?;
        }
        Ok(())
    }
}

/// Captures a device's I/Os until `wait` stops the capture. Before each read of the buffers, `wait` is called with
/// the number of I/Os so far; it pauses briefly. Each CPU has a buffer of `buffer_kib`; at 64 bytes per event, 16
/// MiB are enough for 250,000 events.
///
/// # Errors
/// Returns an error if the tracer cannot be used or the output cannot be written. The instance is always removed.
pub fn capture<W: Write>(
    subject: &Subject,
    buffer_kib: u32,
    output: W,
    wait: &mut dyn FnMut(u64) -> Flow,
) -> Result<(W, Captured), CaptureError> {
    let origin =
        Origin { source: format!("capture: {}", subject.name), resolution_ns: 1, is_anonymised: false };
    let mut assembly = Assembly::new(output, &origin)?;
    let mut instance = Instance::create()?;
    let mut buffers = begin(&mut instance, subject, buffer_kib)?;
    while wait(assembly.issued()) == Flow::Continue {
        let now_ns = now_ns();
        buffers.drain()?;
        buffers.pass(now_ns.saturating_sub(SETTLED_NS), &mut assembly)?;
    }
    instance.stop();
    buffers.drain()?;
    buffers.pass(u64::MAX, &mut assembly)?;
    let lost_events = lost(&instance)?;
    // An instance cannot be removed while its files are open.
    drop(buffers);
    drop(instance);
    let (output, summary, unmatched) = assembly.finish(lost_events)?;
    Ok((output, Captured { summary, unmatched }))
}

/// Sets up the instance and starts recording.
fn begin(instance: &mut Instance, subject: &Subject, buffer_kib: u32) -> Result<Buffers, CaptureError> {
    // The issue comes last, so that no I/O lacks its other events.
    let events = match subject.kind {
        Kind::Requests => &[
            ("block_rq_complete", Role::Complete),
            ("block_rq_requeue", Role::Requeue),
            ("block_rq_issue", Role::Issue),
        ][..],
        Kind::Bios => &[("block_bio_complete", Role::Complete), ("block_bio_queue", Role::Issue)],
    };
    instance.write("tracing_on", "0")?;
    instance.write("trace_clock", "mono")?;
    instance.write("buffer_size_kb", &format!("{buffer_kib}"))?;
    let layout = |event: &str, role| {
        let text = instance.read(&format!("events/block/{event}/format"))?;
        EventLayout::of_format(&text, role).ok_or(CaptureError::NoTracer { what: "a field of an event" })
    };
    let layouts = events.iter().map(|(event, role)| layout(event, *role)).collect::<Result<_, _>>()?;
    let open = |name: String| {
        instance.open(&format!("per_cpu/{name}/trace_pipe_raw"), OFlags::RDONLY | OFlags::NONBLOCK)
    };
    let files = instance.processors()?.into_iter().map(open).collect::<Result<_, _>>()?;
    for (event, _) in events {
        instance.enable(event, subject.number)?;
    }
    instance.write("tracing_on", "1")?;
    let page = vec![0; rustix::param::page_size()];
    Ok(Buffers { files, layouts, page, events: Vec::new() })
}

/// Returns the number of events that were dropped because a buffer was full.
fn lost(instance: &Instance) -> Result<u64, CaptureError> {
    let mut sum = 0;
    for processor in instance.processors()? {
        let stats = instance.read(&format!("per_cpu/{processor}/stats"))?;
        let fields = stats.lines().filter_map(|line| line.split_once(':'));
        let counts = fields.filter(|(name, _)| LOSSES.contains(name));
        sum += counts.map(|(_, count)| count.trim().parse().unwrap_or(0)).sum::<u64>();
    }
    Ok(sum)
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
