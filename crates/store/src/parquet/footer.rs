//! The end of a file: its columns, and where each column's data is.

use super::column::{Chunk, ENCODINGS};
use super::field::{Field, Type};
use super::thrift::Struct;

/// Version of the format. Version 2 would offer nothing that readers need.
const FORMAT_VERSION: u32 = 1;
const CREATED_BY: &str = concat!("plateau version ", env!("CARGO_PKG_VERSION"));

/// Constants of the format.
const ZSTD: u32 = 6;
const REQUIRED: u32 = 0;
const OPTIONAL: u32 = 1;

/// A row group in the file.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) rows: u32,
    /// One for each column.
    pub(super) chunks: Vec<Chunk>,
}

/// Returns the number of rows in a file.
pub(super) fn rows(groups: &[Group]) -> u64 {
    groups.iter().map(|group| u64::from(group.rows)).sum()
}

/// Returns the metadata of a file.
pub(super) fn of(fields: &[Field], groups: &[Group], notes: &[(&str, String)]) -> Vec<u8> {
    Struct::of(|file| {
        file.i32(1, FORMAT_VERSION);
        // The columns are the children of the first element.
        let elements = std::iter::once(None).chain(fields.iter().map(Some)).collect::<Vec<_>>();
        file.structures(2, elements.into_iter(), |element, field| match field {
            Some(field) => column(element, field),
            None => {
                element.text(4, "schema");
                element.i32(5, u32::try_from(fields.len()).unwrap_or(u32::MAX));
            }
        });
        file.i64(3, rows(groups));
        file.structures(4, groups.iter(), |element, of_group| group(element, fields, of_group));
        file.structures(5, notes.iter(), |pair, (key, value)| {
            pair.text(1, key);
            pair.text(2, value);
        });
        file.text(6, CREATED_BY);
    })
}

/// A column of the schema. Its type is given twice: as a converted type for older readers, and as a logical type.
fn column(element: &mut Struct, field: &Field) {
    element.i32(1, physical(field.kind));
    element.i32(3, if field.is_optional { OPTIONAL } else { REQUIRED });
    element.text(4, &field.name);
    match field.kind {
        Type::Text => {
            element.i32(6, 0);
            element.structure(10, |logical| logical.structure(1, |_| ()));
        }
        Type::Time => {
            element.i32(6, 10);
            element.structure(10, |logical| {
                logical.structure(8, |timestamp| {
                    timestamp.boolean(1, true);
                    timestamp.structure(2, |unit| unit.structure(2, |_| ()));
                });
            });
        }
        Type::Integer | Type::Real | Type::Boolean => {}
    }
}

/// Returns the physical type of a column.
fn physical(kind: Type) -> u32 {
    match kind {
        Type::Boolean => 0,
        Type::Integer | Type::Time => 2,
        Type::Real => 5,
        Type::Text => 6,
    }
}

fn group(element: &mut Struct, fields: &[Field], group: &Group) {
    let sum = |of: fn(&Chunk) -> u64| group.chunks.iter().map(of).sum::<u64>();
    let first = group.chunks.first().map_or(0, |chunk| chunk.offset);
    element.structures(1, fields.iter().zip(&group.chunks), |chunk, (field, placed)| {
        chunk.i64(2, placed.offset);
        chunk.structure(3, |meta| {
            meta.i32(1, physical(field.kind));
            meta.i32s(2, &ENCODINGS);
            meta.texts(3, &[&field.name]);
            meta.i32(4, ZSTD);
            meta.i64(5, group.rows.into());
            meta.i64(6, placed.plain_bytes);
            meta.i64(7, placed.bytes);
            meta.i64(9, placed.offset);
        });
    });
    element.i64(2, sum(|chunk| chunk.plain_bytes));
    element.i64(3, group.rows.into());
    element.i64(5, first);
    element.i64(6, sum(|chunk| chunk.bytes));
}
