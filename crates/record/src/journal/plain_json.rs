//! Parses the JSON that this program writes: printable ASCII without escapes or spaces.
//!
//! Almost all of a journal is long arrays of small integers, which this parser reads two to three times as fast as
//! `serde_json`. Whatever it accepts, `serde_json` accepts with the same result. Everything else is an error
//! without a description, and the text is left to `serde_json`.

use memchr::{memchr, memmem};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::detail::Detail;
use crate::plain_array::{ARRAY, ARRAYS, DETAIL};

/// Limit on nested arrays and objects, far below the limit of `serde_json`.
const MOST_LEVELS: u32 = 64;
/// Any number of this many digits fits in 64 bits.
const SAFE_DIGITS: usize = 19;

/// Parses a document; `None` if it is invalid or left to `serde_json`. All characters must be printable ASCII other than
/// backslashes.
pub(super) fn parsed<'de, T: Deserialize<'de>>(json: &'de str, detail: Detail) -> Option<T> {
    let mut parser = Parser { json, at: 0, levels: 0, detail };
    let value = T::deserialize(&mut parser).ok()?;
    (parser.at == json.len()).then_some(value)
}

/// The text is invalid, or left to another parser.
#[derive(Debug)]
struct Other;

impl std::fmt::Display for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("invalid")
    }
}

impl std::error::Error for Other {}

impl serde::de::Error for Other {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

struct Parser<'de> {
    json: &'de str,
    at: usize,
    levels: u32,
    detail: Detail,
}

