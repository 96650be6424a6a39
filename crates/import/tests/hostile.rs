//! Malicious or broken files are refused with a message, in bounded time and memory.

use proptest::prelude::*;

fn refused(bytes: &[u8], expected: &str) {
    let error = import::read(bytes, None).expect_err(expected).to_string();
    assert!(error.contains(expected), "{error}");
}

fn tkperf(test: &str) -> Vec<u8> {
    format!("<x>{test}</x>").into_bytes()
}

fn iops(matrix: &str) -> Vec<u8> {
    tkperf(&format!("<iops><roundmat>{matrix}</roundmat></iops>"))
}

fn fio(jobs: &str) -> Vec<u8> {
    format!("{{\"fio version\":\"fio-3.1\",\"jobs\":{jobs}}}").into_bytes()
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><x><devinfo>\"&b;\"</devinfo></x>";
    refused(bomb.as_bytes(), "DTD");
    let outside = "<!DOCTYPE x [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><x><devinfo>\"&f;\"</devinfo></x>";
    refused(outside.as_bytes(), "DTD");
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = "<x>".repeat(200_000);
    refused(deep.as_bytes(), "TKperf");
    let many = format!("<x>{}</x>", "<y/>".repeat(200_000));
    refused(many.as_bytes(), "TKperf");
    refused(&iops(&"[".repeat(100_000)), "roundmat");
    refused(&fio(&"[".repeat(100_000)), "fio JSON");
    refused(&fio(&format!("[{{\"job options\":{{\"x\":{}", "[".repeat(100_000))), "fio JSON");
    refused(format!("[source]\nx = {}", "[".repeat(100_000)).as_bytes(), "published");
    let mut large = tkperf("<iops></iops>");
    large.resize(9 << 20, b' ');
    refused(&large, "at most");
    let mut large = fio("[]");
    large.resize(65 << 20, b' ');
    refused(&large, "at most");
    refused(&iops(&format!("[{}[]]", "[],".repeat(10_000))), "rounds");
}

#[test]
fn implausible_numbers_are_refused() {
    let round = |value: &str| {
        let row = format!("[{}]", [value; 8].join(","));
        format!("[[{}]]", vec![row; 7].join(","))
    };
    refused(&iops(&round("NaN")), "roundmat");
    refused(&iops(&round("1e999")), "out of range");
    refused(&iops(&round("1e30")), "impossible for a drive");
    refused(&iops(&round("-1")), "impossible for a drive");
    refused(&iops(&round("\"5\"")), "invalid type");
    refused(&iops(&round(&"9".repeat(100_000))), "roundmat");
    let job = |way: &str| format!("[{{\"jobname\":\"j\",\"job options\":{{\"bs\":\"4k\"}},\"read\":{way}}}]");
    refused(&fio(&job("{\"total_ios\":1,\"iops\":-4}")), "impossible for a drive");
    refused(&fio(&job("{\"total_ios\":18446744073709551615,\"iops\":4}")), "more I/Os");
    refused(&fio(&job("{\"total_ios\":1,\"clat_ns\":{\"bins\":{\"18446744073709551615\":1}}}")), "a day");
    refused(&fio(&job("{\"total_ios\":1,\"clat_ns\":{\"bins\":{\"5\":18446744073709551615}}}")), "too many");
    refused(&fio(&job("{\"total_ios\":1,\"clat_ns\":{\"percentile\":{\"abc\":1}}}")), "percentage");
    refused(&fio(&job("{\"total_ios\":\"many\"}")), "invalid type");
    refused(
        b"[source]\ntool='x'\ndocument='y'\n[device]\nmodel='m'\ncapacity_bytes=1\n[[test]]\nkind='iops'\n[[test.table]]\nunit='IOPS'\nreads=[0]\nrows=[[4.0, nan]]\n",
        "impossible for a drive",
    );
}

#[test]
fn wrong_shapes_and_truncated_files_are_reported() {
    refused(&iops("[[[1,2],[1,2]]]"), "R/W mixes");
    refused(&iops("{\"a\":1}"), "invalid type");
    refused(&iops("[]"), "rounds");
    refused(&tkperf("<iops></iops>"), "no <roundmat>");
    refused(&tkperf("<iops></iops><iops></iops>"), "two elements");
    refused(&tkperf(""), "no result");
    refused(b"<x><iops><roundmat>[[[1", "TKperf");
    refused(&fio("[{\"jobname\":\"j\""), "fio JSON");
    refused(&fio("[]"), "no result");
    refused(
        &fio("[{\"jobname\":\"j\",\"job options\":{\"rw\":\"trim\"},\"read\":{\"total_ios\":1}}]"),
        "rw=trim",
    );
    refused(b"\x00\x01\x02", "not in a known format");
    refused(b"", "not in a known format");
    refused(b"<x>\xff\xfe</x>", "UTF-8");
}

proptest! {
    #[test]
    fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in import::FORMATS {
            let _ = import::read(&bytes, Some(format.name));
        }
    }

    #[test]
    fn changes_to_a_valid_file_cause_no_panic(at in 0usize..100_000, byte: u8, cut in 0usize..100_000) {
        for example in import::examples::EXAMPLES {
            let mut bytes = example.text.as_bytes().to_vec();
            let place = at % bytes.len();
            bytes[place] = byte;
            let _ = import::read(&bytes, Some("published"));
            bytes.truncate(cut % bytes.len());
            let _ = import::read(&bytes, Some("published"));
        }
        let job = br#"{"fio version":"fio-3.36","jobs":[{"jobname":"a","job options":{"rw":"randrw","bs":"4k","iodepth":"32"},"read":{"total_ios":100,"iops":10.5,"bw_bytes":43008,"clat_ns":{"max":900,"mean":500.5,"percentile":{"99.000000":800},"bins":{"500":90,"900":10}}}}]}"#;
        let mut bytes = job.to_vec();
        let place = at % bytes.len();
        bytes[place] = byte;
        let _ = import::read(&bytes, Some("fio"));
    }
}

/// Parsing time is quadratic in the number of attributes per element, so that number must be limited.
#[test]
fn attributes_are_bounded_and_checked_quickly() {
    let many: String = (0..200_000).map(|i| format!(" a{i}='{i}'")).collect();
    let begun = std::time::Instant::now();
    refused(&tkperf(&format!("<iops{many}></iops>")), "more than 100 attributes");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    // Text that only looks like attributes does not count.
    let equals = "=".repeat(500);
    refused(&tkperf(&format!("<iops a=\"<{equals}>\"><!-- <x {equals}> --></iops>")), "XML");
    refused(
        &tkperf(&format!("<iops><!-- <x {equals}> --><![CDATA[ <x {equals}> ]]></iops>")),
        "no <roundmat>",
    );
}
