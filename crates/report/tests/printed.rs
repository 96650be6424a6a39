//! The report as a browser prints it. Skipped if Chromium or `pdftotext` is not installed.

mod fixture;

use std::fmt::Write as _;
use std::process::Command;

use fixture::Scenario;

/// Returns the texts of the printed pages; `None` if a program is missing.
fn printed(html: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let (page, pdf) = (folder.path().join("it.html"), folder.path().join("it.pdf"));
    std::fs::write(&page, html).unwrap();
    let browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"])
        // Wider than paper.
        .arg("--window-size=1400,1000")
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--no-pdf-header-footer", &format!("--print-to-pdf={}", pdf.display())])
        .arg(format!("file://{}", page.display()))
        .output();
    let Ok(browser) = browser else {
        skips::without("chromium");
        return None;
    };
    assert!(browser.status.success(), "{}", String::from_utf8_lossy(&browser.stderr));
    fixture::pages(&std::fs::read(&pdf).unwrap())
}

/// A summary page that just fits on the paper, or just does not, is never followed by an empty page.
#[test]
fn no_page_is_empty_whatever_the_length_of_a_summary() {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), &Scenario { restless: true, ..Scenario::default() });
    let html = report::html(&report::fold(&run.file, &loaded).unwrap());
    let sheets: Vec<usize> = html.match_indices("<section class=\"sheet").map(|(at, _)| at).collect();
    let (head, summary) = (&html[..html.find("<article").unwrap()], &html[sheets[1]..sheets[2]]);
    assert!(summary.starts_with("<section class=\"sheet summary\"") && summary.contains("</footer>"));
    let mut pages = head.to_owned();
    let lengths: Vec<usize> = (0..240).step_by(4).collect();
    for length in &lengths {
        let filler = format!("<div style=\"height:{length}px\"></div><footer><span>length {length} ");
        pages += &summary.replacen("<footer><span>", &filler, 1);
    }
    let _ = write!(pages, "</main></body></html>");
    let Some(texts) = printed(&pages) else { return };
    let empty: Vec<usize> = (0..texts.len()).filter(|page| !texts[*page].contains("length ")).collect();
    // The last summaries do not fit on one page.
    assert!(texts.len() > lengths.len(), "{} pages", texts.len());
    let is_first_part = |page: usize| texts.get(page + 1).is_some_and(|next| next.contains("length "));
    for page in empty {
        let words = texts[page].split_whitespace().count();
        assert!(words > 100 && is_first_part(page), "page {} has {words} words: {}", page + 1, texts[page]);
    }
}

/// Nothing folds while the browser prints: the header would be missing, and empty pages would follow the last one.
#[test]
fn a_report_that_is_printed_from_a_wide_window_is_unfolded_and_ends_with_its_last_page() {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), &Scenario { restless: true, ..Scenario::default() });
    let html = report::html(&report::fold(&run.file, &loaded).unwrap());
    let Some(texts) = printed(&html) else { return };
    let empty: Vec<usize> = (0..texts.len()).filter(|page| texts[*page].trim().is_empty()).collect();
    assert!(empty.is_empty(), "of {} pages, these are empty: {empty:?}", texts.len());
    let reports: Vec<&String> = texts.iter().filter(|text| text.contains("Report Page")).collect();
    assert!(reports.len() > 2 && reports.iter().all(|text| text.contains("Serial No.")), "{reports:?}");
}
