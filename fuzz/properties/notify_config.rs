//! Configurations of `plateau notify`: any text yields a configuration or errors, each at a position within the text. A
//! configuration has channels with distinct names, and no value that could add a line to a request or a mail.

use std::collections::BTreeSet;

use notify::config::{Config, Means, Source};

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::read("notify.toml", text) {
        Ok(config) => {
            let names: BTreeSet<&String> = config.channels.iter().map(|channel| &channel.name).collect();
            assert!(!names.is_empty() && names.len() == config.channels.len(), "names are not distinct");
            assert!(config.attempts > 0 && !config.look_every.is_zero());
            for channel in &config.channels {
                assert!(!channel.events.is_empty() && !channel.timeout.is_zero());
                match &channel.means {
                    Means::Program { run } => assert!(run[0].starts_with('/')),
                    Means::Webhook { url: Source::Value(url), .. } => {
                        assert!(url.starts_with("http") && is_line(url), "{url}");
                    }
                    Means::Webhook { url: Source::File(path), .. } => assert!(path.is_absolute()),
                    Means::Mail(mail) => {
                        let texts = mail.to.iter().chain([&mail.from, &mail.server]).chain(&mail.user);
                        texts.for_each(|text| assert!(is_line(text), "{text}"));
                        assert!(mail.user.is_some() == mail.password_file.is_some());
                    }
                }
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty(), "refused without a reason");
            let lines = text.split('\n').count();
            for mistake in mistakes {
                assert!((1..=lines).contains(&mistake.line) && mistake.column >= 1, "{mistake}");
            }
        }
    }
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}
