//! Traces of other tools: any text yields a trace that can be read, or an error.

use stdx::Flow;

pub fn check(bytes: &[u8]) {
    for format in std::iter::once(None).chain(trace::FORMATS.iter().map(Some)) {
        let choice = trace::Choice { format, volume: None, name: "fuzz" };
        let Ok((out, imported)) = trace::import(bytes, Vec::new(), &choice, &mut |_| Flow::Continue) else {
            continue;
        };
        let mut reader = trace::Reader::new(&out[..]).expect("what was written is read");
        while reader.next_io().expect("what was written is read").is_some() {}
        assert_eq!(reader.summary(), Some(imported.summary));
    }
}
