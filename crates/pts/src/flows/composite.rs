//! The composite block size workload: ECW in PTS-E 1.1 and CBW in PTS 2.0, both in clause 13. Two tables give
//! the distributions of I/O sizes and offsets, in percent of I/Os, not of bytes.

use record::{Access, IoKind, Workload, Zone};
use stdx::units::{block_size, kib};

use crate::exhibits::exhibit::{Cell, Exhibit, Page, Row, Table, Units};
use crate::{Context, Deviation, Stop};

/// Bytes per I/O, and percentage of I/Os.
const SIZES: [(u32, u8); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16384, 7),
    (32768, 3),
    (65536, 3),
];

/// The most frequent size, to which JESD219 aligns all I/Os.
pub const PAGE_BYTES: u32 = 4096;

/// LBA groups from the start of the range on: name, percentage of I/Os, and percentage of the range.
const GROUPS: [(&str, u8, u8); 3] = [("A", 50, 5), ("B", 30, 15), ("C", 20, 80)];

/// A run's block sizes: those in the table, except that the operator may replace sizes that the device's sectors
/// rule out with the smallest possible size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composite {
    sizes: Vec<(u32, u8)>,
    /// Percentage of I/Os that are larger than in the table.
    enlarged_percent: u8,
}

impl Composite {
    /// Returns the composite for this device and these settings.
    pub fn of(context: &Context<'_>) -> Self {
        let sector = context.target.logical_block_bytes;
        let possible = |&(bytes, _): &(u32, u8)| bytes.is_multiple_of(sector);
        let enlarged_percent = SIZES.iter().filter(|size| !possible(size)).map(|size| size.1).sum();
        if enlarged_percent == 0 || !context.settings.composite_fits_sectors {
            return Self { sizes: SIZES.into(), enlarged_percent: 0 };
        }
        let mut sizes: Vec<_> = SIZES.into_iter().filter(possible).collect();
        if let Some(smallest) = sizes.first_mut() {
            smallest.1 += enlarged_percent;
        }
        Self { sizes, enlarged_percent }
    }

    /// Returns the sizes in the table, with sizes below 4 KiB raised to 4 KiB.
    pub fn in_pages() -> Self {
        let is_smaller = |size: &&(u32, u8)| size.0 < PAGE_BYTES;
        let enlarged_percent = SIZES.iter().filter(is_smaller).map(|size| size.1).sum();
        let mut sizes: Vec<_> = SIZES.into_iter().filter(|size| size.0 >= PAGE_BYTES).collect();
        sizes[0].1 += enlarged_percent;
        Self { sizes, enlarged_percent }
    }

    /// Rejects a device that does not support all sizes, before anything is written.
    pub fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        let sector = context.target.logical_block_bytes;
        let impossible = self.sizes.iter().filter(|size| !size.0.is_multiple_of(sector));
        let impossible: Vec<_> = impossible.map(|size| kib(size.0.into())).collect();
        if impossible.is_empty() {
            return Ok(());
        }
        Err(Stop::Failed(format!(
            "the composite contains {} KiB I/Os, but the device's sectors are {sector} B; use \
             --composite-fits-sectors to replace these with I/Os of {}, which marks the run as modified",
            impossible.join(", "),
            block_size(sector.into())
        )))
    }

    /// Returns the deviation from the table; None if there is none.
    pub fn modification(&self, context: &Context<'_>) -> Option<Deviation> {
        let smallest_bytes = self.sizes.first()?.0;
        (self.enlarged_percent > 0).then_some(Deviation::Composite {
            smallest_bytes,
            enlarged_percent: self.enlarged_percent,
            sector_bytes: context.target.logical_block_bytes,
        })
    }

    /// Applies the composite's sizes and groups to `workload`. The workload's percentage of reads applies to all sizes.
    pub fn apply(&self, workload: Workload) -> Workload {
        let read_percent = workload.read_percent;
        let kind = |&(block_bytes, share_percent): &(u32, u8)| IoKind {
            share_percent,
            access: Access::Random,
            read_percent,
            block_bytes,
        };
        let zone = |(_, access_percent, range_percent)| Zone { access_percent, range_percent };
        let zones = GROUPS.into_iter().map(zone).collect();
        Workload { zones, ..workload }.of_kinds(self.sizes.iter().map(kind).collect())
    }

    /// Returns the page with both tables (PTS-E 1.1).
    pub fn page(&self) -> Page {
        let size = |&(bytes, _): &(u32, u8)| kib(bytes.into());
        let sizes = Table {
            heading: "Block Sizes".into(),
            row_heading: "Block Size (KiB)".into(),
            column_heading: String::new(),
            columns: self.sizes.iter().map(size).collect(),
            rows: vec![row("Share of I/Os (%)", self.sizes.iter().map(|size| size.1))],
            decimals: 0,
            units: Units::All("%".into()),
        };
        let groups = Table {
            heading: "Access Probabilities".into(),
            row_heading: "LBA Group".into(),
            column_heading: String::new(),
            columns: group_names(),
            rows: vec![
                row("Share of I/Os (%)", GROUPS.iter().map(|group| group.1)),
                row("Share of the LBA space (%)", GROUPS.iter().map(|group| group.2)),
            ],
            decimals: 0,
            units: Units::All("%".into()),
        };
        Page {
            key: Some("access-pattern".into()),
            title: "Access Pattern Block Sizes & Access Probabilities - 40:60 RW".into(),
            names_test: false,
            exhibits: vec![Exhibit::Table(sizes), Exhibit::Table(groups)],
            remarks: vec!["Shares count I/Os, not bytes; no I/O crosses the end of its LBA group.".into()],
        }
    }
}

fn row(name: &str, shares: impl Iterator<Item = u8>) -> Row {
    Row { name: name.into(), cells: shares.map(|share| Cell::Value(f64::from(share))).collect() }
}

/// Formats the groups as `A (0 to 5 %)`, `B (5 to 20 %)`.
fn group_names() -> Vec<String> {
    let mut from = 0;
    let name = |(name, _, range): (&str, u8, u8)| {
        let to = from + range;
        let text = format!("{name} ({from} to {to} %)");
        from = to;
        text
    };
    GROUPS.into_iter().map(name).collect()
}
