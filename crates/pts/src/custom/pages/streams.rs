//! The streams that make up each cell of a composite.

use record::IoKind;

use super::super::figures::Load;
use crate::exhibits::exhibit::{Cell, Exhibit, Page, Row, Table, Units};

/// The page with the streams; None if each cell has a single kind of I/O.
pub fn streams_page(streams: &[IoKind]) -> Option<Page> {
    let row = |stream: &IoKind| Row {
        name: Load { access: stream.access, read_percent: stream.read_percent }
            .name(Some(stream.block_bytes)),
        cells: vec![Cell::Value(f64::from(stream.share_percent))],
    };
    let table = Table {
        heading: "IO Streams".into(),
        row_heading: "Stream".into(),
        column_heading: String::new(),
        columns: vec!["Share of I/Os (%)".into()],
        rows: streams.iter().map(row).collect(),
        decimals: 0,
        units: Units::All("%".into()),
    };
    let remarks = vec![
        "Each cell is a composite of these streams. Its name shows the largest block size and the mix of all streams.".to_owned(),
    ];
    (!streams.is_empty())
        .then(|| Page { remarks, ..Page::of("streams", "Composite of IO Streams", Exhibit::Table(table)) })
}
