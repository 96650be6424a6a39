//! A value in a plan with its position, and its conversions.

use std::ops::Range;

use stdx::units::{SECOND_NS, parse_size};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits::Limit;

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

    fn wanted<T>(self, what: &str) -> Result<T, Problem> {
        let found = match self.0.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a fractional number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.problem(format!("expected {what}, found {found}"))
    }

    /// A non-empty text.
    pub fn text(self) -> Result<String, Problem> {
        match self.0.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => self.problem("is empty; remove the key"),
            DeValue::String(text) => Ok(text.to_string()),
            _ => self.wanted("a quoted string"),
        }
    }

    /// One of `words`.
    pub fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T, Problem> {
        let text = self.text()?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meant)) => Ok(*meant),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                self.problem(format!("unknown value \"{text}\"; expected one of {}", known.join(", ")))
            }
        }
    }

    pub fn flag(self) -> Result<bool, Problem> {
        match self.0.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => self.wanted("true or false"),
        }
    }

    /// An integer within `limit`.
    pub fn whole<T>(self, limit: &Limit<T>) -> Result<T, Problem>
    where
        T: TryFrom<i128> + PartialOrd + std::fmt::Display + Copy,
    {
        let number = self.integer()?;
        let (low, high) = (*limit.range.start(), *limit.range.end());
        match T::try_from(number) {
            Ok(number) => limit.check(number).or_else(|text| self.problem(text)),
            Err(_) => {
                let nearest = if number < 0 { low } else { high };
                let why = limit.why;
                self.problem(format!(
                    "{number} is out of range: {why}; use {low} to {high} (nearest: {nearest})"
                ))
            }
        }
    }

    fn integer(self) -> Result<i128, Problem> {
        match self.0.get_ref() {
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .or_else(|_| self.problem("is too large")),
            _ => self.wanted("an integer"),
        }
    }

    /// A seed.
    pub fn seed(self) -> Result<u64, Problem> {
        u64::try_from(self.integer()?).or_else(|_| self.problem("a seed must be from 0 to 2^64 - 1"))
    }

    /// A number within `limit`.
    pub fn number(self, limit: &Limit<f64>) -> Result<f64, Problem> {
        let number = match self.0.get_ref() {
            DeValue::Integer(_) => self.integer()? as f64,
            DeValue::Float(number) => number.as_str().parse().or_else(|_| self.problem("is not a number"))?,
            _ => return self.wanted("a number"),
        };
        limit.check(number).or_else(|text| self.problem(text))
    }

    /// Seconds within `limit`, converted to ns.
    pub fn seconds_ns(self, limit: &Limit<f64>) -> Result<u64, Problem> {
        Ok((self.number(limit)? * SECOND_NS as f64).round() as u64)
    }

    /// A transfer size: whole sectors of 512 bytes, at most 16 MiB.
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

    /// An amount of bytes, as written.
    pub fn size(self) -> Result<String, Problem> {
        let text = self.text()?;
        parse_size(&text).or_else(|why| self.problem(why))?;
        Ok(text)
    }

    /// The items of a list; any other value is treated as a list of one item.
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
            _ => self.wanted("a table"),
        }
    }
}
