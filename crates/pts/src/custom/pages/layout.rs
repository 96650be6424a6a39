//! Assigns the dimensions of a loop to rows, columns and series.

use record::Access;
use stdx::units::{block_size, kib};

use super::super::figures::{Figure, Load, Mean, outstanding};
use crate::exhibits::exhibit::{Axis, Cell, Columns3d, Lines, Row, Scale, Series, Table};
use crate::exhibits::reading::ReadingHint;
use crate::method::profile::Demand;

/// A parameter that a loop varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Load,
    Block,
    Threads,
    Depth,
    /// Pairs of TC and QD.
    Demand,
}

/// A value of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Load(Load),
    Block(u32),
    Count(u16),
    Demand(Demand),
}

/// Assignment of dimensions to rows, columns and separate tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    rows: Dimension,
    columns: Dimension,
    /// The remaining dimensions, with one table for each combination of their values.
    sections: Vec<Dimension>,
}

impl Dimension {
    fn of(self, mean: &Mean) -> Place {
        match self {
            Self::Load => Place::Load(mean.load),
            Self::Block => Place::Block(mean.block_bytes),
            Self::Threads => Place::Count(mean.demand.threads),
            Self::Depth => Place::Count(mean.demand.queue_depth),
            Self::Demand => Place::Demand(mean.demand),
        }
    }

    /// The dimension's values in loop order.
    fn places(self, means: &[Mean]) -> Vec<Place> {
        let mut all = Vec::new();
        for mean in means {
            let place = self.of(mean);
            if !all.contains(&place) {
                all.push(place);
            }
        }
        all
    }

    /// The values in table order: block sizes and demands ascending, workloads in loop order.
    fn sorted(self, means: &[Mean]) -> Vec<Place> {
        let mut all = self.places(means);
        all.sort_by_key(|place| match place {
            Place::Load(_) => 0,
            Place::Block(bytes) => u64::from(*bytes),
            Place::Count(count) => u64::from(*count),
            Place::Demand(demand) => u64::from(outstanding(*demand)) << 16 | u64::from(demand.threads),
        });
        all
    }

    fn varies(self, means: &[Mean]) -> bool {
        self.places(means).len() > 1
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Load => "Load",
            Self::Block => "Block Size (KiB)",
            Self::Threads => "TC",
            Self::Depth => "QD",
            Self::Demand => "TC x QD",
        }
    }

    fn name(self, place: Place) -> String {
        match place {
            Place::Load(load) => load.name(None),
            Place::Block(bytes) => kib(bytes.into()),
            Place::Count(count) => count.to_string(),
            Place::Demand(demand) => format!("{} x {}", demand.threads, demand.queue_depth),
        }
    }

    /// Name in legends and headings that contain other dimensions.
    fn full_name(self, place: Place) -> String {
        match (self, place) {
            (_, Place::Block(bytes)) => block_size(bytes.into()),
            (Self::Threads, Place::Count(count)) => format!("TC {count}"),
            (_, Place::Count(count)) => format!("QD {count}"),
            (_, place) => self.name(place),
        }
    }
}

impl Layout {
    pub fn of(means: &[Mean]) -> Self {
        let demand = varied_demand(means);
        let (block, load) = (Dimension::Block.varies(means), Dimension::Load.varies(means));
        let (rows, columns) = match demand.as_slice() {
            [threads, depth] => (*threads, *depth),
            [one] if block => (Dimension::Block, *one),
            [one] => (Dimension::Load, *one),
            _ if block && !load => (Dimension::Load, Dimension::Block),
            _ => (Dimension::Block, Dimension::Load),
        };
        let others = [Dimension::Load, Dimension::Block].into_iter();
        let sections = others.filter(|one| ![rows, columns].contains(one) && one.varies(means)).collect();
        Self { rows, columns, sections }
    }

