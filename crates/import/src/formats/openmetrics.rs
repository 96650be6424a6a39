//! OpenMetrics text exported by Plateau: figures, verdicts and marks.

mod power;
mod sample;

use record::{Exported, HostFacts, ImportedTest, MarkKind, StatedMark, ToldFigure};

use super::format::{Format, text};
use crate::imported::{Device, Imported, Provenance};
use crate::number::bounded;
use crate::provenance;
use sample::{Sample, sample};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    title: "Plateau OpenMetrics",
    about: "OpenMetrics text of a Plateau report",
    largest_bytes: 16 << 20,
    is: |bytes| bytes.starts_with(b"# TYPE plateau_"),
    read,
};

/// Limit on the number of samples in a file.
const MOST_SAMPLES: usize = 100_000;

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let text = text(bytes)?;
    if text.lines().last() != Some("# EOF") {
        return Err("its last line is not '# EOF', so it is not complete".into());
    }
    let mut samples = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        if samples.len() == MOST_SAMPLES {
            return Err(format!("it has more than {MOST_SAMPLES} samples"));
        }
        samples.push(sample(line).ok_or_else(|| format!("line {} is not a sample", number + 1))?);
    }
    let mut run = Provenance::default();
    let (mut model, mut tool) = (None, None);
    let mut tests: Vec<ImportedTest> = Vec::new();
    for sample in &samples {
        let stated = |key: &str| sample.label(key).map(str::to_owned);
        if run.run.is_some() && run.run != stated("run") {
            return Err("it has samples from several runs; import them one at a time".into());
        }
        (run.run, run.simulated) = (stated("run"), stated("simulated"));
        (model, tool) = (stated("model"), stated("imported").map(provenance::tool_of));
        if sample.name == "plateau_mark" {
            mark(sample, &mut run.marks)?;
        }
        let Some(name) = sample.label("test") else {
            power::of_run(sample, &mut run)?;
            continue;
        };
        if !tests.iter().any(|test| test.test == name) {
            tests.push(begun(name, run.run.as_deref().unwrap_or_default()));
        }
        if let Some(test) = tests.iter_mut().find(|test| test.test == name) {
            enter(sample, test)?;
            power::of_workload(sample, &mut run, test)?;
        }
    }
    tests.iter().try_for_each(power::complete)?;
    let has_workloads =
        |exported: &Exported| !exported.efficiency.is_empty() || !exported.file_share.is_empty();
    tests.retain(|test| {
        let workloads = test.exported.as_ref().is_some_and(has_workloads);
        !test.figures.is_empty() || test.steady.is_some() || workloads
    });
    Ok(Imported {
        tool: tool.unwrap_or_else(|| "Plateau (version not in the file)".into()),
        date: None,
        transcribed: false,
        reports_mebibytes: false,
        remarks: Vec::new(),
        exported: run,
        settings: None,
        stated: record::Stated::default(),
        device: Device { model, ..Device::default() },
        host: HostFacts::default(),
        tests,
    })
}

fn begun(name: &str, run: &str) -> ImportedTest {
    ImportedTest {
        test: name.into(),
        outline: format!("as exported from run {run}"),
        exported: Some(Exported { title: name.into(), ..Exported::default() }),
        ..ImportedTest::default()
    }
}

fn mark(sample: &Sample, marks: &mut Vec<StatedMark>) -> Result<(), String> {
    let key = sample.label("mark").unwrap_or_default();
    let kind = MarkKind::ALL.into_iter().find(|kind| kind.key() == key);
    let kind = kind.ok_or_else(|| format!("'{key}' is not a mark"))?;
    let details = sample.label("detail").map(str::to_owned);
    match marks.iter_mut().find(|known| known.mark == kind) {
        Some(known) => known.details.extend(details),
        None => marks.push(StatedMark { mark: kind, details: details.into_iter().collect() }),
    }
    Ok(())
}

/// Stores the value of a sample in the test that it belongs to.
fn enter(sample: &Sample, test: &mut ImportedTest) -> Result<(), String> {
    let figure = sample.label("figure").unwrap_or_default().to_owned();
    match sample.name.as_str() {
        "plateau_steady_state" => test.steady = Some(sample.value > 0.5),
        "plateau_rounds" | "plateau_io_errors" | "plateau_written_bytes" => {
            let count = bounded(sample.value, &sample.name)?;
            if count < 0.0 {
                return Err(format!("{} is {count}", sample.name));
            }
            let count = count as u64;
            if let Some(exported) = &mut test.exported {
                match sample.name.as_str() {
                    "plateau_rounds" => exported.rounds = u32::try_from(count).ok(),
                    "plateau_io_errors" => exported.io_errors = Some(count),
                    _ => exported.written_bytes = Some(count),
                }
            }
        }
        "plateau_host_limited" => {
            let same = test.figures.iter_mut().filter(|known| known.name == figure);
            same.for_each(|known| known.host_limited = sample.value > 0.5);
        }
        name => {
            let Some(unit) = name.strip_prefix("plateau_figure_") else { return Ok(()) };
            let (unit, factor) =
                printed(unit, sample.value).ok_or_else(|| format!("'{unit}' is not a unit"))?;
            let value = Some(bounded(sample.value * factor, &figure)?);
            test.figures.push(ToldFigure {
                name: figure,
                key: None,
                value,
                unit: unit.into(),
                host_limited: false,
            });
        }
    }
    Ok(())
}

/// Returns the unit that reports use instead of a base unit, and the factor that converts to it. Response
/// times and times to recover are both in seconds.
fn printed(base: &str, value: f64) -> Option<(&'static str, f64)> {
    Some(match base {
        "ios_per_second" => ("IOPS", 1.0),
        "bytes_per_second" => ("MB/s", 1e-6),
        "seconds" if value >= 60.0 => ("min", 1.0 / 60.0),
        "seconds" => ("ms", 1e3),
        "bytes" => ("GB", 1e-9),
        "watts" => ("W", 1.0),
        "ios_per_joule" => ("IOPS/W", 1.0),
        "bytes_per_joule" => ("MB/s/W", 1e-6),
        _ => return None,
    })
}
