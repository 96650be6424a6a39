//! The options of `plateau load`; those of the load itself are options of a job by the same names.

use clap::{Args, ValueEnum};

use super::SimFaults;

/// How the result is printed, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people
    Normal,
    /// One JSON document, the same as by --json
    Json,
}

#[derive(Debug, Args)]
pub struct Load {
    /// Block device, regular file, sim:MODEL, or a job file of fio (a name ending in .fio, .job or .ini)
    pub target: String,
    #[command(flatten)]
    pub words: Words,
    /// The target of those jobs of a job file that name none
    #[arg(long, value_name = "TARGET")]
    pub filename: Option<String>,
    /// For writes: confirm that everything on the target is lost, by typing its identity; once for each
    /// target that a job file writes to
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// Simulated drives: divide capacity and seconds by this, such as 1/16
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
    /// Seed of every offset, mix and buffer, and of a simulated drive
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub sim_faults: SimFaults,
    /// Processors for the threads of the load, such as 0-3,8; all: do not pin [default: a core each, near the
    /// device, while one is left]
    #[arg(
        long = "cpus_allowed",
        alias = "cpus-allowed",
        value_name = "LIST",
        conflicts_with = "numa_cpu_nodes"
    )]
    pub cpus_allowed: Option<String>,
    /// The same by NUMA nodes
    #[arg(long = "numa_cpu_nodes", alias = "numa-cpu-nodes", value_name = "LIST")]
    pub numa_cpu_nodes: Option<String>,
    /// Poll for completions; needs a block device with poll queues, and goes on without where there are none
    #[arg(long, conflicts_with = "sqthread_poll")]
    pub hipri: bool,
    /// Have a thread of the kernel poll for submissions; it takes a processor
    #[arg(long = "sqthread_poll", alias = "sqthread-poll")]
    pub sqthread_poll: bool,
    /// How the result is printed
    #[arg(long = "output-format", value_enum, default_value = "normal", value_name = "FORMAT")]
    pub output_format: OutputFormat,
}

/// A job on the command line.
#[derive(Debug, Args, Default)]
pub struct Words {
    /// read, write, randread, randwrite, rw or randrw [default: read]
    #[arg(long)]
    pub rw: Option<String>,
    /// Bytes per I/O; READ,WRITE where they differ [default: 4k]
    #[arg(long, value_name = "SIZE")]
    pub bs: Option<String>,
    /// Sizes with their shares in percent, such as 4k/70:64k/30
    #[arg(long, value_name = "SHARES", conflicts_with = "bs")]
    pub bssplit: Option<String>,
    /// Outstanding I/Os per thread [default: 1]
    #[arg(long, value_name = "N")]
    pub iodepth: Option<String>,
    /// Threads; each does what is asked for [default: 1]
    #[arg(long, value_name = "N")]
    pub numjobs: Option<String>,
    /// Seconds, or a time such as 5m; the load ends then even if its amount is not done
    #[arg(long, value_name = "TIME")]
    pub runtime: Option<String>,
    /// Go on until the runtime is over when the amount is done
    #[arg(long = "time_based", alias = "time-based")]
    pub time_based: bool,
    /// Seconds under load before anything counts, on top of the runtime
    #[arg(long = "ramp_time", alias = "ramp-time", value_name = "TIME")]
    pub ramp_time: Option<String>,
    /// Bytes of the target that may be touched, which is also the amount to move [default: all]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Bytes to move where that is not the size
    #[arg(long = "io_size", alias = "io-size", value_name = "SIZE")]
    pub io_size: Option<String>,
    /// First byte that may be touched, or a percentage of the target [default: 0]
    #[arg(long, value_name = "SIZE")]
    pub offset: Option<String>,
    /// How far each thread begins behind the one before [default: 0]
    #[arg(long = "offset_increment", alias = "offset-increment", value_name = "SIZE")]
    pub offset_increment: Option<String>,
    /// Percentage of reads in rw and randrw [default: 50]
    #[arg(long, value_name = "P")]
    pub rwmixread: Option<String>,
    /// Percentage of writes in rw and randrw
    #[arg(long, value_name = "P", conflicts_with = "rwmixread")]
    pub rwmixwrite: Option<String>,
    /// I/Os per second of each thread, started whether or not earlier ones are back; READ,WRITE in a mix
    #[arg(long = "rate_iops", alias = "rate-iops", value_name = "N")]
    pub rate_iops: Option<String>,
    /// linear: at equal distances; poisson: independently of each other [default: linear]
    #[arg(long = "rate_process", alias = "rate-process", value_name = "NAME", requires = "rate_iops")]
    pub rate_process: Option<String>,
    /// random, or zoned:ACCESS/SIZE:.. in percent [default: random]
    #[arg(long = "random_distribution", alias = "random-distribution", value_name = "NAME")]
    pub random_distribution: Option<String>,
    /// Share of each written block that can be compressed away, in percent [default: 0]
    #[arg(long = "buffer_compress_percentage", alias = "buffer-compress-percentage", value_name = "P")]
    pub buffer_compress_percentage: Option<String>,
    /// Share of the written blocks that are copies of earlier ones, in percent [default: 0]
    #[arg(long = "dedupe_percentage", alias = "dedupe-percentage", value_name = "P")]
    pub dedupe_percentage: Option<String>,
    /// Write zeros
    #[arg(long = "zero_buffers", alias = "zero-buffers")]
    pub zero_buffers: bool,
    /// crc32c: stamp every block that is written, and check every block that is read, and all of them at the end
    #[arg(long, value_name = "NAME")]
    pub verify: Option<String>,
    /// io_uring, libaio, psync, or io_uring_cmd for NVMe commands past the block layer [default: what is lightest]
    #[arg(long, value_name = "NAME")]
    pub ioengine: Option<String>,
    /// Kind of the commands of io_uring_cmd: nvme
    #[arg(long = "cmd_type", alias = "cmd-type", value_name = "NAME", requires = "ioengine")]
    pub cmd_type: Option<String>,
}

