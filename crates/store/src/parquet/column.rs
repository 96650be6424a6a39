//! The values of one column, collected for a row group.

use std::io;

use super::field::{Field, Type, length};
use super::thrift::{Struct, varint};
use crate::value::Value;

/// Compression level; higher levels take longer and save little.
const LEVEL: i32 = 3;

/// Constants of the format: page type and encodings.
const DATA_PAGE: u32 = 0;
const PLAIN: u32 = 0;
const RLE: u32 = 3;

/// The encodings of a page, as its column chunk lists them.
pub(super) const ENCODINGS: [u32; 2] = [PLAIN, RLE];

/// The values of a column.
#[derive(Debug)]
pub(super) struct Buffer {
    kind: Type,
    is_optional: bool,
    /// The values that are not null.
    plain: Vec<u8>,
    /// Number of Booleans in `plain`, eight to a byte.
    bits: usize,
    levels: Levels,
}

/// For each row, whether its value is present, encoded as runs of equal bits.
#[derive(Debug, Default)]
struct Levels {
    bytes: Vec<u8>,
    current: bool,
    count: u64,
}

impl Levels {
    fn push(&mut self, is_there: bool) {
        if is_there != self.current {
            self.end_run();
            self.current = is_there;
        }
        self.count += 1;
    }

    fn end_run(&mut self) {
        if self.count > 0 {
            // The lowest bit is 0 for a run and 1 for bit-packed values.
            varint(&mut self.bytes, self.count << 1);
            self.bytes.push(self.current.into());
            self.count = 0;
        }
    }
}

/// A column of a row group in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Offset in the file.
    pub(super) offset: u64,
    /// Its length and its length before compression; both include the page header.
    pub(super) bytes: u64,
    pub(super) plain_bytes: u64,
}

/// The bytes of a chunk.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    pub(super) chunk: Chunk,
}

impl Buffer {
    pub(super) fn new(field: &Field) -> Self {
        let Field { kind, is_optional, .. } = *field;
        Self { kind, is_optional, plain: Vec::new(), bits: 0, levels: Levels::default() }
    }

    /// Returns the memory that the values need.
    pub(super) fn bytes(&self) -> usize {
        self.plain.len() + self.levels.bytes.len()
    }

    /// Adds a value; a value that the column cannot store becomes null.
    pub(super) fn push(&mut self, value: &Value) -> io::Result<()> {
        let is_there = self.append(value)?;
        if self.is_optional {
            self.levels.push(is_there);
        } else if !is_there {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a value is missing"));
        }
        Ok(())
    }

    /// Appends a value unless it is null or has another type; returns whether it was appended.
    fn append(&mut self, value: &Value) -> io::Result<bool> {
        match (self.kind, value) {
            (Type::Integer, Value::Integer(number)) => self.plain.extend(number.to_le_bytes()),
            (Type::Real, Value::Real(number)) => self.plain.extend(number.to_le_bytes()),
            (Type::Real, Value::Integer(number)) => self.plain.extend((*number as f64).to_le_bytes()),
            (Type::Boolean, Value::Integer(bit @ (0 | 1))) => self.append_bit(*bit == 1),
            (Type::Time, Value::Text(text)) => match text.parse::<jiff::Timestamp>() {
                Ok(time) => self.plain.extend(time.as_microsecond().to_le_bytes()),
                Err(_) => return Ok(false),
            },
            (_, Value::Null) => return Ok(false),
            (Type::Text, Value::Text(text)) => self.append_text(text)?,
            (Type::Text, other) => self.append_text(&other.to_string())?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn append_text(&mut self, text: &str) -> io::Result<()> {
        self.plain.extend(length(text.len())?.to_le_bytes());
        self.plain.extend(text.as_bytes());
        Ok(())
    }

    fn append_bit(&mut self, is_set: bool) {
        let place = self.bits % 8;
        if place == 0 {
            self.plain.push(0);
        }
        if let Some(last) = self.plain.last_mut() {
            *last |= u8::from(is_set) << place;
        }
        self.bits += 1;
    }

    /// Returns the values as a page of `rows` rows, and clears the buffer.
    pub(super) fn take_page(&mut self, rows: u32) -> io::Result<Page> {
        let mut body = Vec::with_capacity(self.bytes() + 16);
        if self.is_optional {
            self.levels.end_run();
            body.extend(length(self.levels.bytes.len())?.to_le_bytes());
            body.append(&mut self.levels.bytes);
        }
        body.append(&mut self.plain);
        self.bits = 0;
        let compressed = zstd::bulk::compress(&body, LEVEL)?;
        let (plain_bytes, compressed_bytes) = (length(body.len())?, length(compressed.len())?);
        let mut bytes = Struct::of(|header| {
            header.i32(1, DATA_PAGE);
            header.i32(2, plain_bytes);
            header.i32(3, compressed_bytes);
            header.structure(5, |page| {
                page.i32(1, rows);
                page.i32(2, PLAIN);
                page.i32(3, RLE);
                page.i32(4, RLE);
            });
        });
        let header_bytes = bytes.len() as u64;
        bytes.extend(compressed);
        let chunk = Chunk {
            offset: 0,
            bytes: bytes.len() as u64,
            plain_bytes: header_bytes + u64::from(plain_bytes),
        };
        Ok(Page { bytes, chunk })
    }
}
