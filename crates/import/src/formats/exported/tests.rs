//! Tests in the JSON document: their workloads, figures, windows, tables and charts.

use record::{
    DirectionReading, Exported, ExportedAxis, ExportedChart, ExportedMark, ExportedVerdict, ImportedTest,
    Reading, ToldFigure,
};

use super::layout::{self, Cell, Chart, CurveMark, Figure, Latency, Test, Way};
use crate::measured;
use crate::number::{bounded, possible};

/// Limit on the numbers in the tables and charts of a test.
const MOST_NUMBERS: usize = 2_000_000;

/// Returns a test as described in the document of run `run`.
pub(super) fn test(test: Test, run: &str) -> Result<ImportedTest, String> {
    let name = test.test.clone();
    imported(test, run).map_err(|problem| format!("test '{name}': {problem}"))
}

fn imported(test: Test, run: &str) -> Result<ImportedTest, String> {
    let lacks_host_limits = test.cells.iter().any(|cell| cell.host_limited.is_none());
    let readings = test.cells.iter().map(cell).collect::<Result<_, _>>()?;
    let tracked_unit = test.steady_state.first().and_then(|window| window.unit.clone());
    let windows: Vec<_> = test.steady_state.into_iter().map(layout::Window::exported).collect();
    let window = windows.first().map(|window| (window.first_round, window.last_round));
    let tables: Vec<_> = test.tables.into_iter().map(layout::Table::exported).collect();
    let charts: Vec<_> = test.charts.into_iter().map(chart).collect();
    let values = tables.iter().flat_map(|table| &table.rows).map(|row| row.values.len()).sum::<usize>();
    let points =
        charts.iter().flat_map(|chart| &chart.series).map(|series| series.points.len()).sum::<usize>();
    let workloads = test.efficiency.len() + test.file_share.len();
    if values + points + workloads > MOST_NUMBERS {
        return Err(format!("tables and charts have more than {MOST_NUMBERS} numbers"));
    }
    test.efficiency
        .iter()
        .filter_map(|workload| workload.mean.as_ref())
        .try_for_each(measured::efficiency)?;
    test.file_share.iter().filter_map(|workload| workload.share.as_ref()).try_for_each(measured::share)?;
    for value in tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.values).flatten() {
        bounded(*value, "a value of a table")?;
    }
    Ok(ImportedTest {
        outline: format!("as exported from run {run}"),
        purge: test.purge,
        preconditioning: test.preconditioning,
        active_range: test.active_range.map(layout::ActiveRange::stated),
        date: test.date,
        threads: test.threads,
        queue_depth: test.queue_depth,
        window,
        steady: test.converged,
        figures: test.figures.into_iter().map(figure).collect::<Result<_, _>>()?,
        exported: Some(Exported {
            title: test.title,
            rounds: test.rounds,
            acceptance: test.acceptance.map(|acceptance| ExportedVerdict {
                reasons: acceptance.reasons.into_iter().map(layout::Reason::exported).collect(),
                unchecked: acceptance.unchecked,
            }),
            tracked_unit,
            windows,
            marks: test.marks.into_iter().map(mark).collect(),
            tables,
            charts,
            notes: test.notes,
            stopped: test.stopped,
            modified: test.modified,
            io_errors: test.io_errors,
            lacks_host_limits,
            efficiency: test.efficiency,
            file_share: test.file_share,
            written_bytes: None,
        }),
        readings,
        test: test.test,
        ..ImportedTest::default()
    })
}

fn figure(figure: Figure) -> Result<ToldFigure, String> {
    let value = figure.value.map(|value| bounded(value, &figure.name)).transpose()?;
    Ok(ToldFigure {
        name: figure.name,
        key: figure.key,
        value,
        unit: figure.unit,
        host_limited: figure.host_limited,
    })
}

fn mark(mark: CurveMark) -> ExportedMark {
    ExportedMark {
        mark: mark.mark,
        name: mark.name,
        unit: mark.unit,
        computed: mark.computed,
        set: mark.set_by_tester,
        written_bytes: mark.written_bytes,
    }
}

fn chart(chart: Chart) -> ExportedChart {
    let axis = |label: &str, scale: &str| ExportedAxis { label: label.into(), scale: scale.into() };
    ExportedChart {
        page: chart.page.clone(),
        shows: chart.shows.clone(),
        x: axis(&chart.x, &chart.x_scale),
        y: axis(&chart.y, &chart.y_scale),
        series: chart.series(),
    }
}

fn share(percent: u8) -> Result<u8, String> {
    if percent <= 100 { Ok(percent) } else { Err(format!("{percent} % is not a share of reads")) }
}

/// Returns a workload as described in the document.
fn cell(cell: &Cell) -> Result<Reading, String> {
    let number = |value: Option<f64>, what: &str| value.map(|value| possible(value, what)).transpose();
    let &Latency { mean_ns, p50_ns, p99_ns, p99_9_ns, p99_99_ns, p99_999_ns, max_ns } = &cell.latency;
    let directions = [&cell.read, &cell.write].map(|way| way.as_ref().map(self::way).transpose());
    let [read, write] = directions;
    Ok(Reading {
        name: cell.job.clone(),
        phase: cell.phase.clone(),
        round: cell.round,
        in_window: Some(cell.in_window),
        host_limited: cell.host_limited.unwrap_or(false),
        threads: cell.threads,
        queue_depth: cell.queue_depth,
        ios: cell.ios,
        iops: number(cell.iops, "iops")?,
        bytes_per_second: number(cell.bytes_per_second, "bytes_per_second")?,
        latency_mean_ns: number(mean_ns, "a response time")?,
        latency_max_ns: number(max_ns, "a response time")?,
        percentiles_ns: known([p50_ns, p99_ns, p99_9_ns, p99_99_ns, p99_999_ns]),
        read: read?,
        write: write?,
        exported: measured::cell(cell.stated())?,
        ..Reading::of(cell.access, share(cell.read_percent)?, cell.block_bytes.unwrap_or(0))
    })
}

/// The known percentiles, with their percentages.
fn known(percentiles_ns: [Option<f64>; 5]) -> Vec<(f64, f64)> {
    let all = [50.0, 99.0, 99.9, 99.99, 99.999].into_iter().zip(percentiles_ns);
    all.filter_map(|(percent, ns)| Some((percent, ns?))).collect()
}

fn way(way: &Way) -> Result<DirectionReading, String> {
    for value in [way.latency_min_ns, way.latency_mean_ns, way.latency_max_ns].into_iter().flatten() {
        possible(value, "a response time")?;
    }
    Ok(DirectionReading {
        ios: way.ios,
        bytes: way.bytes,
        latency_min_ns: way.latency_min_ns,
        latency_mean_ns: way.latency_mean_ns,
        latency_max_ns: way.latency_max_ns,
        percentiles_ns: known([
            way.latency_p50_ns,
            way.latency_p99_ns,
            way.latency_p99_9_ns,
            way.latency_p99_99_ns,
            way.latency_p99_999_ns,
        ]),
    })
}
