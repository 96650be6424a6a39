//! Result files of TKperf for SSDs, RAIDs and HDDs, from version 1.1 to the final version. The text of each element is
//! JSON.

mod device;
mod elements;
mod steady;

use record::{Access, HostFacts, ImportedTest, Reading, Stated};
use roxmltree::{Node, ParsingOptions};
use serde::de::DeserializeOwned;
use stdx::units::count_of;

use super::format::{Format, first_byte, text};
use crate::imported::{Imported, Provenance};
use crate::number::{count, possible};
use crate::provenance;
use elements::{check_attributes, child, leaf};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "tkperf",
    title: "TKperf XML",
    about: "TKperf result file, from 1.1 to the final version: SSD, RAID, HDD",
    largest_bytes: 8 << 20,
    is: |bytes| first_byte(bytes) == Some(b'<'),
    read,
};

/// Limit on the number of elements in a file; real files have fewer than a hundred.
const MOST_NODES: u32 = 10_000;
const MOST_ROUNDS: usize = 10_000;

const IOPS_READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const IOPS_BLOCKS: [u32; 8] = [1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512];
const LAT_READS: [u8; 3] = [100, 65, 0];
const LAT_BLOCKS: [u32; 3] = [8 << 10, 4 << 10, 512];
const TP_BLOCKS: [u32; 5] = [1 << 20, 64 << 10, 8 << 10, 4 << 10, 512];
const AREA_READS: [u8; 3] = [100, 50, 0];
const AREA_BLOCKS: [u32; 3] = [64 << 10, 16 << 10, 4 << 10];
const AREA_TP_BLOCKS: [u32; 2] = [1 << 20, 4 << 10];

/// The program that wrote the file. The format does not specify how a mix is weighted or what else the tests do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Tkperf,
    Plateau,
}

type Cube = Vec<Vec<Vec<f64>>>;
/// Minimum, maximum and mean; a value that the writer did not measure is null.
type Times = [Option<f64>; 3];

/// A test element with its parameters.
struct Element<'a> {
    node: Node<'a, 'a>,
    name: &'static str,
    jobs: Option<u16>,
    depth: Option<u16>,
    runtime_s: Option<f64>,
}

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = text(bytes)?;
    check_attributes(text)?;
    let document =
        roxmltree::Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let version: Option<String> = leaf(root, "ioperfversion")?;
    let plateau = leaf::<provenance::Stated>(root, "plateau")?;
    let writer = if plateau.is_some() { Writer::Plateau } else { Writer::Tkperf };
    let mut remarks = Vec::new();
    let mut tests = Vec::new();
    let mut fio = None;
    for name in ["iops", "tp", "lat", "writesat"] {
        let Some(element) = element(root, name)? else { continue };
        fio = fio.or(leaf::<String>(element.node, "fioversion")?.map(|text| text.trim().to_owned()));
        tests.push(test(&element, writer, version.as_deref(), &mut remarks)?);
    }
    let description: Option<String> = leaf(root, "devinfo")?;
    let command: Option<String> = leaf(root, "cmdline")?;
    let trimmed = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let system = trimmed(leaf(root, "lsb")?)
        .map(|lsb| lsb.split_once(':').map_or(lsb.clone(), |(_, name)| name.trim().to_owned()));
    if let Some(command) = &command {
        remarks.push(format!("command: {command}"));
    }
    let fio = fio.filter(|version| !version.is_empty());
    let tool = match &plateau {
        Some(plateau) => plateau.tool(),
        None => {
            let tool = format!("TKperf {}", version.as_deref().unwrap_or("of unknown version"));
            fio.map_or(tool.clone(), |fio| format!("{tool}, {fio}"))
        }
    };
    Ok(Imported {
        tool,
        date: leaf(root, "testdate")?,
        transcribed: false,
        reports_mebibytes: writer == Writer::Tkperf,
        remarks,
        exported: plateau.map_or_else(|| Ok(Provenance::default()), provenance::Stated::provenance)?,
        settings: None,
        stated: Stated::default(),
        device: device::device(description.as_deref().unwrap_or(""), root.tag_name().name()),
        host: HostFacts { os: system, kernel: trimmed(leaf(root, "kernel")?), ..HostFacts::default() },
        tests,
    })
}

fn element<'a>(root: Node<'a, 'a>, name: &'static str) -> Result<Option<Element<'a>>, String> {
    let Some(node) = child(root, name)? else { return Ok(None) };
    let small = |what: &str| -> Result<Option<u16>, String> {
        leaf::<u64>(node, what)?.map(|value| count(value, what)).transpose()
    };
    let runtime_s = leaf::<f64>(node, "runtime")?.map(|value| possible(value, "runtime")).transpose()?;
    Ok(Some(Element { node, name, jobs: small("numjobs")?, depth: small("iodepth")?, runtime_s }))
}

