//! `plateau self`: measures this host's ceiling.

use record::{Ceiling, CostPerIo};
use stdx::units::grouped;

use crate::cli::Cli;
use crate::failure::Done;
use crate::output::printer;

pub fn run(cli: &Cli) -> Done {
    let ceiling = engine::ceiling()?;
    if cli.json {
        return printer::print_json(&serde_json::json!(ceiling));
    }
    printer::print(&text(&ceiling))
}

fn text(ceiling: &Ceiling) -> String {
    let clock = &ceiling.clock;
    let mut out = format!(
        "clock        {}: {:.1} ns per reading, steps of {} ns\n",
        clock.source, clock.cost_ns, clock.resolution_ns
    );
    let mut row = |what: &str, cost: &CostPerIo| {
        let (depth, ns) = (cost.queue_depth, cost.cpu_ns);
        let rate = grouped(1e9 / ns, 0);
        out.push_str(&format!("{what:<12} QD{depth:<4} {ns:>7.1} ns per I/O {rate:>14} IOPS per thread\n"));
    };
    ceiling.null.iter().for_each(|cost| row("engine alone", cost));
    ceiling.no_op_ring.iter().for_each(|cost| row("with a ring", cost));
    if let Some(reason) = &ceiling.no_op_ring_missing {
        out.push_str(&format!("with a ring  not measured: {reason}\n"));
    }
    out.push_str(&format!(
        "fresh data   {:.1} GB/s per thread\n\nIf a drive comes close to these figures, the host limits it. A run \
         measures them again and marks\nresults above 70 % as host-limited.\n",
        ceiling.data_bytes_per_second / 1e9
    ));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_ring_is_reported() {
        let mut ceiling = Ceiling {
            clock: record::ClockFacts { source: "TSC".into(), cost_ns: 9.0, resolution_ns: 1 },
            null: vec![CostPerIo { queue_depth: 1, cpu_ns: 25.0 }],
            no_op_ring: Vec::new(),
            no_op_ring_missing: Some("forbidden".into()),
            data_bytes_per_second: 3e10,
        };
        assert!(text(&ceiling).contains("not measured: forbidden"));
        ceiling.no_op_ring_missing = None;
        ceiling.no_op_ring = vec![CostPerIo { queue_depth: 32, cpu_ns: 80.0 }];
        assert!(text(&ceiling).contains("12,500,000 IOPS"), "{}", text(&ceiling));
    }
}
