//! Samples about power and the file system.

use record::{
    Efficiency, Exported, ExportedFileSystem, ExportedMeter, FileShare, ImportedTest, PowerSubject,
    Uncertain, WorkloadEfficiency, WorkloadFileShare,
};

use super::sample::Sample;
use crate::imported::Provenance;
use crate::number::possible;

/// Limit on the number of workloads per test.
const MOST_WORKLOADS: usize = 10_000;

/// Records a sample about the whole run.
pub(super) fn of_run(sample: &Sample, run: &mut Provenance) -> Result<(), String> {
    let idle = meter(sample, run)?.map(|meter| &mut meter.idle_watts);
    match (sample.name.as_str(), idle) {
        ("plateau_idle_power_watts", Some(idle)) => {
            *idle = Some(Uncertain { value: possible(sample.value, &sample.name)?, uncertainty: None });
        }
        ("plateau_idle_power_uncertainty_watts", Some(Some(idle))) => {
            idle.uncertainty = Some(possible(sample.value, &sample.name)?);
        }
        _ => {
            if let Some(ratio) = ratio(&sample.name)
                && let Some(facts) = file_system(sample, run)
            {
                ratio.enter(sample, facts.share.get_or_insert_default())?;
            }
        }
    }
    Ok(())
}

/// Records a sample about a workload.
pub(super) fn of_workload(
    sample: &Sample,
    run: &mut Provenance,
    test: &mut ImportedTest,
) -> Result<(), String> {
    let (Some(name), Some(exported)) = (sample.label("workload"), &mut test.exported) else { return Ok(()) };
    if let Some(ratio) = ratio(&sample.name) {
        file_system(sample, run);
        return ratio.enter(sample, share(exported, name)?.share.get_or_insert_default());
    }
    if let Some(quantity) = quantity(&sample.name) {
        meter(sample, run)?;
        quantity.enter(sample, efficiency(exported, name)?)?;
    }
    Ok(())
}

/// Returns the run's power meter; if there is none yet, adds one with the subject from the sample, which says
/// nothing else about it. Returns `None` if the sample is not about power.
fn meter<'a>(sample: &Sample, run: &'a mut Provenance) -> Result<Option<&'a mut ExportedMeter>, String> {
    let Some(subject) = sample.label("subject") else { return Ok(None) };
    let subject = match subject {
        "drive" => PowerSubject::Drive,
        "host" => PowerSubject::Host,
        "upper_bound" => PowerSubject::UpperBound,
        other => return Err(format!("'{other}' is not something that a power meter measures")),
    };
    let stated = ExportedMeter {
        source: None,
        meter: None,
        subject,
        resolution_watts: None,
        tolerance_percent: None,
        idle_watts: None,
    };
    Ok(Some(run.power.get_or_insert(stated)))
}

fn file_system<'a>(sample: &Sample, run: &'a mut Provenance) -> Option<&'a mut ExportedFileSystem> {
    let kind = sample.label("file_system")?.to_owned();
    let stated = ExportedFileSystem {
        kind,
        block_bytes: None,
        mount_options: None,
        devices: None,
        words: None,
        share: None,
    };
    Some(run.file_system.get_or_insert(stated))
}

fn share<'a>(exported: &'a mut Exported, name: &str) -> Result<&'a mut WorkloadFileShare, String> {
    let new = || WorkloadFileShare { workload: name.to_owned(), share: None, extents: None };
    entry(&mut exported.file_share, |one| one.workload == name, new)
}

fn efficiency<'a>(exported: &'a mut Exported, name: &str) -> Result<&'a mut Efficiency, String> {
    let new = || WorkloadEfficiency { workload: name.to_owned(), rounds: None, mean: None };
    let workload = entry(&mut exported.efficiency, |one| one.workload == name, new)?;
    Ok(workload.mean.get_or_insert(Efficiency {
        watts: NONE,
        iops_per_watt: NONE,
        bytes_per_second_per_watt: NONE,
    }))
}

