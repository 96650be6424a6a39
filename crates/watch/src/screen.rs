//! The arrangement of a screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use stdx::units::count_of;

use crate::keys::State;
use crate::lines::{self, Sections};
use crate::paint::Paint;
use crate::shown::{Item, Shown};

/// Minimum width at which the window and the drive have their own column.
const TWO_COLUMNS: u16 = 140;
/// A run list may take up the screen's height divided by this number.
const LIST_PART: u16 = 3;
/// Maximum number of columns to which shorter ids in a list are padded.
const LONGEST_ID: usize = 28;

/// Draws the runs. Returns the number of lines of the selected run that do not fit on the screen, for
/// [`State::drawn`].
pub fn draw(frame: &mut Frame<'_>, items: &[Item], state: &State, paint: Paint) -> usize {
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let place = state.place(&ids);
    let area = frame.area();
    let listed = if items.len() > 1 {
        let most = (area.height / LIST_PART).max(1);
        u16::try_from(items.len()).unwrap_or(u16::MAX).min(most) + 1
    } else {
        0
    };
    let parts = [Constraint::Length(listed), Constraint::Min(0), Constraint::Length(1)];
    let [list, body, foot] = Layout::vertical(parts).areas(area);
    draw_list(frame, list, items, place, paint);
    let mut last = 0;
    match items.get(place) {
        Some(Item { shown: Ok(shown), .. }) => last = draw_run(frame, body, shown, state.scroll, paint),
        Some(Item { id, shown: Err(why) }) => {
            let text = paint.bad(&format!("{id} cannot be read: {why}"));
            frame.render_widget(Paragraph::new(Line::from(text)), body);
        }
        None => {
            let text = "No run is in progress. A run appears here when it starts.";
            frame.render_widget(Paragraph::new(Line::from(paint.plain(text))), body);
        }
    }
    let keys = if items.len() > 1 { "up/down: run  " } else { "" };
    let below = match last.saturating_sub(state.scroll) {
        0 => "runs continue without this screen".to_owned(),
        lines => format!("{} below", count_of(lines, "line")),
    };
    let keys = paint.soft(&format!("{keys}PgUp/PgDn: scroll  q: quit  ({below})"));
    frame.render_widget(Paragraph::new(paint.cut(Line::from(keys), foot.width.into())), foot);
    last
}

/// Draws the part of the list that contains the selected run.
fn draw_list(frame: &mut Frame<'_>, area: Rect, items: &[Item], place: usize, paint: Paint) {
    let rows = usize::from(area.height.saturating_sub(1));
    if rows == 0 {
        return;
    }
    let width = usize::from(area.width);
    let ids = items.iter().map(|item| Line::raw(item.id.as_str()).width()).max().unwrap_or(0).min(LONGEST_ID);
    let first = (place + 1).saturating_sub(rows);
    let shown = items.iter().enumerate().skip(first).take(rows);
    let mut text: Vec<Line<'static>> = shown
        .map(|(index, item)| paint.cut(lines::row(item, paint, index == place, ids, width), width))
        .collect();
    let rule = format!("{} of {} runs ", place + 1, items.len());
    let rest = width.saturating_sub(rule.len());
    text.push(Line::from(paint.soft(&(rule + &"\u{2500}".repeat(rest)))));
    frame.render_widget(Paragraph::new(text), area);
}

/// Joins sections, with a blank line between them.
fn spaced(sections: [Vec<Line<'static>>; 3]) -> Vec<Line<'static>> {
    let sections: Vec<_> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    sections.join(&Line::default())
}

/// Draws the lines of a run from `scroll` on. Returns the number of lines that do not fit.
fn draw_run(frame: &mut Frame<'_>, area: Rect, shown: &Shown, scroll: usize, paint: Paint) -> usize {
    let width = usize::from(area.width);
    let in_two = area.width >= TWO_COLUMNS;
    let (left, right) = if in_two { (width / 2 - 1, width - width / 2) } else { (width, width) };
    let Sections { head, now, window, drive, hour, command } = Sections::of(shown, paint, left, right);
    let (first, second) = if in_two {
        (spaced([head, now, hour]), spaced([window, drive, command]))
    } else {
        let full = [head, now, window, drive, hour, command];
        let rows: usize = full.iter().map(Vec::len).sum();
        // Blank lines between the sections, if there is room.
        let spare = usize::from(area.height).saturating_sub(rows);
        let mut all = Vec::new();
        for (index, section) in full.into_iter().enumerate() {
            if index > 0 && spare >= 5 && !section.is_empty() {
                all.push(Line::default());
            }
            all.extend(section);
        }
        (all, Vec::new())
    };
    let last = first.len().max(second.len()).saturating_sub(usize::from(area.height));
    let scroll = u16::try_from(scroll.min(last)).unwrap_or(u16::MAX);
    let columns = [
        Constraint::Length(left as u16),
        Constraint::Length((width - left - right.min(width - left)) as u16),
        Constraint::Min(0),
    ];
    let [one, _, two] = Layout::horizontal(columns).areas(area);
    frame.render_widget(Paragraph::new(first).scroll((scroll, 0)), one);
    frame.render_widget(Paragraph::new(second).scroll((scroll, 0)), two);
    last
}
