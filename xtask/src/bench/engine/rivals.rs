//! Runs the other tools with the same load, and reads their CPU time.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// Duration of one run of fio.
const FIO_SECONDS: u32 = 1;
/// Duration of one run of t/io_uring. It prints nothing in its last second, and its first line is only the
/// starting point.
const T_IO_URING_SECONDS: u32 = 4;
/// Length of a tick in `/proc/PID/task/TID/stat` (`USER_HZ` is 100 on every architecture that Linux supports today).
const NS_PER_TICK: f64 = 1e7;

/// Result of one run of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// CPU time of the submitting thread per I/O.
    pub cpu_ns: f64,
    /// The part of that time that was spent in user mode.
    pub user_ns: f64,
    /// I/Os per second of wall-clock time.
    pub iops: f64,
    /// CPU time of all threads of the process per I/O, including the kernel's helper threads; `None` if unknown.
    pub all_ns: Option<f64>,
}

/// The available tools.
pub struct Rivals {
    pub fio_version: Option<String>,
    pub t_io_uring: Option<String>,
    /// CPU on which all tools run, including ours: whether the kernel's helper threads share it affects results
    /// more than the choice of tool.
    processor: String,
}

impl Rivals {
    pub fn find(t_io_uring: Option<String>) -> anyhow::Result<Self> {
        if let Some(path) = t_io_uring.as_deref().filter(|path| !std::path::Path::new(path).is_file()) {
            bail!("there is no {path}");
        }
        let fio = Command::new("fio").arg("--version").output().ok().filter(|o| o.status.success());
        let fio_version = fio.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        Ok(Self { fio_version, t_io_uring, processor: processor().to_string() })
    }

    /// Runs 4 KiB I/Os with fio's null engine and default settings.
    pub fn fio_null(&self, depth: u16, more: &[&str]) -> anyhow::Result<Sample> {
        let mut arguments = vec!["--ioengine=null", "--size=1T", "--norandommap"];
        arguments.extend(more);
        fio(depth, &arguments)
    }

    /// Runs 4 KiB random reads with fio on io_uring, tuned as far as possible.
    pub fn fio_tuned(&self, target: &str, depth: u16) -> anyhow::Result<Sample> {
        let filename = format!("--filename={target}");
        let tuned = ["--ioengine=io_uring", "--fixedbufs", "--registerfiles", "--direct=1", "--norandommap"];
        let processor = format!("--cpus_allowed={}", self.processor);
        let mut arguments = vec![filename.as_str(), "--rw=randread", "--readonly", processor.as_str()];
        arguments.extend(tuned);
        fio(depth, &arguments)
    }

    /// Runs 4 KiB random reads with t/io_uring, or no-ops if there is no target.
    pub fn t_io_uring(&self, target: Option<&str>, depth: u16, latency: bool) -> anyhow::Result<Sample> {
        let program = self.t_io_uring.as_deref().context("no path to t/io_uring")?;
        // As in our engine, the queue of a device is refilled after each completion, and no-ops are submitted in
        // batches.
        let batch = depth.min(32);
        let wait_for = if target.is_some() { 1 } else { batch };
        // The output is line-buffered, because the CPU time is sampled at each line.
        let mut child = Command::new("taskset")
            .args(["-c", &self.processor, "stdbuf", "-oL", program, "-p0", "-n1", "-X1", "-b4096"])
            .args([format!("-d{depth}"), format!("-s{batch}"), format!("-c{wait_for}")])
            .args([format!("-t{}", u8::from(latency)), format!("-r{T_IO_URING_SECONDS}")])
            .args([format!("-N{}", u8::from(target.is_none()))])
            // t/io_uring requires a non-empty file even for no-ops; any file works.
            .arg(target.unwrap_or("/proc/self/exe"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run t/io_uring")?;
        let process = child.id();
        let output = child.stdout.take().context("t/io_uring has no output")?;
        let (mut points, mut thread) = (Vec::new(), process);
        for line in BufReader::new(output).lines() {
            let line = line?;
            thread = submitter_of(&line).unwrap_or(thread);
            if let Some(iops) = iops_of(&line) {
                points.push((iops, processor_time(process, thread)?, time_of_all(&process.to_string())?));
            }
        }
        child.wait()?;
        let ([(_, begin, all_begin), more @ ..], Some((_, end, all_end))) = (&points[..], points.last())
        else {
            bail!("the output of t/io_uring cannot be parsed");
        };
        let ios: f64 = more.iter().map(|(iops, ..)| iops).sum();
        let user_ns = (end.0 - begin.0) / ios;
        Ok(Sample {
            cpu_ns: user_ns + (end.1 - begin.1) / ios,
            user_ns,
            iops: ios / more.len() as f64,
            all_ns: Some((all_end - all_begin) / ios),
        })
    }
}

/// Returns the last CPU, which usually has the least kernel work.
pub fn processor() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from) - 1
}

