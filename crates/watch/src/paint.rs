//! Styles. Only the terminal's own colours are used, and none for plain text, so that the output is also legible on
//! light backgrounds.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use stdx::text::on_one_line;

/// The capabilities of a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    /// Whether colours are used.
    pub colour: bool,
    /// Converts text for terminals without Unicode; `None` for other terminals.
    pub ascii: Option<fn(&str) -> String>,
}

impl Paint {
    /// Plain text in Unicode.
    pub const PLAIN: Self = Self { colour: false, ascii: None };

    /// Returns text that is safe to display.
    #[must_use]
    pub fn text(self, text: &str) -> String {
        let text = on_one_line(text);
        self.ascii.map_or_else(|| text.clone().into_owned(), |ascii| ascii(&text))
    }

    pub(crate) fn plain(self, text: &str) -> Span<'static> {
        Span::raw(self.text(text))
    }

    pub(crate) fn bold(self, text: &str) -> Span<'static> {
        Span::styled(self.text(text), Style::new().add_modifier(Modifier::BOLD))
    }

    pub(crate) fn soft(self, text: &str) -> Span<'static> {
        Span::styled(self.text(text), Style::new().add_modifier(Modifier::DIM))
    }

    /// Returns a mark such as SIMULATED.
    pub(crate) fn mark(self, text: &str) -> Span<'static> {
        Span::styled(self.text(text), Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED))
    }

    pub(crate) fn good(self, text: &str) -> Span<'static> {
        self.coloured(text, Color::Green)
    }

    pub(crate) fn bad(self, text: &str) -> Span<'static> {
        let span = self.coloured(text, Color::Red);
        let style = span.style.add_modifier(Modifier::BOLD);
        span.style(style)
    }

    pub(crate) fn chart(self, text: &str) -> Span<'static> {
        self.coloured(text, Color::Blue)
    }

    fn coloured(self, text: &str, colour: Color) -> Span<'static> {
        let style = if self.colour { Style::new().fg(colour) } else { Style::new() };
        Span::styled(self.text(text), style)
    }

    /// Returns a line of at most `width` columns.
    pub(crate) fn cut(self, line: Line<'static>, width: usize) -> Line<'static> {
        if line.width() <= width {
            return line;
        }
        let dots = self.text("\u{2026}");
        let mut room = width.saturating_sub(Span::raw(dots.as_str()).width());
        let mut spans = Vec::new();
        for span in line.spans {
            let mut kept = String::new();
            for c in span.content.chars() {
                let columns = Span::raw(c.to_string()).width();
                if columns > room {
                    spans.push(Span::styled(kept, span.style));
                    spans.push(Span::raw(dots));
                    return Line::from(spans);
                }
                room -= columns;
                kept.push(c);
            }
            spans.push(Span::styled(kept, span.style));
        }
        Line::from(spans)
    }
}
