//! The selection on the screen, and how keys change it, as pure functions.

/// A key that has a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Selects the run above.
    Up,
    /// Selects the run below.
    Down,
    /// Scrolls up within the run.
    PageUp,
    /// Scrolls down within the run.
    PageDown,
    /// Quits the program.
    Quit,
}

/// Number of lines that Page Up and Page Down scroll.
const PAGE: usize = 8;

/// The state of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Id of the selected run; if that run is gone, the first run is selected.
    pub selected: Option<String>,
    /// Number of the run's lines above the top of the screen.
    pub scroll: usize,
    /// The largest useful value of `scroll`, as found when the screen was last drawn.
    pub last: usize,
    /// Whether to quit.
    pub is_over: bool,
}

impl State {
    /// Returns the index of the selected run in `ids`.
    #[must_use]
    pub fn place(&self, ids: &[&str]) -> usize {
        ids.iter().position(|id| Some(*id) == self.selected.as_deref()).unwrap_or(0)
    }

    /// Applies a key; `ids` are the runs on the screen.
    pub fn press(&mut self, key: Key, ids: &[&str]) {
        let place = self.place(ids);
        match key {
            Key::Up => self.select(ids, place.saturating_sub(1)),
            Key::Down => self.select(ids, (place + 1).min(ids.len().saturating_sub(1))),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
            // A value beyond the end would have to be undone key by key.
            Key::PageDown => self.scroll = (self.scroll + PAGE).min(self.last),
            Key::Quit => self.is_over = true,
        }
    }

    /// Takes over the largest useful value of `scroll`, which changes with the run and with the size of the terminal.
    pub fn drawn(&mut self, last: usize) {
        self.last = last;
        self.scroll = self.scroll.min(last);
    }

    fn select(&mut self, ids: &[&str], place: usize) {
        self.selected = ids.get(place).map(|id| (*id).to_owned());
        self.scroll = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_stays_with_its_run() {
        let mut state = State::default();
        state.press(Key::Down, &["a", "b", "c"]);
        assert_eq!(state.place(&["a", "b", "c"]), 1);
        // A newer run appears above the selected run.
        assert_eq!(state.place(&["new", "a", "b", "c"]), 2);
        state.press(Key::Down, &["a", "b", "c"]);
        state.press(Key::Down, &["a", "b", "c"]);
        assert_eq!(state.selected.as_deref(), Some("c"));
        assert_eq!(state.place(&["a", "b"]), 0, "the selected run is gone");
        state.press(Key::Up, &[]);
        assert_eq!(state, State::default());
    }

    #[test]
    fn another_run_is_shown_from_its_beginning() {
        let mut state = State::default();
        state.drawn(2 * PAGE);
        state.press(Key::PageDown, &["a", "b"]);
        assert_eq!(state.scroll, PAGE);
        state.press(Key::Down, &["a", "b"]);
        assert_eq!(state.scroll, 0);
        state.press(Key::PageUp, &["a", "b"]);
        assert_eq!((state.scroll, state.is_over), (0, false));
        state.press(Key::Quit, &["a", "b"]);
        assert!(state.is_over);
    }
    #[test]
    fn keys_at_the_end_need_not_be_undone() {
        let mut state = State::default();
        state.drawn(PAGE + 3);
        for _ in 0..5 {
            state.press(Key::PageDown, &["a"]);
        }
        assert_eq!(state.scroll, PAGE + 3);
        state.press(Key::PageUp, &["a"]);
        assert_eq!(state.scroll, 3);
        // The terminal has become higher.
        state.drawn(1);
        assert_eq!(state.scroll, 1);
    }
}
