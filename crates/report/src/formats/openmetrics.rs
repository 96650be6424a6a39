//! The results in OpenMetrics text format, for monitoring systems.
//!
//! The format is generated here because the usual library stores its series in hash maps, whose order varies between
//! executions.

mod family;
mod on_file;
mod power;
mod total;

use std::fmt::Write as _;

use pts::Unit;
use stdx::Number;

use self::family::Family;
use super::format::{Format, Make, Source};
use crate::document::contents::Document;

/// The OpenMetrics format.
pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    about: "key figures, steady state, power, share of the file system and totals as OpenMetrics text",
    extensions: &["prom"],
    make: Make::File(|source| Ok(text(source).into_bytes())),
};

/// Returns the base unit of the metric, and the factor that converts to it.
const fn base_unit(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::Iops => ("ios_per_second", 1.0),
        Unit::MegabytesPerSecond => ("bytes_per_second", 1e6),
        Unit::Milliseconds => ("seconds", 1e-3),
        Unit::Minutes => ("seconds", 60.0),
        Unit::Gigabytes => ("bytes", 1e9),
        Unit::Watts => ("watts", 1.0),
        Unit::IopsPerWatt => ("ios_per_joule", 1.0),
        Unit::MegabytesPerSecondPerWatt => ("bytes_per_joule", 1e6),
    }
}

fn text(source: Source<'_>) -> String {
    let mut out = String::new();
    let marks = marks(source.document);
    write_family(&mut out, source, &family_of_marks(&marks));
    figures(source).iter().for_each(|family| write_family(&mut out, source, family));
    host_limited(source).iter().for_each(|family| write_family(&mut out, source, family));
    steady(source).iter().for_each(|family| write_family(&mut out, source, family));
    power::families(source).iter().for_each(|family| write_family(&mut out, source, family));
    on_file::families(source).iter().for_each(|family| write_family(&mut out, source, family));
    let totals = totals(source);
    totals.iter().for_each(|family| write_family(&mut out, source, family));
    out.push_str("# EOF\n");
    out
}

/// Returns the key and explanation of each of the run's marks.
fn marks(document: &Document) -> Vec<(&'static str, String)> {
    let marks = document.marks(None).into_iter();
    marks.flat_map(|mark| mark.details.into_iter().map(move |detail| (mark.kind.key(), detail))).collect()
}

/// Returns the caveats that must accompany every number of the run; without caveats, the metric has no samples.
fn family_of_marks<'a>(marks: &'a [(&'static str, String)]) -> Family<'a> {
    let samples = marks
        .iter()
        .map(|(key, detail)| (vec![("mark", *key), ("detail", detail.as_str())], Number::Count(1)));
    Family {
        name: "plateau_mark",
        unit: "",
        help: "1 for each caveat that must accompany all figures of the run.",
        samples: samples.collect(),
    }
}

fn figures(source: Source<'_>) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for outcome in &source.document.outcomes {
        for figure in &outcome.key_figures {
            let (unit, factor) = base_unit(figure.unit);
            let Some(value) = figure.value.filter(|value| value.is_finite()) else { continue };
            let sample = (
                vec![("test", outcome.test.as_str()), ("figure", figure.name.as_str())],
                (value * factor).into(),
            );
            match families.iter_mut().find(|family| family.unit == unit) {
                Some(family) => family.samples.push(sample),
                None => families.push(Family {
                    name: "plateau_figure",
                    unit,
                    help: "Select performance data of a test.",
                    samples: vec![sample],
                }),
            }
        }
    }
    families
}

/// Returns `None` for simulated and imported runs without host-limited figures, because this host did not drive
/// their workloads.
fn host_limited(source: Source<'_>) -> Option<Family<'_>> {
    let mut figures = source.document.outcomes.iter().flat_map(|outcome| &outcome.key_figures);
    if source.document.label().is_some() && !figures.any(|figure| figure.host_limited) {
        return None;
    }
    let outcomes = source.document.outcomes.iter();
    let samples = outcomes.flat_map(|outcome| {
        let measured = outcome.key_figures.iter().filter(|figure| figure.value.is_some_and(f64::is_finite));
        measured.map(|figure| {
            let labels = vec![("test", outcome.test.as_str()), ("figure", figure.name.as_str())];
            (labels, figure.host_limited.into())
        })
    });
    Some(Family {
        name: "plateau_host_limited",
        unit: "",
        help: "1 if more than 70 % of the host's ceiling or CPU time was used, so that the figure may \
               reflect the host rather than the drive; otherwise 0.",
        samples: samples.collect(),
    })
}

fn steady(source: Source<'_>) -> Vec<Family<'_>> {
    let outcomes = &source.document.outcomes;
    let converged = |o: &pts::Outcome| o.converged.map(Number::from);
    let rounds =
        outcomes.iter().map(|o| (vec![("test", o.test.as_str())], u64::from(o.rounds).into())).collect();
    let steady =
        outcomes.iter().filter_map(|o| Some((vec![("test", o.test.as_str())], converged(o)?))).collect();
    vec![
        Family {
            name: "plateau_steady_state",
            unit: "",
            help: "1 if the test reached steady state, otherwise 0; absent for incomplete tests and tests \
                   without steady state.",
            samples: steady,
        },
        Family { name: "plateau_rounds", unit: "", help: "Completed rounds.", samples: rounds },
    ]
}

fn totals(source: Source<'_>) -> Vec<Family<'_>> {
    let mut written: Vec<(Vec<(&str, &str)>, Number)> = Vec::new();
    let mut failed = Vec::new();
    for outcome in &source.document.outcomes {
        let total = total::of_test(source, &outcome.test);
        let labels = vec![("test", outcome.test.as_str())];
        written.extend(total.written_bytes.map(|bytes| (labels.clone(), bytes.into())));
        failed.extend(total.io_errors.map(|count| (labels, count.into())));
    }
    vec![
        Family {
            name: "plateau_written",
            unit: "bytes",
            help: "Bytes written, preconditioning included.",
            samples: written,
        },
        Family { name: "plateau_io_errors", unit: "", help: "I/Os that the device failed.", samples: failed },
    ]
}

fn write_family(out: &mut String, source: Source<'_>, family: &Family<'_>) {
    let name = if family.unit.is_empty() {
        family.name.to_owned()
    } else {
        format!("{}_{}", family.name, family.unit)
    };
    let _ = writeln!(out, "# TYPE {name} gauge");
    if !family.unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {}", family.unit);
    }
    let _ = writeln!(out, "# HELP {name} {}", family.help);
    let run = &source.document.run;
    let model = run.target.model.as_deref().unwrap_or(&run.target.path);
    let simulated = source.document.simulated();
    let mut common = vec![("run", run.id.as_str()), ("model", model)];
    common.extend((!simulated.is_empty()).then_some(("simulated", simulated.as_str())));
    let imported = source.document.imported();
    common.extend((!imported.is_empty()).then_some(("imported", imported.as_str())));
    for (labels, value) in &family.samples {
        let labels: Vec<String> =
            common.iter().chain(labels).map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(out, "{name}{{{}}} {value}", labels.join(","));
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
