//! Traces are read back as written, and damage is always detected.

use proptest::prelude::*;
use trace::{Io, Op, Origin, Reader, Summary, TraceError, Writer, anonymise};

fn written(ios: &[Io]) -> (Vec<u8>, Summary) {
    let origin = Origin { source: "test: ü".into(), resolution_ns: 100, is_anonymised: false };
    let mut writer = Writer::new(Vec::new(), &origin).expect("memory");
    ios.iter().for_each(|io| writer.push(*io).expect("memory"));
    writer.finish(3, 4).expect("memory")
}

fn read(bytes: &[u8]) -> Result<(Vec<Io>, Summary), TraceError> {
    let mut reader = Reader::new(bytes)?;
    let mut ios = Vec::new();
    while let Some(io) = reader.next_io()? {
        ios.push(io);
    }
    Ok((ios, reader.summary().expect("the end was reached")))
}

fn ios() -> impl Strategy<Value = Vec<Io>> {
    let io = (0u64..1 << 40, any::<Option<u64>>(), any::<u64>(), any::<u32>(), 0usize..4, any::<bool>());
    prop::collection::vec(io, 0..60).prop_map(|parts| {
        let (mut now_ns, mut end) = (0u64, 0u64);
        let make = |(gap, response_ns, offset, length_bytes, op, continues)| {
            now_ns += gap;
            let offset_bytes = if continues { end } else { offset };
            end = u64::wrapping_add(offset_bytes, u64::from(length_bytes));
            Io { issue_ns: now_ns, response_ns, offset_bytes, length_bytes, op: Op::ALL[op] }
        };
        parts.into_iter().map(make).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn traces_are_read_back_as_written(ios in ios()) {
        let (bytes, summary) = written(&ios);
        prop_assert_eq!(read(&bytes).expect("intact"), (ios, summary));
    }

    #[test]
    fn every_changed_byte_is_detected(ios in ios(), place: prop::sample::Index, change in 1u8..) {
        let (mut bytes, _) = written(&ios);
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn every_truncation_is_detected(ios in ios(), length: prop::sample::Index) {
        let (bytes, _) = written(&ios);
        prop_assert!(read(&bytes[..length.index(bytes.len())]).is_err());
    }

    #[test]
    fn anonymised_traces_keep_everything_except_addresses(ios in ios(), seed: u64) {
        let small: Vec<Io> = ios.iter().map(|io| Io {
            offset_bytes: io.offset_bytes % (1 << 40) / 512 * 512,
            length_bytes: io.length_bytes % (1 << 20),
            ..*io
        }).collect();
        let (bytes, summary) = written(&small);
        let reader = Reader::new(&bytes[..]).expect("intact");
        let (out, after) = anonymise(reader, Vec::new(), summary.end_bytes, seed).expect("memory");
        let (moved, _) = read(&out).expect("intact");
        prop_assert_eq!(moved.len(), small.len());
        let limit = summary.end_bytes.next_multiple_of(64 << 20);
        for (new, old) in moved.iter().zip(&small) {
            prop_assert_eq!(Io { offset_bytes: old.offset_bytes, ..*new }, *old);
            prop_assert!(new.end_bytes() <= limit);
        }
        prop_assert_eq!((after.ios, after.lost_events, after.read_bytes), (summary.ios, 3, summary.read_bytes));
        prop_assert!(!out.windows(4).any(|window| window == b"test"));
    }
}

#[test]
fn many_blocks_are_read_in_order() {
    let ios: Vec<Io> = (0..50_000)
        .map(|index| Io {
            issue_ns: index * 1000,
            response_ns: Some(80_000),
            offset_bytes: index * 4096,
            length_bytes: 4096,
            op: Op::Write,
        })
        .collect();
    let (bytes, summary) = written(&ios);
    assert_eq!(read(&bytes).expect("intact"), (ios, summary));
    assert!(bytes.len() < 50_000 * 7, "{} bytes", bytes.len());
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let origin = Origin { source: "example".into(), resolution_ns: 1, is_anonymised: false };
    let mut writer = Writer::new(Vec::new(), &origin).expect("memory");
    let first =
        Io { issue_ns: 0, response_ns: Some(90_000), offset_bytes: 8192, length_bytes: 4096, op: Op::Read };
    let second = Io { issue_ns: 1000, response_ns: None, offset_bytes: 12_288, op: Op::Write, ..first };
    [first, second].into_iter().for_each(|io| writer.push(io).expect("memory"));
    let (bytes, _) = writer.finish(0, 0).expect("memory");
    let page = include_str!("../../../docs/reference/trace-format.md");
    let example: Vec<u8> = page
        .split("```hexdump\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("an example")
        .lines()
        .flat_map(|line| line.split_whitespace().take_while(|word| *word != "#"))
        .map(|word| u8::from_str_radix(word, 16).expect("a byte in hexadecimal"))
        .collect();
    assert_eq!(bytes, example);
}
