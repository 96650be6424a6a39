//! Published figures, copied manually into a TOML file: means over the window, without the individual rounds.
//! `docs/guide/import.md` describes the format; the bundled examples use it.

use record::{Access, HostFacts, ImportedTest, Reading, Stated, ToldFigure};
use serde::Deserialize;

use super::format::{Format, text};
use crate::imported::{Device, Imported, Provenance};
use crate::number::{count, possible};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "published",
    title: "published figures (TOML)",
    about: "figures transcribed from a publication into a TOML file (docs/guide/import.md)",
    largest_bytes: 1 << 20,
    is: |bytes| String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).contains("[source]"),
    read,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Source,
    device: Drive,
    #[serde(default)]
    host: Host,
    #[serde(rename = "test")]
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    tool: String,
    document: String,
    date: Option<String>,
    /// Whether the tool's own reports print throughput in MiB/s.
    #[serde(default)]
    reports_mebibytes: bool,
    #[serde(default)]
    remarks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    model: String,
    vendor: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    interface: Option<String>,
    nand: Option<String>,
    capacity_bytes: u64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    board: Option<String>,
    cpu: Option<String>,
    memory_bytes: Option<u64>,
    os: Option<String>,
    kernel: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    kind: String,
    date: Option<String>,
    purge: Option<String>,
    preconditioning: Option<String>,
    active_range: Option<[String; 4]>,
    threads: Option<u64>,
    queue_depth: Option<u64>,
    /// First and last round of the window, starting at 1.
    rounds: Option<[u32; 2]>,
    steady: Option<bool>,
    #[serde(rename = "table", default)]
    tables: Vec<Table>,
    window: Option<Window>,
    #[serde(rename = "figure", default)]
    figures: Vec<Figure>,
}

/// Means over the window. Each row has the block size in KiB and one value per mix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    unit: Unit,
    reads: Vec<u8>,
    rows: Vec<Vec<f64>>,
}

/// Values of the tracking variable in the rounds of the window.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    unit: Unit,
    block_kib: f64,
    values: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    name: String,
    value: f64,
    unit: String,
}

#[derive(Clone, Copy, Deserialize)]
enum Unit {
    #[serde(rename = "IOPS")]
    Iops,
    #[serde(rename = "MB/s")]
    Megabytes,
    #[serde(rename = "KiB/s")]
    Kibibytes,
    #[serde(rename = "MiB/s")]
    Mebibytes,
    #[serde(rename = "ms average")]
    Average,
    #[serde(rename = "ms maximum")]
    Maximum,
    #[serde(rename = "us average")]
    AverageMicroseconds,
}

impl Unit {
    fn put(self, value: f64, reading: &mut Reading) {
        match self {
            Self::Iops => reading.iops = Some(value),
            Self::Megabytes => reading.bytes_per_second = Some(value * 1e6),
            Self::Kibibytes => reading.bytes_per_second = Some(value * 1024.0),
            Self::Mebibytes => reading.bytes_per_second = Some(value * 1_048_576.0),
            Self::Average => reading.latency_mean_ns = Some(value * 1e6),
            Self::Maximum => reading.latency_max_ns = Some(value * 1e6),
            Self::AverageMicroseconds => reading.latency_mean_ns = Some(value * 1e3),
        }
    }
}

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let file: File = toml::from_str(text(bytes)?).map_err(|error| error.message().to_owned())?;
    let tests = file.tests.into_iter().map(test).collect::<Result<_, _>>()?;
    let mut remarks = vec![format!("source: {}", file.source.document)];
    remarks.extend(file.source.remarks);
    let (drive, host) = (file.device, file.host);
    Ok(Imported {
        tool: file.source.tool,
        date: file.source.date,
        transcribed: true,
        reports_mebibytes: file.source.reports_mebibytes,
        remarks,
        exported: Provenance::default(),
        settings: None,
        stated: Stated::default(),
        device: Device {
            path: Some(drive.model.clone()),
            vendor: drive.vendor,
            model: Some(drive.model),
            serial: drive.serial,
            firmware: drive.firmware,
            interface: drive.interface,
            nand: drive.nand,
            capacity_bytes: Some(drive.capacity_bytes).filter(|bytes| *bytes > 0),
            logical_block_bytes: None,
            physical_block_bytes: None,
        },
        host: HostFacts {
            board: host.board,
            cpu: host.cpu,
            memory_bytes: host.memory_bytes,
            os: host.os,
            kernel: host.kernel,
            ..HostFacts::default()
        },
        tests,
    })
}

