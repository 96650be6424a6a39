//! The comparisons and their targets.

use std::path::Path;

use engine::{Engine, Nowhere};

use super::contents;
use super::pairs::{PAIRS, alternated, compared, paired, rehearsed};
use super::rivals::{Rivals, Sample};
use super::targets::{Target, reads};
use crate::bench::results::{Row, median, part};

/// Queue depth, limit in ns per I/O for the loop alone, and limit as a fraction of fio's time.
const NULL: &[(u16, f64, f64)] = &[(1, 30.0, 0.30), (32, 10.0, 0.12), (128, 10.0, 0.12)];
const NO_OP_OF_T_IO_URING: f64 = 1.06;
const ZRAM_DEPTHS: [u16; 3] = [1, 32, 128];
const ZRAM_OF_T_IO_URING: f64 = 1.05;
const ZRAM_OF_FIO: f64 = 0.80;
const USER_OF_FIO: f64 = 0.25;

/// Number of pairs for rates: more than for CPU time, because other load on the host affects rates more.
const RATE_PAIRS: usize = 15;

/// Measures I/O on a new RAM disk.
pub fn zram(rivals: &Rivals, _: &Path) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    match Target::zram() {
        Ok(mut zram) => {
            for depth in ZRAM_DEPTHS {
                device(rivals, "zram", &mut zram, depth, &mut rows)?;
            }
            rows.push(one_at_a_time("zram", &mut zram)?);
            rows.push(contents::checked_reads(&mut zram)?);
        }
        Err(reason) => println!("zram skipped: {reason:#}"),
    }
    Ok(rows)
}

/// Measures I/O on a file in `folder`.
pub fn file(rivals: &Rivals, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let (mut rows, mut file) = (Vec::new(), Target::file(folder)?);
    device(rivals, "file", &mut file, 1, &mut rows)?;
    rows.push(one_at_a_time("file", &mut file)?);
    Ok(rows)
}

fn share_row(what: String, limit: f64, rival: &str, (ours, theirs, share): (f64, f64, f64)) -> Row {
    Row {
        what,
        target: format!("<= {limit:.2} x {rival}"),
        limit: Some(limit),
        ..Row::stated("", format!("{ours:.1} / {theirs:.1} ns = {share:.2}"), share)
    }
}

/// Compares IOPS; Plateau's must not be lower.
fn rate_row(what: String, rival: &str, pairs: &[(Sample, Sample)]) -> Row {
    let (ours, theirs, share) = compared(pairs, |s| s.iops);
    let quotients = || pairs.iter().map(|pair| pair.0.iops / pair.1.iops);
    let (low, high) = (part(quotients(), 0.25), part(quotients(), 0.75));
    Row {
        target: format!(">= 1.00 x {rival}"),
        limit: Some(1.0),
        best_quarter: Some(1.0 / high),
        ..Row::stated(
            what,
            format!("{ours:.0} / {theirs:.0} = {share:.2} ({low:.2} to {high:.2})"),
            1.0 / share,
        )
    }
}

fn nowhere(way: Nowhere, depth: u16) -> anyhow::Result<Sample> {
    rehearsed(way, &reads(depth))
}

/// Measures the loop without I/O, and the cost of a clock reading.
pub fn alone(rivals: &Rivals, _: &Path) -> anyhow::Result<Vec<Row>> {
    let clock_ns = engine::ceiling()?.clock.cost_ns;
    let mut rows = vec![Row::stated("one clock reading", format!("{clock_ns:.1} ns"), clock_ns)];
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
            limit: Some(limit_ns),
            ..Row::stated("", format!("{own_ns:.1} ns"), own_ns)
        });
    }
    Ok(rows)
}

/// Measures the loop with no-ops through the ring.
pub fn no_op_ring(rivals: &Rivals, _: &Path) -> anyhow::Result<Vec<Row>> {
    if rivals.t_io_uring.is_none() {
        return Ok(Vec::new());
    }
    let pairs = paired(|| nowhere(Nowhere::NoOpRing, 32), || rivals.t_io_uring(None, 32, false))?;
    let what = "no-op ring, histogram on, QD32: CPU per I/O".to_owned();
    let medians = compared(&pairs, |s| s.cpu_ns);
    let user = compared(&pairs, |s| s.user_ns);
    let stated = format!("{:.1} / {:.1} ns = {:.2}", user.0, user.1, user.2);
    Ok(vec![
        share_row(what, NO_OP_OF_T_IO_URING, "t/io_uring", medians),
        Row::stated("no-op ring: user time of Plateau and t/io_uring", stated, user.2),
    ])
}

/// Measures random 4 KiB reads from a target at one depth.
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
        let (ours, theirs, share) = compared(&pairs, |s| s.all_ns.unwrap_or(f64::NAN));
        let text = format!("{ours:.1} / {theirs:.1} ns = {share:.2}");
        rows.push(Row::stated(format!("{cpu}, kernel helpers included, vs t/io_uring"), text, share));
    }
    if rivals.fio_version.is_none() {
        return Ok(());
    }
    let count = if depth == 1 { RATE_PAIRS } else { PAIRS };
    let pairs = alternated(count, || Ok(target.measure(depth)?.0), || rivals.fio_tuned(&path, depth))?;
    if is_zram {
        rows.push(share_row(cpu, ZRAM_OF_FIO, "fio tuned", compared(&pairs, |s| s.cpu_ns)));
    }
    if depth == 1 {
        rows.push(rate_row(format!("{name} 4 KiB random read QD1: IOPS"), "fio tuned", &pairs));
    }
    if is_zram && depth == 32 {
        let what = format!("{name} 4 KiB random read QD{depth}: user time per I/O");
        rows.push(share_row(what.clone(), USER_OF_FIO, "fio tuned", compared(&pairs, |s| s.user_ns)));
        if rivals.t_io_uring.is_some() {
            let pairs =
                paired(|| rivals.t_io_uring(Some(&path), depth, true), || rivals.fio_tuned(&path, depth))?;
            let (own, fio, share) = compared(&pairs, |s| s.user_ns);
            let text = format!("{own:.1} / {fio:.1} ns = {share:.2}");
            rows.push(Row::stated(format!("{what}, t/io_uring and fio"), text, share));
        }
    }
    Ok(())
}

/// At depth 1, compares the automatically chosen engine with io_uring, which must not be faster.
fn one_at_a_time(name: &str, target: &mut Target) -> anyhow::Result<Row> {
    let mut samples = Vec::with_capacity(RATE_PAIRS);
    for pair in 0..RATE_PAIRS {
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
    Ok(rate_row(format!("{name} 4 KiB random read QD1: IOPS of pread"), "io_uring", &samples))
}
