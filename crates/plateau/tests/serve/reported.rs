//! The page of a complete run is its report.

use crate::lab_server::{Server, demo, in_progress};
use crate::support::Bench;

fn main_of(page: &str) -> &str {
    let begin = page.find("<main>").unwrap_or_else(|| panic!("no main part: {page}"));
    page[begin..].split_inclusive("</main>").next().unwrap_or_default()
}

#[test]
fn the_page_of_a_complete_run_is_its_report_with_navigation_and_forms() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let page = server.get(&format!("/runs/{run}"), &cookie);
    let report = server.get(&format!("/runs/{run}/report"), &cookie).body;
    assert_eq!(main_of(&page.body), main_of(&report));
    for part in
        ["href=\"/drives\"", "name=\"tag\"", "/archive\"", "/export/json-file\"", "Equivalent command line"]
    {
        assert!(page.body.contains(part) && !report.contains(part), "{part}");
    }
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
    assert_eq!(
        page.body.matches("<script>").count(),
        1,
        "only the script of the report, whose hash is permitted"
    );
    assert_eq!(
        server.get(&format!("/runs/{run}/page"), &cookie).status,
        200,
        "its summary can still be saved"
    );

    let _lock = in_progress(&bench, &run);
    let live = server.get(&format!("/runs/{run}"), &cookie).body;
    assert!(live.contains("/static/live.js") && live.contains("Steady-state window"), "{live}");
    assert!(
        !live.contains("style=\"") && !live.contains("<script>"),
        "the policy forbids inline style and script"
    );
}