    /// The combinations of the remaining dimensions in loop order, each with its cells.
    fn sections(&self, means: &[Mean]) -> Vec<(String, Vec<Mean>)> {
        let mut all: Vec<(Vec<Place>, Vec<Mean>)> = Vec::new();
        for mean in means {
            let key: Vec<Place> = self.sections.iter().map(|one| one.of(mean)).collect();
            match all.iter_mut().find(|(known, _)| *known == key) {
                Some((_, cells)) => cells.push(*mean),
                None => all.push((key, vec![*mean])),
            }
        }
        let name = |key: &[Place]| {
            let names = self.sections.iter().zip(key).map(|(one, place)| one.full_name(*place));
            names.collect::<Vec<_>>().join(" ")
        };
        all.into_iter().map(|(key, cells)| (name(&key), cells)).collect()
    }

    /// Tables of a figure.
    pub fn tables(&self, figure: Figure, means: &[Mean]) -> Vec<Table> {
        let (rows, columns) = (self.rows.sorted(means), self.columns.sorted(means));
        let cell = |cells: &[Mean], row: Place, column: Place| {
            let found =
                cells.iter().find(|mean| self.rows.of(mean) == row && self.columns.of(mean) == column);
            let limited = found.is_some_and(|mean| mean.host_limited);
            let absent = if found.is_some() { "n/a" } else { "-" };
            Cell::of(found.and_then(|mean| figure.of(mean)), limited, || absent.into())
        };
        let table = |(name, cells): &(String, Vec<Mean>)| Table {
            heading: if name.is_empty() {
                figure.heading().into()
            } else {
                format!("{}, {name}", figure.heading())
            },
            row_heading: self.rows.heading().into(),
            column_heading: self.columns.heading().into(),
            columns: columns.iter().map(|column| self.columns.name(*column)).collect(),
            rows: rows
                .iter()
                .map(|row| Row {
                    name: self.rows.name(*row),
                    cells: columns.iter().map(|column| cell(cells, *row, *column)).collect(),
                })
                .collect(),
            decimals: figure.unit().decimals(),
            units: figure.unit().into(),
        };
        let sections = self.sections(means);
        if sections.is_empty() {
            vec![table(&(String::new(), Vec::new()))]
        } else {
            sections.iter().map(table).collect()
        }
    }

    /// Returns a figure's chart; None if no varying dimension has an order.
    pub fn lines(&self, figure: Figure, means: &[Mean]) -> Option<Lines> {
        let (x, label, scale) = self.horizontal(means)?;
        let by = if self.columns == x { self.rows } else { self.columns };
        let mut series = Vec::new();
        for (section, cells) in self.sections(means) {
            for (place, order) in by.sorted(means).into_iter().flat_map(|place| orders(x, place)) {
                let in_order = |mean: &&Mean| order.is_none_or(|order| mean.load.access == order);
                let of_it = cells.iter().filter(|mean| by.of(mean) == place).filter(in_order);
                let mut points: Vec<(f64, f64)> =
                    of_it.filter_map(|mean| Some((position(x, mean), figure.of(mean)?))).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                let order = order.map(|order| if order == Access::Random { "RND" } else { "SEQ" }.to_owned());
                let place = (by.varies(means) || section.is_empty()).then(|| by.full_name(place));
                let parts = [Some(section.clone()), order, place].into_iter().flatten();
                let name = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
                if !points.is_empty() {
                    series.push(Series { name, points });
                }
            }
        }
        let reading = match x {
            Dimension::Block => ReadingHint::ByBlockSize,
            Dimension::Load => ReadingHint::ByMix,
            _ if matches!(figure, Figure::MeanLatency | Figure::MaxLatency) => {
                ReadingHint::TimesByOutstanding
            }
            _ => ReadingHint::ByOutstanding,
        };
        let y = Axis { label: figure.heading().into(), scale: vertical(figure, &series) };
        let x = Axis { label: label.into(), scale };
        Some(Lines { reading, x, y, series, guides: Vec::new(), marked: None, bands: Vec::new() })
    }

