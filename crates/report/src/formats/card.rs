//! The result as cards to share, in two sizes and three themes, and as a badge.

use charts::Size;
use charts::card::{Card, Theme, Tone, badge, card};
use print::raster;

use super::format::{Files, Format, Make, Source};
use crate::document::contents::Document;
use crate::pages::cover::{self, Cover, NOT_PTS};
use crate::pages::values::tool;

/// The card format.
pub(super) const FORMAT: Format = Format {
    name: "card",
    about: "the result as cards of 1200x630 and 1600x900 pixels (PNG, SVG; light, dark, transparent) and as a badge",
    extensions: &[],
    make: Make::Folder(folder),
};

const SIZES: [Size; 2] = [Size { width: 1200.0, height: 630.0 }, Size { width: 1600.0, height: 900.0 }];
const THEMES: [(Theme, &str); 3] =
    [(Theme::Light, "light"), (Theme::Dark, "dark"), (Theme::Transparent, "transparent")];
/// Size of the chart on a card, in units of the chart.
const PICTURE: Size = Size { width: 560.0, height: 380.0 };

fn folder(source: Source<'_>) -> Result<Files, String> {
    let cover = cover::cover(source.document);
    let mut files = card_files(&content(source.document, &cover))?;
    files.push(("badge.svg".into(), of_badge(source.document, &cover).into_bytes()));
    Ok(files)
}

/// Draws a card in all sizes and themes, as SVG and PNG.
///
/// # Errors
/// Returns an error if a picture cannot be rendered.
pub fn card_files(content: &Card) -> Result<Files, String> {
    let kinds: Vec<(Size, Theme, &str)> =
        SIZES.iter().flat_map(|size| THEMES.map(|(theme, name)| (*size, theme, name))).collect();
    let drawn = stdx::parallel::mapped(&kinds, |(size, theme, name)| {
        let svg = card(content, *size, *theme);
        let name = format!("card-{}x{}-{name}", size.width, size.height);
        let png = raster::png(&svg, 1.0)?;
        Ok([(format!("{name}.png"), png), (format!("{name}.svg"), svg.into_bytes())])
    });
    let pairs: Vec<_> = drawn.into_iter().collect::<Result<_, String>>()?;
    Ok(pairs.into_iter().flatten().collect())
}

fn content(document: &Document, cover: &Cover<'_>) -> Card {
    // Capacity, interface and firmware. The tool and the date are in the credit line.
    let about = cover.facts.iter().take(3).filter(|(_, value)| value != "n/a" && value != pts::ABSENT);
    let picture = cover.pictures.first().and_then(|(exhibit, title)| {
        Some((title.clone(), charts::picture(exhibit, title, PICTURE)?, PICTURE))
    });
    Card {
        device: cover.device.clone(),
        about: about.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" · "),
        marks: marks(document),
        headlines: cover.headlines.iter().map(|headline| (headline.tone, headline.text.clone())).collect(),
        figures: cover.figures.clone(),
        picture,
        credit: format!("{} · run {} · {}", tool(document), document.run.id, document.dates_of(None).1),
    }
}

/// Returns the caveats that apply to all figures. A card has no space for the details of a caveat; they are on
/// the cover.
fn marks(document: &Document) -> Vec<String> {
    let any = |is_so: fn(&pts::Outcome) -> bool| document.outcomes.iter().any(is_so);
    let further = [
        ("HOST-LIMITED", any(|outcome| outcome.host_limited.is_some())),
        ("HOST CHECK FAILED", !document.invalidating.is_empty()),
        ("NOT ALL LIMITS CHECKED", any(|o| o.acceptance.as_ref().is_some_and(|a| !a.unchecked.is_empty()))),
    ];
    let titles = document.marks(None).into_iter().map(|mark| mark.title);
    let further = further.into_iter().filter(|(_, applies)| *applies).map(|(title, _)| title);
    titles.chain(further).map(str::to_owned).collect()
}

/// Returns the badge: the worst verdict and, if the figures are not measurements of a drive, their source.
fn of_badge(document: &Document, cover: &Cover<'_>) -> String {
    let worst = cover.headlines.iter().rev().max_by_key(|headline| headline.tone);
    let (tone, text) = worst.map_or((Tone::Open, ""), |headline| (headline.tone, headline.text.as_str()));
    // The left half says that a run is imported, so the right half does not, but it says that a drive was simulated.
    let (left, text) = match &document.run.origin {
        Some(origin) => {
            let is_conformity = worst == cover.headlines.last();
            (format!("imported from {}", origin.tool), if is_conformity { NOT_PTS } else { text })
        }
        None => (document.profile.revision.to_owned(), text),
    };
    match document.watermark() {
        Some(word) if !document.simulated().is_empty() => {
            badge(&left, &format!("{word}; {text}"), tone.max(Tone::Doubtful))
        }
        Some(_) => badge(&left, text, tone.max(Tone::Doubtful)),
        None => badge(&left, text, tone),
    }
}
