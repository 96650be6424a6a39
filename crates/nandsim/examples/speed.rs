//! How many simulated I/Os one core does per second of CPU time: `speed [MODEL] [SCALE] [OP %]`.

use std::time::Instant;

use nandsim::{Load, Model, Scale, Ssd, Until};
use stdx::access::{Order, Span};

/// CPU time of this thread where the system tells it, else time on the wall.
struct Clock(Option<u64>, Instant);

impl Clock {
    fn start() -> Self {
        Self(cpu_ns(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        match (self.0, cpu_ns()) {
            (Some(from), Some(to)) => (to - from) as f64 / 1e9,
            _ => self.1.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut model = Model::named(&words.next().unwrap_or_else(|| "sas-slc-2011".to_owned()))?;
    let scale: Scale = words.next().unwrap_or_else(|| "1/16".to_owned()).parse()?;
    if let Some(percent) = words.next() {
        model.geometry.effective_op_percent = percent.parse()?;
    }
    let mut ssd = Ssd::new(&model, scale, 1);
    let capacity = ssd.capacity_bytes();
    println!(
        "{} at {scale}: {} MiB, effective OP {:.1} %",
        model.name,
        capacity >> 20,
        100.0 * ssd.effective_op()
    );
    let fill = |order, read_percent, block_bytes, fills| Load {
        order,
        read_percent,
        block_bytes,
        threads: 2,
        queue_depth: 16,
        span: Span::contiguous(0, capacity),
        until: Until::Bytes(fills * capacity),
        seed: 1,
        min_completions: 0,
        tick_ns: 1_000_000_000,
    };
    for (name, load) in [
        ("128 KiB sequential write", fill(Order::Sequential, 0, 131_072, 2)),
        ("4 KiB random write, cliff", fill(Order::Random, 0, 4096, 3)),
        ("4 KiB random write, steady", fill(Order::Random, 0, 4096, 2)),
        ("4 KiB random 65/35", fill(Order::Random, 65, 4096, 3)),
        ("4 KiB random read", fill(Order::Random, 100, 4096, 5)),
        ("128 KiB random read", fill(Order::Random, 100, 131_072, 3)),
    ] {
        let before = ssd.health();
        let clock = Clock::start();
        let tally = ssd.run(&load, &mut |_| true);
        let seconds = clock.seconds();
        let amplification = ssd.health().since(&before).write_amplification();
        println!(
            "{name:>28}: {:6.2} M I/O/s ({:5.2} s), virtual {:8.0} IOPS, write amplification {}",
            (tally.read.ios + tally.write.ios) as f64 / seconds / 1e6,
            seconds,
            tally.iops(),
            amplification.map_or("-".to_owned(), |wa| format!("{wa:.2}"))
        );
    }
    Ok(())
}