impl Words {
    /// The words that were said, as options of a job.
    pub fn said(&self) -> Vec<(&'static str, String)> {
        let sizes = [
            ("bs", &self.bs),
            ("bssplit", &self.bssplit),
            ("size", &self.size),
            ("io_size", &self.io_size),
            ("offset", &self.offset),
            ("offset_increment", &self.offset_increment),
        ];
        let times = [("runtime", &self.runtime), ("ramp_time", &self.ramp_time)];
        let others = [
            ("rw", &self.rw),
            ("iodepth", &self.iodepth),
            ("numjobs", &self.numjobs),
            ("rwmixread", &self.rwmixread),
            ("rwmixwrite", &self.rwmixwrite),
            ("rate_iops", &self.rate_iops),
            ("rate_process", &self.rate_process),
            ("random_distribution", &self.random_distribution),
            ("buffer_compress_percentage", &self.buffer_compress_percentage),
            ("dedupe_percentage", &self.dedupe_percentage),
            ("verify", &self.verify),
            ("ioengine", &self.ioengine),
            ("cmd_type", &self.cmd_type),
        ];
        let switches = [("time_based", self.time_based), ("zero_buffers", self.zero_buffers)];
        let mut said: Vec<(&'static str, String)> = Vec::new();
        said.extend(others.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))));
        said.extend(sizes.into_iter().filter_map(|(name, text)| Some((name, base2(text.as_deref()?)))));
        said.extend(times.into_iter().filter_map(|(name, text)| Some((name, whole_time(text.as_deref()?)))));
        said.extend(switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, "1".to_owned())));
        said
    }
}

/// KiB is 1024 on all command lines of Plateau; fio has that as k.
fn base2(text: &str) -> String {
    text.replace("iB", "")
}

/// fio knows no fractions of a second; here 0.5 is 500 ms.
fn whole_time(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(seconds) if text.contains('.') && (0.0..1e9).contains(&seconds) => {
            format!("{}us", (seconds * 1e6) as u64)
        }
        _ => text.to_owned(),
    }
}
