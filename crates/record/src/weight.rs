//! The memory that a value takes, estimated from its structure.
//!
//! A list of short strings or small objects takes several times as much memory as its text in a journal.

use std::fmt::Error as Never;

use serde::{Serialize, Serializer, ser};

/// Memory of an object, in slots of 8 bytes: its fields take memory even if they are absent from the text.
const SLOTS_OF_OBJECT: u64 = 16;
/// Memory of a variant without content: it takes as much as other variants, which may contain a string.
const SLOTS_OF_VARIANT: u64 = 4;
/// Memory of a string in addition to its characters, and of a list in addition to its elements.
const SLOTS_OF_LIST: u64 = 5;

/// Returns the estimated memory of a value in slots.
pub(crate) fn slots_of<T: Serialize + ?Sized>(value: &T) -> u64 {
    let mut weight = Weight(0);
    // Ignore an error: a value that cannot be serialized cannot be in a journal either.
    let _ = value.serialize(&mut weight);
    weight.0
}

/// A serializer that adds up the memory of a value instead of writing it.
struct Weight(u64);

impl Weight {
    fn text(&mut self, bytes: usize) -> Result<(), Never> {
        self.0 += SLOTS_OF_LIST + bytes.div_ceil(8) as u64;
        Ok(())
    }

    fn add(&mut self, slots: u64) -> Result<&mut Self, Never> {
        self.0 += slots;
        Ok(self)
    }
}

/// Each number, Boolean or absent value takes one slot.
macro_rules! one_slot {
    ($($method:ident($($kind:ty)?);)*) => {
        $(fn $method(self $(, _: $kind)?) -> Result<(), Never> {
            self.add(1).map(drop)
        })*
    };
}

impl<'a> Serializer for &'a mut Weight {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = &'a mut Weight;
    type SerializeTuple = &'a mut Weight;
    type SerializeTupleStruct = &'a mut Weight;
    type SerializeTupleVariant = &'a mut Weight;
    type SerializeMap = &'a mut Weight;
    type SerializeStruct = &'a mut Weight;
    type SerializeStructVariant = &'a mut Weight;

    one_slot! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
    }

    fn serialize_str(self, text: &str) -> Result<(), Never> {
        self.text(text.len())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Never> {
        self.text(bytes.len())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Never> {
        self.add(SLOTS_OF_VARIANT).map(drop)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        value.serialize(self.add(1)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Never> {
        self.add(SLOTS_OF_LIST)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.add(SLOTS_OF_OBJECT)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Never> {
        self.add(SLOTS_OF_OBJECT)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        self.add(SLOTS_OF_OBJECT)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.add(SLOTS_OF_OBJECT)
    }
}

/// Elements are added like any other value; keys of objects take no memory.
macro_rules! elements {
    ($($kind:ident: $method:ident($($key:ty)?);)*) => {
        $(impl ser::$kind for &mut Weight {
            type Ok = ();
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Never> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}

/// The keys of a map are values, too.
impl ser::SerializeMap for &mut Weight {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Never> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;

    #[test]
    fn values_strings_lists_and_objects_count() {
        assert_eq!((slots_of(&7), slots_of(&None::<u8>), slots_of(&Some(1.5))), (1, 1, 1));
        assert_eq!((slots_of(""), slots_of("12345678"), slots_of("123456789")), (5, 6, 7));
        assert_eq!(slots_of(&vec![(1.0, 2.0); 3]), 5 + 6);
        assert_eq!(slots_of(&vec![String::new(); 2]), 5 + 2 * 5);
        let error = ErrorCount { kind: "EIO".into(), count: 1 };
        assert_eq!(slots_of(&error), 16 + 6 + 1);
    }
}
