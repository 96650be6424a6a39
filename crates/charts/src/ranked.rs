//! Ranked horizontal bars with confidence intervals: one quantity from several runs.

use chartdata::exhibit::Scale;

use crate::canvas::{Anchor, Canvas, Lettering, Stroke, text_width, widest_text};
use crate::markup::shortened;
use crate::ruler::Ruler;
use crate::style::{FRAME, GRID, INK, PALETTE, SOFT_INK, Size};

const NAME: Lettering = Lettering::new(12.5, Anchor::Start);
const VALUE: Lettering = Lettering::new(12.5, Anchor::Start);
const TICK: Lettering = Lettering::new(11.0, Anchor::Middle).colour(SOFT_INK);
const TITLE: Lettering = Lettering::new(14.0, Anchor::Start).bold();
const SMALLEST_TITLE: f64 = 10.0;
const NAME_CHARACTERS: usize = 22;
/// Width of bold text as a multiple of regular text.
const BOLD: f64 = 1.14;
const ROW: f64 = 21.0;
const HEAD: f64 = 30.0;
const FOOT: f64 = 26.0;
/// Fill of the baseline, and of the other bars.
const FILLS: [&str; 2] = [PALETTE[6], PALETTE[0]];
/// Fill of a value that is not a valid result.
const INVALID: &str = "#ffffff";

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedBar {
    /// Name of the run.
    pub name: String,
    /// Index of the run; the group of its shapes has the class `run rINDEX`.
    pub run: usize,
    /// Length; None if the run lacks the quantity.
    pub value: Option<f64>,
    /// Ends of the confidence interval, if it is known.
    pub interval: Option<(f64, f64)>,
    /// The value as printed.
    pub text: String,
    /// Whether the run is the baseline, with which all other runs are compared.
    pub is_baseline: bool,
    /// False if the value is not a valid result; its bar is drawn as an outline.
    pub is_valid: bool,
}

/// One quantity from several runs, best run first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Title with unit, drawn above the bars.
    pub title: String,
    /// Bars from top to bottom.
    pub bars: Vec<RankedBar>,
    /// Line below the bars about runs without a bar; empty if there are none.
    pub without: String,
}

impl Ranked {
    /// Returns the height of the picture.
    #[must_use]
    pub fn height(&self) -> f64 {
        let rows = self.bars.len() + usize::from(!self.without.is_empty());
        HEAD + FOOT + rows as f64 * ROW
    }
}

/// Renders the bars as SVG of this width.
#[must_use]
pub fn ranked(ranked: &Ranked, width: f64) -> String {
    ranked_at_top(ranked, Size { width, height: ranked.height() })
}

/// Renders the bars as SVG of this size, which may be higher than the bars are.
#[must_use]
pub fn ranked_at_top(ranked: &Ranked, size: Size) -> String {
    let width = size.width;
    let description = "Bars are means; whiskers are 95 % confidence intervals. Outlines are values of runs \
                       without a valid result.";
    let mut canvas = Canvas::new(size, &ranked.title, description);
    // Bold text is wider. A long title is set in smaller letters before it is shortened.
    let letters = width / (0.64 * ranked.title.chars().count().max(1) as f64);
    let title = Lettering { size: letters.clamp(SMALLEST_TITLE, TITLE.size), ..TITLE };
    let room = (width / (title.size * 0.64) + 0.01) as usize;
    canvas.text((2.0, 17.0), &shortened(&ranked.title, room), title);
    // Names with many capitals use up part of the gap between names and bars, or widen it.
    let name_width = |bar: &RankedBar| {
        let name = shortened(&bar.name, NAME_CHARACTERS);
        let width = (text_width(&name, NAME.size) + 10.0).max(widest_text(&name, NAME.size) + 6.0);
        if bar.is_baseline { width * BOLD } else { width }
    };
    let names = ranked.bars.iter().map(name_width).fold(0.0, f64::max);
    let texts = ranked.bars.iter().map(|bar| text_width(&bar.text, VALUE.size)).fold(0.0, f64::max);
    let (left, right) = (names, width - texts - 10.0);
    let ends = ranked.bars.iter().flat_map(|bar| bar.value.into_iter().chain(bar.interval.map(|i| i.1)));
    let ruler = Ruler::of(Scale::LinearFromZero, ends, ((right - left) / 70.0) as usize);
    let bottom = HEAD + ranked.bars.len() as f64 * ROW;
    let place = |value: f64| ruler.place(value).map(|share| left + share * (right - left));
    for tick in &ruler.ticks {
        if let Some(x) = place(tick.value) {
            canvas.line((x, HEAD), (x, bottom), Stroke::solid(GRID, 1.0));
            canvas.text((x, bottom + 16.0), &tick.label, TICK);
        }
    }
    for (row, bar) in ranked.bars.iter().enumerate() {
        let top = HEAD + row as f64 * ROW;
        canvas.grouped(&format!("run r{}", bar.run), |canvas| {
            draw_bar(canvas, bar, top, left, &place);
            let x = right.max(left) + 6.0;
            canvas.text((x, top + ROW * 0.68), &bar.text, VALUE);
        });
    }
    canvas.line((left, HEAD), (left, bottom), Stroke::solid(FRAME, 1.2));
    if !ranked.without.is_empty() {
        let room = (width / (NAME.size * 0.6)) as usize;
        canvas.text((2.0, bottom + FOOT + 11.0), &shortened(&ranked.without, room), NAME.colour(SOFT_INK));
    }
    canvas.finish()
}

