//! What is compared with what, and what shall come out.

use std::path::Path;

use drive::{Engine, Nowhere};

use super::memory;
use super::rivals::{Rivals, Sample};
use super::targets::{Target, reads};
use super::{PAIRS, Row, median};

/// Nanoseconds per I/O that the loop may take by itself, by depth, and its share of fio's.
const NULL: &[(u16, f64, f64)] = &[(1, 30.0, 0.30), (32, 10.0, 0.12), (128, 10.0, 0.12)];
const NO_OP_OF_T_IO_URING: f64 = 1.06;
const ZRAM_DEPTHS: [u16; 3] = [1, 32, 128];
const ZRAM_OF_T_IO_URING: f64 = 1.05;
const ZRAM_OF_FIO: f64 = 0.80;
const USER_OF_FIO: f64 = 0.25;
const DATA_GB_PER_SECOND: f64 = 25.0;

/// Measures everything that can be measured here.
pub fn measure(rivals: &Rivals, folder: &Path) -> anyhow::Result<Vec<Row>> {
    // First, while nothing else has taken memory.
    let mut rows = memory::rows()?;
    null(rivals, &mut rows)?;
    no_op_ring(rivals, &mut rows)?;
    match Target::zram() {
        Ok(mut zram) => {
            for depth in ZRAM_DEPTHS {
                device(rivals, "zram", &mut zram, depth, &mut rows)?;
            }
            rows.push(one_at_a_time("zram", &mut zram)?);
        }
        Err(reason) => println!("zram left out: {reason:#}"),
    }
    let mut file = Target::file(folder)?;
    device(rivals, "file", &mut file, 1, &mut rows)?;
    rows.push(one_at_a_time("file", &mut file)?);
    data(rivals, &mut rows)?;
    Ok(rows)
}

/// Runs two things alternately, each first in every other pair.
fn paired(
    mut ours: impl FnMut() -> anyhow::Result<Sample>,
    mut theirs: impl FnMut() -> anyhow::Result<Sample>,
) -> anyhow::Result<Vec<(Sample, Sample)>> {
    let mut pairs = Vec::with_capacity(PAIRS);
    for i in 0..PAIRS {
        pairs.push(if i % 2 == 0 {
            let first = ours()?;
            (first, theirs()?)
        } else {
            let first = theirs()?;
            (ours()?, first)
        });
    }
    Ok(pairs)
}

/// The medians of both, and the median of the quotients of the pairs.
fn compared(pairs: &[(Sample, Sample)], of: fn(&Sample) -> f64) -> (f64, f64, f64) {
    (
        median(pairs.iter().map(|p| of(&p.0))),
        median(pairs.iter().map(|p| of(&p.1))),
        median(pairs.iter().map(|p| of(&p.0) / of(&p.1))),
    )
}

fn share_row(what: String, limit: f64, rival: &str, (ours, theirs, share): (f64, f64, f64)) -> Row {
    Row {
        what,
        target: format!("<= {limit:.2} x {rival}"),
        measured: format!("{ours:.1} / {theirs:.1} ns = {share:.2}"),
        value: share,
        limit,
    }
}

fn nowhere(way: Nowhere, depth: u16) -> anyhow::Result<Sample> {
    let done = drive::rehearse(way, &reads(depth))?;
    let ios = done.segment.read.ios.max(1) as f64;
    Ok(Sample {
        cpu_ns: done.cpu_ns_per_io(),
        user_ns: done.effort.user_ns as f64 / ios,
        iops: done.segment.iops(),
    })
}

fn null(rivals: &Rivals, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    for &(depth, limit_ns, share) in NULL {
        let what = format!("null, histogram on, QD{depth}: CPU per I/O");
        let ours = || nowhere(Nowhere::Null, depth);
        let own_ns = if rivals.fio_version.is_some() {
            let pairs = paired(ours, || rivals.fio_null(depth, &["--rw=randread"]))?;
            let medians = compared(&pairs, |s| s.cpu_ns);
            rows.push(share_row(what.clone(), share, "fio null", medians));
            medians.0
        } else {
            let samples: Vec<Sample> = (0..PAIRS).map(|_| ours()).collect::<anyhow::Result<_>>()?;
            median(samples.iter().map(|s| s.cpu_ns))
        };
        rows.push(Row {
            what,
            target: format!("<= {limit_ns:.0} ns"),
            measured: format!("{own_ns:.1} ns"),
            value: own_ns,
            limit: limit_ns,
        });
    }
    Ok(())
}

