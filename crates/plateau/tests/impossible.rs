//! Impossible requests are refused with the reason and the nearest valid value, before anything is touched.

mod support;

use support::{Bench, text};

/// Writes a drive model with 4 KiB sectors.
fn large_sectors(bench: &Bench) -> String {
    let model = text("../nandsim/models/sas-slc-2011.toml".as_ref());
    let large = model.replace("logical_block_bytes = 512", "logical_block_bytes = 4096");
    assert_ne!(model, large);
    std::fs::write(bench.path("4kn.toml"), large).unwrap();
    format!("sim:{}", bench.path("4kn.toml").display())
}

#[test]
fn settings_outside_their_limits() {
    let bench = Bench::new();
    let file = bench.path("precious.bin");
    let content = vec![7; 16 << 20];
    std::fs::write(&file, &content).unwrap();
    let target = file.to_str().unwrap();
    for (options, hint) in [
        (&["--tc", "0"][..], "nearest: 1"),
        (&["--qd", "0"], "nearest: 1"),
        (&["--qd", "5000"], "use 1 to 1024 (nearest: 1024)"),
        (&["--max-rounds", "26"], "nearest: 25"),
        (&["--max-rounds", "26"], "--keep-going"),
        (&["--max-rounds", "4"], "a measurement window has five rounds"),
        (&["--max-rounds", "0"], "nearest: 5"),
        (&["--cell-seconds", "0"], "nearest: 0.01"),
        (&["--precondition", "0"], "nearest: 1"),
        (&["--test-ar", "101"], "nearest: 100"),
        (&["--pc-ar", "0"], "nearest: 1"),
        (&["--ar-amount", "16GiB"], "--ar-amount all"),
        (&["--ar-segments", "8"], "requires --ar-amount"),
        (&["--max-rounds", "10", "--keep-going"], "cannot be used with"),
        (&["--window", "4"], "unexpected argument '--window'"),
    ] {
        let args = [&["run", "iops", target, "--erase", "precious.bin"], options].concat();
        let message = bench.fails(2, &args);
        assert!(message.contains(hint), "{options:?}: {message}");
    }
    assert!(std::fs::read(&file).unwrap() == content, "nothing was written");
    assert!(bench.runs().is_empty(), "no run was started");
}

#[test]
fn demand_beyond_the_target_and_the_host() {
    let bench = Bench::new();
    let beyond = ["--tc", "256", "--qd", "1024"];
    let simulated = [&["run", "iops", "sim:sas-slc-2011", "--scale", "1/64"], &beyond[..]].concat();
    let message = bench.fails(2, &simulated);
    assert!(message.contains("use a QD of up to 256"), "{message}");

    let file = bench.path("new.bin");
    let real = [&["run", "iops", file.to_str().unwrap(), "--size", "4GiB"], &beyond[..]].concat();
    let message = bench.fails(2, &real);
    assert!(message.contains("this host's memory") && message.contains("use a QD of up to"), "{message}");
    assert!(!file.exists(), "the file was not created");
    assert!(bench.runs().is_empty(), "no run was started");
}

#[test]
fn ranges_outside_of_the_device() {
    let bench = Bench::new();
    let drive = ["sim:sas-slc-2011", "--scale", "1/64"];
    let run = |options: &'static [&'static str]| [&["run", "iops"], &drive[..], options].concat();
    let message = bench.fails(2, &run(&["--ar-amount", "200GiB"]));
    assert!(message.contains("Test AR of 1.5 GiB"), "{message}");
    let message = bench.fails(2, &run(&["--ar-amount", "16GiB", "--ar-segments", "20000"]));
    assert!(message.contains("nearest: 16384"), "{message}");
    let file = bench.path("new.bin");
    let small = ["run", "lat", file.to_str().unwrap(), "--size", "16KiB"];
    bench.fails(2, &small);
    assert!(!file.exists());
    let shown = bench.json(&run(&["--ar-amount", "8GiB", "--test-ar", "75", "--profile", "pts-e-1.0"]));
    let modified = shown["modified"].to_string();
    assert!(modified.contains("Test AR 75 % instead of 100 %"), "{modified}");
    assert!(modified.contains("AR amount 8 GiB in 2048 segments instead of 100 %"), "{modified}");
}

#[test]
fn blocks_below_the_sector_size() {
    let bench = Bench::new();
    let target = large_sectors(&bench);
    let run = |test: &'static str| ["run", test, &target, "--scale", "1/256"].map(str::to_owned);
    let refused = run("cbw");
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    let message = bench.fails(2, &refused);
    assert!(
        message.contains("sectors are 4096 B") && message.contains("--composite-fits-sectors"),
        "{message}"
    );
    assert!(bench.runs().is_empty(), "no run was started");
    let load = ["load", &target, "--scale", "1/256", "--rw", "randread", "--bs", "512", "--runtime", "1"];
    let message = bench.fails(2, &load);
    assert!(message.contains("the nearest is 4096 B"), "{message}");

    let variant = bench.json(&[&refused[..], &["--composite-fits-sectors", "--cell-seconds", "6"]].concat());
    let modified = variant["modified"].to_string();
    assert!(modified.contains("composite without sizes below 4KiB"), "{modified}");
    let latency = run("lat");
    let latency: Vec<&str> = latency.iter().map(String::as_str).collect();
    let latency = bench.json(&latency);
    assert!(latency["modified"].to_string().contains("all 0.5KiB cells skipped"), "{}", latency["modified"]);
}
