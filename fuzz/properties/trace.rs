//! Traces: any bytes yield I/Os in chronological order or an error, and a completely read trace can be written and read
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
    let mut reader = trace::Reader::new(&again[..]).expect("written data is read back unchanged");
    for io in ios {
        assert_eq!(reader.next_io().expect("written data is read back unchanged"), Some(io));
    }
}
