//! A small drive and loads for it.
#![allow(dead_code, clippy::allow_attributes, reason = "every test binary uses a part of it")]

use nandsim::{Load, Model, Scale, Ssd, Tally, Until};
use stdx::access::{Order, Span};

pub const SECOND: u64 = 1_000_000_000;

/// Returns a drive of `mib` MiB with four dies and program units of two map units.
pub fn small_model(mib: u64, op_percent: f64, superblocks: u32) -> Model {
    let text = format!(
        r#"
        name = "small"
        description = "A small drive for tests"
        class = "client"
        interface = "NVMe"
        nand = "SLC"
        version = 1
        [geometry]
        capacity_bytes = {capacity}
        logical_block_bytes = 512
        map_unit_bytes = 4096
        program_unit_bytes = 8192
        channels = 2
        dies_per_channel = 2
        superblocks = {superblocks}
        effective_op_percent = {op_percent:.3}
        program_units_per_erase = 64
        [timing]
        read_us = 50.0
        program_us = 200.0
        program_spread_percent = 5.0
        erase_us = 1500.0
        channel_mb_per_s = 100.0
        die_held_through_transfer = true
        link_mb_per_s = 550.0
        link_full_duplex = true
        read_command_us = 2.0
        write_command_us = 2.0
        map_unit_us = 0.2
        read_latency_us = 20.0
        write_latency_us = 20.0
        modify_us = 20.0
        purge_ms = 1000.0
        [firmware]
        write_buffer_bytes = 1_048_576
        collect_burst_map_units = 1
        idle_delay_ms = 100.0
        idle_free_percent = 60.0
        "#,
        capacity = mib << 20,
    );
    Model::from_toml(&text).expect("the test model is valid")
}

pub fn small(mib: u64, op_percent: f64, superblocks: u32) -> Ssd {
    Ssd::new(&small_model(mib, op_percent, superblocks), Scale::FULL, 1)
}

pub fn load(ssd: &Ssd, order: Order, read_percent: u8, block_bytes: u32, until: Until) -> Load {
    Load {
        order,
        read_percent,
        block_bytes,
        threads: 2,
        queue_depth: 16,
        span: Span::contiguous(0, ssd.capacity_bytes()),
        until,
        // Writing the same addresses in the same order again would look sequential to the collector.
        seed: ssd.now_ns(),
        min_completions: 0,
        tick_ns: 0,
    }
}

pub fn run(ssd: &mut Ssd, load: &Load) -> Tally {
    ssd.run(load, &mut |_| true)
}

/// Writes `times` drive fills of random 4 KiB blocks.
pub fn churn(ssd: &mut Ssd, times: u64) -> Tally {
    let until = Until::Bytes(times * ssd.capacity_bytes());
    let load = load(ssd, Order::Random, 0, 4096, until);
    run(ssd, &load)
}

/// Fills the drive sequentially.
pub fn fill(ssd: &mut Ssd) -> Tally {
    let until = Until::Bytes(ssd.capacity_bytes());
    let load = load(ssd, Order::Sequential, 0, 128 << 10, until);
    run(ssd, &load)
}
