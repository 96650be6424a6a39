//! Compares pages of PDF files with small golden images. `PLATEAU_BLESS=1` rewrites the images that differ; inspect them
//! afterwards.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::Path;
use std::process::Command;

use resvg::tiny_skia::Pixmap;

/// Dots per inch: enough to detect overlaps and to read most of the text.
const RESOLUTION: &str = "40";
/// Side, in pixels, of the squares whose means are compared. Means are insensitive to differences in text
/// smoothing between versions of Poppler.
const SQUARE: u32 = 10;
/// Maximum difference between two means, out of 255. A word that moves by a line, or a missing chart, exceeds
/// it.
const TOLERANCE: f64 = 20.0;

/// Returns whether Poppler is installed; reports a skipped test if it is not.
pub fn has_poppler() -> bool {
    let is_missing = |program: &&str| Command::new(program).arg("-v").output().is_err();
    if ["pdftoppm", "pdftotext"].iter().any(is_missing) {
        skips::without("pdftoppm");
        return false;
    }
    true
}

/// Compares `page` of `pdf` with the image `golden`, or writes the image; returns how they differ.
pub fn difference_of_page(golden: &Path, pdf: &Path, page: usize) -> Option<String> {
    let found = picture_of(pdf, page);
    let text = difference(&std::fs::read(golden).unwrap_or_default(), &found)?;
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(golden, &found).unwrap();
        return None;
    }
    Some(format!("{}: {text}", golden.display()))
}

/// Returns the first page that contains `words`, according to `pdftotext`.
pub fn page_with(words: &str, pdf: &Path) -> usize {
    let text = Command::new("pdftotext").arg(pdf).arg("-").output().unwrap().stdout;
    String::from_utf8_lossy(&text).split('\x0c').position(|page| page.contains(words)).unwrap() + 1
}

fn picture_of(pdf: &Path, page: usize) -> Vec<u8> {
    let page = page.to_string();
    let arguments = ["-r", RESOLUTION, "-gray", "-png", "-singlefile", "-f", &page, "-l", &page];
    let output = Command::new("pdftoppm").args(arguments).arg(pdf).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Divides an image into squares. Returns the mean value of each, and the number of squares per row.
fn squares(png: &[u8]) -> Option<(u32, Vec<f64>)> {
    let pixels = Pixmap::decode_png(png).ok()?;
    let (across, down) = (pixels.width().div_ceil(SQUARE), pixels.height().div_ceil(SQUARE));
    let mut sums = vec![(0.0, 0.0); (across * down) as usize];
    for (index, pixel) in (0u32..).zip(pixels.pixels()) {
        let (x, y) = (index % pixels.width() / SQUARE, index / pixels.width() / SQUARE);
        let (sum, count) = &mut sums[(y * across + x) as usize];
        (*sum, *count) = (*sum + f64::from(pixel.red()), *count + 1.0);
    }
    Some((across, sums.into_iter().map(|(sum, count)| sum / count).collect()))
}

/// Describes the difference between two images; `None` if they match.
fn difference(golden: &[u8], found: &[u8]) -> Option<String> {
    let (Some((across, golden)), Some((_, found))) = (squares(golden), squares(found)) else {
        return Some("there is no golden picture".into());
    };
    if golden.len() != found.len() {
        return Some("its size differs".into());
    }
    let differences = golden.iter().zip(&found).map(|(a, b)| (a - b).abs());
    let (index, most) = (0u32..).zip(differences).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (x, y) = (index % across * SQUARE, index / across * SQUARE);
    (most > TOLERANCE).then(|| format!("at ({x}, {y}), its mean differs by {most:.0} of 255"))
}

#[test]
fn a_moved_line_is_detected() {
    let page = |y: f32| {
        let mut pixels = Pixmap::new(120, 60).unwrap();
        pixels.fill(resvg::tiny_skia::Color::WHITE);
        let word = resvg::tiny_skia::Rect::from_xywh(20.0, y, 40.0, 6.0).unwrap();
        pixels.fill_rect(word, &Default::default(), Default::default(), None);
        pixels.encode_png().unwrap()
    };
    assert_eq!(difference(&page(20.0), &page(20.0)), None);
    assert!(difference(&page(20.0), &page(32.0)).unwrap().starts_with("at ("));
    assert!(difference(b"", &page(20.0)).unwrap().contains("no golden"));
}
