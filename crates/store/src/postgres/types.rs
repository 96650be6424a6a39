//! Values as PostgreSQL transfers them.

use std::error::Error;
use std::fmt::Write as _;

use bytes::BytesMut;
use jiff::civil::date;
use jiff::{SignedDuration, Span, Timestamp};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::value::Value;

/// PostgreSQL's epoch, 2000-01-01 in UTC, in seconds since 1970.
const EPOCH_SECONDS: i64 = 946_684_800;

impl ToSql for Value {
    fn to_sql(&self, to: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) if *to == Type::FLOAT8 => (*number as f64).to_sql(to, out),
            Self::Integer(number) => number.to_sql(to, out),
            Self::Real(number) => number.to_sql(to, out),
            Self::Text(text) => text.to_sql(to, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Returns whether values of this type can be read.
pub fn is_readable(kind: &Type) -> bool {
    const KINDS: [Type; 19] = [
        Type::BOOL,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::OID,
        Type::FLOAT4,
        Type::FLOAT8,
        Type::NUMERIC,
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::NAME,
        Type::UNKNOWN,
        Type::JSON,
        Type::XML,
        Type::DATE,
        Type::TIMESTAMP,
        Type::TIMESTAMPTZ,
        Type::VOID,
    ];
    KINDS.contains(kind)
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => bool::from_sql(kind, raw)?.into(),
            Type::INT2 => i16::from_sql(kind, raw)?.into(),
            Type::INT4 => i64::from(i32::from_sql(kind, raw)?).into(),
            Type::INT8 => i64::from_sql(kind, raw)?.into(),
            Type::OID => u32::from_sql(kind, raw)?.into(),
            Type::FLOAT4 => f64::from(f32::from_sql(kind, raw)?).into(),
            Type::FLOAT8 => f64::from_sql(kind, raw)?.into(),
            Type::NUMERIC => numeric(raw).ok_or("a damaged number")?,
            Type::DATE => day(i32::from_sql(kind, raw)?),
            Type::TIMESTAMP | Type::TIMESTAMPTZ => moment(i64::from_be_bytes(raw.try_into()?)),
            Type::VOID => Self::Null,
            _ => Self::Text(String::from_utf8_lossy(raw).into_owned()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        is_readable(kind)
    }
}

/// Returns a time, given in microseconds since 2000, in the form that the store uses.
fn moment(microseconds: i64) -> Value {
    let since = SignedDuration::from_micros(microseconds);
    let time = Timestamp::from_second(EPOCH_SECONDS).ok().and_then(|epoch| epoch.checked_add(since).ok());
    // PostgreSQL timestamps may also be infinite.
    time.into()
}

fn day(days: i32) -> Value {
    let day = Span::new().try_days(days).ok().and_then(|days| date(2000, 1, 1).checked_add(days).ok());
    day.map(|day| day.to_string()).into()
}

/// Reads a decimal number, which consists of groups of four digits. Sums of integers are whole numbers; all others
/// are converted to double precision.
fn numeric(raw: &[u8]) -> Option<Value> {
    let word = |at: usize| Some(i16::from_be_bytes(raw.get(2 * at..2 * at + 2)?.try_into().ok()?));
    let (groups, weight) = (i32::from(word(0)?), i32::from(word(1)?));
    let sign = match word(2)?.cast_unsigned() {
        0 => "",
        0x4000 => "-",
        _ => return Some(Value::Null),
    };
    let decimals = word(3)?;
    // Returns the group at `place`, where 0 is the group before the decimal point.
    let group = |place: i32| match weight - place {
        at if (0..groups).contains(&at) => word(4 + usize::try_from(at).ok()?),
        _ => Some(0),
    };
    let mut text = String::from(sign);
    for place in (0..=weight.max(0)).rev() {
        let _ = write!(text, "{:04}", group(place)?);
    }
    if decimals == 0
        && let Ok(whole) = text.parse::<i64>()
    {
        return Some(Value::Integer(whole));
    }
    text.push('.');
    for place in 1..=(i32::from(decimals) + 3) / 4 {
        let _ = write!(text, "{:04}", group(-place)?);
    }
    text.parse::<f64>().ok().map(Value::from)
}

/// Appends a row in the text format of `COPY`.
pub fn add_row(out: &mut String, row: &[Value]) {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.push('\t');
        }
        match value {
            Value::Null => out.push_str("\\N"),
            Value::Integer(number) => {
                let _ = write!(out, "{number}");
            }
            Value::Real(number) => {
                let _ = write!(out, "{number:?}");
            }
            Value::Text(text) => {
                for character in text.chars() {
                    match character {
                        '\\' => out.push_str("\\\\"),
                        '\n' => out.push_str("\\n"),
                        '\r' => out.push_str("\\r"),
                        '\t' => out.push_str("\\t"),
                        other => out.push(other),
                    }
                }
            }
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(groups: &[i16], weight: i16, sign: u16, decimals: i16) -> Value {
        let count = i16::try_from(groups.len()).expect("few");
        let head = [count, weight, sign.cast_signed(), decimals];
        let raw: Vec<u8> = head.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect();
        numeric(&raw).expect("a number")
    }

    #[test]
    fn decimal_numbers_are_read() {
        assert_eq!(number(&[], 0, 0, 0), Value::Integer(0));
        assert_eq!(number(&[12, 3456], 1, 0, 0), Value::Integer(123_456));
        assert_eq!(number(&[12], 1, 0x4000, 0), Value::Integer(-120_000));
        assert_eq!(number(&[1, 5000], 0, 0, 1), Value::Real(1.5));
        assert_eq!(number(&[25], -1, 0x4000, 4), Value::Real(-0.0025));
        assert_eq!(number(&[25], -2, 0, 8), Value::Real(0.000_000_25));
        assert_eq!(number(&[], 0, 0xC000, 0), Value::Null, "not a number");
        assert_eq!(
            number(&[9223, 3720, 3685, 4775, 8080], 4, 0, 0),
            Value::Real(92_233_720_368_547_758_080.0)
        );
        assert_eq!(numeric(&[0, 1, 0, 0]), None);
    }

    #[test]
    fn times_have_the_form_of_the_store() {
        assert_eq!(moment(1), Value::Text("2000-01-01T00:00:00.000001000Z".into()));
        assert_eq!(moment(-1), Value::Text("1999-12-31T23:59:59.999999000Z".into()));
        assert_eq!(moment(i64::MAX), Value::Null, "infinity");
        assert_eq!((day(31), day(-1)), (Value::Text("2000-02-01".into()), Value::Text("1999-12-31".into())));
        assert_eq!(day(i32::MAX), Value::Null);
    }

    #[test]
    fn rows_are_escaped() {
        let mut out = String::new();
        add_row(&mut out, &[Value::Null, Value::Integer(-1), Value::Real(0.1), "a\tb\\N\n\r".into()]);
        assert_eq!(out, "\\N\t-1\t0.1\ta\\tb\\\\N\\n\\r\n");
    }
}
