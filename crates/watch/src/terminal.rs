//! Shows runs on the terminal until a key press or a signal ends the display.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use record::{gap_ns, wall_now};

use crate::keys::{Key, State};
use crate::paint::Paint;
use crate::screen;
use crate::source::Source;

/// Interval at which the runs are polled.
const LOOK_EVERY_NS: u64 = 1_000_000_000;
/// Longest interval between checks for signals.
const WAIT: Duration = Duration::from_millis(200);

/// Why runs cannot be shown on the terminal.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used")]
pub struct WatchError(#[from] io::Error);

/// Shows the runs from `source` until a key to quit is pressed or `stop` is set. The terminal is restored
/// afterwards, even after a panic.
///
/// # Errors
/// Returns an error if the terminal cannot be used.
pub fn follow(source: &mut Source, paint: Paint, stop: &AtomicBool) -> Result<(), WatchError> {
    let mut terminal = ratatui::try_init()?;
    let followed = show(&mut terminal, source, paint, stop);
    let restored = ratatui::try_restore();
    followed?;
    Ok(restored?)
}

fn show(
    terminal: &mut DefaultTerminal,
    source: &mut Source,
    paint: Paint,
    stop: &AtomicBool,
) -> io::Result<()> {
    let (mut state, mut items, mut looked) = (State::default(), Vec::new(), None::<Timestamp>);
    while !state.is_over && !stop.load(Ordering::Relaxed) {
        let now = wall_now();
        // If the clock was set back, poll immediately.
        if looked.is_none_or(|looked| now < looked || gap_ns(looked, now) >= LOOK_EVERY_NS) {
            items = source.look();
            looked = Some(now);
        }
        let mut last = 0;
        terminal.draw(|frame| last = screen::draw(frame, &items, &state, paint))?;
        state.drawn(last);
        if event::poll(WAIT)?
            && let Event::Key(typed) = event::read()?
            && let Some(key) = key(typed)
        {
            let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
            state.press(key, &ids);
        }
    }
    Ok(())
}

fn key(typed: KeyEvent) -> Option<Key> {
    if typed.kind == KeyEventKind::Release {
        return None;
    }
    Some(match typed.code {
        KeyCode::Char('c') if typed.modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown | KeyCode::Char(' ') => Key::PageDown,
        _ => return None,
    })
}
