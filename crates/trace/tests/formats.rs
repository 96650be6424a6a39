//! Each format is read as documented, and invalid lines are reported.

use stdx::Flow;
use trace::{Choice, FORMATS, Imported, Io, Op, Reader, TraceError, import};

fn imported(text: &str, choice: &Choice<'_>) -> Result<(Vec<Io>, Imported), TraceError> {
    let (bytes, imported) = import(text.as_bytes(), Vec::new(), choice, &mut |_| Flow::Continue)?;
    let mut reader = Reader::new(&bytes[..])?;
    let mut ios = Vec::new();
    while let Some(io) = reader.next_io()? {
        ios.push(io);
    }
    assert_eq!(reader.summary(), Some(imported.summary));
    Ok((ios, imported))
}

fn read(text: &str) -> (Vec<Io>, Imported) {
    imported(text, &Choice::default()).expect("a trace")
}

const fn io(issue_ns: u64, response_ns: Option<u64>, op: Op, offset_bytes: u64, length_bytes: u32) -> Io {
    Io { issue_ns, response_ns, offset_bytes, length_bytes, op }
}

#[test]
fn msr_times_are_in_units_of_100_ns() {
    let (ios, imported) = read(
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
         128166372003061629,hm,1,Read,383496192,32768,413\n\
         128166372016382155,hm,1,Write,310983168,4096,1203\n",
    );
    assert_eq!(imported.format.name, "msr");
    assert_eq!(
        ios,
        [
            io(0, Some(41_300), Op::Read, 383_496_192, 32_768),
            io(1_332_052_600, Some(120_300), Op::Write, 310_983_168, 4096),
        ]
    );
    assert_eq!((imported.summary.end_ns, imported.volume.as_str()), (1_332_172_900, "hm_1"));
}

#[test]
fn msr_disks_of_several_hosts_are_different_volumes() {
    let text = "128166372003061629,usr,0,Read,0,4096,10\n\
                128166372003061630,web,0,Read,4096,4096,10\n\
                128166372003061631,usr,1,Read,8192,4096,10\n\
                128166372003061632,usr,0,Write,12288,4096,10\n";
    let offsets = |volume: Option<&'static str>| {
        let (ios, found) = imported(text, &Choice { volume, ..Choice::default() }).expect("a trace");
        let offsets: Vec<u64> = ios.iter().map(|io| io.offset_bytes).collect();
        (offsets, found.volume, found.other_volumes)
    };
    assert_eq!(offsets(None), (vec![0, 12_288], "usr_0".into(), 2));
    assert_eq!(offsets(Some("web_0")), (vec![4096], "web_0".into(), 3));
    // A number means the first host that has this disk.
    assert_eq!(offsets(Some("0")), (vec![0, 12_288], "usr_0".into(), 2));
    assert_eq!(offsets(Some("1")), (vec![8192], "usr_1".into(), 3));
}

/// 100 ns units: an hour has 36,000,000,000.
#[test]
fn msr_lines_long_before_the_first_are_invalid() {
    let (ios, found) = read(
        "128166372000000000,hm,1,Read,0,4096,10\n\
         128166335999999999,hm,1,Read,4096,4096,10\n\
         128166372000000100,hm,1,Read,8192,4096,10\n",
    );
    assert_eq!((ios.len(), found.bad_lines), (2, 1));
}

#[test]
fn msr_lines_before_the_first_keep_their_distances() {
    let (ios, imported) = read(
        "128166372000000300,hm,1,Read,0,4096,10\n\
         128166372000000100,hm,1,Read,4096,4096,10\n\
         128166372000000200,hm,1,Read,8192,4096,10\n",
    );
    assert_eq!(ios.iter().map(|io| io.issue_ns).collect::<Vec<_>>(), [0, 10_000, 20_000]);
    assert_eq!((ios[0].offset_bytes, imported.summary.moved), (4096, 0));
}