fn fio(depth: u16, arguments: &[&str]) -> anyhow::Result<Sample> {
    let output = Command::new("fio")
        .args(["--name=bench", "--bs=4k", "--time_based", "--thread", "--output-format=json"])
        .args([format!("--runtime={FIO_SECONDS}"), format!("--iodepth={depth}")])
        .args(arguments)
        .output()
        .context("cannot run fio")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    sample_of(&serde_json::from_slice(&output.stdout).context("fio printed no JSON")?)
}

fn sample_of(document: &Value) -> anyhow::Result<Sample> {
    let job = &document["jobs"][0];
    let number = |value: &Value| value.as_f64().context("fio's JSON lacks a number");
    let (user, system) = (number(&job["usr_cpu"])?, number(&job["sys_cpu"])?);
    let ios = number(&job["read"]["total_ios"])? + number(&job["write"]["total_ios"])?;
    let length_ns = number(&job["job_runtime"])? * 1e6;
    let of = |percent: f64| percent / 100.0 * length_ns / ios;
    let (cpu_ns, user_ns) = (of(user + system), of(user));
    Ok(Sample { cpu_ns, user_ns, iops: ios / length_ns * 1e9, all_ns: None })
}

/// Parses the rate from a line such as `IOPS=12.05M, IOS/call=32/32`.
fn iops_of(line: &str) -> Option<f64> {
    let text = line.strip_prefix("IOPS=")?.split(',').next()?;
    let (number, unit) = match text.chars().last()? {
        'M' => (&text[..text.len() - 1], 1e6),
        'K' => (&text[..text.len() - 1], 1e3),
        _ => (text, 1.0),
    };
    Some(number.parse::<f64>().ok()? * unit)
}

/// Parses the thread from a line such as `submitter=0, tid=4711, file=/dev/zram0, …`.
fn submitter_of(line: &str) -> Option<u32> {
    line.strip_prefix("submitter=0, tid=")?.split(',').next()?.parse().ok()
}

/// Returns the user plus system time, in ns, of all threads of a process, including the kernel's helper
/// threads.
pub fn time_of_all(process: &str) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    times_of(&text).map(|(user, system)| user + system).context("/proc/PID/stat has an unexpected format")
}

/// Returns the user and system time of a thread in ns. The times of the whole process would include the
/// kernel's helper threads.
fn processor_time(process: u32, thread: u32) -> anyhow::Result<(f64, f64)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/stat"))?;
    times_of(&text).context("/proc/PID/task/TID/stat has an unexpected format")
}

/// Parses fields 14 and 15 of proc_pid_stat(5); the second field, a name in parentheses, may contain spaces.
fn times_of(stat: &str) -> Option<(f64, f64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok().map(|ticks| ticks * NS_PER_TICK);
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_their_units() {
        assert_eq!(iops_of("IOPS=12.50M, IOS/call=32/32"), Some(12_500_000.0));
        assert_eq!(iops_of("IOPS=250.00K, BW=976MiB/s, IOS/call=1/1"), Some(250_000.0));
        assert_eq!(iops_of("IOPS=999, IOS/call=1/1"), Some(999.0));
        assert_eq!(iops_of("Maximum IOPS=999"), None);
    }

    #[test]
    fn the_submitting_thread_is_found() {
        assert_eq!(submitter_of("submitter=0, tid=4711, file=/dev/zram0, nfiles=1"), Some(4711));
        assert_eq!(submitter_of("polled=0, fixedbufs=1"), None);
    }

    #[test]
    fn processor_time_is_found_after_any_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 250 0 0 20 0";
        assert_eq!(times_of(stat), Some((1.5e9, 2.5e9)));
    }

    #[test]
    fn fio_counts_in_percent_of_its_runtime() {
        let text = r#"{"jobs":[{"usr_cpu":25.0,"sys_cpu":50.0,"job_runtime":1000,
                      "read":{"total_ios":1000000},"write":{"total_ios":0}}]}"#;
        let sample = sample_of(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!((sample.cpu_ns, sample.user_ns, sample.iops), (750.0, 250.0, 1e6));
    }
}
