//! Writes Parquet files: flat tables, one data page per column and row group, PLAIN values compressed with zstd.
//!
//! Every reader supports this subset of the format. The layout follows
//! <https://github.com/apache/parquet-format>; tests read the files with the `parquet` library, pandas and DuckDB.

mod column;
mod field;
mod footer;
mod thrift;

use std::io::{self, Write};

use crate::value::Value;
use column::{Buffer, Chunk};
use field::length;
pub(crate) use field::{Field, Type};
use footer::Group;

/// First and last bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";

/// Limits on a row group, which is kept in memory until it is complete. Readers use one core per row group.
const MOST_ROWS: u32 = 1 << 17;
const MOST_BYTES: usize = 32 << 20;

/// Writes one file.
pub(crate) struct Writer<W: Write> {
    out: W,
    /// Number of bytes written.
    offset: u64,
    fields: Vec<Field>,
    /// The columns of the current row group.
    buffers: Vec<Buffer>,
    rows: u32,
    groups: Vec<Group>,
}

impl<W: Write> Writer<W> {
    /// Begins a file with these columns.
    pub(crate) fn new(mut out: W, fields: Vec<Field>) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let buffers = fields.iter().map(Buffer::new).collect();
        Ok(Self { out, offset: MAGIC.len() as u64, fields, buffers, rows: 0, groups: Vec::new() })
    }

    /// Adds a row, which has one value for each column. A value that its column cannot store becomes null.
    pub(crate) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        for (buffer, value) in self.buffers.iter_mut().zip(row) {
            buffer.push(value)?;
        }
        self.rows += 1;
        let bytes: usize = self.buffers.iter().map(Buffer::bytes).sum();
        if self.rows == MOST_ROWS || bytes >= MOST_BYTES { self.end_group() } else { Ok(()) }
    }

    /// Completes the file and returns its number of rows. `notes` are stored as its key-value metadata.
    pub(crate) fn finish(mut self, notes: &[(&str, String)]) -> io::Result<u64> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let footer = footer::of(&self.fields, &self.groups, notes);
        self.out.write_all(&footer)?;
        self.out.write_all(&length(footer.len())?.to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(footer::rows(&self.groups))
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::new();
        for buffer in &mut self.buffers {
            let page = buffer.take_page(self.rows)?;
            self.out.write_all(&page.bytes)?;
            chunks.push(Chunk { offset: self.offset, ..page.chunk });
            self.offset += page.chunk.bytes;
        }
        self.groups.push(Group { rows: self.rows, chunks });
        self.rows = 0;
        Ok(())
    }
}