#[test]
fn one_volume_is_imported_and_the_others_are_counted() {
    let text =
        "419,W,0,4096,1577808000000046\n725,R,512,8192,1577808000000100\n419,R,4096,512,1577808000000846\n";
    let (ios, imported) = read(text);
    assert_eq!(imported.format.name, "alibaba");
    assert_eq!(ios, [io(0, None, Op::Write, 0, 4096), io(800_000, None, Op::Read, 4096, 512)]);
    assert_eq!((imported.other_volumes, imported.others.get("725")), (1, Some(&1)));
    let chosen = Choice { volume: Some("725"), ..Choice::default() };
    assert_eq!(self::imported(text, &chosen).expect("a trace").0, [io(0, None, Op::Read, 512, 8192)]);
    let missing = Choice { volume: Some("7"), ..Choice::default() };
    let error = self::imported(text, &missing).expect_err("no such volume");
    assert_eq!(error.to_string(), "it contains no I/O; all of its I/Os are on other volumes");
}

#[test]
fn tencent_counts_sectors_and_seconds() {
    let (ios, imported) = read("1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1063\n");
    assert_eq!((imported.format.name, imported.format.resolution_ns), ("tencent", 1_000_000_000));
    assert_eq!(
        ios,
        [
            io(0, None, Op::Read, 12_910_952 * 512, 65_536),
            io(1_000_000_000, None, Op::Write, 6_338_688 * 512, 4096)
        ]
    );
}

#[test]
fn spc_counts_sectors_and_bytes() {
    let (ios, imported) = read("0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041,extra\n");
    assert_eq!(imported.format.name, "spc");
    assert_eq!(
        ios,
        [
            io(0, None, Op::Write, 20_941_264 * 512, 8192),
            io(2_335_000, None, Op::Read, 20_939_840 * 512, 8192)
        ]
    );
}

#[test]
fn both_versions_of_fios_log_are_read() {
    let (ios, _) = read(
        "fio version 3 iolog\n22 /tmp/f add\n205 /tmp/f open\n209 /tmp/f read 249856 4096\n\
         3023 /tmp/f write 3104768 4096\n4000 /tmp/f sync 0 0\n5000 /tmp/f trim 0 65536\n6000 /tmp/f close\n",
    );
    assert_eq!(
        ios,
        [
            io(0, None, Op::Read, 249_856, 4096),
            io(2_814_000, None, Op::Write, 3_104_768, 4096),
            io(3_791_000, None, Op::Flush, 0, 0),
            io(4_791_000, None, Op::Trim, 0, 65_536),
        ]
    );
    let (ios, imported) = read(
        "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 512\n/dev/sdb wait 1500 0\n/dev/sdb write 512 512\n",
    );
    assert_eq!(ios, [io(0, None, Op::Read, 0, 512), io(1_500_000, None, Op::Write, 512, 512)]);
    assert_eq!(imported.volume, "/dev/sdb");
}

#[test]
fn events_of_blkparse_are_paired() {
    let (ios, imported) = read(
        "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]\n\
         \x20 8,0    3        9     0.000008000   697  D   W 223490 + 8 [kjournald]\n\
         \x20 8,0    3       10     0.000009000   697  D  FN [kjournald]\n\
         \x20 8,0    3       11     0.000010000   697  D  RA 16 + 16 [cat]\n\
         \x20 8,0    1        3     0.000309000     0  C   W 223490 + 8 [0]\n\
         \x20 8,0    1        4     0.000400000     0  C   W 99 + 8 [0]\n\
         CPU0 (8,0):\n Reads Queued:           0,        0KiB\n",
    );
    assert_eq!(
        ios,
        [io(0, Some(301_000), Op::Write, 223_490 * 512, 4096), io(2000, None, Op::Read, 8192, 8192)]
    );
    assert_eq!((imported.unmatched, imported.bad_lines, imported.summary.completed), (1, 0, 1));
}

#[test]
fn events_of_tracefs_are_paired_and_losses_are_counted() {
    let (ios, imported) = read(
        "# tracer: nop\n#\n\
         \x20            fio-4221    [001] d..1.  1234.000100: block_rq_issue: 252,0 W 4096 () 2048 + 8 be,0,4 [fio]\n\
         \x20            fio-4221    [001] d..1.  1234.000150: block_rq_issue: 252,0 FF 0 () 18446744073709551615 + 0 be,0,4 [fio]\n\
         CPU:1 [LOST 12 EVENTS]\n\
         \x20         <idle>-0       [000] d.h1.  1234.000300: block_rq_complete: 252,0 W () 2048 + 8 be,0,4 [0]\n\
         \x20         <idle>-0       [000] d.h1.  1234.000350: block_rq_complete: 252,0 FF () 18446744073709551615 + 0 be,0,4 [0]\n",
    );
    assert_eq!(
        ios,
        [io(0, Some(200_000), Op::Write, 1 << 20, 4096), io(50_000, Some(200_000), Op::Flush, 0, 0)]
    );
    assert_eq!((imported.format.name, imported.summary.lost_events), ("tracefs", 12));
}