    /// A figure's maps over threads and queue depth, one for each remaining combination; none unless both vary
    /// independently.
    pub fn maps(&self, figure: Figure, means: &[Mean]) -> Vec<Columns3d> {
        if (self.rows, self.columns) != (Dimension::Threads, Dimension::Depth) {
            return Vec::new();
        }
        let (rows, columns) = (self.rows.sorted(means), self.columns.sorted(means));
        let names = |one: Dimension, places: &[Place]| places.iter().map(|place| one.name(*place)).collect();
        let map = |(section, cells): (String, Vec<Mean>)| {
            let value = |row: Place, column: Place| {
                let is_it = |mean: &&Mean| self.rows.of(mean) == row && self.columns.of(mean) == column;
                cells.iter().find(is_it).and_then(|mean| figure.of(mean))
            };
            let height_label = if section.is_empty() {
                figure.heading().into()
            } else {
                format!("{}, {section}", figure.heading())
            };
            Columns3d {
                reading: ReadingHint::DemandMap,
                x_label: self.columns.heading().into(),
                x: names(self.columns, &columns),
                depth_label: self.rows.heading().into(),
                depth: names(self.rows, &rows),
                height_label,
                heights: rows
                    .iter()
                    .map(|row| columns.iter().map(|column| value(*row, *column)).collect())
                    .collect(),
            }
        };
        self.sections(means).into_iter().map(map).collect()
    }

    /// The horizontal axis: dimension, label and scale.
    fn horizontal(&self, means: &[Mean]) -> Option<(Dimension, &'static str, Scale)> {
        let demand = [Dimension::Threads, Dimension::Depth, Dimension::Demand];
        if demand.contains(&self.columns) && self.columns.varies(means) {
            return Some((self.columns, "Total OIO (TC x QD)", Scale::Log2));
        }
        for one in [self.rows, self.columns] {
            if one == Dimension::Block && one.varies(means) {
                return Some((one, "Block Size (KiB)", Scale::Log2));
            }
        }
        let loads = Dimension::Load.places(means).len();
        (loads > 2).then_some((Dimension::Load, "Reads (%)", Scale::Integer))
    }
}

/// If mixes are on the horizontal axis, random and sequential workloads are separate lines.
fn orders(x: Dimension, place: Place) -> Vec<(Place, Option<Access>)> {
    match x {
        Dimension::Load => [Access::Random, Access::Sequential].map(|order| (place, Some(order))).into(),
        _ => vec![(place, None)],
    }
}

/// Uses a logarithmic axis for response times that span several orders of magnitude.
fn vertical(figure: Figure, series: &[Series]) -> Scale {
    let values =
        || series.iter().flat_map(|one| &one.points).map(|point| point.1).filter(|value| *value > 0.0);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    let is_time = matches!(figure, Figure::MeanLatency | Figure::MaxLatency);
    if is_time && high > 20.0 * low { Scale::Log10 } else { Scale::LinearFromZero }
}

fn position(x: Dimension, mean: &Mean) -> f64 {
    match x {
        Dimension::Load => f64::from(mean.load.read_percent),
        Dimension::Block => f64::from(mean.block_bytes) / 1024.0,
        Dimension::Threads | Dimension::Depth | Dimension::Demand => f64::from(outstanding(mean.demand)),
    }
}

