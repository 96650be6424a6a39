//! The subset of DER (X.690) that certificates need: writing elements, and reading the names in a certificate and when it
//! is valid.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

pub const BOOLEAN: u8 = 0x01;
pub const INTEGER: u8 = 0x02;
pub const BIT_STRING: u8 = 0x03;
pub const OCTET_STRING: u8 = 0x04;
pub const OBJECT_IDENTIFIER: u8 = 0x06;
pub const UTF8_STRING: u8 = 0x0c;
pub const PRINTABLE_STRING: u8 = 0x13;
pub const IA5_STRING: u8 = 0x16;
pub const UTC_TIME: u8 = 0x17;
pub const GENERALIZED_TIME: u8 = 0x18;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// Object identifiers of the subject alternative names and of the common name (RFC 5280, appendix A).
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// Number of a DNS name among the alternative names.
const DNS_NAME: u8 = 2;

/// Returns the tag of field `[number]`, which contains elements.
pub const fn field(number: u8) -> u8 {
    0xa0 | number
}

/// Returns the tag of field `[number]`, which replaces the tag of a string.
pub const fn string_field(number: u8) -> u8 {
    0x80 | number
}

/// Returns an element with this tag, which contains the parts in order.
pub fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    if let Ok(short @ 0..=127) = u8::try_from(length) {
        out.push(short);
    } else {
        let bytes = length.to_be_bytes();
        let significant = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(0)..];
        // At most eight bytes.
        out.push(0x80 | significant.len() as u8);
        out.extend_from_slice(significant);
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

/// Returns a time, in whole seconds. RFC 5280 requires the shorter form until 2049.
pub fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(TimeZone::UTC).datetime();
    let rest =
        format!("{:02}{:02}{:02}{:02}{:02}Z", at.month(), at.day(), at.hour(), at.minute(), at.second());
    match at.year() {
        year @ 1950..2050 => element(UTC_TIME, &[format!("{:02}{rest}", year % 100).as_bytes()]),
        year => element(GENERALIZED_TIME, &[format!("{year:04}{rest}").as_bytes()]),
    }
}

/// Returns the first and the last moment at which a certificate is valid; None if it is not a certificate.
pub fn validity(certificate: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (times, _) = expect(SEQUENCE, after_issuer(certificate)?)?;
    let (from, rest) = read_time(times)?;
    Some((from, read_time(rest)?.0))
}

/// Returns the names for which a certificate was issued: its DNS names or, if it has none, its common name. Empty if
/// the data is not a certificate.
pub fn names(certificate: &[u8]) -> Vec<String> {
    let read = || {
        // Validity.
        let (_, fields) = expect(SEQUENCE, after_issuer(certificate)?)?;
        let (subject, fields) = expect(SEQUENCE, fields)?;
        // Key.
        let (_, mut fields) = expect(SEQUENCE, fields)?;
        // Obsolete identifiers of the issuer and the subject.
        for tag in [string_field(1), string_field(2)] {
            fields = expect(tag, fields).map_or(fields, |(_, rest)| rest);
        }
        let extensions = match expect(field(3), fields) {
            Some((wrapped, _)) => expect(SEQUENCE, wrapped)?.0,
            None => &[],
        };
        let names = dns_names(extensions)?;
        if names.is_empty() { common_name(subject).map(|name| vec![name]) } else { Some(names) }
    };
    read().unwrap_or_default()
}

fn dns_names(mut extensions: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while !extensions.is_empty() {
        let (extension, rest) = expect(SEQUENCE, extensions)?;
        extensions = rest;
        let (kind, value) = expect(OBJECT_IDENTIFIER, extension)?;
        if kind != ALTERNATIVE_NAMES {
            continue;
        }
        // Says whether the extension is critical; absent if it is not.
        let value = expect(BOOLEAN, value).map_or(value, |(_, rest)| rest);
        let mut list = expect(SEQUENCE, expect(OCTET_STRING, value)?.0)?.0;
        while !list.is_empty() {
            let (tag, name, rest) = next(list)?;
            list = rest;
            if tag == string_field(DNS_NAME) {
                names.push(String::from_utf8(name.into()).ok()?);
            }
        }
    }
    Some(names)
}

