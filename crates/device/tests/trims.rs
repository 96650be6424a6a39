//! Trims free exactly the blocks that a load covers, on a file and on a loop device.

mod support;

use device::{OpenOptions, SMALLEST_BYTES};
use record::{Access, DataPattern, Range, Regime, Until, Workload};
use support::{Loop, armed, directory, finish};

const BLOCK: u32 = 64 << 10;
const BYTES: u64 = 16 << 20;
const START: u64 = 4 << 20;
const LENGTH: u64 = 8 << 20;

fn trims(access: Access, queue_depth: u16) -> Workload {
    Workload {
        access,
        read_percent: 0,
        block_bytes: BLOCK,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth,
        range: Range { start_bytes: START, ..Range::first(LENGTH) },
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::AmountBytes(LENGTH),
        seed: 1,
        regime: Regime {
            trims: true,
            offsets: match access {
                Access::Random => record::Offsets::OncePerPass,
                Access::Sequential => record::Offsets::Independent,
            },
            ..Regime::default()
        },
        commands: None,
    }
}

/// Trims the middle of a target full of sevens and compares the contents.
fn check(path: &str, contents: impl Fn() -> Vec<u8>) {
    for (access, queue_depth) in [(Access::Random, 8), (Access::Sequential, 1)] {
        std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| {
                std::io::Write::write_all(&mut file, &vec![7; BYTES as usize]).and_then(|()| file.sync_all())
            })
            .expect("contents");
        let mut target = armed(path, &OpenOptions::default());
        let request = trims(access, queue_depth);
        target.check_support(&request).expect("a target with trims");
        let segment = finish(&mut target, &request);
        drop(target);
        assert_eq!((segment.write.ios, segment.write.bytes), (LENGTH / u64::from(BLOCK), LENGTH));
        assert_eq!(segment.io_path.engine, record::IoEngine::Threads);
        assert_eq!(
            segment.workload.to_string(),
            if queue_depth == 8 { "RND 64KiB trim" } else { "SEQ 64KiB trim" }
        );
        let contents = contents();
        let expected = |at: u64| if (START..START + LENGTH).contains(&at) { 0 } else { 7 };
        assert_eq!(contents.len() as u64, BYTES);
        assert!(
            (0..).zip(&contents).all(|(at, byte)| *byte == expected(at)),
            "{path} at depth {queue_depth}"
        );
    }
}

#[test]
fn trims_punch_holes_into_files() {
    use std::os::unix::fs::MetadataExt as _;
    const { assert!(BYTES >= SMALLEST_BYTES) };
    let folder = directory();
    let path = folder.path().join("data");
    std::fs::write(&path, b"").expect("a file");
    check(path.to_str().expect("a path"), || std::fs::read(&path).expect("a file"));
    let allocated = std::fs::metadata(&path).expect("a file").blocks() * 512;
    assert!(allocated <= BYTES - LENGTH + (1 << 20), "the blocks are freed: {allocated} B are allocated");
}

#[test]
fn trims_discard_blocks_of_devices() {
    let Some(device) = Loop::new(BYTES, &[]) else { return };
    // The image shows what the device did, without the device's page cache.
    check(&device.path, || std::fs::read(&device.image).expect("the image"));
}

#[test]
fn simulated_drives_and_verified_trims_are_refused() {
    let mut target =
        armed("sim:sas-slc-2011", &OpenOptions { scale: Some("1/64".into()), ..OpenOptions::default() });
    let error = target.run(&trims(Access::Random, 1), &mut |_| engine::Flow::Continue).expect_err("refused");
    assert!(error.to_string().contains("trims are not simulated"), "{error}");
    let folder = directory();
    let path = folder.path().join("data");
    std::fs::write(&path, vec![7; BYTES as usize]).expect("a file");
    let mut file = armed(path.to_str().expect("a path"), &OpenOptions::default());
    let mixed = Workload { read_percent: 50, ..trims(Access::Random, 1) };
    let verified =
        Workload { regime: Regime { verify: true, trims: true, ..Regime::default() }, ..mixed.clone() };
    for (workload, expected) in [
        (mixed, "a mix of reads and trims"),
        (Workload { read_percent: 0, ..verified }, "verification or syncs"),
    ] {
        let error = file.run(&workload, &mut |_| engine::Flow::Continue).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(std::fs::read(&path).expect("a file").iter().all(|byte| *byte == 7));
}
