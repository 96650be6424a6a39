//! Mail messages: headers and body as bytes. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::config::Mail;
use crate::notice::Notice;
use crate::render::{subject, text};

/// Bytes of text in an encoded word, which must not be longer than 75 characters (RFC 2047).
const ENCODED_WORD_BYTES: usize = 42;
/// Number of characters per base64 line (RFC 2045).
const LINE_CHARS: usize = 76;

/// Returns the message with its headers, with CRLF line endings. Addresses were checked when the configuration was
/// read; text from runs occurs only in the encoded body and the encoded subject.
pub fn message(mail: &Mail, notice: &Notice) -> Vec<u8> {
    let host: String =
        notice.host.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    let host = if host.is_empty() { "localhost".into() } else { host };
    // The same for each attempt, so that a repeated message can be recognized.
    let id: String = notice.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '.' }).collect();
    let headers = [
        ("From", format!("<{}>", mail.from)),
        ("To", mail.to.iter().map(|to| format!("<{to}>")).collect::<Vec<_>>().join(",\r\n ")),
        ("Subject", header_text(&subject(notice))),
        ("Date", notice.time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()),
        ("Message-ID", format!("<{id}@{host}>")),
        ("Auto-Submitted", "auto-generated".into()),
        ("X-Plateau-Event", notice.event().word().into()),
        ("MIME-Version", "1.0".into()),
        ("Content-Type", "text/plain; charset=utf-8".into()),
        ("Content-Transfer-Encoding", "base64".into()),
    ];
    let mut message: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    message.push_str("\r\n");
    let body = BASE64.encode(text(notice).replace('\n', "\r\n"));
    for line in body.as_bytes().chunks(LINE_CHARS) {
        message.extend(line.iter().map(|byte| char::from(*byte)));
        message.push_str("\r\n");
    }
    message.into_bytes()
}

/// Converts text to encoded words, each on a separate line.
fn header_text(text: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > ENCODED_WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words = words.iter().map(|word| format!("=?utf-8?B?{}?=", BASE64.encode(word)));
    words.collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::{Subject, short};
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn mail() -> Mail {
        Mail {
            server: "smtp://localhost".into(),
            tls: false,
            from: "lab@mail.example".into(),
            to: vec!["a@mail.example".into(), "b@mail.example".into()],
            user: None,
            password_file: None,
            ca_file: None,
        }
    }

    #[test]
    fn headers_are_those_of_a_mail() {
        let message = message(&mail(), &Notice::sample("lab 7\n", Timestamp::UNIX_EPOCH));
        let message = String::from_utf8(message).expect("ASCII");
        for header in [
            "From: <lab@mail.example>\r\n",
            "To: <a@mail.example>,\r\n <b@mail.example>\r\n",
            "Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n",
            "Message-ID: <sample.test.0@lab7n>\r\n",
        ] {
            assert!(message.contains(header), "{message}");
        }
    }

    proptest! {
        #[test]
        fn names_cannot_add_headers(name in "[\r\n:a-z ü\u{1f600}.]{0,300}") {
            let run = Subject { name: Some(short(&name)), ..Subject::unknown("r") };
            let notice = Notice { run, ..Notice::sample(&name, Timestamp::UNIX_EPOCH) };
            let notice = Notice {
                about: crate::notice::About::Interrupted { test: None, reason: None },
                ..notice
            };
            let message = String::from_utf8(message(&mail(), &notice)).expect("ASCII");
            prop_assert!(message.is_ascii());
            prop_assert_eq!(message.matches('\n').count(), message.matches("\r\n").count());
            prop_assert!(message.lines().all(|line| line.len() <= 998));
            let (headers, body) = message.split_once("\r\n\r\n").expect("a body");
            let names: Vec<&str> = headers
                .split("\r\n")
                .filter(|line| !line.starts_with(' '))
                .map(|line| line.split(':').next().unwrap_or_default())
                .collect();
            prop_assert_eq!(names.len(), 10);
            let decoded = BASE64.decode(body.replace("\r\n", "")).expect("base64");
            prop_assert_eq!(String::from_utf8(decoded).expect("text"), text(&notice).replace('\n', "\r\n"));
        }
    }
}
