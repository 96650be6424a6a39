//! One line for each of several runs at the bottom of a terminal; everything else scrolls above them.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

use crate::printer;

/// The lines of all runs.
#[derive(Debug)]
pub struct Board {
    live: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rows: Vec<String>,
    /// Lines of the terminal that show them now.
    drawn: usize,
}

impl Board {
    pub fn of(runs: usize) -> Self {
        let state = State { rows: vec![String::new(); runs], drawn: 0 };
        Self { live: std::io::stderr().is_terminal(), state: Mutex::new(state) }
    }

    /// Rewrites the line of a run.
    pub fn set(&self, row: usize, text: String) {
        self.change(|state| {
            state.rows[row] = text;
            None
        });
    }

    /// Says a line that stays.
    pub fn say(&self, line: &str) {
        self.change(|_| Some(line.to_owned()));
    }

    fn change(&self, of: impl FnOnce(&mut State) -> Option<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let line = of(&mut state);
        let text = if self.live {
            state.redrawn(line.as_deref())
        } else {
            line.map_or_else(String::new, |line| format!("{}\n", printer::said(&line)))
        };
        if !text.is_empty() {
            printer::control(&text);
        }
    }
}

impl State {
    /// Takes the lines off, says `line`, and writes those that are not empty again.
    fn redrawn(&mut self, line: Option<&str>) -> String {
        let mut text = String::new();
        if self.drawn > 0 {
            text += &format!("\x1b[{}A\r\x1b[J", self.drawn);
        }
        if let Some(line) = line {
            text += &format!("{}\n", printer::said(line));
        }
        let rows = self.rows.iter().filter(|row| !row.is_empty());
        self.drawn = rows.clone().count();
        rows.for_each(|row| text += &format!("{}\n", printer::cut(row)));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_scroll_above_the_rows() {
        let mut state = State { rows: vec!["a 1".into(), String::new(), "c 1".into()], drawn: 0 };
        let [a, b, c] = ["a 1", "b 1", "c 1"].map(printer::cut);
        assert_eq!(state.redrawn(None), format!("{a}\n{c}\n"));
        state.rows[1] = "b 1".into();
        assert_eq!(state.redrawn(Some("a: purged")), format!("\x1b[2A\r\x1b[Ja: purged\n{a}\n{b}\n{c}\n"));
        state.rows = vec![String::new(); 3];
        assert_eq!(state.redrawn(None), "\x1b[3A\r\x1b[J");
        assert_eq!(state.redrawn(Some("end")), "end\n");
    }
}