/// Returns the entry of a workload, after adding one if there is none.
fn entry<T>(all: &mut Vec<T>, is_same: impl Fn(&T) -> bool, new: impl Fn() -> T) -> Result<&mut T, String> {
    let at = all.iter().position(is_same).unwrap_or(all.len());
    if at == MOST_WORKLOADS {
        return Err(format!("a test has more than {MOST_WORKLOADS} workloads"));
    }
    if at == all.len() {
        all.push(new());
    }
    Ok(&mut all[at])
}

/// Placeholder for a quantity until its sample is read.
const NONE: Uncertain = Uncertain { value: f64::NAN, uncertainty: None };

/// Checks that each workload with a power value has all power quantities.
pub(super) fn complete(test: &ImportedTest) -> Result<(), String> {
    for workload in test.exported.iter().flat_map(|exported| &exported.efficiency) {
        let known =
            workload.mean.map(|mean| [mean.watts, mean.iops_per_watt, mean.bytes_per_second_per_watt]);
        if known.is_some_and(|all| all.iter().any(|one| one.value.is_nan())) {
            return Err(format!("it lacks the power or the efficiency of {}", workload.workload));
        }
    }
    Ok(())
}

/// A metric about a workload's power: the quantity, and whether the metric is the quantity's uncertainty.
struct Quantity {
    of: fn(&mut Efficiency) -> &mut Uncertain,
    is_uncertainty: bool,
}

impl Quantity {
    fn enter(&self, sample: &Sample, found: &mut Efficiency) -> Result<(), String> {
        let value = possible(sample.value, &sample.name)?;
        let quantity = (self.of)(found);
        if self.is_uncertainty {
            quantity.uncertainty = Some(value);
        } else {
            quantity.value = value;
        }
        Ok(())
    }
}

fn quantity(metric: &str) -> Option<Quantity> {
    let (of, is_uncertainty): (fn(&mut Efficiency) -> &mut Uncertain, bool) = match metric {
        "plateau_power_watts" => (|found| &mut found.watts, false),
        "plateau_power_uncertainty_watts" => (|found| &mut found.watts, true),
        "plateau_efficiency_ios_per_joule" => (|found| &mut found.iops_per_watt, false),
        "plateau_efficiency_uncertainty_ios_per_joule" => (|found| &mut found.iops_per_watt, true),
        "plateau_efficiency_bytes_per_joule" => (|found| &mut found.bytes_per_second_per_watt, false),
        "plateau_efficiency_uncertainty_bytes_per_joule" => {
            (|found| &mut found.bytes_per_second_per_watt, true)
        }
        _ => return None,
    };
    Some(Quantity { of, is_uncertainty })
}

/// A metric about the file system: the ratio, and the factor that converts it to the ratio in [`FileShare`].
struct Ratio {
    of: fn(&mut FileShare) -> &mut Option<f64>,
    factor: f64,
}

impl Ratio {
    fn enter(&self, sample: &Sample, share: &mut FileShare) -> Result<(), String> {
        *(self.of)(share) = Some(possible(sample.value * self.factor, &sample.name)?);
        Ok(())
    }
}

fn ratio(metric: &str) -> Option<Ratio> {
    let (of, factor): (fn(&mut FileShare) -> &mut Option<f64>, f64) = match metric {
        "plateau_file_bytes_written_ratio" => (|share| &mut share.bytes_written_per_byte, 1.0),
        "plateau_file_writes_ratio" => (|share| &mut share.writes_per_write, 1.0),
        "plateau_file_bytes_read_ratio" => (|share| &mut share.bytes_read_per_byte, 1.0),
        "plateau_file_reads_ratio" => (|share| &mut share.reads_per_read, 1.0),
        "plateau_file_flushes_ratio" => (|share| &mut share.flushes_per_thousand_writes, 1e3),
        _ => return None,
    };
    Some(Ratio { of, factor })
}
