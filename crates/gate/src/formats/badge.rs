//! A badge: the verdict as a small picture for web pages.

use charts::markup::escape;

use crate::verdict::Verdict;

/// Width of a character in the badge's font; text is stretched to fill its box exactly, so other fonts also fit.
const CHARACTER: usize = 7;
const PADDING: usize = 7;

/// Returns the verdict as SVG. The image contains no scripts and does not refer to other files.
#[must_use]
pub fn badge(verdict: &Verdict) -> String {
    let is_simulated = verdict.marks.iter().any(|mark| mark == "SIMULATED");
    let label = if is_simulated { "plateau (SIMULATED)" } else { "plateau" };
    let word = if verdict.passed { "passed" } else { "failed" };
    let colour = if verdict.passed { "#1a7f37" } else { "#b3261e" };
    let [left, right] = [label, word].map(|text| text.len() * CHARACTER + 2 * PADDING);
    let width = left + right;
    let text = |x: usize, room: usize, text: &str| {
        format!(
            "<text x=\"{}\" y=\"14\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            x + PADDING,
            room - 2 * PADDING,
            escape(text)
        )
    };
    let title = escape(&format!("{label}: {word}, {}", verdict.in_short()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"20\" viewBox=\"0 0 {width} 20\" \
         role=\"img\" aria-label=\"{title}\"><title>{title}</title>\
         <path fill=\"#444\" d=\"M3 0h{}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z\"/>\
         <path fill=\"{colour}\" d=\"M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z\"/>\
         <g fill=\"#fff\" font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        left - 3,
        right - 3,
        text(0, left, label),
        text(left, right, word),
    )
}
