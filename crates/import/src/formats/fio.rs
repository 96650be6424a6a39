//! fio output with `--output-format=json` or `json+`, from version 2 on. Each job becomes one reading of a
//! single test.

mod job;
mod way;

use record::{ImportedTest, Stated};
use serde::Deserialize;

use super::format::{Format, first_byte, text};
use crate::imported::{Device, Imported, Provenance};
use crate::provenance;
use job::{Job, Options};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "fio",
    title: "fio JSON",
    about: "output of fio --output-format=json or json+ (with histograms)",
    largest_bytes: 64 << 20,
    is,
    read,
};

/// Maximum number of jobs in a file.
const MOST_JOBS: usize = 10_000;

#[derive(Deserialize)]
struct File {
    #[serde(rename = "fio version", default)]
    version: String,
    #[serde(default)]
    time: Option<String>,
    #[serde(rename = "global options", default)]
    global: Options,
    #[serde(default)]
    jobs: Option<Vec<Job>>,
    /// Present only in files that Plateau wrote.
    #[serde(default)]
    plateau: Option<provenance::Stated>,
}

/// Returns the start of the JSON document; fio may print messages before it.
fn begin(bytes: &[u8]) -> Option<usize> {
    if first_byte(bytes) == Some(b'{') {
        return bytes.iter().position(|byte| *byte == b'{');
    }
    bytes.windows(2).position(|pair| pair == b"\n{").map(|at| at + 1)
}

fn is(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64 << 10)];
    begin(head).is_some_and(|at| String::from_utf8_lossy(&head[at..]).contains("\"fio version\""))
}

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let at = begin(bytes).ok_or("it contains no JSON object")?;
    let text = text(&bytes[at..])?;
    // fio's normal output may follow.
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<File>();
    let file = documents.next().ok_or("it contains no JSON object")?.map_err(|error| error.to_string())?;
    let jobs = file.jobs.ok_or("it has no list of jobs; fio's client/server output is not supported")?;
    if jobs.len() > MOST_JOBS {
        return Err(format!("it has {} jobs; at most {MOST_JOBS} are supported", jobs.len()));
    }
    let mut remarks = Vec::new();
    let mut readings = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let named = |problem: String| format!("job {} ('{}'): {problem}", index + 1, job.name());
        match job.reading(&file.global, &mut remarks).map_err(named)? {
            Some(reading) => readings.push(reading),
            None => remarks
                .push(format!("job '{}' was omitted because it performed no reads or writes", job.name())),
        }
    }
    let target = jobs.iter().find_map(|job| job.option(&file.global, "filename"));
    if file.plateau.is_none()
        && readings.iter().any(|reading| reading.times.is_some() || !reading.percentiles_ns.is_empty())
    {
        remarks.push(
            "percentiles and histograms are as fio records them: completion latencies (clat) unless \
             lat_percentiles was set, in histogram steps of 1.6 %. Means and maxima are total latencies \
             (lat)"
                .into(),
        );
    }
    let tests = if readings.is_empty() {
        Vec::new()
    } else {
        vec![ImportedTest {
            test: "jobs".into(),
            outline: format!("{}, as in the file", plural(readings.len())),
            readings,
            ..ImportedTest::default()
        }]
    };
    remarks.sort();
    remarks.dedup();
    Ok(Imported {
        tool: match &file.plateau {
            Some(plateau) => plateau.tool(),
            None if file.version.is_empty() => "fio of unknown version".into(),
            None => file.version,
        },
        date: file.time.map(|time| time.trim().to_owned()).filter(|time| !time.is_empty()),
        transcribed: false,
        reports_mebibytes: false,
        remarks,
        exported: file.plateau.map_or_else(|| Ok(Provenance::default()), provenance::Stated::provenance)?,
        settings: None,
        stated: Stated::default(),
        device: Device { path: target, ..Device::default() },
        host: record::HostFacts::default(),
        tests,
    })
}

fn plural(count: usize) -> String {
    if count == 1 { "1 job".into() } else { format!("{count} jobs") }
}
