use super::*;
use crate::progress::view::Rate;
use proptest::prelude::*;

const USUAL: Shape = Shape { width: 79, colour: false, unicode: true };

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the widest numbers that a cell in the IOPS test can have.
fn cell() -> View {
    View {
        phase: Phase::Cell,
        test: Some("iops".into()),
        what: "RND 1024KiB 35/65".into(),
        round: Some((25, 25)),
        cell: Some((56, Some(56))),
        share_done: Some(0.424),
        elapsed: seconds(25),
        left: Some(Left::Known(seconds(35))),
        rate: Some(Rate {
            iops: 1_130_260.0,
            syncs_per_second: 0.0,
            bytes_per_second: 12_123_900_000.0,
            mean_latency_ms: 1.06,
            max_latency_ms: None,
        }),
        test_left: Some((seconds(7_380), seconds(36_120))),
        window: Some(Window {
            rounds: 5,
            variable: Some("RND 4KiB W".into()),
            range_share: Some(0.123),
            slope_share: Some(0.1171),
            forecast_round: Some(27),
        }),
        temperature_celsius: Some(41),
        host_limited: false,
    }
}

fn texts(view: &View, name: &str, detail: Detail, shape: Shape) -> Vec<String> {
    lines(view, name, detail, shape).into_iter().map(|line| line.text).collect()
}

fn bar_of(full: usize, open: usize) -> String {
    format!("[{}{}]", "\u{2588}".repeat(full), "\u{2591}".repeat(open))
}

#[test]
fn a_measured_cell_fits_in_80_columns() {
    assert_eq!(
        texts(&cell(), "", Detail::Full, USUAL),
        [
            "iops  round 25/25  cell 56/56  RND 1024KiB 35/65  ETA 2 h 03 min to 10 h 02 min",
            &(bar_of(5, 7) + "   42 %  left 35 s  1,130,260 IOPS  12,123.9 MB/s  1.06 ms  41 \u{b0}C"),
            "window 5/5  RND 4KiB W  range 12.3 % (limit 20 %)  slope 11.7 % (limit 10 %)",
        ]
    );
    let rate = Some(Rate { iops: 30_260.0, bytes_per_second: 123_900_000.0, ..cell().rate.unwrap() });
    let usual = View { round: Some((4, 25)), test_left: Some((seconds(60), seconds(3_600))), rate, ..cell() };
    assert_eq!(
        texts(&usual, "", Detail::Full, USUAL)[..2],
        [
            "iops  round 4/25  cell 56/56  RND 1024KiB 35/65  ETA 1 min 00 s to 1 h 00 min",
            &(bar_of(7, 11) + "   42 %  left 35 s  30,260 IOPS  123.9 MB/s  1.06 ms  41 \u{b0}C"),
        ]
    );
}

#[test]
fn syncs_are_shown_if_there_are_any() {
    let rate = Some(Rate { iops: 4_711.0, syncs_per_second: 294.2, ..cell().rate.unwrap() });
    let load = View { phase: Phase::Load, rate, test: None, round: None, cell: None, window: None, ..cell() };
    let shown = texts(&load, "", Detail::Full, Shape { width: 160, ..USUAL });
    assert!(shown[1].contains("4,711 IOPS  12,123.9 MB/s  294 syncs/s  1.06 ms"), "{shown:?}");
    assert!(!texts(&cell(), "", Detail::Full, USUAL).concat().contains("syncs"));
}

#[test]
fn several_runs_take_two_lines_each() {
    assert_eq!(
        texts(&cell(), "x3k9aba", Detail::Brief, USUAL),
        [
            "x3k9aba  round 25/25  cell 56/56  ETA 2 h 03 min to 10 h 02 min",
            "   42 %  left 35 s  1,130,260 IOPS  41 \u{b0}C  range 12/20 % slope 12/10 %",
        ]
    );
}