/// Returns the dimensions in which demand varies: none, TC, QD, both independently, or pairs.
fn varied_demand(means: &[Mean]) -> Vec<Dimension> {
    let (threads, depth) = (Dimension::Threads.places(means).len(), Dimension::Depth.places(means).len());
    match (threads > 1, depth > 1) {
        (false, false) => Vec::new(),
        (true, false) => vec![Dimension::Threads],
        (false, true) => vec![Dimension::Depth],
        (true, true) if Dimension::Demand.places(means).len() == threads * depth => {
            vec![Dimension::Threads, Dimension::Depth]
        }
        (true, true) => vec![Dimension::Demand],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(read_percent: u8, block_bytes: u32, threads: u16, queue_depth: u16) -> Mean {
        Mean {
            load: Load { access: Access::Random, read_percent },
            block_bytes,
            demand: Demand { threads, queue_depth },
            iops: f64::from(threads * queue_depth),
            megabytes: 1.0,
            mean_ms: Some(0.1),
            max_ms: None,
            host_limited: false,
            coarse: false,
        }
    }

    fn shape(means: &[Mean]) -> (Vec<String>, Vec<String>, usize, usize) {
        let layout = Layout::of(means);
        let tables = layout.tables(Figure::Iops, means);
        let rows = tables[0].rows.iter().map(|row| row.name.clone()).collect();
        let series = layout.lines(Figure::Iops, means).map_or(0, |lines| lines.series.len());
        (rows, tables[0].columns.clone(), tables.len(), series)
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_matrix_of_mixes_and_blocks_is_laid_out_as_in_the_pts() {
        let means =
            [mean(100, 8192, 8, 32), mean(100, 512, 8, 32), mean(0, 8192, 8, 32), mean(0, 512, 8, 32)];
        assert_eq!(shape(&means), (texts(&["0.5", "8"]), texts(&["RND R", "RND W"]), 1, 2));
    }

    #[test]
    fn a_map_has_threads_over_depths_for_each_load() {
        let steps = [4u16, 2, 1];
        let means: Vec<Mean> = [100, 0]
            .into_iter()
            .flat_map(|read| steps.into_iter().flat_map(move |tc| steps.map(|qd| mean(read, 4096, tc, qd))))
            .collect();
        assert_eq!(shape(&means), (texts(&["1", "2", "4"]), texts(&["1", "2", "4"]), 2, 6));
    }

    #[test]
    fn a_map_has_a_cell_for_each_demand_and_other_loops_have_no_map() {
        let cell = |read, tc, qd| mean(read, 4096, tc, qd);
        let means = [cell(100, 1, 1), cell(100, 1, 8), cell(100, 2, 1), cell(100, 2, 8), cell(0, 2, 8)];
        let maps = Layout::of(&means).maps(Figure::Iops, &means);
        assert_eq!((maps.len(), maps[0].depth.len(), maps[0].x.len()), (2, 2, 2));
        assert_eq!(maps[0].heights, [[Some(1.0), Some(8.0)], [Some(2.0), Some(16.0)]]);
        assert_eq!(maps[1].heights, [[None, None], [None, Some(16.0)]]);
        let sweep = [cell(100, 1, 1), cell(100, 2, 8)];
        assert!(Layout::of(&sweep).maps(Figure::Iops, &sweep).is_empty());
    }

    #[test]
    fn a_sweep_over_pairs_has_a_row_for_each_load() {
        let means = [mean(100, 4096, 1, 1), mean(100, 4096, 2, 1), mean(100, 4096, 8, 2)];
        assert_eq!(shape(&means), (texts(&["RND R"]), texts(&["1 x 1", "2 x 1", "8 x 2"]), 1, 1));
        let lines = Layout::of(&means).lines(Figure::Iops, &means).unwrap();
        assert_eq!(lines.series[0].points, [(1.0, 1.0), (2.0, 2.0), (16.0, 16.0)]);
    }

    #[test]
    fn one_cell_is_a_table_and_no_chart() {
        let means = [mean(0, 4096, 4, 32)];
        assert_eq!(shape(&means), (texts(&["4"]), texts(&["RND W"]), 1, 0));
        assert_eq!(Layout::of(&[]).tables(Figure::Iops, &[]).len(), 1);
    }

    #[test]
    fn mixes_alone_are_drawn_over_their_share_of_reads() {
        let means = [mean(100, 4096, 8, 8), mean(50, 4096, 8, 8), mean(0, 4096, 8, 8)];
        let lines = Layout::of(&means).lines(Figure::Iops, &means).unwrap();
        assert_eq!(lines.series.len(), 1);
        assert_eq!(lines.series[0].points.iter().map(|p| p.0).collect::<Vec<_>>(), [0.0, 50.0, 100.0]);
        assert_eq!(lines.series[0].name, "RND, 4KiB");
    }
}