fn test(
    element: &Element<'_>,
    writer: Writer,
    version: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<ImportedTest, String> {
    let named = |problem: String| format!("<{}>: {problem}", element.name);
    match element.name {
        "iops" => iops(element, writer, version, remarks),
        "lat" => latency(element, writer, version, remarks),
        "tp" => throughput(element, version, remarks),
        _ => saturation(element, remarks),
    }
    .map_err(named)
}

fn matrix<T: DeserializeOwned>(element: &Element<'_>) -> Result<T, String> {
    leaf(element.node, "roundmat")?.ok_or_else(|| "no <roundmat>".into())
}

/// Checks that every round has the expected numbers of mixes and block sizes, and returns the block sizes. The
/// smallest block sizes may be missing (4Kn).
fn shape(
    rows: &[Vec<impl Sized>],
    reads: usize,
    blocks: usize,
    known: &mut Option<usize>,
) -> Result<usize, String> {
    if rows.len() != reads {
        return Err(format!("a round has {} R/W mixes, not {reads}", rows.len()));
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = *known.get_or_insert(columns);
    if columns == 0 || columns > blocks || width != columns || rows.iter().any(|row| row.len() != columns) {
        return Err(format!(
            "rounds differ in their number of block sizes, or the number is not between 1 and {blocks}"
        ));
    }
    Ok(columns)
}

fn rounds(count: usize) -> Result<u32, String> {
    if count == 0 || count > MOST_ROUNDS {
        return Err(format!("it has {count} rounds; 1 to {MOST_ROUNDS} are supported"));
    }
    Ok(count as u32)
}

fn iops(
    element: &Element<'_>,
    writer: Writer,
    version: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<ImportedTest, String> {
    let cube: Cube = matrix(element)?;
    let areas = cube.first().is_some_and(|round| round.len() == AREA_READS.len());
    let (reads, blocks): (&[u8], &[u32]) =
        if areas { (&AREA_READS, &AREA_BLOCKS) } else { (&IOPS_READS, &IOPS_BLOCKS) };
    rounds(cube.len())?;
    let (mut readings, mut width) = (Vec::new(), None);
    for (round, rows) in (1..).zip(&cube) {
        shape(rows, reads.len(), blocks.len(), &mut width)?;
        for (row, read) in rows.iter().zip(reads) {
            for (value, block) in row.iter().zip(blocks) {
                readings.push(Reading {
                    round: Some(round),
                    iops: Some(possible(*value, "a value of <roundmat>")?),
                    ..Reading::of(Access::Random, *read, *block)
                });
            }
        }
    }
    if areas {
        let outline = "each of 128 equal areas of the disk, starting from the outside, with 3 mixes and 3 \
                       block sizes";
        return Ok(plain(element, "areas-iops", outline, readings));
    }
    let width = width.unwrap_or(0);
    let outline = format!("{} of 7 R/W mixes and {width} block sizes", count_of(cube.len(), "round"));
    let test = plain(element, "iops", &outline, readings);
    overlapping(element, writer, remarks);
    let tracked = tracked_block(&blocks[..width], remarks);
    steady::judged(element.node, test, tracked, version, remarks, |reading| reading.iops)
}

fn latency(
    element: &Element<'_>,
    writer: Writer,
    version: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<ImportedTest, String> {
    let cube: Vec<Vec<Vec<Times>>> = matrix(element)?;
    rounds(cube.len())?;
    let (mut readings, mut width) = (Vec::new(), None);
    for (round, rows) in (1..).zip(&cube) {
        shape(rows, LAT_READS.len(), LAT_BLOCKS.len(), &mut width)?;
        for (row, read) in rows.iter().zip(&LAT_READS) {
            for (times, block) in row.iter().zip(&LAT_BLOCKS) {
                let mut reading =
                    Reading { round: Some(round), ..Reading::of(Access::Random, *read, *block) };
                put(times, &mut reading)?;
                readings.push(reading);
            }
        }
    }
    if writer == Writer::Tkperf {
        remarks.push(
            "TKperf weighting: response times of the 65/35 mix, including the maximum, are 0.65 x read + 0.35 x \
             write; Plateau weights by I/O count"
                .into(),
        );
    }
    let width = width.unwrap_or(0);
    let outline = format!("{} of 3 R/W mixes and {width} block sizes", count_of(cube.len(), "round"));
    let mut test = plain(element, "lat", &outline, readings);
    overlapping(element, writer, remarks);
    // TKperf 1.x writes the values chosen by the user for the other tests.
    let stated = (element.jobs.unwrap_or(1), element.depth.unwrap_or(1));
    if writer == Writer::Tkperf && stated != (1, 1) {
        let (jobs, depth) = stated;
        remarks.push(format!(
            "lat: the file specifies {jobs} jobs with {depth} I/Os each, but TKperf measures response times with one \
             outstanding I/O, so neither is used"
        ));
        (test.threads, test.queue_depth) = (None, None);
    }
    let tracked = tracked_block(&LAT_BLOCKS[..width], remarks);
    steady::judged(element.node, test, tracked, version, remarks, |reading| {
        reading.latency_mean_ns.map(|ns| ns / 1000.0)
    })
}

fn throughput(
    element: &Element<'_>,
    version: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<ImportedTest, String> {
    let cube: Cube = matrix(element)?;
    let areas = cube.len() == AREA_TP_BLOCKS.len();
    let blocks: &[u32] = if areas { &AREA_TP_BLOCKS } else { &TP_BLOCKS };
    if cube.is_empty() || cube.len() > blocks.len() {
        return Err(format!("a round has {} block sizes, not 1 to {}", cube.len(), blocks.len()));
    }
    let count = cube.first().and_then(|ways| ways.first()).map_or(0, Vec::len);
    rounds(count)?;
    let mut readings = Vec::new();
    for (ways, block) in cube.iter().zip(blocks) {
        let [reads, writes] = &ways[..] else {
            return Err(format!("a round has {} directions, not read and write", ways.len()));
        };
        if reads.len() != count || writes.len() != count {
            return Err("block sizes differ in their number of rounds".into());
        }
        for (values, read) in [(reads, 100), (writes, 0)] {
            for (round, value) in (1..).zip(values) {
                readings.push(Reading {
                    round: Some(round),
                    bytes_per_second: Some(possible(value * 1024.0, "a value of <roundmat>")?),
                    ..Reading::of(Access::Sequential, read, *block)
                });
            }
        }
    }
    remarks.push(
        "throughput is in KiB/s in the file and in MiB/s in TKperf's reports; MB/s in this report are decimal".into(),
    );
    if areas {
        let outline = "each of 128 equal areas of the disk, starting from the outside, read and written \
                       sequentially";
        return Ok(plain(element, "areas-tp", outline, readings));
    }
    let outline = format!("{} of reads and writes of {} block sizes", count_of(count, "round"), cube.len());
    let test = plain(element, "tp", &outline, readings);
    steady::judged(element.node, test, TP_BLOCKS[0], version, remarks, |reading| {
        reading.bytes_per_second.map(|rate| rate / 1024.0)
    })
}

fn saturation(element: &Element<'_>, remarks: &mut Vec<String>) -> Result<ImportedTest, String> {
    let (iops, times): (Vec<f64>, Vec<Times>) = matrix(element)?;
    rounds(iops.len())?;
    if !times.is_empty() && times.len() != iops.len() {
        return Err(format!(
            "it has {} rounds of IOPS, but {} rounds of response times",
            iops.len(),
            times.len()
        ));
    }
    let mut readings = Vec::with_capacity(iops.len());
    for (index, value) in iops.iter().enumerate() {
        let mut reading = Reading {
            round: Some(index as u32 + 1),
            iops: Some(possible(*value, "a value of <roundmat>")?),
            ..Reading::of(Access::Random, 0, 4096)
        };
        if let Some(times) = times.get(index) {
            put(times, &mut reading)?;
        }
        readings.push(reading);
    }
    let seconds = element.runtime_s.filter(|seconds| *seconds > 0.0);
    if seconds.is_none() {
        remarks
            .push("the length of a write saturation round is not in the file, so times and amounts written are unknown".into());
    }
    let outline = format!("{} of 4 KiB random writes", count_of(iops.len(), "round"));
    Ok(ImportedTest {
        round_ns: seconds.map(|seconds| (seconds.min(1e6) * 1e9) as u64),
        ..plain(element, "wsat", &outline, readings)
    })
}

fn plain(element: &Element<'_>, test: &str, outline: &str, readings: Vec<Reading>) -> ImportedTest {
    ImportedTest {
        test: test.into(),
        outline: outline.into(),
        threads: element.jobs,
        queue_depth: element.depth,
        readings,
        ..ImportedTest::default()
    }
}

/// Stores the minimum, maximum and mean in microseconds.
fn put([least, largest, mean]: &Times, reading: &mut Reading) -> Result<(), String> {
    let ns = |value: Option<f64>| value.map(|us| possible(us * 1000.0, "a response time")).transpose();
    ns(*least)?;
    reading.latency_mean_ns = ns(*mean)?;
    reading.latency_max_ns = ns(*largest)?;
    Ok(())
}

/// Adds a note about the effect of several jobs on sequential writes.
fn overlapping(element: &Element<'_>, writer: Writer, remarks: &mut Vec<String>) {
    let jobs = element.jobs.unwrap_or(1);
    let remark = "TKperf's sequential jobs all start at LBA 0 and overlap; its preconditioning writes the \
                  device twice per job";
    if writer == Writer::Tkperf && jobs > 1 && !remarks.iter().any(|known| known == remark) {
        remarks.push(remark.into());
    }
}

/// Returns the block size that TKperf tracks. TKperf uses the second smallest, which is 8 KiB instead of 4
/// KiB if the smallest one is missing.
fn tracked_block(blocks: &[u32], remarks: &mut Vec<String>) -> u32 {
    let tracked = blocks.len().checked_sub(2).and_then(|at| blocks.get(at)).copied().unwrap_or(4096);
    if tracked != 4096 {
        let remark = format!(
            "0.5 KiB blocks are missing (4Kn), so TKperf evaluated the steady state of {} KiB writes",
            tracked / 1024
        );
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    tracked
}
