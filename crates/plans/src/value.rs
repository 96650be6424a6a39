//! A value in a plan: its position in the text, and conversions to other types.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use stdx::units::{SECOND_NS, parse_size};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits::Limit;
use crate::settings::Literal;

/// An error and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: Range<usize>,
    pub text: String,
}

/// A value with its position.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a>(pub &'a Spanned<DeValue<'a>>);

impl<'a> Value<'a> {
    pub fn at(self) -> Range<usize> {
        self.0.span()
    }

    pub fn problem<T>(self, text: impl Into<String>) -> Result<T, Problem> {
        Err(Problem { at: self.at(), text: text.into() })
    }

    /// The value without its position.
    pub fn literal(self) -> Result<Literal, Problem> {
        Ok(match self.0.get_ref() {
            DeValue::String(text) => Literal::Text(text.to_string()),
            DeValue::Boolean(flag) => Literal::Flag(*flag),
            DeValue::Integer(number) => Literal::Integer(
                i128::from_str_radix(number.as_str(), number.radix())
                    .or_else(|_| self.problem("is too large"))?,
            ),
            DeValue::Float(number) => {
                Literal::Fraction(number.as_str().parse().or_else(|_| self.problem("is not a number"))?)
            }
            DeValue::Datetime(_) => Literal::Other("a date"),
            DeValue::Array(_) => Literal::Other("an array"),
            DeValue::Table(_) => Literal::Other("a table"),
        })
    }

    fn converted<T>(self, of: impl Fn(&Literal) -> Result<T, String>) -> Result<T, Problem> {
        of(&self.literal()?).or_else(|text| self.problem(text))
    }

    /// Returns a non-empty string.
    pub fn text(self) -> Result<String, Problem> {
        self.converted(Literal::text)
    }

    /// Returns what the value stands for according to `words`, which must contain it.
    pub fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T, Problem> {
        self.converted(|literal| literal.word(words))
    }

    pub fn flag(self) -> Result<bool, Problem> {
        self.converted(Literal::flag)
    }

    /// Returns an integer within `limit`.
    pub fn whole<T>(self, limit: &Limit<T>) -> Result<T, Problem>
    where
        T: TryFrom<i128> + FromStr + PartialOrd + Display + Copy,
    {
        self.converted(|literal| literal.whole(limit))
    }

    /// Returns a number of seconds within `limit`, converted to ns.
    pub fn seconds_ns(self, limit: &Limit<f64>) -> Result<u64, Problem> {
        Ok((self.converted(|literal| literal.seconds(limit))? * SECOND_NS as f64).round() as u64)
    }

    /// Returns a number within `limit`.
    pub fn fraction(self, limit: &Limit<f64>) -> Result<f64, Problem> {
        self.converted(|literal| literal.seconds(limit))
    }

    /// Returns a transfer size: a multiple of 512 bytes, at most 16 MiB.
    pub fn block_bytes(self) -> Result<u32, Problem> {
        const MOST: u64 = 16 << 20;
        let text = self.text()?;
        let bytes = parse_size(&text).or_else(|why| self.problem(why))?;
        if (512..=MOST).contains(&bytes) && bytes.is_multiple_of(512) {
            return Ok(bytes as u32);
        }
        let nearest = bytes.clamp(512, MOST).next_multiple_of(512);
        self.problem(format!(
            "{text}: an I/O must be a multiple of 512 B, up to 16 MiB; the nearest is {nearest} B"
        ))
    }

    /// Returns the items of a list; any other value is treated as a list of one item.
    pub fn list(self) -> Result<Vec<Self>, Problem> {
        match self.0.get_ref() {
            DeValue::Array(items) if items.is_empty() => self.problem("is empty; remove the key"),
            DeValue::Array(items) => Ok(items.iter().map(Value).collect()),
            _ => Ok(vec![self]),
        }
    }

    /// Converts each item of a list with `of`; duplicates are errors.
    pub fn each<T: PartialEq>(self, of: impl Fn(Self) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
        let mut all = Vec::new();
        for value in self.list()? {
            let item = of(value)?;
            if all.contains(&item) {
                return value.problem("is listed twice");
            }
            all.push(item);
        }
        Ok(all)
    }

    pub fn table(self) -> Result<&'a DeTable<'a>, Problem> {
        match self.0.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => self.converted(|literal| literal.unexpected("a table")),
        }
    }
}
