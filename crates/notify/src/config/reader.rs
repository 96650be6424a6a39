//! Reads the keys of a configuration and collects the errors.

use std::collections::BTreeMap;
use std::time::Duration;

use stdx::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use stdx::Mistake;

use super::types::{CampaignPlaces, Config, Entry, Mail, Means, Source};
use super::values::{self, check_webhook};
use crate::decide::Rules;
use crate::notice::Event;

/// Limit on the number of channels; no reasonable file contains as many.
const MOST_CHANNELS: usize = 50;
const MOST_WORDS: usize = 100;
const MOST_ATTEMPTS: u32 = 100;

const DAY: Duration = Duration::from_secs(86_400);
const GENERAL: [&str; 9] = [
    "look-every",
    "stuck-after",
    "interrupted-after",
    "attempts",
    "first-retry",
    "program",
    "webhook",
    "mail",
    "campaign",
];
const CAMPAIGN: [&str; 3] = ["file", "inventory", "logs"];
const COMMON: [&str; 3] = ["name", "events", "timeout"];
const PROGRAM: [&str; 1] = ["run"];
const WEBHOOK: [&str; 5] = ["url", "url-file", "token-file", "ca-file", "proxy"];
const MAIL: [&str; 7] = ["server", "tls", "from", "to", "user", "password-file", "ca-file"];

type Value<'a> = Spanned<DeValue<'a>>;
/// The entries in a table, by name.
type Keys<'a, 'b> = BTreeMap<&'b str, &'b Value<'a>>;

/// Reads how a channel delivers notices.
type ReadMeans<'a> = fn(&mut Reader<'a>, &Keys<'_, '_>, usize) -> Option<Means>;

/// Reads a text.
pub struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    mistakes: Vec<Mistake>,
}

impl<'a> Reader<'a> {
    pub const fn of(file: &'a str, text: &'a str) -> Self {
        Self { file, text, mistakes: Vec::new() }
    }

    /// Returns the errors, in the order of their positions in the text.
    pub fn mistakes(mut self) -> Vec<Mistake> {
        self.mistakes.sort();
        self.mistakes
    }

    fn mistake(&mut self, at: usize, problem: impl Into<String>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        self.mistakes.push(Mistake { file: self.file.into(), line, column, problem: problem.into() });
    }

