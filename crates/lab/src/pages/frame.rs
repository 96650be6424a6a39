//! The frame of all pages, and small elements shared by several pages.

use charts::markup::{bound, shortened};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, html};
use stdx::units::{grouped, span};

use super::edition::Edition;
use crate::catalogue::{Figure, Row, State};

/// The properties of a page that the frame needs.
pub struct Page<'a> {
    pub title: &'a str,
    /// Menu entry that the page belongs to; empty if there is none.
    pub section: &'a str,
    /// The run that the page follows, or empty text until it begins: the script then loads the part that changes.
    /// None if nothing changes.
    pub follows: Option<&'a str>,
    pub edition: Edition,
    pub content: Markup,
}

impl Page<'_> {
    /// The complete page.
    pub fn html(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " - Plateau" }
                    link rel="stylesheet" href=(self.edition.style());
                    link rel="icon" href=(self.edition.icon()) type="image/svg+xml";
                    @if self.follows.is_some() { script src="/static/live.js" defer {} }
                }
                body data-follows=[self.follows] {
                    header {
                        a.brand href=(self.edition.home()) { "Plateau" }
                        nav aria-label="Sections" {
                            @for (path, name) in self.edition.menu() {
                                a href=(path) aria-current=[(name == self.section).then_some("page")] { (name) }
                            }
                        }
                    }
                    main { (self.content) }
                    footer { (self.edition.footer()) }
                }
            }
        }
    }
}

/// A page that explains why something cannot be shown.
pub fn problem(title: &str, text: &str) -> Markup {
    let content = html! { h1 { (title) } p { (with_code(&sentence(text))) } };
    Page { title, section: "", follows: None, edition: Edition::Server, content }.html()
}

/// Maximum number of characters of a name in a list.
const NAME_CHARACTERS: usize = 100;

/// Returns a name for a list. Names come from devices, files and other hosts; the page of the run or drive has the whole
/// name.
pub fn brief(name: &str) -> String {
    shortened(name, NAME_CHARACTERS)
}

/// The state of a run as a coloured word; the colour conveys no additional information.
pub fn badge(state: &State) -> Markup {
    html! { span class={ "badge " (state.word()) } { (state.word()) } }
}

/// The marks that must accompany the figures of a run.
pub fn marks(row: &Row) -> Markup {
    html! { @for mark in row.marks() { span.mark { (mark) } " " } }
}

/// A key figure with its unit; marked if the host may have limited it.
pub fn figure(figure: &Figure) -> Markup {
    let value = grouped(figure.value, figure.decimals);
    html! {
        span.figure {
            span.name { (bound(&figure.name)) } " "
            b { (value) (host_limited(figure)) }
            "\u{a0}" (figure.unit.symbol())
        }
    }
}

/// The asterisk of a figure that the host may have limited.
pub fn host_limited(figure: &Figure) -> Markup {
    html! { @if figure.host_limited { abbr title="The host may have limited this figure" { "*" } } }
}

/// Returns a message, which is usually a fragment, as a sentence. A name or a path at its beginning remains as it is.
pub fn sentence(message: &str) -> String {
    let is_word = message
        .split_once(' ')
        .is_some_and(|(first, _)| !first.is_empty() && first.chars().all(|c| c.is_ascii_lowercase()));
    let (first, rest) = message.split_at(usize::from(is_word));
    let end = if message.ends_with(['.', '!', '?', ':']) || message.is_empty() { "" } else { "." };
    format!("{}{rest}{end}", first.to_ascii_uppercase())
}

/// Returns a message of the program, in which commands are between backticks.
pub fn with_code(message: &str) -> Markup {
    html! {
        @for (index, part) in message.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Formats a response time with about four significant digits: `0.052 ms`, `41.65 ms`, `1,690.8 ms`.
pub fn milliseconds(ms: f64) -> String {
    let decimals = match ms.abs() {
        ..10.0 => 3,
        ..100.0 => 2,
        _ => 1,
    };
    format!("{} ms", grouped(ms, decimals))
}

/// Formats a time to the minute: `2026-11-25 02:33 UTC`.
pub fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Formats the time that has passed since `since`; 0 if the clock was set back.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    span(u64::try_from(now.duration_since(since).as_nanos()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_sentences() {
        for (message, expected) in [
            ("the tag is empty", "The tag is empty."),
            ("There is one.", "There is one."),
            ("bench000001 is running", "bench000001 is running."),
            ("/dev/sda: gone", "/dev/sda: gone."),
            ("gone", "gone."),
            ("", ""),
        ] {
            assert_eq!(sentence(message), expected);
        }
    }

    #[test]
    fn commands_in_messages_are_code() {
        let shown = with_code("Type `plateau resume`, then <b>.").into_string();
        assert_eq!(shown, "Type <code>plateau resume</code>, then &lt;b&gt;.");
    }

    #[test]
    fn response_times_have_about_four_digits() {
        let texts = [0.0, 0.0521, 9.9994, 41.653, 1_690.801].map(milliseconds);
        assert_eq!(texts, ["0.000 ms", "0.052 ms", "9.999 ms", "41.65 ms", "1,690.8 ms"]);
    }
}