#[test]
fn bad_lines_are_named_and_skipped() {
    let text = "1,R,0,512,10\n1,R,zero,512,20\n1,X,0,512,30\n1,R\n1,R,0,0,40\n1,W,0,512,50\n\
                1,W,18446744073709551615,512,60\n";
    let (ios, imported) = read(text);
    assert_eq!(ios.len(), 2);
    let complaints: Vec<String> = imported.complaints.iter().map(ToString::to_string).collect();
    assert_eq!(
        complaints,
        [
            "line 2: the field 'offset' is not a number in its range: 1,R,zero,512,20",
            "line 3: unknown operation: 1,X,0,512,30",
            "line 4: too few fields: 1,R",
            "line 5: the length is zero, or 4 GiB or more: 1,R,0,0,40",
            "line 7: the I/O ends beyond the largest address: 1,W,18446744073709551615,512,60",
        ]
    );
}

#[test]
fn complaints_are_bounded_and_their_text_is_safe_to_print() {
    let bad = "1,R,\x1b[2J,512,20\n".repeat(1000);
    let (_, imported) = read(&format!("1,R,0,512,10\n{bad}"));
    assert_eq!((imported.bad_lines, imported.complaints.len()), (1000, 20));
    assert!(!imported.complaints[0].text.contains('\x1b'));
}

#[test]
fn input_in_an_unknown_format_is_refused() {
    let error = imported("hello\nworld\n", &Choice::default()).expect_err("not a trace");
    assert!(matches!(error, TraceError::UnknownFormat));
    let chosen = Choice { format: FORMATS.iter().find(|format| format.name == "spc"), ..Choice::default() };
    let error = imported("hello\n", &chosen).expect_err("not a trace");
    assert_eq!(error.to_string(), "it contains no I/O; line 1: too few fields: hello");
}

#[test]
fn ios_are_sorted_by_time() {
    let (ios, imported) = read("1,R,0,512,20\n1,R,512,512,10\n1,R,1024,512,30\n");
    let times: Vec<u64> = ios.iter().map(|io| io.issue_ns).collect();
    assert_eq!((times, imported.summary.moved), (vec![0, 10_000, 20_000], 0));
}

/// A busy driver puts a read back, which is then issued again: one read, not two.
#[test]
fn ios_that_were_put_back_are_one_io() {
    let blkparse = "8,0 0 1 0.000000000 9 D R 1000 + 8 [fio]\n\
                    8,0 0 2 0.000002000 9 R R 1000 + 8 [0]\n\
                    8,0 0 3 0.000005000 9 D R 1000 + 8 [fio]\n\
                    8,0 0 4 0.000009000 0 C R 1000 + 8 [0]\n";
    let tracefs = "fio-9 [000] d..1. 10.000000: block_rq_issue: 8,0 R 4096 () 1000 + 8 none,0,0 [fio]\n\
                   fio-9 [000] d..1. 10.000002: block_rq_requeue: 8,0 R () 1000 + 8 none,0,0 [0]\n\
                   fio-9 [000] d..1. 10.000005: block_rq_issue: 8,0 R 4096 () 1000 + 8 none,0,0 [fio]\n\
                   fio-9 [000] d.h1. 10.000009: block_rq_complete: 8,0 R () 1000 + 8 none,0,0 [0]\n";
    for text in [blkparse, tracefs] {
        let (ios, imported) = read(text);
        assert_eq!(ios, [io(0, Some(4000), Op::Read, 512_000, 4096)]);
        assert_eq!((imported.summary.ios, imported.summary.completed, imported.unmatched), (1, 1, 0));
    }
}
