//! `--since`: a point in time, given as a date, a time or an age.

use jiff::{Span, Timestamp, Zoned};

/// Parses a date, a date and time, or an age.
///
/// # Errors
/// Returns an error if `text` is none of these.
pub fn since(text: &str) -> Result<Timestamp, String> {
    since_at(text, &Zoned::now())
}

fn since_at(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let at =
        |date: jiff::civil::DateTime| date.to_zoned(now.time_zone().clone()).map(|zoned| zoned.timestamp());
    let ago =
        || text.parse::<Span>().and_then(|span| now.checked_sub(span.abs())).map(|zoned| zoned.timestamp());
    let time = text.parse::<Timestamp>().or_else(|_| text.parse().and_then(at)).or_else(|_| ago());
    time.map_err(|_| {
        "use a date such as 2026-11-01, a time such as 2026-11-01T08:00, or an age such as 7d".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_ages() {
        let now: Zoned = "2026-11-23T12:00[UTC]".parse().expect("a time");
        for (text, expected) in [
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T08:30", "2026-11-01T08:30:00Z"),
            ("2026-11-01T08:30+02:00", "2026-11-01T06:30:00Z"),
            ("7d", "2026-11-16T12:00:00Z"),
            ("12h", "2026-11-23T00:00:00Z"),
            ("2mo", "2026-09-23T12:00:00Z"),
            ("1 week", "2026-11-16T12:00:00Z"),
            ("1 day ago", "2026-11-22T12:00:00Z"),
        ] {
            assert_eq!(since_at(text, &now).map(|time| time.to_string()), Ok(expected.into()), "{text}");
        }
        for text in ["", "soon", "7", "2026-13-01"] {
            assert!(since_at(text, &now).is_err(), "{text}");
        }
    }
}
