//! Runs one workload on a target and prints the measurements, to compare the engine with other tools:
//! `load TARGET ERASE SIZE rnd|seq READ% BLOCK THREADS DEPTH SECONDS auto|io_uring|threads`
//! (ERASE and SIZE may be `-`).

use device::OpenOptions;
use engine::{Engine, Flow, LoadOutcome};
use record::{Access, DataPattern, Range, Regime, Until, Workload};
use stdx::units::{SECOND_NS, parse_size};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, erase, size, order, read, block, threads, depth, seconds, engine] = &arguments[..] else {
        return Err("ten arguments are required; see the top of this example".into());
    };
    let some = |text: &String| (text != "-").then(|| text.clone());
    let engine = match engine.as_str() {
        "threads" => Engine::Threads,
        "io_uring" => Engine::IoUring,
        _ => Engine::Auto,
    };
    let size_bytes = some(size).map(|text| parse_size(&text)).transpose()?;
    let options = OpenOptions { size_bytes, engine, ..OpenOptions::default() };
    let mut armed = device::open(target, &options)?.arm(some(erase).as_deref())?;
    let workload = Workload {
        access: if order == "seq" { Access::Sequential } else { Access::Random },
        read_percent: read.parse()?,
        block_bytes: parse_size(block)? as u32,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: threads.parse()?,
        queue_depth: depth.parse()?,
        range: Range::first(armed.facts().capacity_bytes),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(seconds.parse::<u64>()? * SECOND_NS),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    };
    match armed.run(&workload, &mut |_| Flow::Continue)? {
        LoadOutcome::Finished(segment) => println!(
            "{workload}: {:.0} IOPS, {:.1} MB/s, mean {:.4} ms, max {:.3} ms, {}",
            segment.iops(),
            segment.megabytes_per_second(),
            segment.mean_latency_ms().unwrap_or(0.0),
            segment.max_latency_ms().unwrap_or(0.0),
            segment.io_path
        ),
        LoadOutcome::Stopped => unreachable!("every tick says to go on"),
    }
    Ok(())
}