/// Returns the common name of a subject that has exactly one.
fn common_name(mut subject: &[u8]) -> Option<String> {
    let mut names = Vec::new();
    while !subject.is_empty() {
        let (mut attributes, rest) = expect(SET, subject)?;
        subject = rest;
        while !attributes.is_empty() {
            let (attribute, rest) = expect(SEQUENCE, attributes)?;
            attributes = rest;
            let (kind, value) = expect(OBJECT_IDENTIFIER, attribute)?;
            if kind == COMMON_NAME {
                let (tag, name, _) = next(value)?;
                let is_text = [UTF8_STRING, PRINTABLE_STRING, IA5_STRING].contains(&tag);
                names.push(String::from_utf8(name.into()).ok().filter(|_| is_text)?);
            }
        }
    }
    let name = names.pop()?;
    names.is_empty().then_some(name)
}

/// Returns the fields of a certificate that follow its issuer; None if it is not a certificate.
fn after_issuer(certificate: &[u8]) -> Option<&[u8]> {
    let (body, _) = expect(SEQUENCE, certificate)?;
    let (mut fields, _) = expect(SEQUENCE, body)?;
    // The version is optional.
    if let Some((_, rest)) = expect(field(0), fields) {
        fields = rest;
    }
    // Serial number, algorithm and issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        fields = expect(tag, fields)?.1;
    }
    Some(fields)
}

