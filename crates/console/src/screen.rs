//! Lines that are rewritten at the bottom of a terminal while other lines scroll above them. Computes the text
//! that changes one state into the next, without side effects; `printer.rs` writes it.
//!
//! The cursor always stays below the last line, so that the terminal remains usable no matter how the process ends.

/// A line with its escape sequences, and its width in columns, which excludes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pub text: String,
    pub columns: usize,
}

/// Progress in the terminal's tab or task bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Taskbar {
    #[default]
    Nothing,
    /// Completed percentage of the current activity.
    Percent(u8),
    /// Active, with unknown progress.
    Busy,
}

/// The current content of the terminal.
#[derive(Debug, Default)]
pub struct Screen {
    lines: Vec<Line>,
    taskbar: Taskbar,
    /// Whether the task bar was cleared permanently.
    is_closed: bool,
}

impl Taskbar {
    /// Returns ConEmu's sequence. The sequence ends with ST, because some terminals do not accept BEL.
    fn sequence(self) -> String {
        let (state, percent) = match self {
            Self::Nothing => (0, 0),
            Self::Percent(percent) => (1, percent.min(100)),
            Self::Busy => (3, 0),
        };
        format!("\x1b]9;4;{state};{percent}\x1b\\")
    }
}

impl Screen {
    pub const fn new() -> Self {
        Self { lines: Vec::new(), taskbar: Taskbar::Nothing, is_closed: false }
    }

    /// Returns the text that prints `permanent` permanently and replaces the lines below it, on a terminal of `width`
    /// columns.
    pub fn redraw(&mut self, permanent: &[String], lines: Vec<Line>, width: usize) -> String {
        if permanent.is_empty() && lines == self.lines {
            return String::new();
        }
        let mut text = self.back(width);
        // The lines are erased first only if other text is printed in their place; rewriting a line in place
        // does not flicker.
        if !permanent.is_empty() && !self.lines.is_empty() {
            text += "\x1b[J";
        }
        permanent.iter().for_each(|line| text += &format!("{line}\n"));
        lines.iter().for_each(|line| text += &format!("{}\x1b[K\n", line.text));
        if permanent.is_empty() {
            text += "\x1b[J";
        }
        self.lines = lines;
        text
    }

    /// Returns the text that prints `permanent` above the lines, which stay in place.
    pub fn print(&mut self, permanent: &[String], width: usize) -> String {
        let lines = self.lines.clone();
        self.redraw(permanent, lines, width)
    }

    /// Returns the text that erases the lines.
    pub fn erase(&mut self, width: usize) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        self.redraw(&[], Vec::new(), width)
    }

    /// Returns the text that sets the task bar.
    pub fn show_in_taskbar(&mut self, state: Taskbar) -> String {
        if self.taskbar == state || (self.is_closed && state != Taskbar::Nothing) {
            return String::new();
        }
        self.taskbar = state;
        state.sequence()
    }

    /// Returns the text that clears the task bar permanently; the process may end without another call.
    pub fn close_taskbar(&mut self) -> String {
        self.is_closed = true;
        self.show_in_taskbar(Taskbar::Nothing)
    }

    /// Moves the cursor to the first line. Lines drawn before the terminal became narrower are now wrapped.
    fn back(&self, width: usize) -> String {
        let rows: usize = self.lines.iter().map(|line| line.columns.div_ceil(width.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { text: text.into(), columns: text.len() }
    }

    fn permanent(text: &str) -> Vec<String> {
        vec![text.into()]
    }

    #[test]
    fn permanent_lines_scroll_above_rewritten_ones() {
        let mut screen = Screen::new();
        assert_eq!(screen.redraw(&[], vec![line("a"), line("b")], 80), "a\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(screen.redraw(&[], vec![line("a"), line("b")], 80), "", "nothing has changed");
        assert_eq!(screen.redraw(&[], vec![line("c")], 80), "\x1b[2A\rc\x1b[K\n\x1b[J");
        assert_eq!(screen.print(&permanent("purged"), 80), "\x1b[1A\r\x1b[Jpurged\nc\x1b[K\n");
        assert_eq!(screen.erase(80), "\x1b[1A\r\x1b[J");
        assert_eq!(screen.print(&permanent("end"), 80), "end\n");
        assert_eq!(screen.erase(80), "");
    }

    #[test]
    fn lines_wrapped_by_a_narrower_terminal_are_erased_as_a_whole() {
        let mut screen = Screen::new();
        drop(screen.redraw(&[], vec![line(&"x".repeat(79)), line("y")], 80));
        assert_eq!(screen.redraw(&[], vec![line("z")], 40), "\x1b[3A\rz\x1b[K\n\x1b[J");
    }

    #[test]
    fn the_task_bar_receives_only_changes_and_nothing_after_its_end() {
        let mut screen = Screen::new();
        assert_eq!(screen.show_in_taskbar(Taskbar::Nothing), "");
        assert_eq!(screen.show_in_taskbar(Taskbar::Busy), "\x1b]9;4;3;0\x1b\\");
        assert_eq!(screen.show_in_taskbar(Taskbar::Percent(42)), "\x1b]9;4;1;42\x1b\\");
        assert_eq!(screen.show_in_taskbar(Taskbar::Percent(42)), "");
        assert_eq!(screen.close_taskbar(), "\x1b]9;4;0;0\x1b\\");
        assert_eq!(screen.show_in_taskbar(Taskbar::Percent(43)), "");
        assert_eq!(screen.close_taskbar(), "");
    }
}
