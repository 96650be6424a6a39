//! What lists show about a run as one text, so that a list reads one table instead of six, and separates only the texts of
//! the runs that it shows.
//!
//! Each text follows its length in bytes and a colon; each list follows its number of texts and a semicolon. An optional
//! text is a list of none or one.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use jiff::Timestamp;
use pts::Standing;

use crate::listing::ListedRun;
use crate::state;

/// Returns a run as text, without its id.
pub fn packed(run: &ListedRun, standing: Standing) -> String {
    let mut out = String::new();
    add(&mut out, state::name(standing));
    add(&mut out, &run.created.as_nanosecond().to_string());
    add_all(&mut out, &run.tests);
    add(&mut out, &run.profile);
    add(&mut out, &run.target);
    add_all(&mut out, run.name.as_slice());
    for texts in [&run.tags, &run.notes] {
        add_all(&mut out, texts);
    }
    add_all(&mut out, run.serial.as_slice());
    for texts in [&run.identities, &run.models] {
        add_all(&mut out, texts);
    }
    out
}

fn add(out: &mut String, text: &str) {
    // No database changes a text without this character, and PostgreSQL cannot store it.
    let text = text.replace('\0', "\u{fffd}");
    out.push_str(&text.len().to_string());
    out.push(':');
    out.push_str(&text);
}

fn add_all(out: &mut String, texts: &[String]) {
    out.push_str(&texts.len().to_string());
    out.push(';');
    texts.iter().for_each(|text| add(out, text));
}

/// A run that the index lists. Its parts are separated when one of them is first needed: a list of ten thousand runs
/// compares the start of each, but shows only a few.
#[derive(Clone)]
pub struct PackedRun {
    /// The id, followed by the packed text.
    text: String,
    id_bytes: usize,
    created: Timestamp,
    run: OnceLock<Box<ListedRun>>,
}

impl PackedRun {
    /// Returns the run with this id and its state; None if `packed` is not the text of a run.
    pub(crate) fn of(id: &str, packed: &str) -> Option<(Self, Standing)> {
        let (standing, created) = checked(packed)?;
        let text = [id, packed].concat();
        Some((Self { text, id_bytes: id.len(), created, run: OnceLock::new() }, standing))
    }

    /// Returns the id, without separating the parts.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.text[..self.id_bytes]
    }

    /// Returns whether one of the texts may contain `part`, ignoring case, without separating the parts. False is certain.
    #[must_use]
    pub fn may_contain(&self, part: &str) -> bool {
        if self.run.get().is_some() || !part.is_ascii() || !self.text.is_ascii() {
            return true;
        }
        let (text, part) = (self.text.as_bytes(), part.as_bytes());
        part.is_empty() || text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
    }

    /// Returns the start, without separating the parts.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// Returns what a list shows, without copying it and without separating the other parts.
    ///
    /// # Panics
    /// Never: the text was checked.
    #[must_use]
    pub fn shown(&self) -> Shown<'_> {
        if let Some(run) = self.run.get() {
            return Shown {
                tests: run.tests.iter().map(String::as_str).collect(),
                profile: &run.profile,
                target: &run.target,
                name: run.name.as_deref(),
                tags: run.tags.iter().map(String::as_str).collect(),
            };
        }
        shown(&self.text[self.id_bytes..]).expect("the text was checked")
    }
}

/// What a list shows about a run, except for its id, start and state.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    /// Names of the tests.
    pub tests: Vec<&'a str>,
    /// Profile.
    pub profile: &'a str,
    /// Description of the target.
    pub target: &'a str,
    /// Name given by the operator.
    pub name: Option<&'a str>,
    /// Tags given by the operator.
    pub tags: Vec<&'a str>,
}

impl From<ListedRun> for PackedRun {
    fn from(run: ListedRun) -> Self {
        let (text, id_bytes, created) = (run.id.clone(), run.id.len(), run.created);
        Self { text, id_bytes, created, run: OnceLock::from(Box::new(run)) }
    }
}

impl Deref for PackedRun {
    type Target = ListedRun;

    fn deref(&self) -> &ListedRun {
        self.run.get_or_init(|| {
            let (id, packed) = self.text.split_at(self.id_bytes);
            Box::new(unpacked(id, packed).expect("the text was checked"))
        })
    }
}

impl PartialEq for PackedRun {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for PackedRun {}

impl fmt::Debug for PackedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Returns the state and the start of a run; None if `text` is not that of a run.
fn checked(text: &str) -> Option<(Standing, Timestamp)> {
    let mut rest = Rest(text);
    let begin = rest.begin()?;
    rest.skip_texts()?;
    rest.text()?;
    rest.text()?;
    for _ in ["name", "tags", "notes", "serial", "identities", "models"] {
        rest.skip_texts()?;
    }
    rest.0.is_empty().then_some(begin)
}

/// Returns the parts that a list shows; None if `text` is not that of a run.
fn shown(text: &str) -> Option<Shown<'_>> {
    let mut rest = Rest(text);
    // The state and the start.
    rest.text()?;
    rest.text()?;
    Some(Shown {
        tests: rest.parts()?,
        profile: rest.text()?,
        target: rest.text()?,
        name: rest.parts()?.pop(),
        tags: rest.parts()?,
    })
}

