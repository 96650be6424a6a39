//! `plateau self`: what this host can do at most.

use drive::Ceiling;
use serde_json::{Value, json};
use stdx::units::grouped;

use crate::cli::Cli;
use crate::failure::Done;
use crate::printer;

pub fn run(cli: &Cli) -> Done {
    let ceiling = drive::ceiling()?;
    if cli.json {
        return printer::print_json(&document(&ceiling));
    }
    printer::print(&text(&ceiling))
}

fn document(ceiling: &Ceiling) -> Value {
    let rows = |rows: &[(u16, f64)]| -> Vec<Value> {
        rows.iter().map(|(depth, ns)| json!({ "queue_depth": depth, "cpu_ns_per_io": ns })).collect()
    };
    let (ring, reason) = match &ceiling.no_op_ring_ns {
        Ok(measured) => (Some(rows(measured)), None),
        Err(reason) => (None, Some(reason)),
    };
    json!({
        "clock": {
            "source": ceiling.clock.source,
            "cost_ns": ceiling.clock.cost_ns,
            "resolution_ns": ceiling.clock.resolution_ns,
        },
        "null": rows(&ceiling.null_ns),
        "no_op_ring": ring,
        "no_op_ring_missing": reason,
        "data_bytes_per_second": ceiling.data_bytes_per_second,
    })
}

fn text(ceiling: &Ceiling) -> String {
    let clock = &ceiling.clock;
    let mut out = format!(
        "clock        {}: {:.1} ns per reading, steps of {} ns\n",
        clock.source, clock.cost_ns, clock.resolution_ns
    );
    let mut row = |what: &str, depth: u16, ns: f64| {
        let rate = grouped(1e9 / ns, 0);
        out.push_str(&format!("{what:<12} QD{depth:<4} {ns:>7.1} ns per I/O {rate:>14} IOPS per thread\n"));
    };
    ceiling.null_ns.iter().for_each(|&(depth, ns)| row("engine alone", depth, ns));
    match &ceiling.no_op_ring_ns {
        Ok(rows) => rows.iter().for_each(|&(depth, ns)| row("with a ring", depth, ns)),
        Err(reason) => out.push_str(&format!("with a ring  not measured: {reason}\n")),
    }
    out.push_str(&format!(
        "fresh data   {:.1} GB/s per thread\n\nA drive that is measured near these figures was not the limit; this \
         host was.\n",
        ceiling.data_bytes_per_second / 1e9
    ));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_ring_is_said() {
        let mut ceiling = Ceiling {
            clock: drive::ClockFacts { source: "TSC".into(), cost_ns: 9.0, resolution_ns: 1 },
            null_ns: vec![(1, 25.0)],
            no_op_ring_ns: Err("forbidden".into()),
            data_bytes_per_second: 3e10,
        };
        assert!(text(&ceiling).contains("not measured: forbidden"));
        assert!(document(&ceiling)["no_op_ring"].is_null());
        ceiling.no_op_ring_ns = Ok(vec![(32, 80.0)]);
        assert!(text(&ceiling).contains("12,500,000 IOPS"), "{}", text(&ceiling));
        assert_eq!(document(&ceiling)["no_op_ring"][0]["queue_depth"], 32);
    }
}
