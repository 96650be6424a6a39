//! Sizes, colours and number formats that all charts share.

/// Size of a picture in user units; pages scale it to the available space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Horizontal extent.
    pub width: f64,
    /// Vertical extent.
    pub height: f64,
}

impl Size {
    /// Size of a standalone picture.
    pub const DEFAULT: Self = Self { width: 1047.0, height: 455.0 };
    /// Plot size of a picture for a narrow screen.
    pub const NARROW: Self = Self { width: 400.0, height: 300.0 };

    /// Returns whether there is no room for a legend beside the plot.
    pub(crate) fn is_narrow(self) -> bool {
        self.width < 500.0
    }
}

/// Series colours. Their order of lightness and their markers make them distinguishable for colour-blind readers and
/// in greyscale print. Red is reserved for the fitted line.
pub(crate) const PALETTE: [&str; 8] =
    ["#1f6fb5", "#d3730a", "#2a9461", "#7b52ab", "#1397ac", "#c2478b", "#2b3f63", "#9c8412"];

/// Colours of series that have an order, such as mixes from only writes to only reads: lightness rises with every step.
/// The hue changes as well, because pages in dark mode invert the lightness, which makes dark colours pale.
pub(crate) const RAMP: [&str; 7] =
    ["#0a206e", "#1a3f45", "#0a653c", "#546c26", "#8f7800", "#b97230", "#f06b22"];

pub(crate) const INK: &str = "#1c2430";
pub(crate) const SOFT_INK: &str = "#55606e";
pub(crate) const GRID: &str = "#e3e7ec";
pub(crate) const FAINT_GRID: &str = "#f0f2f5";
pub(crate) const FRAME: &str = "#8b95a1";
pub(crate) const BAND: &str = "#dceaf7";
/// Background of every other state of a drive or load.
pub(crate) const SHADE: &str = "#f0f3f7";
pub(crate) const FIT: &str = "#d3202f";

/// Dashes of a line that is not a valid result.
pub(crate) const NOT_VALID: &str = "6 6";

/// Returns the colour of series `index`.
pub(crate) fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// Returns the colour of series `index` out of `count` that have an order.
pub(crate) fn ordered(index: usize, count: usize) -> &'static str {
    let steps = count.saturating_sub(1).max(1);
    RAMP[(index.min(steps) * (RAMP.len() - 1) + steps / 2) / steps]
}

/// Formats a value for a tooltip: milliseconds need more digits than IOPS.
pub(crate) fn hinted(value: f64) -> String {
    stdx::units::grouped(value, if value != 0.0 && value.abs() < 10.0 { 3 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the linear red, green and blue.
    fn light(colour: &str) -> [f64; 3] {
        let value = u32::from_str_radix(&colour[1..], 16).unwrap();
        [16, 8, 0].map(|shift| {
            let share = f64::from(value >> shift & 0xff) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance([red, green, blue]: [f64; 3]) -> f64 {
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Lightness and two colour coordinates (CIELAB).
    fn perceived([red, green, blue]: [f64; 3]) -> [f64; 3] {
        let curve = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = curve((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
        let y = curve(luminance([red, green, blue]));
        let z = curve((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Colours as seen with normal vision and with red, green and blue blindness (Machado et al. 2009).
    const VISION: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn seen(vision: [[f64; 3]; 3], colour: &str) -> [f64; 3] {
        let light = light(colour);
        let channel = |row: [f64; 3]| row.iter().zip(light).map(|(a, b)| a * b).sum::<f64>().max(0.0);
        perceived(vision.map(channel))
    }

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn every_line_is_visible_on_white() {
        for colour in PALETTE.iter().chain(&RAMP) {
            let contrast = 1.05 / (luminance(light(colour)) + 0.05);
            assert!(contrast >= 3.0, "{colour}: {contrast}");
        }
    }

    #[test]
    fn an_order_stays_visible_with_colour_blindness_and_without_colour() {
        for pair in RAMP.windows(2) {
            let [dark, pale] = [pair[0], pair[1]].map(|colour| perceived(light(colour))[0]);
            assert!(pale > dark + 2.0, "{pair:?}: {dark} {pale}");
            for vision in VISION {
                let apart = distance(seen(vision, pair[0]), seen(vision, pair[1]));
                assert!(apart >= 7.0, "{pair:?}: {apart}");
            }
        }
    }

    #[test]
    fn neighbours_of_the_palette_differ_with_colour_blindness() {
        for pair in PALETTE.windows(2) {
            for vision in VISION {
                let apart = distance(seen(vision, pair[0]), seen(vision, pair[1]));
                assert!(apart >= 14.0, "{pair:?}: {apart}");
            }
        }
    }

    /// A colour after the filter of pages in dark mode, `invert(.92) hue-rotate(180deg)`, in linear light.
    fn turned(colour: &str) -> [f64; 3] {
        let value = u32::from_str_radix(&colour[1..], 16).unwrap();
        let [red, green, blue] =
            [16, 8, 0].map(|shift| 0.92 - 0.84 * f64::from(value >> shift & 0xff) / 255.0);
        let grey = 2.0 * (0.213 * red + 0.715 * green + 0.072 * blue);
        let hex = [red, green, blue].map(|part| ((grey - part).clamp(0.0, 1.0) * 255.0).round() as u32);
        light(&format!("#{:02x}{:02x}{:02x}", hex[0], hex[1], hex[2]))
    }

    #[test]
    fn an_order_can_be_read_in_dark_mode() {
        for (index, one) in RAMP.iter().enumerate() {
            let contrast = (luminance(turned(one)) + 0.05) / (luminance(turned("#ffffff")) + 0.05);
            assert!(contrast >= 4.5, "{one}: {contrast}");
            for other in &RAMP[index + 1..] {
                let apart = distance(perceived(turned(one)), perceived(turned(other)));
                assert!(apart >= 20.0, "{one} {other}: {apart}");
            }
        }
    }

    #[test]
    fn an_order_uses_the_whole_ramp() {
        let used = |count: usize| (0..count).map(|index| ordered(index, count)).collect::<Vec<_>>();
        assert_eq!(used(7), RAMP);
        assert_eq!((used(3)[0], used(3)[2], used(1)[0]), (RAMP[0], RAMP[6], RAMP[0]));
        assert_eq!(used(50).len(), 50);
    }
}
