//! Fuzzes the import of files from other tools, including the detection of their format. No input causes a
//! panic, and every imported run is closed and contains only finite numbers.

#![cfg_attr(fuzzing, no_main)]

// Dependencies used only by other targets in this directory.
use {device as _, stdx as _};

fuzz::target!(|bytes: &[u8]| {
    let Ok((format, imported)) = import::read(bytes, None) else { return };
    let source = import::Source {
        file: "fuzz",
        bytes,
        id: "fuzz".into(),
        created: Default::default(),
        version: "0",
        commit: None,
        command: Vec::new(),
    };
    let (_, events) = import::run(imported, format, source);
    assert!(matches!(events.last(), Some(record::Event::Closed)), "the run is not closed");
    for event in &events {
        let record::Event::Imported(test) = event else { continue };
        assert!(test.readings.iter().filter_map(|r| r.iops).all(f64::is_finite), "a value is not finite");
    }
});
