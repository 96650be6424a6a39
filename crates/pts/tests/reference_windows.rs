//! Acceptance check 1: the six windows in published reports match the listed figures to within 1e-6.

use pts::steady::WindowStats;
use serde_json::Value;

#[test]
fn six_published_windows() {
    let data: Value = serde_json::from_str(include_str!("data/steady_state.json")).unwrap();
    let windows = data["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 6);
    for window in windows {
        let numbers = |key: &str| -> Vec<f64> {
            window[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let values: [f64; 5] = numbers("values").try_into().unwrap();
        let last_round = numbers("rounds")[4] as u32;
        let s = WindowStats::of(last_round, &values);
        let expected = &window["expected"];
        let name = format!("{} {}", window["device"], window["test"]);
        for (key, got) in [
            ("average", s.mean),
            ("range", s.range),
            ("range_allowed", s.range_allowed),
            ("slope", s.slope),
            ("intercept", s.intercept),
            ("slope_excursion", s.slope_excursion),
            ("slope_excursion_allowed", s.slope_allowed),
            ("correlation_r", s.correlation.unwrap()),
        ] {
            let expected = expected[key].as_f64().unwrap();
            assert!((got - expected).abs() <= 1e-6, "{name} {key}: {got} instead of {expected}");
        }
        assert_eq!(s.steady, expected["steady"].as_bool().unwrap(), "{name}");
    }
}
