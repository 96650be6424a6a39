//! The graphs of the shipped dashboard as a page of Prometheus, because Debian has no Grafana.

use anyhow::Context as _;
use serde_json::Value;

/// How far back the graphs reach.
const RANGE: &str = "15m";

/// Returns a page that leads to Prometheus's own page with the graphs over time of a dashboard, for all hosts. `path` is the
/// path of Prometheus's page.
///
/// # Errors
/// Returns an error if `dashboard` is not a dashboard of Grafana.
pub fn page(path: &str, dashboard: &str) -> anyhow::Result<String> {
    let dashboard: Value = serde_json::from_str(dashboard)?;
    let panels = dashboard["panels"].as_array().context("the dashboard has no panels")?;
    let graphs = panels.iter().filter(|panel| panel["type"] == "timeseries");
    let targets = graphs.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries = targets.filter_map(|target| target["expr"].as_str());
    let parameters = |(number, query): (usize, &str)| {
        let query = encoded(&query.replace("$instance", ".*"));
        format!("g{number}.expr={query}&amp;g{number}.tab=0&amp;g{number}.range_input={RANGE}")
    };
    let all: Vec<String> = queries.enumerate().map(parameters).collect();
    let url = format!("{path}?{}", all.join("&amp;"));
    Ok(format!(
        "<!DOCTYPE html>\n<title>Graphs</title>\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n"
    ))
}

/// Encodes a text for use in a URL.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_graph_of_the_dashboard() {
        let dashboard = include_str!("../../dist/monitoring/grafana-dashboard.json");
        let page = page("/graph", dashboard).expect("a page");
        let graphs = dashboard.matches("\"timeseries\"").count();
        assert!(graphs > 5 && page.matches(".expr=%").count() == graphs, "{graphs}: {page}");
        assert!(page.contains("url=/graph?g0.expr=%") && page.contains("&amp;g1.expr=%"), "{page}");
        // Prometheus would replace what is between two braces.
        assert!(!page.contains('{') && !page.contains('$'), "{page}");
        assert!(super::page("/graph", "{}").is_err());
    }
}
