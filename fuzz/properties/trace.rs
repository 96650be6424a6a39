//! Traces: any bytes yield I/Os in the order of time or an error, and what was read completely can be written and read
//! again.

pub fn check(bytes: &[u8]) {
    let Ok(mut reader) = trace::Reader::new(bytes) else { return };
    let mut writer = trace::Writer::new(Vec::new(), reader.origin()).expect("memory");
    let mut ios = Vec::new();
    loop {
        match reader.next_io() {
            Ok(Some(io)) => ios.push(io),
            Ok(None) => break,
            Err(_) => return,
        }
    }
    ios.iter().for_each(|io| writer.push(*io).expect("memory"));
    let summary = reader.summary().expect("the end was reached");
    let (again, _) = writer.finish(summary.lost_events, summary.moved).expect("memory");
    let mut reader = trace::Reader::new(&again[..]).expect("what was written is read");
    for io in ios {
        assert_eq!(reader.next_io().expect("what was written is read"), Some(io));
    }
}