/// Returns the content of the first element, which must have this tag, and everything after the element.
fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    next(bytes).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// Returns the tag and content of the first element, and everything after the element.
fn next(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (found, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        short @ 0..=127 => (usize::from(*short), rest),
        // Lengths of more than 24 bits exceed the size limit of certificate files.
        long @ 0x81..=0x83 => {
            let (length, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length).map(|(content, rest)| (*found, content, rest))
}

fn read_time(bytes: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (text, rest, is_short) = match expect(UTC_TIME, bytes) {
        Some((text, rest)) => (text, rest, true),
        None => expect(GENERALIZED_TIME, bytes).map(|(text, rest)| (text, rest, false))?,
    };
    let text = std::str::from_utf8(text.strip_suffix(b"Z")?).ok()?;
    let year_digits = if is_short { 2 } else { 4 };
    if text.len() != year_digits + 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest_of_time) = text.split_at(year_digits);
    let year = match year.parse::<i16>().ok()? {
        year if !is_short => year,
        year @ 0..50 => 2000 + year,
        year => 1900 + year,
    };
    let two = |at: usize| rest_of_time[at..at + 2].parse::<i8>().ok();
    let time = DateTime::new(year, two(0)?, two(2)?, two(4)?, two(6)?, two(8)?, 0).ok()?;
    Some((time.to_zoned(TimeZone::UTC).ok()?.timestamp(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_in_the_shortest_form_and_read_back() {
        for (length, header) in [
            (0, vec![4, 0]),
            (127, vec![4, 127]),
            (128, vec![4, 0x81, 128]),
            (255, vec![4, 0x81, 255]),
            (256, vec![4, 0x82, 1, 0]),
            (65536, vec![4, 0x83, 1, 0, 0]),
        ] {
            let content = vec![7; length];
            let written = element(OCTET_STRING, &[&content, b""]);
            assert!(written.starts_with(&header), "{length}");
            assert_eq!(written.len(), header.len() + length);
            assert_eq!(expect(OCTET_STRING, &written), Some((content.as_slice(), &[][..])), "{length}");
            assert_eq!(expect(INTEGER, &written), None);
            assert_eq!(expect(OCTET_STRING, &written[..written.len() - 1]), None, "{length}: it is cut off");
        }
    }

    #[test]
    fn times_before_and_after_2050_are_read_back() {
        for text in
            ["1950-01-01T00:00:00Z", "2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z", "9999-12-30T00:00:00Z"]
        {
            let at: Timestamp = text.parse().expect("a time");
            assert_eq!(read_time(&time(at)), Some((at, &[][..])), "{text}");
        }
        assert_eq!(time("2049-12-31T23:59:59Z".parse().expect("a time"))[2..], *b"491231235959Z");
        assert_eq!(time("2050-01-01T00:00:00Z".parse().expect("a time"))[2..], *b"20500101000000Z");
        for other in ["4912312359Z", "491331235959Z", "+91231235959Z", "491231235959", "49123123595\u{e9}Z"] {
            assert_eq!(read_time(&element(UTC_TIME, &[other.as_bytes()])), None, "{other}");
        }
    }

    #[test]
    fn the_names_of_a_certificate_are_its_dns_names_or_its_only_common_name() {
        let oid = |bytes: &[u8]| element(OBJECT_IDENTIFIER, &[bytes]);
        let named = |kind: &[u8], tag: u8, text: &str| {
            element(SET, &[&element(SEQUENCE, &[&oid(kind), &element(tag, &[text.as_bytes()])])])
        };
        let of = |subject: &[&[u8]], names: Option<&[&[u8]]>| {
            let empty = element(SEQUENCE, &[]);
            let extension = names.map(|names| {
                let list = element(OCTET_STRING, &[&element(SEQUENCE, names)]);
                let critical = element(BOOLEAN, &[&[0xff]]);
                let names = element(SEQUENCE, &[&oid(ALTERNATIVE_NAMES), &critical, &list]);
                let other = element(SEQUENCE, &[&oid(&[0x55, 0x1d, 0x0f]), &element(OCTET_STRING, &[b"x"])]);
                element(field(3), &[&element(SEQUENCE, &[&other, &names])])
            });
            let subject = element(SEQUENCE, subject);
            let version = element(field(0), &[&element(INTEGER, &[&[2]])]);
            let serial = element(INTEGER, &[&[1]]);
            let body = element(
                SEQUENCE,
                &[
                    &version,
                    &serial,
                    &empty,
                    &empty,
                    &empty,
                    &subject,
                    &empty,
                    &extension.unwrap_or_default(),
                ],
            );
            super::names(&element(SEQUENCE, &[&body]))
        };
        let rack7 = named(COMMON_NAME, UTF8_STRING, "rack7");
        let lab = named(&[0x55, 0x04, 0x0a], UTF8_STRING, "Lab");
        let dns = |text: &str| element(string_field(DNS_NAME), &[text.as_bytes()]);
        let address = element(string_field(7), &[&[127, 0, 0, 1]]);
        assert_eq!(of(&[&lab, &rack7], None), ["rack7"]);
        assert_eq!(of(&[&rack7], Some(&[&address])), ["rack7"], "an address is not a name");
        assert_eq!(of(&[&rack7], Some(&[&dns("a.example"), &address, &dns("b")])), ["a.example", "b"]);
        assert!(of(&[&lab], None).is_empty());
        assert!(of(&[&rack7, &named(COMMON_NAME, PRINTABLE_STRING, "rack8")], None).is_empty(), "two names");
        assert!(of(&[&named(COMMON_NAME, OCTET_STRING, "rack7")], None).is_empty(), "not text");
        assert!(of(&[&rack7], Some(&[&dns("a"), &[0x82, 9]])).is_empty(), "cut off");
    }

    #[test]
    fn anything_else_is_no_certificate() {
        for bytes in
            [&b""[..], b"0", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", b"\x30\x02\x30\x00", b"\x30\x83\xff"]
        {
            assert_eq!(validity(bytes), None, "{bytes:?}");
        }
    }
}