impl<'de> Parser<'de> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Other> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(Other)
        }
    }

    fn word<T>(&mut self, word: &str, value: T) -> Result<T, Other> {
        let rest = self.json.get(self.at..).ok_or(Other)?;
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(Other)
        }
    }

    fn string(&mut self) -> Result<&'de str, Other> {
        self.expect(b'"')?;
        let rest = self.json.get(self.at..).ok_or(Other)?;
        let text = &rest[..memchr(b'"', rest.as_bytes()).ok_or(Other)?];
        self.at += text.len() + 1;
        Ok(text)
    }

    /// Reads an array without nested arrays or strings; returns the text between its brackets.
    fn integers(&mut self) -> Result<&'de str, Other> {
        self.expect(b'[')?;
        let rest = self.json.get(self.at..).ok_or(Other)?;
        let text = &rest[..memchr(b']', rest.as_bytes()).ok_or(Other)?];
        self.at += text.len() + 1;
        Ok(text)
    }

    /// Reads an array of arrays without further arrays or strings; returns the text between its brackets.
    fn arrays(&mut self) -> Result<&'de str, Other> {
        self.expect(b'[')?;
        let rest = self.json.get(self.at..).ok_or(Other)?;
        let length = match rest.starts_with(']') {
            true => 0,
            false => memmem::find(rest.as_bytes(), b"]]").ok_or(Other)? + 1,
        };
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// Reads the digits of a whole number, or those before a decimal point or exponent.
    #[inline]
    fn digits(&mut self) -> Result<u64, Other> {
        let rest = self.json.as_bytes().get(self.at..).ok_or(Other)?;
        let (mut value, mut length) = (0u64, 0);
        for digit in rest.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        self.at += length;
        let has_zero_in_front = length > 1 && rest[0] == b'0';
        if length == 0 || has_zero_in_front {
            return Err(Other);
        }
        if length > SAFE_DIGITS {
            // Half of all seeds have one more digit.
            return self.json[self.at - length..self.at].parse().map_err(|_| Other);
        }
        Ok(value)
    }

    #[inline]
    fn is_fraction(&self) -> bool {
        matches!(self.peek(), Some(b'.' | b'e' | b'E'))
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Other> {
        let begin = self.at;
        let is_negative = self.expect(b'-').is_ok();
        let whole = self.digits()?;
        if self.is_fraction() {
            self.fraction()?;
            let value: f64 = self.json[begin..self.at].parse().map_err(|_| Other)?;
            return if value.is_finite() { visitor.visit_f64(value) } else { Err(Other) };
        }
        match i64::try_from(whole) {
            _ if !is_negative => visitor.visit_u64(whole),
            // Negative zero is not an integer.
            Ok(whole) if whole > 0 => visitor.visit_i64(-whole),
            _ => Err(Other),
        }
    }

    /// Reads the part after the whole number: `.5`, `e-7` or `.5e-7`.
    fn fraction(&mut self) -> Result<(), Other> {
        let some_digits = |parser: &mut Self| {
            let begin = parser.at;
            while parser.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                parser.at += 1;
            }
            if parser.at > begin { Ok(()) } else { Err(Other) }
        };
        if self.expect(b'.').is_ok() {
            some_digits(self)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            some_digits(self)?;
        }
        Ok(())
    }

    /// Reads an array or an object, from its first to its last character.
    fn inside<T>(
        &mut self,
        (open, close): (u8, u8),
        read: impl FnOnce(Elements<'_, 'de>) -> Result<T, Other>,
    ) -> Result<T, Other> {
        self.expect(open)?;
        self.levels += 1;
        if self.levels > MOST_LEVELS {
            return Err(Other);
        }
        let value = read(Elements { parser: self, close, is_first: true })?;
        self.levels -= 1;
        self.expect(close)?;
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for &mut Parser<'de> {
    type Error = Other;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Other> {
        match self.peek().ok_or(Other)? {
            b'"' => visitor.visit_borrowed_str(self.string()?),
            b'{' => self.inside((b'{', b'}'), |elements| visitor.visit_map(elements)),
            b'[' => self.inside((b'[', b']'), |elements| visitor.visit_seq(elements)),
            b't' => visitor.visit_bool(self.word("true", true)?),
            b'f' => visitor.visit_bool(self.word("false", false)?),
            b'n' => {
                self.word("null", ())?;
                visitor.visit_unit()
            }
            _ => self.number(visitor),
        }
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Other> {
        let value = self.digits()?;
        if self.is_fraction() { Err(Other) } else { visitor.visit_u64(value) }
    }

    /// Parsing the number as an `f64` first would round it twice.
    fn deserialize_f32<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Other> {
        Err(Other)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Other> {
        if self.peek() == Some(b'n') {
            self.word("null", ())?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Other> {
        match name {
            ARRAY => visitor.visit_borrowed_str(self.integers()?),
            DETAIL | ARRAYS => {
                let text = if name == DETAIL { self.integers()? } else { self.arrays()? };
                visitor.visit_borrowed_str(if self.detail == Detail::All { text } else { "" })
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Other> {
        if self.peek() == Some(b'"') {
            return visitor.visit_enum(BorrowedStrDeserializer::new(self.string()?));
        }
        self.inside((b'{', b'}'), |elements| visitor.visit_enum(elements))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The elements of an array or an object.
struct Elements<'a, 'de> {
    parser: &'a mut Parser<'de>,
    close: u8,
    is_first: bool,
}

impl Elements<'_, '_> {
    /// Returns whether there is another element, and moves to it.
    #[inline]
    fn has_next(&mut self) -> Result<bool, Other> {
        if self.parser.peek() == Some(self.close) {
            return Ok(false);
        }
        if std::mem::take(&mut self.is_first) {
            return Ok(true);
        }
        self.parser.expect(b',')?;
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Other;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Other> {
        if self.has_next()? { seed.deserialize(&mut *self.parser).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Elements<'_, 'de> {
    type Error = Other;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Other> {
        if !self.has_next()? {
            return Ok(None);
        }
        let key = self.parser.string()?;
        self.parser.expect(b':')?;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Other> {
        seed.deserialize(&mut *self.parser)
    }
}

/// A variant with content: an object with one key.
impl<'de> EnumAccess<'de> for Elements<'_, 'de> {
    type Error = Other;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Other> {
        let name = self.parser.string()?;
        self.parser.expect(b':')?;
        Ok((seed.deserialize(BorrowedStrDeserializer::<Other>::new(name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Elements<'_, 'de> {
    type Error = Other;

    fn unit_variant(self) -> Result<(), Other> {
        Err(Other)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Other> {
        seed.deserialize(self.parser)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Other> {
        self.parser.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Other> {
        self.parser.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests;