fn draw_bar(canvas: &mut Canvas, bar: &RankedBar, top: f64, left: f64, place: &impl Fn(f64) -> Option<f64>) {
    let name = if bar.is_baseline { NAME.bold() } else { NAME };
    canvas.text((2.0, top + ROW * 0.68), &shortened(&bar.name, NAME_CHARACTERS), name);
    let Some(end) = bar.value.and_then(place) else { return };
    let fill = FILLS[usize::from(!bar.is_baseline)];
    let (roof, height) = (top + 4.0, ROW - 8.0);
    canvas.hinted(&format!("{}: {}", bar.name, bar.text), |canvas| {
        let corners = [(left, roof), (end, roof), (end, roof + height), (left, roof + height)];
        let (fill, dash) = if bar.is_valid { (fill, "") } else { (INVALID, "4 3") };
        canvas.polygon(
            &corners,
            fill,
            Stroke { colour: FILLS[usize::from(!bar.is_baseline)], width: 1.2, dash },
        );
        let Some((low, high)) = bar.interval else { return };
        let (Some(low), Some(high)) = (place(low.max(0.0)), place(high)) else { return };
        let middle = top + ROW / 2.0;
        for (from, to) in [
            ((low, middle), (high, middle)),
            ((low, middle - 3.5), (low, middle + 3.5)),
            ((high, middle - 3.5), (high, middle + 3.5)),
        ] {
            canvas.line(from, to, Stroke::solid("#ffffff", 3.2));
            canvas.line(from, to, Stroke::solid(INK, 1.4));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(run: usize, value: f64) -> RankedBar {
        RankedBar {
            name: format!("{run} drive"),
            run,
            value: Some(value),
            interval: Some((value * 0.9, value * 1.1)),
            text: format!("{value}"),
            is_baseline: run == 0,
            is_valid: run != 2,
        }
    }

    fn of(title: &str, bars: Vec<RankedBar>) -> Ranked {
        Ranked { title: title.into(), bars, without: String::new() }
    }

    #[test]
    fn bars_keep_their_order_and_stay_inside() {
        let all = of("IOPS", vec![bar(1, 300.0), bar(0, 200.0), bar(2, 100.0)]);
        let svg = ranked(&all, 480.0);
        let places: Vec<usize> =
            ["run r1", "run r0", "run r2"].iter().map(|class| svg.find(class).expect("a bar")).collect();
        assert!(places.is_sorted(), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 1, "only the invalid value is an outline");
        let ends = svg.split("x2=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
        assert!(ends.clone().count() > 9 && ends.fold(0.0, f64::max) <= 480.0);
    }

    /// In Chromium with DejaVu Sans, the shortened name is 173 px wide.
    #[test]
    fn names_of_capitals_end_before_the_bars() {
        let capitals = RankedBar { name: "H STEC MACH16 M16ISD2-200UCP".into(), ..bar(1, 200.0) };
        let svg = ranked(&of("IOPS", vec![capitals]), 480.0);
        let corner = svg.split("<polygon points=\"").nth(1).and_then(|rest| rest.split(',').next());
        let left: f64 = corner.and_then(|x| x.parse().ok()).expect("the left end of the bar");
        assert!((2.0 + 173.0..200.0).contains(&left), "{left}");
    }

    #[test]
    fn a_long_title_is_set_in_smaller_letters() {
        let title = "WSAT RND 4KiB W, mean of the last 30 minutes, not judged (IOPS)";
        let svg = ranked(&of(title, vec![bar(0, 2.0)]), 480.0);
        assert!(svg.contains(&format!(">{title}</text>")), "{svg}");
        let svg = ranked(&of(&title.repeat(3), vec![bar(0, 2.0)]), 480.0);
        assert!(svg.contains("…</text>"), "{svg}");
    }

    #[test]
    fn a_run_without_the_quantity_has_a_name_but_no_bar() {
        let none = RankedBar { value: None, interval: None, text: "n/a".into(), ..bar(1, 0.0) };
        let svg = ranked(&of("IOPS", vec![bar(0, 2.0), none]), 480.0);
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert!(svg.contains("1 drive") && svg.contains("n/a"));
    }

    #[test]
    fn runs_without_a_bar_are_named_in_one_line_below() {
        let all = of("IOPS", vec![bar(0, 2.0)]);
        let more = Ranked { without: "n/a: B-T".into(), ..all.clone() };
        assert!((more.height() - all.height() - ROW).abs() < 1e-9);
        let svg = ranked(&more, 480.0);
        assert!(svg.contains(">n/a: B-T</text>"), "{svg}");
    }
}
