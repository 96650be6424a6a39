//! The command line that starts the same run.

use std::ffi::OsString;

use ratatui::text::Line;

use super::label::{COLUMNS, labelled};
use super::wrap::wrapped;
use crate::paint::Paint;
use crate::shown::Shown;

pub(super) fn lines(shown: &Shown, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let command = &shown.snapshot.run.file.command;
    let words: Vec<OsString> = command.iter().skip(1).map(OsString::from).collect();
    let text = paint.text(&launch::as_typed(&words));
    let lines = wrapped(&text, width.saturating_sub(COLUMNS)).into_iter().enumerate();
    let label = |index| if index == 0 { "command" } else { "" };
    lines.map(|(index, line)| labelled(label(index), vec![paint.plain(&line)], paint)).collect()
}
