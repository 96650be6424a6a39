//! Horizontal bars with their values, for values that must not be connected by a line.

use chartdata::exhibit::{Bars, Scale};

use crate::canvas::{Anchor, Canvas, Lettering, Stroke, text_width};
use crate::markup::shortened;
use crate::reading::sentence;
use crate::ruler::Ruler;
use crate::style::{FRAME, GRID, PALETTE, SOFT_INK, Size, hinted};

const NAME: Lettering = Lettering::new(13.0, Anchor::End);
const VALUE: Lettering = Lettering::new(13.0, Anchor::Start).bold();
const TICK: Lettering = Lettering::new(12.0, Anchor::Middle).colour(SOFT_INK);
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
const NAME_CHARACTERS: usize = 24;
/// Height of a bar in a tall picture.
const TALLEST: f64 = 56.0;
/// Space for a value after the longest bar.
const VALUE_ROOM: f64 = 110.0;

/// Renders `bars` as SVG with `title` as the accessible name.
#[must_use]
pub fn bars(bars: &Bars, title: &str, size: Size) -> String {
    bars_beside(bars, &[], title, size)
}

/// Like [`bars()`], but the axis includes the values of `others`, so that pictures side by side are comparable.
#[must_use]
pub fn bars_beside(bars: &Bars, others: &[&Bars], title: &str, size: Size) -> String {
    let values = |bars: &Bars| bars.bars.iter().filter_map(|bar| bar.1).collect::<Vec<f64>>();
    let all = values(bars).into_iter().chain(others.iter().flat_map(|other| values(other)));
    let names = bars.bars.iter().map(|(name, _)| text_width(&shortened(name, NAME_CHARACTERS), NAME.size));
    let left = names.fold(20.0, f64::max) + 24.0;
    let (right, top, bottom) = ((size.width - VALUE_ROOM).max(left + 40.0), 14.0, size.height - 52.0);
    // With fewer than four ticks, the axis could be twice as long as the longest bar.
    let ticks = ((right - left) / 90.0).max(((right - left) / 50.0).min(4.0));
    let ruler = Ruler::of(Scale::LinearFromZero, all, ticks as usize);
    let at = |value: f64| ruler.place(value).map(|place| left + place * (right - left));
    let description = format!("{} by {}. {}", bars.value_label, bars.name_label, sentence(bars.reading));
    let mut canvas = Canvas::new(size, title, &description);
    for tick in &ruler.ticks {
        let Some(x) = at(tick.value) else { continue };
        canvas.line((x, top), (x, bottom), Stroke::solid(GRID, 1.0));
        canvas.text((x, bottom + 19.0), &tick.label, TICK);
    }
    // Values that are all whole are counts; pictures side by side have the same decimals.
    let is_count = others.iter().chain(&[bars]).all(|bars| values(bars).iter().all(|v| v.fract() == 0.0));
    let printed = |value: f64| if is_count { stdx::units::grouped(value, 0) } else { hinted(value) };
    let row = (bottom - top) / bars.bars.len().max(1) as f64;
    let height = (row * 0.62).min(TALLEST);
    for (index, (name, value)) in bars.bars.iter().enumerate() {
        let middle = top + row * (index as f64 + 0.5);
        canvas.text((left - 10.0, middle + 4.5), &shortened(name, NAME_CHARACTERS), NAME);
        let Some((value, end)) = value.and_then(|value| Some((value, at(value)?))) else {
            canvas.text((left + 10.0, middle + 4.5), "not measured", VALUE.colour(SOFT_INK));
            continue;
        };
        let text = format!("{} {}", printed(value), bars.value_label);
        canvas.hinted(&format!("{name}: {text}"), |canvas| {
            canvas.rect((left, middle - height / 2.0), end - left, height, PALETTE[0]);
        });
        canvas.text((end + 8.0, middle + 4.5), &printed(value), VALUE);
    }
    canvas.line((left, top), (left, bottom), Stroke::solid(FRAME, 1.2));
    canvas.line((left, bottom), (right, bottom), Stroke::solid(FRAME, 1.2));
    canvas.text(((left + right) / 2.0, bottom + 43.0), &bars.value_label, TITLE);
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use chartdata::ReadingHint;

    use super::*;

    #[test]
    fn bars_side_by_side_have_the_same_decimals() {
        let of = |value| Bars {
            reading: ReadingHint::Mixes,
            name_label: "R/W Mix".into(),
            value_label: "MB/s".into(),
            bars: vec![("100/0".into(), Some(value))],
        };
        let (whole, other) = (of(205.0), of(112.5));
        let (alone, beside) =
            (bars(&whole, "", Size::DEFAULT), bars_beside(&whole, &[&whole, &other], "", Size::DEFAULT));
        assert!(alone.contains(">205<") && beside.contains(">205.0<"), "{alone} {beside}");
    }
}