fn block_bytes(kib: f64) -> Result<u32, String> {
    let bytes = kib * 1024.0;
    if bytes >= 512.0 && bytes <= f64::from(1 << 30) && bytes.fract() == 0.0 {
        Ok(bytes as u32)
    } else {
        Err(format!("{kib} KiB is not a block size"))
    }
}

fn test(published: Test) -> Result<ImportedTest, String> {
    let named = |problem: String| format!("test '{}': {problem}", published.kind);
    let access = if published.kind.starts_with("tp") { Access::Sequential } else { Access::Random };
    let mut readings: Vec<Reading> = Vec::new();
    for table in &published.tables {
        enter(table, access, &mut readings).map_err(named)?;
    }
    let mut tracked_block_bytes = None;
    if let (Some(window), Some([first, last])) = (&published.window, published.rounds) {
        let block = block_bytes(window.block_kib).map_err(named)?;
        tracked_block_bytes = Some(block);
        let span = last.checked_sub(first).map_or(0, |more| more as usize + 1);
        if first == 0 || last > 10_000 || window.values.len() != span {
            return Err(named(format!(
                "there are {} values for rounds {first} to {last}",
                window.values.len()
            )));
        }
        for (round, value) in (first..).zip(&window.values) {
            let mut reading = Reading { round: Some(round), ..Reading::of(access, 0, block) };
            window.unit.put(possible(*value, "a value of the window").map_err(named)?, &mut reading);
            readings.push(reading);
        }
    }
    let figure = |figure: Figure| -> Result<ToldFigure, String> {
        let value = possible(figure.value, &figure.name)?;
        Ok(ToldFigure {
            name: figure.name,
            key: None,
            value: Some(value),
            unit: figure.unit,
            host_limited: false,
        })
    };
    let demand = |value: Option<u64>, what: &str| value.map(|value| count(value, what)).transpose();
    Ok(ImportedTest {
        outline: "not in the file: only figures were published".into(),
        purge: published.purge.clone(),
        preconditioning: published.preconditioning.clone(),
        active_range: published.active_range.clone(),
        date: published.date.clone(),
        threads: demand(published.threads, "threads").map_err(named)?,
        queue_depth: demand(published.queue_depth, "queue_depth").map_err(named)?,
        tracked_block_bytes,
        window: published.rounds.map(|[first, last]| (first, last)),
        steady: published.steady,
        round_ns: None,
        exported: None,
        figures: published.figures.into_iter().map(figure).collect::<Result<_, _>>()?,
        readings,
        test: published.kind,
    })
}

fn enter(table: &Table, access: Access, readings: &mut Vec<Reading>) -> Result<(), String> {
    if table.reads.len() > 101 || table.rows.len() > 1000 || table.reads.iter().any(|read| *read > 100) {
        return Err("a table has too many rows or columns, or a mix above 100".into());
    }
    for row in &table.rows {
        let Some((kib, values)) = row.split_first() else { return Err("an empty row".into()) };
        if values.len() != table.reads.len() {
            return Err(format!(
                "a row has {} values, but its table has {} mixes",
                values.len(),
                table.reads.len()
            ));
        }
        let block = block_bytes(*kib)?;
        for (read, value) in table.reads.iter().zip(values) {
            let value = possible(*value, "a value")?;
            let same =
                |r: &&mut Reading| r.block_bytes == block && r.read_percent == *read && r.round.is_none();
            match readings.iter_mut().find(same) {
                Some(reading) => table.unit.put(value, reading),
                None => {
                    let mut reading = Reading::of(access, *read, block);
                    table.unit.put(value, &mut reading);
                    readings.push(reading);
                }
            }
        }
    }
    Ok(())
}
