//! A run that several tests store.

use record::RunFile;

pub fn run_file(id: &str) -> RunFile {
    let file = serde_json::json!({
        "version": 1, "id": id, "created": "2026-11-22T12:00:00Z", "plateau_version": "0.1.0",
        "command": ["plateau", "run", "iops", "sim:sas-slc-2011"], "tests": ["iops"], "profile": "pts-e-2.0",
        "settings": {
            "threads": 2, "queue_depth": 16, "cell_ns": 60_000_000_000_u64, "max_rounds": 25,
            "precondition_capacities": 2, "precondition_range_percent": 100, "test_range_percent": 100,
            "active_range_amount_bytes": null, "active_range_segments": 2048, "seed": 1,
        },
        "target": {
            "kind": "simulated", "path": "sim:sas-slc-2011", "identity": "sas-slc-2011", "attachment": null,
            "vendor": null, "model": null, "serial": null, "firmware": null, "interface": null, "nand": null,
            "capacity_bytes": 1 << 30, "logical_block_bytes": 512, "physical_block_bytes": 4096,
            "rotational": null, "simulated": null,
        },
        "host": {
            "cpu": null, "cpus": null, "board": null, "memory_bytes": null, "os": null, "kernel": null,
            "governor": null, "scheduler": null, "pcie_link": null,
        },
    });
    serde_json::from_str(&file.to_string()).expect("a run file")
}