    pub fn config(&mut self) -> Config {
        // Slurm starts a job that was interrupted again after two minutes.
        let rules =
            Rules { stuck_after: Duration::from_secs(600), interrupted_after: Duration::from_secs(300) };
        let mut config = Config {
            look_every: Duration::from_secs(10),
            rules,
            attempts: 10,
            first_retry: Duration::from_secs(5),
            channels: Vec::new(),
            campaigns: Vec::new(),
        };
        match DeTable::parse(self.text) {
            Ok(table) => self.whole(table.get_ref(), &mut config),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                self.mistake(at, error.message().trim().replace('\n', "; "));
            }
        }
        config
    }

    fn whole(&mut self, table: &DeTable<'_>, config: &mut Config) {
        let keys = self.keys(table, &GENERAL);
        let millisecond = Duration::from_millis(1);
        let times = [
            ("look-every", &mut config.look_every, 10 * millisecond),
            ("stuck-after", &mut config.rules.stuck_after, millisecond),
            ("interrupted-after", &mut config.rules.interrupted_after, Duration::ZERO),
            ("first-retry", &mut config.first_retry, millisecond),
        ];
        for (key, time, least) in times {
            if let Some(found) = keys.get(key).and_then(|value| self.time(value, least)) {
                *time = found;
            }
        }
        if let Some(value) = keys.get("attempts") {
            let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
            match number.and_then(|number| number.as_str().parse::<u32>().ok()) {
                Some(number) if (1..=MOST_ATTEMPTS).contains(&number) => config.attempts = number,
                _ => self.mistake(value.span().start, format!("must be a number from 1 to {MOST_ATTEMPTS}")),
            }
        }
        let kinds: [(&str, &[&str], ReadMeans<'a>); 3] = [
            ("program", &PROGRAM, Self::program),
            ("webhook", &WEBHOOK, Self::webhook),
            ("mail", &MAIL, Self::mail),
        ];
        for (kind, own, means) in kinds {
            if let Some(value) = keys.get(kind) {
                self.channels(value, kind, own, means, config);
            }
        }
        if let Some(value) = keys.get("campaign") {
            self.campaigns(value, config);
        }
        if config.channels.is_empty() && self.mistakes.is_empty() {
            self.mistake(
                0,
                "no channel; a configuration has at least one [[program]], [[webhook]] or [[mail]]",
            );
        }
    }

    /// Returns the entries in a table; unknown names are errors.
    fn keys<'b, 't>(&mut self, table: &'b DeTable<'t>, known: &[&str]) -> Keys<'t, 'b> {
        let mut keys = Keys::new();
        for (name, value) in table.iter() {
            let found: &str = name.get_ref();
            if known.contains(&found) {
                keys.insert(found, value);
                continue;
            }
            let shown = values_shown(found);
            self.mistake(
                name.span().start,
                match nearest(found, known.iter().copied()) {
                    Some(meant) => format!("unknown key '{shown}'; did you mean '{meant}'?"),
                    None => format!("unknown key '{shown}'; available keys: {}", known.join(", ")),
                },
            );
        }
        keys
    }

    fn channels(
        &mut self,
        value: &Value<'_>,
        kind: &str,
        own: &[&str],
        means: ReadMeans<'a>,
        config: &mut Config,
    ) {
        let Some(items) = value.get_ref().as_array() else {
            return self.mistake(value.span().start, format!("begin each channel with [[{kind}]]"));
        };
        for item in items {
            let at = item.span().start;
            let Some(table) = item.get_ref().as_table() else {
                self.mistake(at, format!("begin each channel with [[{kind}]]"));
                continue;
            };
            if config.channels.len() == MOST_CHANNELS {
                return self.mistake(at, format!("more than {MOST_CHANNELS} channels"));
            }
            let keys = self.keys(table, &[&COMMON[..], own].concat());
            let name = self.name(&keys, at, kind, config);
            let events = self.events(&keys);
            let timeout = keys.get("timeout").and_then(|value| self.time(value, Duration::from_millis(1)));
            let timeout = timeout.unwrap_or(Duration::from_secs(30));
            let means = means(self, &keys, at);
            if let (Some(name), Some(means)) = (name, means) {
                config.channels.push(Entry { name, events, timeout, means });
            }
        }
    }

    fn campaigns(&mut self, value: &Value<'_>, config: &mut Config) {
        const HOW: &str = "begin each campaign with [[campaign]]";
        let Some(items) = value.get_ref().as_array() else {
            return self.mistake(value.span().start, HOW);
        };
        for item in items {
            let at = item.span().start;
            let Some(table) = item.get_ref().as_table() else {
                self.mistake(at, HOW);
                continue;
            };
            let keys = self.keys(table, &CAMPAIGN);
            for key in CAMPAIGN.iter().filter(|key| !keys.contains_key(*key)) {
                self.mistake(at, format!("this [[campaign]] has no `{key}`"));
            }
            let [file, inventory, logs] = CAMPAIGN.map(|key| self.path(&keys, key));
            if let (Some(file), Some(inventory), Some(logs)) = (file, inventory, logs) {
                config.campaigns.push(CampaignPlaces { file, inventory, logs });
            }
        }
    }

    fn name(&mut self, keys: &Keys<'_, '_>, at: usize, kind: &str, config: &Config) -> Option<String> {
        let Some(value) = keys.get("name") else {
            self.mistake(at, format!("this [[{kind}]] has no `name`"));
            return None;
        };
        let name = self.checked(value, values::name)?;
        if config.channels.iter().any(|channel| channel.name == name) {
            self.mistake(value.span().start, format!("another channel has the name '{name}'"));
        }
        Some(name)
    }

    fn events(&mut self, keys: &Keys<'_, '_>) -> Vec<Event> {
        let Some(value) = keys.get("events") else { return Event::SELECTABLE.to_vec() };
        let Some(items) = value.get_ref().as_array().filter(|items| !items.is_empty()) else {
            self.mistake(value.span().start, "must be a list of events, such as [\"finished\", \"failed\"]");
            return Vec::new();
        };
        let words = || Event::SELECTABLE.into_iter().map(Event::word);
        let mut events = Vec::new();
        for item in items {
            let found = item.get_ref().as_str().unwrap_or_default();
            match Event::SELECTABLE.into_iter().find(|event| event.word() == found) {
                Some(event) if !events.contains(&event) => events.push(event),
                Some(_) => {}
                None => {
                    let text = match nearest(found, words()) {
                        Some(meant) => {
                            format!("unknown event '{}'; did you mean '{meant}'?", values_shown(found))
                        }
                        None => {
                            let all: Vec<&str> = words().collect();
                            format!("an event is one of: {}", all.join(", "))
                        }
                    };
                    self.mistake(item.span().start, text);
                }
            }
        }
        events
    }

    fn program(&mut self, keys: &Keys<'_, '_>, at: usize) -> Option<Means> {
        let Some(value) = keys.get("run") else {
            self.mistake(at, "this [[program]] has no `run`, the program and its arguments: [\"/usr/bin/logger\", \"-t\", \"lab\"]");
            return None;
        };
        let words = self.list(value, |word| {
            if word.contains('\0') { Err("must not contain a zero byte".into()) } else { Ok(()) }
        })?;
        match values::absolute_path(&words[0]) {
            Ok(()) => Some(Means::Program { run: words }),
            Err(problem) => {
                self.mistake(value.span().start, problem);
                None
            }
        }
    }

    fn webhook(&mut self, keys: &Keys<'_, '_>, at: usize) -> Option<Means> {
        let token_file = self.secret(keys, "token-file");
        let ca_file = self.path(keys, "ca-file");
        let proxy = keys.get("proxy").and_then(|value| self.checked(value, values::proxy_url));
        let url = match (keys.get("url"), keys.get("url-file")) {
            (Some(value), None) => {
                let (has_token, has_proxy) = (keys.contains_key("token-file"), keys.contains_key("proxy"));
                Source::Value(self.checked(value, |url| check_webhook(url, has_token, has_proxy))?)
            }
            (None, Some(_)) => Source::File(self.secret(keys, "url-file")?),
            (Some(_), Some(value)) => {
                self.mistake(value.span().start, "`url` and `url-file` cannot be combined");
                return None;
            }
            (None, None) => {
                self.mistake(at, "this [[webhook]] has neither `url` nor `url-file`");
                return None;
            }
        };
        Some(Means::Webhook { url, token_file, ca_file, proxy })
    }

    fn mail(&mut self, keys: &Keys<'_, '_>, at: usize) -> Option<Means> {
        for key in ["server", "from", "to"] {
            if !keys.contains_key(key) {
                self.mistake(at, format!("this [[mail]] has no `{key}`"));
            }
        }
        let server = keys.get("server").and_then(|value| self.checked(value, values::mail_url));
        let from = keys.get("from").and_then(|value| self.checked(value, values::mail_address));
        let to = keys.get("to").and_then(|value| self.list(value, values::mail_address));
        let is_user = |text: &str| {
            values::line(text)?;
            if text.contains(':') { Err("a user name cannot contain ':'".into()) } else { Ok(()) }
        };
        let user = keys.get("user").and_then(|value| self.checked(value, is_user));
        let password_file = self.secret(keys, "password-file");
        if keys.contains_key("user") != keys.contains_key("password-file") {
            self.mistake(at, "`user` and `password-file` belong together");
        }
        let tls = match keys.get("tls").map(|value| (value, value.get_ref().as_str())) {
            None | Some((_, Some("required"))) => true,
            Some((value, Some("none"))) => {
                let is_local = server.as_deref().is_some_and(values::is_loopback);
                if keys.contains_key("password-file") && !is_local {
                    self.mistake(value.span().start, "the password would be sent unencrypted; omit `tls`");
                }
                false
            }
            Some((value, _)) => {
                self.mistake(value.span().start, "tls is \"required\" or \"none\"");
                true
            }
        };
        let ca_file = self.path(keys, "ca-file");
        let (server, from, to) = (server?, from?, to?);
        Some(Means::Mail(Mail { server, tls, from, to, user, password_file, ca_file }))
    }

    fn path(&mut self, keys: &Keys<'_, '_>, key: &str) -> Option<std::path::PathBuf> {
        keys.get(key).and_then(|value| self.checked(value, values::absolute_path)).map(Into::into)
    }

    /// Returns the path of a file with a secret.
    fn secret(&mut self, keys: &Keys<'_, '_>, key: &str) -> Option<std::path::PathBuf> {
        keys.get(key).and_then(|value| self.checked(value, values::secret_path)).map(Into::into)
    }

    fn time(&mut self, value: &Value<'_>, least: Duration) -> Option<Duration> {
        let text = value.get_ref().as_str().unwrap_or_default();
        let found = values::duration_within(text, least, DAY);
        found.map_err(|problem| self.mistake(value.span().start, problem)).ok()
    }

    fn checked(&mut self, value: &Value<'_>, check: impl Fn(&str) -> Result<(), String>) -> Option<String> {
        let Some(text) = value.get_ref().as_str() else {
            self.mistake(value.span().start, "must be a string in quotes");
            return None;
        };
        check(text).map_err(|problem| self.mistake(value.span().start, problem)).ok()?;
        Some(text.to_owned())
    }

    /// Returns a non-empty list of strings.
    fn list(
        &mut self,
        value: &Value<'_>,
        check: impl Fn(&str) -> Result<(), String> + Copy,
    ) -> Option<Vec<String>> {
        let items = value.get_ref().as_array().filter(|items| (1..=MOST_WORDS).contains(&items.len()));
        let Some(items) = items else {
            self.mistake(value.span().start, format!("must be a list of 1 to {MOST_WORDS} strings"));
            return None;
        };
        let words: Vec<Option<String>> = items.iter().map(|item| self.checked(item, check)).collect();
        words.into_iter().collect()
    }
}

/// Returns a name from the file as part of a message.
fn values_shown(text: &str) -> String {
    crate::notice::short(text)
}