fn no_op_ring(rivals: &Rivals, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    if rivals.t_io_uring.is_none() {
        return Ok(());
    }
    let pairs = paired(|| nowhere(Nowhere::NoOpRing, 32), || rivals.t_io_uring(None, 32, false))?;
    let what = "no-op ring, histogram on, QD32: CPU per I/O".to_owned();
    let medians = compared(&pairs, |s| s.cpu_ns);
    rows.push(share_row(what, NO_OP_OF_T_IO_URING, "t/io_uring", medians));
    Ok(())
}

/// Random reads of 4 KiB of a target at one depth.
fn device(
    rivals: &Rivals,
    name: &str,
    target: &mut Target,
    depth: u16,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let path = target.path.clone();
    let is_zram = name == "zram";
    let cpu = format!("{name} 4 KiB random read QD{depth}: CPU per I/O");
    if is_zram && rivals.t_io_uring.is_some() {
        let pairs = paired(|| Ok(target.measure(depth)?.0), || rivals.t_io_uring(Some(&path), depth, true))?;
        rows.push(share_row(
            cpu.clone(),
            ZRAM_OF_T_IO_URING,
            "t/io_uring -t1",
            compared(&pairs, |s| s.cpu_ns),
        ));
    }
    if rivals.fio_version.is_none() {
        return Ok(());
    }
    let pairs = paired(|| Ok(target.measure(depth)?.0), || rivals.fio_tuned(&path, depth))?;
    if is_zram {
        rows.push(share_row(cpu, ZRAM_OF_FIO, "fio tuned", compared(&pairs, |s| s.cpu_ns)));
    }
    if is_zram && depth == 32 {
        let what = format!("{name} 4 KiB random read QD{depth}: user time per I/O");
        rows.push(share_row(what, USER_OF_FIO, "fio tuned", compared(&pairs, |s| s.user_ns)));
    }
    if depth == 1 {
        let (ours, theirs, share) = compared(&pairs, |s| s.iops);
        rows.push(Row {
            what: format!("{name} 4 KiB random read QD1: IOPS"),
            target: ">= 1.00 x fio tuned".into(),
            measured: format!("{ours:.0} / {theirs:.0} = {share:.2}"),
            value: 1.0 / share,
            limit: 1.0,
        });
    }
    Ok(())
}

/// Whether the way that is chosen at depth 1 is no slower than the ring.
fn one_at_a_time(name: &str, target: &mut Target) -> anyhow::Result<Row> {
    let mut samples = Vec::with_capacity(PAIRS);
    for pair in 0..PAIRS {
        let mut by = |engine| Ok::<_, anyhow::Error>(target.by(engine)?.measure(1)?.0);
        samples.push(if pair % 2 == 0 {
            let chosen = by(Engine::Auto)?;
            (chosen, by(Engine::IoUring)?)
        } else {
            let ring = by(Engine::IoUring)?;
            (by(Engine::Auto)?, ring)
        });
    }
    target.by(Engine::Auto)?;
    let (chosen, ring, share) = compared(&samples, |s| s.iops);
    Ok(Row {
        what: format!("{name} 4 KiB random read QD1: IOPS of pread"),
        target: ">= 1.00 x io_uring".into(),
        measured: format!("{chosen:.0} / {ring:.0} = {share:.2}"),
        value: 1.0 / share,
        limit: 1.0,
    })
}

/// Fresh data; fio's rate is what its `refill_buffers` adds to a write that goes nowhere.
fn data(rivals: &Rivals, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let rate = drive::ceiling()?.data_bytes_per_second / 1e9;
    let row = |target: String, limit: f64| Row {
        what: "fresh data for 4 KiB writes, per core".into(),
        target,
        measured: format!("{rate:.1} GB/s"),
        value: 1.0 / rate,
        limit: 1.0 / limit,
    };
    rows.push(row(format!(">= {DATA_GB_PER_SECOND:.0} GB/s"), DATA_GB_PER_SECOND));
    if rivals.fio_version.is_some() {
        let write = ["--rw=randwrite", "--scramble_buffers=0"];
        let pairs = paired(
            || rivals.fio_null(32, &[write[0], write[1], "--refill_buffers"]),
            || rivals.fio_null(32, &write),
        )?;
        let fio = 4096.0 / median(pairs.iter().map(|(refill, base)| refill.cpu_ns - base.cpu_ns));
        rows.push(row(format!(">= 0.8 x fio refill ({fio:.1} GB/s)"), 0.8 * fio));
    }
    Ok(())
}