#[test]
fn long_activities_show_elapsed_time_remaining_time_and_rate() {
    let preconditioning = View {
        phase: Phase::Precondition,
        what: "SEQ 128KiB W".into(),
        round: None,
        cell: None,
        share_done: Some(0.5),
        elapsed: seconds(3_720),
        left: Some(Left::Known(seconds(3_780))),
        window: None,
        ..cell()
    };
    let text = texts(&preconditioning, "", Detail::Full, USUAL).join("\n");
    for part in
        ["preconditioning", "SEQ 128KiB W", "50 %", "elapsed 1 h 02 min", "left 1 h 03 min", "12,123.9 MB/s"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let purge = View { phase: Phase::Purge, what: String::new(), rate: None, ..preconditioning };
    let text = texts(&purge, "", Detail::Full, USUAL).join("\n");
    for part in ["purging", "50 %", "elapsed 1 h 02 min", "left 1 h 03 min", "0.8 %/min"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let silent = View { share_done: None, left: None, ..purge };
    let text = texts(&silent, "", Detail::Full, USUAL).join("\n");
    assert!(text.contains("elapsed 1 h 02 min  the drive does not report its progress"), "{text}");
    let expected = View { left: Some(Left::Expected(seconds(600))), ..silent };
    let text = texts(&expected, "", Detail::Full, USUAL).join("\n");
    assert!(text.contains("elapsed 1 h 02 min  left about 10 min 00 s"), "{text}");
}

#[test]
fn colour_shows_what_is_within_its_limit() {
    let text = texts(&cell(), "", Detail::Full, Shape { colour: true, ..USUAL }).pop().unwrap();
    assert!(text.contains("\x1b[32mrange 12.3 % (limit 20 %)\x1b[0m"), "{text:?}");
    assert!(text.contains("\x1b[33mslope 11.7 % (limit 10 %)\x1b[0m"), "{text:?}");
}

#[test]
fn a_log_has_everything_on_one_line() {
    assert_eq!(
        plain(&cell()),
        "iops  round 25/25  cell 56/56  RND 1024KiB 35/65  ETA 2 h 03 min to 10 h 02 min   42 %  left 35 s  1,130,260 IOPS  \
         12,123.9 MB/s  1.06 ms  41 \u{b0}C  range 12/20 % slope 12/10 %"
    );
}

/// Number of terminal columns that a character occupies, from the Unicode tables. Covers at least the scripts used in
/// these tests.
fn columns_on_a_terminal(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Removes the colour sequences.
fn without_paint(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').expect("a colour").1).collect::<String>()
}

fn name() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        8 => proptest::char::range('a', 'z'),
        1 => proptest::char::range('\0', '\u{1f}'),
        1 => proptest::char::range('\u{4e00}', '\u{9fff}'),
        1 => proptest::char::range('\u{1f600}', '\u{1f64f}'),
        1 => proptest::char::range('\u{200b}', '\u{202e}'),
        1 => any::<char>(),
    ];
    proptest::collection::vec(letters, 0..200).prop_map(|letters| letters.into_iter().collect())
}

fn share() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(prop_oneof![0.0..=1.0, Just(0.0), Just(1.0), 0.0..1e9])
}

fn span_of_time() -> impl Strategy<Value = Duration> {
    prop_oneof![0..100_000u64, any::<u64>()].prop_map(Duration::from_secs)
}

prop_compose! {
    fn window()(
        rounds in 0u32..=5, variable in proptest::option::of(name()), range_share in share(), slope_share in share(),
        forecast_round in any::<Option<u32>>(),
    ) -> Window {
        Window { rounds, variable, range_share, slope_share, forecast_round }
    }
}

prop_compose! {
    fn view()(
        phase in proptest::sample::select(vec![
            Phase::Purge, Phase::Settle, Phase::Rebuild, Phase::Precondition, Phase::Cell, Phase::Load, Phase::Idle,
        ]),
        (test, what) in (proptest::option::of(name()), name()),
        (round, cell) in (any::<Option<(u32, u32)>>(), any::<Option<(u32, Option<u32>)>>()),
        share_done in share(),
        (elapsed, left_by) in (span_of_time(), 0u8..4),
        rate in proptest::option::of((0.0..1e12f64, 0.0..1e9f64, 0.0..1e15f64, 0.0..1e9f64, any::<bool>())),
        test_left in proptest::option::of((span_of_time(), span_of_time())),
        (window, temperature_celsius, host_limited) in (proptest::option::of(window()), any::<Option<i16>>(), any::<bool>()),
    ) -> View {
        let left = [None, Some(Left::Known(elapsed)), Some(Left::Expected(elapsed)), Some(Left::Overdue)];
        let rate = rate.map(|(iops, syncs_per_second, bytes_per_second, mean_latency_ms, has_max)| Rate {
            iops, syncs_per_second, bytes_per_second, mean_latency_ms, max_latency_ms: has_max.then_some(mean_latency_ms),
        });
        View {
            phase, test, what, round, cell, share_done, elapsed, left: left[usize::from(left_by)], rate, test_left,
            window, temperature_celsius, host_limited,
        }
    }
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal_or_controls_it(
        view in view(), name in name(), width in 40usize..200, colour: bool, unicode: bool,
    ) {
        let shape = Shape { width, colour, unicode };
        for detail in [Detail::Full, Detail::Brief, Detail::OneLine] {
            for Line { text, columns } in lines(&view, &name, detail, shape) {
                let shown = without_paint(&text);
                prop_assert!(shown.chars().all(|c| !stdx::text::is_unprintable(c)), "{shown:?}");
                let wide: usize = shown.chars().map(columns_on_a_terminal).sum();
                prop_assert!(wide <= columns && columns <= width, "{wide} {columns} {width}: {shown}");
                prop_assert!(colour || text == shown, "{text:?}");
                prop_assert!(unicode || text.is_ascii(), "{text:?}");
                // Each colour is reset within the line.
                prop_assert_eq!(text.matches("\x1b[0m").count() * 2, text.matches("\x1b[").count());
            }
        }
    }

    #[test]
    fn a_narrow_terminal_keeps_the_current_activity(view in view(), width in 40usize..80) {
        let shape = Shape { width, colour: false, unicode: false };
        let first = texts(&View { test_left: None, ..view.clone() }, "", Detail::Full, shape).remove(0);
        let expected = match view.phase {
            Phase::Purge => "purging",
            Phase::Settle => "waiting for the array",
            Phase::Rebuild => "rebuilding the simulated drive",
            Phase::Precondition => "preconditioning",
            Phase::Idle => "idle",
            Phase::Cell | Phase::Load => match view.round {
                Some(_) => "round ",
                None => "",
            },
        };
        prop_assert!(first.contains(expected), "{first}");
    }
}
