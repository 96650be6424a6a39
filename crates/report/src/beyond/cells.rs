//! Response times of the measured cells up to five nines, and the host share of each.

use pts::response::Percentile;
use stdx::Histogram;

use crate::answers::Answer;
use crate::document::Document;

/// Percentiles in the annex: name, and I/Os per million beyond it.
const PERCENTILES: [(&str, u32); 5] =
    [("50 %", 500_000), ("99 %", 10_000), ("99.9 %", 1_000), ("99.99 %", 100), ("99.999 %", 10)];

/// A workload, aggregated over the window.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub name: String,
    /// Response times of reads and writes combined.
    pub times: Histogram,
    /// Maximum share of the host's capability (`Segment::host_share`); None if no host drove the workload.
    pub host_share: Option<f64>,
}

/// A table of cells as text.
pub(crate) struct CellTable {
    /// Describes the response times (in ms) where the title does not.
    pub caption: String,
    pub heads: Vec<String>,
    /// Rows of cell texts, each starting with the name of the cell.
    pub rows: Vec<Vec<String>>,
}

/// Collects the cells of a test; empty if there are too many.
pub(super) fn cells(document: &Document, mine: &[&Answer<'_>]) -> Vec<Cell> {
    const MOST: usize = 64;
    let mut cells: Vec<Cell> = Vec::new();
    for answer in mine.iter().filter(|a| document.in_window(a.test, a.round)) {
        let workload = &answer.segment.workload;
        let name = format!("{workload}, TC {} QD {}", workload.threads, workload.queue_depth);
        let (times, host_share) = (pts::response::merged([answer.segment]), answer.segment.host_share());
        match cells.iter_mut().find(|cell| cell.name == name) {
            Some(cell) => {
                cell.times.merge(&times);
                cell.host_share = [cell.host_share, host_share].into_iter().flatten().max_by(f64::total_cmp);
            }
            None => cells.push(Cell { name, times, host_share }),
        }
    }
    if cells.len() > MOST { Vec::new() } else { cells }
}

/// Formats the cells as a table; None without cells. Omits maxima of a scaled drive.
pub(crate) fn table(cells: &[Cell], scaled: bool) -> Option<CellTable> {
    if cells.is_empty() {
        return None;
    }
    let driven = cells.iter().any(|cell| cell.host_share.is_some());
    let mut caption = "n/a: fewer than ten I/Os lie beyond".to_owned();
    if scaled {
        caption += "; maxima of a scaled drive are not those of the full-size drive";
    }
    if driven {
        caption += "; host: largest share of the host's ceiling or CPU time; above 70 % the result is \
                    host-limited";
    }
    let mut heads = vec!["Workload".to_owned(), "I/Os".into()];
    heads.extend(PERCENTILES.iter().map(|(name, _)| (*name).to_owned()));
    heads.push("Maximum".into());
    if driven {
        heads.push("Host".into());
    }
    let ms = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |ms| stdx::units::grouped(ms, 3));
    let row = |cell: &Cell| {
        let times = &cell.times;
        let of = |beyond_ppm| Percentile { name: "", beyond_ppm }.of(times);
        let mut row = vec![cell.name.clone(), stdx::units::grouped(times.count() as f64, 0)];
        row.extend(PERCENTILES.iter().map(|(_, beyond_ppm)| ms(of(*beyond_ppm))));
        row.push(ms(times.max().filter(|_| !scaled).map(|ns| ns as f64 / 1e6)));
        if driven {
            row.push(cell.host_share.map_or_else(|| "n/a".into(), |share| format!("{:.0} %", share * 100.0)));
        }
        row
    };
    Some(CellTable { caption, heads, rows: cells.iter().map(row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, host_share: Option<f64>) -> Cell {
        let mut times = Histogram::new();
        (1..=2000).for_each(|us| times.record(us * 1000));
        Cell { name: name.into(), times, host_share }
    }

    #[test]
    fn the_hosts_share_is_told_where_a_host_drove() {
        let driven = table(&[cell("a", Some(0.716)), cell("b", None)], false).expect("a table");
        assert_eq!(driven.heads.last().map(String::as_str), Some("Host"));
        let last: Vec<&str> = driven.rows.iter().filter_map(|row| row.last()).map(String::as_str).collect();
        assert_eq!(last, ["72 %", "n/a"]);
        assert!(driven.rows.iter().all(|row| row.len() == driven.heads.len()));
        let simulated = table(&[cell("a", None)], true).expect("a table");
        assert_eq!(simulated.heads.last().map(String::as_str), Some("Maximum"));
        assert!(table(&[], false).is_none());
    }

    #[test]
    fn what_too_few_are_beyond_and_what_a_scale_distorts_is_not_available() {
        let row = table(&[cell("a", None)], true).expect("a table").rows.remove(0);
        let (median, ninety_nine) = (row[2].parse::<f64>().unwrap(), row[3].parse::<f64>().unwrap());
        assert!((median / 1.0 - 1.0).abs() < 0.01 && (ninety_nine / 1.98 - 1.0).abs() < 0.01, "{row:?}");
        assert_eq!(row[4..], ["n/a", "n/a", "n/a", "n/a"]);
    }
}