/// Returns the run with this id; None if `text` is not that of a run.
fn unpacked(id: &str, text: &str) -> Option<ListedRun> {
    let mut rest = Rest(text);
    let (_, created) = rest.begin()?;
    let run = ListedRun {
        id: id.to_owned(),
        created,
        tests: rest.texts()?,
        profile: rest.text()?.to_owned(),
        target: rest.text()?.to_owned(),
        name: rest.texts()?.pop(),
        tags: rest.texts()?,
        notes: rest.texts()?,
        serial: rest.texts()?.pop(),
        identities: rest.texts()?,
        models: rest.texts()?,
    };
    rest.0.is_empty().then_some(run)
}

/// The part of a text that has not been read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// Reads the state and the start.
    fn begin(&mut self) -> Option<(Standing, Timestamp)> {
        let standing = state::named(self.text()?)?;
        Some((standing, Timestamp::from_nanosecond(self.text()?.parse().ok()?).ok()?))
    }

    /// Reads a number and the ASCII character after it.
    fn number(&mut self, end: u8) -> Option<usize> {
        let text = self.0;
        let mut number = 0_usize;
        for (place, byte) in text.bytes().enumerate() {
            if byte == end && place > 0 {
                self.0 = &text[place + 1..];
                return Some(number);
            }
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            number = number.checked_mul(10)?.checked_add(digit.into())?;
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number(b':')?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn parts(&mut self) -> Option<Vec<&'a str>> {
        let count = self.number(b';')?;
        (0..count).map(|_| self.text()).collect()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number(b';')?;
        (0..count).map(|_| self.text().map(str::to_owned)).collect()
    }

    fn skip_texts(&mut self) -> Option<()> {
        let count = self.number(b';')?;
        (0..count).try_for_each(|_| self.text().map(drop))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("\\PC*", 0..4)
    }

    prop_compose! {
        fn runs()(
            (tests, tags, notes) in (texts(), texts(), texts()),
            (identities, models) in (texts(), texts()),
            (profile, target) in ("\\PC*", "\\PC*"),
            (name, serial) in (prop::option::of("\\PC*"), prop::option::of("\\PC*")),
            seconds in -100_000_000_000_i64..100_000_000_000,
        ) -> ListedRun {
            let created = Timestamp::from_second(seconds).expect("within range");
            let id = "a".to_owned();
            ListedRun { id, created, tests, profile, target, name, tags, notes, serial, identities, models }
        }
    }

    proptest! {
        #[test]
        fn a_run_is_read_as_it_was_written(run in runs()) {
            for standing in [Standing::Steady, Standing::Incomplete] {
                let text = packed(&run, standing);
                let (read, its) = PackedRun::of("a", &text).expect("the text of a run");
                prop_assert_eq!((read.id(), read.created(), its), ("a", run.created, standing));
                let whole = PackedRun::from(run.clone());
                prop_assert_eq!(read.shown(), whole.shown());
                prop_assert_eq!(&*read, &run);
                prop_assert_eq!(read.shown(), whole.shown());
                prop_assert_eq!(read, PackedRun::from(run.clone()));
            }
        }

        #[test]
        fn no_other_text_is_a_run(run in runs(), at in any::<prop::sample::Index>(), other in "\\PC*") {
            let text = packed(&run, Standing::Complete);
            let cut = at.index(text.len());
            prop_assume!(text.is_char_boundary(cut));
            for text in [&text[..cut], &format!("{text}1"), &other] {
                // What is accepted can be separated.
                let accepted = PackedRun::of("a", text).map(|(read, _)| read.target.clone());
                prop_assert_eq!(accepted.is_some(), unpacked("a", text).is_some());
                prop_assert!(accepted.is_none() || text == other);
            }
        }
    }

    #[test]
    fn what_may_not_contain_a_text_does_not() {
        let packed = "6:steady1:00;4:P2.09:SSD Kiosk0;0;0;0;0;0;";
        let (run, _) = PackedRun::of("a7", packed).expect("the text of a run");
        let may = |part: &str| run.clone().may_contain(part);
        assert!(["", "ssd k", "SSD Kiosk", "KIOSK", "a7", "\u{212a}iosk"].into_iter().all(may));
        assert!(["sdd", "SSD Kiosks", &"SSD ".repeat(100)].into_iter().all(|part| !may(part)));
        // The Kelvin sign is an upper-case k.
        let (run, _) =
            PackedRun::of("a7", &packed.replace("9:SSD K", "11:SSD \u{212a}")).expect("the text of a run");
        assert!(run.may_contain("kiosk") && run.target.to_lowercase().contains("kiosk"));
    }

    #[test]
    fn a_huge_count_takes_no_memory() {
        let text = format!("6:steady1:0{};", usize::MAX);
        assert_eq!(PackedRun::of("a", &text), None);
        assert_eq!(unpacked("a", &text), None);
    }
}
