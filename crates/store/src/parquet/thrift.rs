//! Structures in Thrift's compact protocol, as far as Parquet headers need them.

/// Types in field and list headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    True = 1,
    False = 2,
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// A structure that is being written. From one field to the next, the id increases by at most 15.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last_id: u8,
}

impl Struct {
    /// Returns the bytes of the structure that `fill` writes.
    pub(super) fn of(fill: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut new = Self::default();
        fill(&mut new);
        new.bytes.push(0);
        new.bytes
    }

    fn header(&mut self, id: u8, kind: Kind) {
        let step = id.wrapping_sub(self.last_id);
        debug_assert!((1..=15).contains(&step), "field {id} after {}", self.last_id);
        self.bytes.push(step << 4 | kind as u8);
        self.last_id = id;
    }

    pub(super) fn boolean(&mut self, id: u8, value: bool) {
        self.header(id, if value { Kind::True } else { Kind::False });
    }

    pub(super) fn i32(&mut self, id: u8, value: u32) {
        self.header(id, Kind::I32);
        varint(&mut self.bytes, zigzag(value.into()));
    }

    pub(super) fn i64(&mut self, id: u8, value: u64) {
        self.header(id, Kind::I64);
        varint(&mut self.bytes, zigzag(value));
    }

    pub(super) fn text(&mut self, id: u8, text: &str) {
        self.header(id, Kind::Binary);
        binary(&mut self.bytes, text);
    }

    pub(super) fn structure(&mut self, id: u8, fill: impl FnOnce(&mut Self)) {
        self.header(id, Kind::Struct);
        self.bytes.extend(Self::of(fill));
    }

    pub(super) fn structures<T>(
        &mut self,
        id: u8,
        items: impl ExactSizeIterator<Item = T>,
        mut fill: impl FnMut(&mut Self, T),
    ) {
        self.list(id, Kind::Struct, items.len());
        items.for_each(|item| self.bytes.extend(Self::of(|each| fill(each, item))));
    }

    pub(super) fn i32s(&mut self, id: u8, values: &[u32]) {
        self.list(id, Kind::I32, values.len());
        values.iter().for_each(|value| varint(&mut self.bytes, zigzag((*value).into())));
    }

    pub(super) fn texts(&mut self, id: u8, texts: &[&str]) {
        self.list(id, Kind::Binary, texts.len());
        texts.iter().for_each(|text| binary(&mut self.bytes, text));
    }

    fn list(&mut self, id: u8, kind: Kind, count: usize) {
        self.header(id, Kind::List);
        match u8::try_from(count) {
            Ok(count @ 0..15) => self.bytes.push(count << 4 | kind as u8),
            _ => {
                self.bytes.push(0xf0 | kind as u8);
                varint(&mut self.bytes, count as u64);
            }
        }
    }
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// Encodes a number that is not negative and fits into 63 bits.
fn zigzag(number: u64) -> u64 {
    number << 1
}

/// Appends a number in groups of seven bits, the least significant first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_compact_protocol() {
        let bytes = Struct::of(|it| {
            it.i32(1, 1);
            it.text(4, "ab");
            it.boolean(5, true);
            it.structure(8, |it| it.i64(2, 300));
            it.i32s(9, &[0, 200]);
            it.texts(10, &["x"]);
        });
        let expected = [
            &[0x15, 2][..],
            &[0x38, 2, b'a', b'b'],
            &[0x11],
            &[0x3c, 0x26, 0xd8, 0x04, 0],
            &[0x19, 0x25, 0, 0x90, 0x03],
            &[0x19, 0x18, 1, b'x'],
            &[0],
        ];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn long_lists_have_their_length_as_a_number() {
        let bytes = Struct::of(|it| it.i32s(1, &[0; 15]));
        assert_eq!(bytes[..3], [0x19, 0xf5, 15]);
        let bytes = Struct::of(|it| it.structures(1, [(); 14].into_iter(), |_, ()| ()));
        assert_eq!((bytes[1], bytes.len()), (0xec, 2 + 14 + 1));
    }
}
