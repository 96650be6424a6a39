//! Traces from other tools: any text yields a readable trace or an error.

use stdx::Flow;

pub fn check(bytes: &[u8]) {
    for format in std::iter::once(None).chain(trace::FORMATS.iter().map(Some)) {
        let choice = trace::Choice { format, volume: None, name: "fuzz" };
        let Ok((out, imported)) = trace::import(bytes, Vec::new(), &choice, &mut |_| Flow::Continue) else {
            continue;
        };
        let mut reader = trace::Reader::new(&out[..]).expect("written data is read back unchanged");
        while reader.next_io().expect("written data is read back unchanged").is_some() {}
        assert_eq!(reader.summary(), Some(imported.summary));
    }
}
