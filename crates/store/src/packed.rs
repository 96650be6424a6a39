//! What lists show about a run as one text, so that a list reads one table instead of six.
//!
//! Each text follows its length in bytes and a colon; each list follows its number of texts and a semicolon. An optional
//! text is a list of none or one.

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

/// Returns the run with this id and its state; None if `text` is not that of a run.
pub fn unpacked(id: &str, text: &str) -> Option<(ListedRun, Standing)> {
    let mut rest = Rest(text);
    let standing = state::named(rest.text()?)?;
    let created = Timestamp::from_nanosecond(rest.text()?.parse().ok()?).ok()?;
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
    rest.0.is_empty().then_some((run, standing))
}

/// The part of a text that has not been read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn number(&mut self, end: char) -> Option<usize> {
        let (number, rest) = self.0.split_once(end)?;
        self.0 = rest;
        number.parse().ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number(':')?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number(';')?;
        (0..count).map(|_| self.text().map(str::to_owned)).collect()
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
                prop_assert_eq!(unpacked("a", &text), Some((run.clone(), standing)));
            }
        }

        #[test]
        fn no_other_text_is_a_run(run in runs(), at in any::<prop::sample::Index>(), other in "\\PC*") {
            let text = packed(&run, Standing::Complete);
            let cut = at.index(text.len());
            prop_assume!(text.is_char_boundary(cut));
            prop_assert_eq!(unpacked("a", &text[..cut]), None);
            prop_assert_eq!(unpacked("a", &format!("{text}1")), None);
            let _ = unpacked("a", &other);
        }
    }

    #[test]
    fn a_huge_count_takes_no_memory() {
        let text = format!("6:steady1:0{};", usize::MAX);
        assert_eq!(unpacked("a", &text), None);
    }
}
