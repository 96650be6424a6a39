//! Tests the two published TKperf reports: files built from their windows and means must reproduce their tables
//! to the last printed digit.

mod common;

use common::{outcomes, printed, tables};
use serde_json::{Value, json};

/// Mixes in TKperf's order, which is also the order in its IOPS tables.
const READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];

/// The figures of one report. Columns are in the order of the report: IOPS 100/0 to 0/100, latency 0/100 to
/// 100/0.
struct Report {
    version: &'static str,
    devinfo: &'static str,
    iops: [(&'static str, [f64; 7]); 8],
    iops_window: (u32, [f64; 5]),
    /// Block sizes from 1024k to 512: read and write throughput in MiB/s.
    throughput: [(&'static str, f64, f64); 5],
    tp_window: (u32, [f64; 5]),
    average: [(&'static str, [f64; 3]); 3],
    maximum: [[f64; 3]; 3],
    lat_window: (u32, [f64; 5]),
}

const STEC: Report = Report {
    version: "1.1",
    devinfo: "\tModel Number:       STEC MACH16 M16ISD2-200UCP\n\tdevice size with M = 1000*1000: 200049 MBytes (200 GB)\n",
    iops: [
        ("0.5", [19955.4, 13104.4, 6648.2, 7708.6, 8904.0, 7327.4, 6481.0]),
        ("4", [16180.0, 11814.4, 6102.8, 7053.0, 8337.8, 7005.6, 6408.6]),
        ("8", [10680.0, 10231.0, 5309.0, 6109.0, 7116.6, 6728.4, 6400.2]),
        ("16", [4477.2, 5942.2, 4129.2, 4039.4, 4587.2, 3575.2, 3607.2]),
        ("32", [3546.4, 3818.2, 3348.6, 3302.8, 3232.4, 1872.2, 1939.6]),
        ("64", [1848.0, 1963.0, 1773.6, 1748.8, 1725.2, 1220.8, 1152.6]),
        ("128", [928.0, 993.2, 895.6, 884.2, 884.2, 762.2, 708.6]),
        ("1024", [105.2, 109.8, 103.8, 103.4, 99.0, 85.0, 80.6]),
    ],
    iops_window: (1, [5931.0, 6719.0, 6337.0, 6619.0, 6437.0]),
    throughput: [
        ("1024", 123.211, 108.692),
        ("64", 132.904, 118.883),
        ("8", 110.89, 99.582),
        ("4", 54.605, 46.97),
        ("0.5", 7.122, 4.475),
    ],
    tp_window: (0, [111335.0, 111358.0, 111316.0, 111192.0, 111300.0]),
    average: [("8", [0.169, 0.35, 0.691]), ("4", [0.143, 0.285, 0.306]), ("0.5", [0.12, 0.24, 0.194])],
    maximum: [[124.041, 36.326, 335.412], [127.373, 25.825, 48.715], [155.116, 48.859, 2.359]],
    lat_window: (0, [148.812311, 146.122024, 137.746358, 144.39387, 137.931644]),
};

const SN720: Report = Report {
    version: "2.2",
    devinfo: "Western Digital CL SN720 NVMe SSD 256GB\nFirmware Version: 10103122\n",
    iops: [
        ("0.5", [125489.0, 102911.0, 35511.0, 25442.6, 21976.6, 14275.6, 17001.6]),
        ("4", [126545.4, 91818.2, 36761.6, 24938.8, 17826.0, 13670.2, 12077.0]),
        ("8", [91937.8, 55108.2, 17630.4, 12585.2, 9443.2, 7517.4, 13137.6]),
        ("16", [64824.4, 33315.2, 10218.0, 7139.4, 5381.8, 4155.6, 4039.8]),
        ("32", [42741.4, 21486.6, 6270.6, 4614.8, 3660.8, 2587.2, 2646.4]),
        ("64", [24647.8, 10646.2, 2957.2, 2065.6, 1498.6, 1157.4, 1087.2]),
        ("128", [14844.0, 6883.8, 1467.6, 1045.6, 747.6, 562.4, 534.2]),
        ("1024", [2299.6, 1358.8, 241.6, 248.8, 192.8, 134.6, 175.4]),
    ],
    iops_window: (18, [12207.0, 12920.0, 11712.0, 11806.0, 11740.0]),
    throughput: [
        ("1024", 2137.501, 193.988),
        ("64", 1971.361, 213.219),
        ("8", 849.629, 211.958),
        ("4", 518.3, 234.859),
        ("0.5", 39.044, 10.687),
    ],
    tp_window: (1, [211428.0, 187733.0, 206387.0, 175822.0, 211849.0]),
    average: [("8", [0.058, 0.08, 0.102]), ("4", [0.051, 0.059, 0.079]), ("0.5", [0.059, 0.064, 0.08])],
    maximum: [[190.45, 13.025, 1.288], [157.873, 10.197, 3.196], [111.916, 73.752, 1.557]],
    lat_window: (1, [55.05859, 51.016463, 46.472058, 47.450451, 54.728707]),
};

/// Returns five integers whose mean is as close as possible to `mean`.
fn spread(mean: f64) -> [f64; 5] {
    let sum = (mean * 5.0).round();
    let each = (sum / 5.0).floor();
    let more = sum - 5.0 * each;
    std::array::from_fn(|i| each + f64::from((i as f64) < more))
}

fn leaf(name: &str, value: &Value) -> String {
    format!("<{name}>{}</{name}>", value.to_string().replace('&', "&amp;").replace('<', "&lt;"))
}

fn steady(window: &(u32, [f64; 5]), floored: bool) -> String {
    let (first, values) = window;
    let mean = values.iter().sum::<f64>() / 5.0;
    let rounds: Vec<u32> = (*first..first + 5).collect();
    let middle = f64::from(*first) + 2.0;
    let steps = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let slope = steps.iter().zip(values).map(|(x, y)| x * (y - mean)).sum::<f64>() / 10.0;
    leaf("stdyrounds", &json!(rounds))
        + &leaf("stdyvalues", &json!(values))
        + &leaf("stdyslope", &json!([slope, mean - slope * middle]))
        + &leaf("stdyavg", &json!(if floored { mean.floor() } else { mean }))
        + &leaf("reachstdystate", &json!(true))
        + &leaf("rndnr", &json!(first + 4))
}

/// Yields the positions in the window, preceded by `None` for each earlier round. Earlier rounds have very
/// different values, so that a misplaced window is detected.
fn positions(window: &(u32, [f64; 5])) -> impl Iterator<Item = Option<usize>> {
    (0..window.0).map(|_| None).chain((0..5).map(Some))
}

fn iops(report: &Report) -> Value {
    let cell = |position: Option<usize>, block: &str, read: u8, mean: f64| match position {
        None => 1.0,
        Some(round) if block == "4" && read == 0 => report.iops_window.1[round],
        Some(round) => spread(mean)[round],
    };
    let mixes = || READS.iter().enumerate();
    positions(&report.iops_window)
        .map(|at| -> Value {
            mixes()
                .map(|(mix, read)| -> Value {
                    report.iops.iter().rev().map(|(block, row)| cell(at, block, *read, row[mix])).collect()
                })
                .collect()
        })
        .collect()
}

fn throughput(report: &Report) -> Value {
    let column = |mebibytes: f64, tracked: bool| -> Value {
        positions(&report.tp_window)
            .map(|position| match position {
                None => 1.0,
                Some(round) if tracked => report.tp_window.1[round],
                Some(round) => spread(mebibytes * 1024.0)[round],
            })
            .collect()
    };
    let block = |(block, read, write): &(&str, f64, f64)| {
        json!([column(*read, false), column(*write, *block == "1024")])
    };
    report.throughput.iter().map(block).collect()
}

fn latency(report: &Report) -> Value {
    let cell = |position: Option<usize>, mix: usize, block: usize| {
        // The columns of the report are in reverse order.
        let (mean, largest) = (report.average[block].1[2 - mix], report.maximum[block][2 - mix]);
        match position {
            None => json!([1.0, 2.0, 1.5]),
            Some(round) if mix == 2 && block == 1 => {
                json!([1.0, largest * 1000.0, report.lat_window.1[round]])
            }
            Some(3) => json!([1.0, largest * 1000.0, mean * 1000.0]),
            Some(_) => json!([1.0, largest * 500.0, mean * 1000.0]),
        }
    };
    let round = |at| -> Value {
        (0..3).map(|mix| (0..3).map(|block| cell(at, mix, block)).collect::<Value>()).collect()
    };
    positions(&report.lat_window).map(round).collect()
}

fn file(report: &Report) -> String {
    let floored = report.version == "2.2";
    let test = |name: &str, matrix: &Value, window: &(u32, [f64; 5]), floored: bool| {
        format!(
            "<{name}>{}{}{}{}{}</{name}>",
            leaf("fioversion", &json!("fio-3.1\n")),
            leaf("numjobs", &json!(2)),
            leaf("iodepth", &json!(16)),
            leaf("roundmat", matrix),
            steady(window, floored)
        )
    };
    format!(
        "<?xml version=\"1.0\" ?>\n<WDC>{}{}{}{}{}</WDC>",
        leaf("devinfo", &json!(report.devinfo)),
        leaf("ioperfversion", &json!(report.version)),
        test("lat", &latency(report), &report.lat_window, false),
        test("iops", &iops(report), &report.iops_window, floored),
        test("tp", &throughput(report), &report.tp_window, floored),
    )
}

#[test]
fn both_reports_are_reproduced_to_the_printed_digit() {
    for report in [&STEC, &SN720] {
        let found = outcomes(file(report).as_bytes());
        let iops: Vec<Vec<String>> = report
            .iops
            .iter()
            .map(|(block, row)| {
                let values = row.iter().rev().map(|value| format!("{value:.1}"));
                std::iter::once((*block).to_owned()).chain(values).collect()
            })
            .collect();
        let table = &tables(&found, "iops")[0];
        assert_eq!(printed(table), iops);
        assert_eq!(table.columns, ["0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0"]);
        let tp: Vec<Vec<String>> = report
            .throughput
            .iter()
            .rev()
            .map(|(block, read, write)| {
                vec![(*block).to_owned(), format!("{write:.3}"), format!("{read:.3}")]
            })
            .collect();
        let tp_tables = tables(&found, "tp");
        assert_eq!(printed(&tp_tables[1]), tp, "in MiB/s, as TKperf prints it");
        assert!(tp_tables[0].heading.contains("MB/s"));
        let row = |(block, row): (&str, &[f64; 3])| -> Vec<String> {
            std::iter::once(block.to_owned()).chain(row.iter().map(|value| format!("{value:.3}"))).collect()
        };
        let average: Vec<_> =
            report.average.iter().rev().map(|(block, values)| row((block, values))).collect();
        let maximum: Vec<_> = report
            .average
            .iter()
            .zip(&report.maximum)
            .rev()
            .map(|((block, _), values)| row((block, values)))
            .collect();
        let lat = tables(&found, "lat");
        assert_eq!(printed(&lat[0]), average);
        assert_eq!(printed(&lat[1]), maximum);
        assert_eq!(lat[0].columns, ["0/100", "65/35", "100/0"]);
        for (test, (first, values)) in
            [("iops", &report.iops_window), ("tp", &report.tp_window), ("lat", &report.lat_window)]
        {
            let outcome = found.iter().find(|outcome| outcome.test == test).unwrap();
            let window = &outcome.window[0].1;
            assert_eq!(
                (window.first_round, window.last_round),
                (first + 1, first + 5),
                "rounds count from 1"
            );
            assert!(outcome.converged == Some(true) && window.steady);
            let unit = match test {
                "tp" => 1024.0 / 1e6,
                "lat" => 1e-3,
                _ => 1.0,
            };
            let mean = values.iter().sum::<f64>() / 5.0 * unit;
            assert!((window.mean - mean).abs() <= 1e-9 * mean);
        }
        let lat = &found.iter().find(|o| o.test == "lat").unwrap().header;
        assert_eq!((lat.threads, lat.queue_depth), (None, None), "2 x 16 are those of the other tests");
        assert!(found.iter().all(|o| o.header.purge == pts::ABSENT), "the file does not name a purge");
    }
}

#[test]
fn derived_values_in_the_file_are_recomputed() {
    let remarks = |text: &str| import::read(text.as_bytes(), None).unwrap().1.remarks;
    let whole = file(&SN720);
    let found = remarks(&whole);
    assert!(found.iter().any(|r| r.contains("TKperf weighting")), "{found:?}");
    assert!(found.iter().any(|r| r.contains("198643 (truncated to an integer)")), "{found:?}");
    assert!(!found.iter().any(|r| r.contains("fitted line") || r.contains("list of values")), "{found:?}");
    let other = remarks(&whole.replace("<stdyavg>12077.0</stdyavg>", "<stdyavg>11000.0</stdyavg>"));
    assert!(other.iter().any(|r| r.contains("average is 11000, but its rounds yield 12077")), "{other:?}");
    let other = remarks(&whole.replace(
        "12920.0,11712.0,11806.0,11740.0]</stdyvalues>",
        "12920.0,11712.0,11806.0,1.0]</stdyvalues>",
    ));
    assert!(other.iter().any(|r| r.contains("list of values")), "{other:?}");
    let other = remarks(&whole.replacen("<reachstdystate>true", "<reachstdystate>false", 1));
    assert!(
        other.iter().any(|r| r.contains("the file says not steady, but its values are steady")),
        "{other:?}"
    );
}

#[test]
fn missing_rounds_are_refused() {
    let text =
        file(&STEC).replace("<stdyrounds>[1,2,3,4,5]</stdyrounds>", "<stdyrounds>[4,5,6,7,8]</stdyrounds>");
    let error = import::read(text.as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("<iops>") && error.contains("has only 6 rounds"), "{error}");
}

#[test]
fn sectors_of_4_kib_drop_the_smallest_block() {
    let round = json!(vec![vec![100.0; 7]; 7]);
    let text = format!("<x><iops>{}</iops></x>", leaf("roundmat", &json!(vec![round; 5])));
    let (_, imported) = import::read(text.as_bytes(), None).unwrap();
    assert!(imported.tests[0].readings.iter().all(|reading| reading.block_bytes >= 4096));
    assert_eq!(imported.tests[0].tracked_block_bytes, Some(8192), "what TKperf itself judged by");
    assert!(imported.remarks.iter().any(|remark| remark.contains("8 KiB writes")));
}

#[test]
fn hard_disks_have_areas_and_write_saturation_has_minutes() {
    let iops = leaf("roundmat", &json!(vec![vec![vec![50.0; 3]; 3]; 128]));
    let tp = leaf("roundmat", &json!(vec![vec![vec![2048.0; 128]; 2]; 2]));
    let wsat = leaf("roundmat", &json!([vec![1000.0; 90], vec![[1.0, 3.0, 2.0]; 90]]));
    let text =
        format!("<x><iops>{iops}</iops><tp>{tp}</tp><writesat><runtime>30</runtime>{wsat}</writesat></x>");
    let found = outcomes(text.as_bytes());
    let names: Vec<&str> = found.iter().map(|outcome| outcome.test.as_str()).collect();
    assert_eq!(names, ["areas-iops", "areas-tp", "wsat"]);
    assert!(found.iter().all(|outcome| !outcome.pages.is_empty()));
    let figure = |test: usize, index: usize| {
        let figure = &found[test].key_figures[index];
        format!("{} {:.3}", figure.name, figure.value.unwrap())
    };
    assert_eq!(figure(0, 1), "RND 4KiB R, mean over all areas 50.000");
    assert_eq!(figure(1, 0), "SEQ 1024KiB W, mean over all areas 2.097");
    let pts::exhibit::Exhibit::Lines(lines) = &found[2].pages[0].exhibits[0] else { panic!("a chart") };
    assert_eq!(lines.series[0].points.last(), Some(&(45.0, 1000.0)), "90 rounds of 30 s");
}

#[test]
fn a_saturation_of_two_short_rounds_has_no_fob_and_no_mean_of_minutes() {
    let matrix = leaf("roundmat", &json!([vec![1000.0, 900.0], vec![[1.0, 3.0, 2.0]; 2]]));
    for (runtime, axis) in [("<runtime>1</runtime>", "Time (minutes)"), ("", "Round")] {
        let text = format!("<x><writesat>{runtime}{matrix}</writesat></x>");
        let found = outcomes(text.as_bytes());
        assert!(found[0].key_figures.iter().all(|figure| figure.value.is_none()), "{runtime}");
        let pts::exhibit::Exhibit::Lines(lines) = &found[0].pages[0].exhibits[0] else { panic!("a chart") };
        assert_eq!(lines.x.label, axis);
        let has_amounts = found[0].pages.iter().any(|page| page.title.contains("TGBW"));
        assert_eq!(has_amounts, !runtime.is_empty(), "amounts need the length of a round");
    }
}

#[test]
fn sector_sizes_are_those_of_the_description() {
    let sectors = |description: &str| {
        let text = format!(
            "<x>{}<iops>{}</iops></x>",
            leaf("devinfo", &json!(description)),
            leaf("roundmat", &json!([vec![vec![1.0; 8]; 7]]))
        );
        let device = import::read(text.as_bytes(), None).unwrap().1.device;
        (device.logical_block_bytes, device.physical_block_bytes)
    };
    let hdparm = "\tLogical  Sector size:                   512 bytes\n\tPhysical Sector size:                  4096 bytes\n";
    assert_eq!(sectors(hdparm), (Some(512), Some(4096)));
    assert_eq!(sectors("\tLogical/Physical Sector size:           512 bytes\n"), (Some(512), Some(512)));
    assert_eq!(
        sectors("Sector Sizes:     512 bytes logical, 4096 bytes physical\n"),
        (Some(512), Some(4096))
    );
    assert_eq!(sectors("Model Number: x\n"), (None, None));
}
