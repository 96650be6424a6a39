//! `plateau publish`: a library as a static site.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lab_server::Server;
use support::Bench;

const FAST: [&str; 6] =
    ["--scale=1/1024", "--max-rounds=5", "--profile=pts-e-1.0", "--tc=1", "--qd=2", "iops"];

fn run(bench: &Bench, model: &str, more: &[&str]) -> String {
    let document = bench.json(&[&["run", model], &FAST[..], more].concat());
    document["run"].as_str().expect("an id").to_owned()
}

fn site(bench: &Bench) -> String {
    bench.path("site").to_str().expect("text").to_owned()
}

/// Every file in a folder, as a path relative to that folder.
fn files(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(dir).expect("below it");
                found.insert(relative.to_str().expect("text").to_owned());
            }
        }
    }
    found
}

/// The values of all `href` and `src` attributes on a page.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for attribute in [" href=\"", " src=\""] {
        for rest in page.split(attribute).skip(1) {
            links.push(rest.split('"').next().expect("a value").to_owned());
        }
    }
    links
}

/// Checks that every link on every page refers to a file in the site; returns the files that can be reached.
fn reached(site: &Path) -> BTreeSet<String> {
    let root = site.canonicalize().expect("a folder");
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    let mut waiting = vec!["index.html".to_owned()];
    while let Some(path) = waiting.pop() {
        if !path.ends_with(".html") {
            continue;
        }
        let page = support::text(&root.join(&path));
        let folder = root.join(&path).parent().expect("a folder").to_owned();
        for link in links(&page) {
            let target = link.split('#').next().expect("a part");
            if target.is_empty() || target.starts_with("data:") {
                continue;
            }
            // Reports and comparisons credit their source.
            if target.starts_with("https://") && path.matches('/').count() > 0 && !path.starts_with("drives/")
            {
                continue;
            }
            let found = folder.join(target).canonicalize().unwrap_or_else(|e| panic!("{path}: {link}: {e}"));
            let found =
                found.strip_prefix(&root).unwrap_or_else(|_| panic!("{path}: {link} leaves the site"));
            let found = found.to_str().expect("text").to_owned();
            if reached.insert(found.clone()) {
                waiting.push(found);
            }
        }
    }
    reached
}

/// The sheets of a report.
fn pages(report: &str) -> &str {
    let (_, rest) = report.split_once("<main>").expect("sheets");
    rest.split_once("</main>").expect("an end").0
}

#[test]
fn every_link_of_a_site_leads_to_one_of_its_files() {
    let bench = Bench::new();
    let first = run(&bench, "sim:sas-slc-2011", &["--name=<script>alert(1)", "--note=a \u{202e}note"]);
    let second = run(&bench, "sim:sata-mlc-2011", &["--tag=x"]);
    let (dir, document) = (bench.path("site"), bench.json(&["publish", &site(&bench)]));
    assert_eq!((&document["runs"], &document["comparisons"]), (&2.into(), &1.into()), "{document}");
    let mut expected = files(&dir);
    assert_eq!(document["files"], expected.len() - 1, "without the manifest");
    assert!(expected.remove("plateau-site.json"));
    assert_eq!(reached(&dir), expected, "no link is broken, and no file is left without a link");
    for id in [&first, &second] {
        for name in [page_of(id), format!("runs/{id}/{id}.pdf")] {
            assert!(expected.contains(&name), "{name} in {expected:#?}");
        }
    }
    let home = support::text(&dir.join("index.html"));
    assert!(home.contains("&lt;script&gt;alert(1)") && !home.contains("<script"), "{home}");
    for page in expected.iter().filter(|path| path.ends_with(".html")) {
        let page = support::text(&dir.join(page));
        assert!(!page.contains("<form"), "{page}");
    }
    let page = support::text(&dir.join(page_of(&first)));
    assert!(
        page.contains("&lt;script&gt;alert(1)")
            && page.contains("Note: a ")
            && !page.contains("<script>alert")
    );
    let own = bench.path("own.html");
    bench.ok(&["report", &first, own.to_str().expect("text")]);
    assert_eq!(pages(&page), pages(&support::text(&own)), "the report is that of `plateau report`");
}

#[test]
fn a_site_follows_its_library() {
    let bench = Bench::new();
    let first = run(&bench, "sim:sas-slc-2011", &["--tag=kept"]);
    let second = run(&bench, "sim:sata-mlc-2011", &[]);
    let (dir, site) = (bench.path("site"), site(&bench));
    bench.ok(&["publish", &site]);
    std::fs::write(dir.join("CNAME"), "ssd.example\n").expect("written");
    let whole = files(&dir);
    let written =
        |path: &str| std::fs::metadata(dir.join(path)).and_then(|file| file.modified()).expect("a time");
    let report = page_of(&first);
    let before = written(&report);

    let again = bench.json(&["publish", &site]);
    assert_eq!((&again["runs"], &again["unchanged"]), (&2.into(), &2.into()), "{again}");
    assert_eq!((files(&dir), written(&report)), (whole.clone(), before));

    // A missing file is written again, and an added label is published.
    std::fs::remove_file(dir.join(page_of(&second))).expect("removed");
    bench.ok(&["tag", &first, "new"]);
    let repaired = bench.json(&["publish", &site]);
    assert_eq!(repaired["unchanged"], 0, "{repaired}");
    assert_eq!(files(&dir), whole);
    assert!(support::text(&dir.join(&report)).contains("new"));

    // Runs that are no longer selected are removed; other files remain.
    let fewer = bench.json(&["publish", &site, "--tag", "kept"]);
    assert_eq!((&fewer["runs"], &fewer["comparisons"]), (&1.into(), &0.into()), "{fewer}");
    let left = files(&dir);
    assert!(left.contains("CNAME") && left.contains(&report), "{left:?}");
    assert!(
        !left.iter().any(|path| path.contains(&second)) && !dir.join("runs").join(&second).exists(),
        "{left:?}"
    );
    assert_eq!(left.iter().filter(|path| path.starts_with("compare/")).count(), 0);
}

#[test]
fn nothing_is_written_outside_a_site() {
    let bench = Bench::new();
    let id = run(&bench, "sim:sas-slc-2011", &[]);
    let inside = bench.library().join("site");
    let error = bench.fails(2, &["publish", inside.to_str().expect("text")]);
    assert!(error.contains("is in the library"), "{error}");
    assert!(!inside.exists());

    // A folder that contains someone else's site.
    let (dir, path) = (bench.path("site"), site(&bench));
    std::fs::create_dir(&dir).expect("created");
    std::fs::write(dir.join("index.html"), "mine").expect("written");
    let error = bench.fails(2, &["publish", &path]);
    assert!(error.contains("not a site"), "{error}");
    assert_eq!(files(&dir), BTreeSet::from(["index.html".to_owned()]));
    std::fs::remove_file(dir.join("index.html")).expect("removed");

    // A link to another folder in place of a folder.
    let victim = bench.path("victim");
    std::fs::create_dir(&victim).expect("created");
    std::fs::write(victim.join(format!("{id}.html")), "mine").expect("written");
    bench.ok(&["publish", &path]);
    std::fs::remove_dir_all(dir.join("runs")).expect("removed");
    std::os::unix::fs::symlink(&victim, dir.join("runs")).expect("a link");
    let error = bench.fails(2, &["publish", &path]);
    assert!(error.contains("is a symbolic link"), "{error}");
    assert_eq!(support::text(&victim.join(format!("{id}.html"))), "mine");
    std::fs::remove_file(dir.join("runs")).expect("removed");

    // A manifest that names other files.
    for name in ["../victim/x", "/etc/passwd", ".git/config", "runs/../../victim/x"] {
        let manifest = format!("{{ \"format\": 1, \"files\": [{name:?}], \"runs\": {{}} }}");
        std::fs::write(dir.join("plateau-site.json"), manifest).expect("written");
        let error = bench.fails(2, &["publish", &path]);
        assert!(error.contains("cannot be a file of a site"), "{error}");
    }
    assert_eq!(support::text(&victim.join(format!("{id}.html"))), "mine");
}

fn page_of(id: &str) -> String {
    format!("runs/{id}.html")
}

/// Kills the command that publishes all runs while it writes the files of one of the runs `ids`.
fn killed(bench: &Bench, ids: &[String]) {
    let mut publishing = bench.start(&["publish", &site(bench)]);
    let is_there = |id: &String| bench.path("site").join("runs").join(id).exists();
    let begun = std::time::Instant::now();
    while !ids.iter().any(is_there) && publishing.try_wait().expect("a state").is_none() {
        assert!(begun.elapsed().as_secs() < 120, "no run appears");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    publishing.kill().expect("killed");
    publishing.wait().expect("ended");
}

#[test]
fn a_publication_that_was_killed_is_completed_or_replaced() {
    let bench = Bench::new();
    let ids = ["--seed=1", "--seed=2", "--seed=3"].map(|seed| run(&bench, "sim:sas-slc-2011", &[seed]));
    bench.ok(&["tag", &ids[0], "kept"]);
    let (dir, path) = (bench.path("site"), site(&bench));
    killed(&bench, &ids);
    let document = bench.json(&["publish", &path]);
    assert_eq!(document["runs"], 3, "{document}");
    let mut whole = files(&dir);
    assert!(whole.remove("plateau-site.json"));
    assert_eq!(reached(&dir), whole);
    // Nothing remains of runs published by mistake, even if one of their published files is missing.
    std::fs::remove_dir_all(&dir).expect("removed");
    killed(&bench, &ids[1..]);
    let _ = std::fs::remove_file(dir.join(page_of(&ids[1])));
    let document = bench.json(&["publish", &path, "--tag", "kept"]);
    assert_eq!(document["runs"], 1, "{document}");
    let mut whole = files(&dir);
    assert!(whole.remove("plateau-site.json"));
    assert_eq!(reached(&dir), whole);
    assert!(!whole.iter().any(|path| path.contains(&ids[1]) || path.contains(&ids[2])), "{whole:?}");
}

#[test]
fn a_site_needs_no_server() {
    if Command::new("chromium").arg("--version").output().is_err() {
        skips::without("chromium");
        return;
    }
    let bench = Bench::new();
    let id = run(&bench, "sim:sas-slc-2011", &[]);
    bench.ok(&["publish", &site(&bench)]);
    for page in ["index.html".to_owned(), "drives.html".into(), page_of(&id)] {
        let output = Command::new("timeout")
            .args(["300", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom"])
            .arg(format!("--user-data-dir={}", bench.path("profile").display()))
            .arg(format!("file://{}", bench.path("site").join(&page).display()))
            .output()
            .expect("a browser");
        let (dom, errors) = support::texts(&output);
        assert!(output.status.success() && dom.contains("Published with Plateau"), "{page}: {dom}\n{errors}");
        let complaints: Vec<&str> = errors.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(complaints.is_empty(), "{page}: {complaints:?}");
    }
}

/// A one-pixel image.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\xdac\xf8\x0f\0\x01\x01\
                         \x01\0\x1c\xb0\x8c\x99\0\0\0\0IEND\xaeB`\x82";

#[test]
fn every_report_of_a_run_is_the_same() {
    let bench = Bench::new();
    std::fs::write(bench.path("logo.png"), PICTURE).expect("a picture");
    let plan = "title = \"T\"\ntests = [\"lat\"]\nprofile = \"pts-e-1.0\"\n[publisher]\nlogo = \"logo.png\"\n\
                sponsor = \"Somebody\"\nauditor = \"Nobody\"\nnotes = [\"as it came\"]\n";
    std::fs::write(bench.path("plan.toml"), plan).expect("a plan");
    let plan = bench.path("plan.toml").to_str().expect("text").to_owned();
    let document = bench.json(&["run", "--plan", &plan, "sim:sas-slc-2011", "--scale=1/1024"]);
    let id = document["run"].as_str().expect("an id");
    let (html, json) = (bench.path("own.html"), bench.path("own.json"));
    bench.ok(&["report", id, html.to_str().expect("text"), json.to_str().expect("text")]);
    let (html, json) = (support::text(&html), support::text(&json));
    for words in ["Somebody", "Nobody", "as it came", "data:image/png;base64,"] {
        assert!(html.contains(words), "{words}");
    }
    bench.ok(&["publish", &site(&bench)]);
    let of_site = bench.path("site").join("runs");
    let page = support::text(&of_site.join(format!("{id}.html")));
    assert!(page.contains("data:image/png;base64,") && pages(&page) == pages(&html), "{page}");
    assert_eq!(support::text(&of_site.join(id).join(format!("{id}.json"))), json);
    let server = Server::start(&bench);
    let cookie = server.enter();
    assert_eq!(server.get(&format!("/runs/{id}/report"), &cookie).body, html);
    let export = server.get(&format!("/runs/{id}/export/json-file"), &cookie);
    assert_eq!(export.body, json);
    let export = server.get(&format!("/runs/{id}/export/fio-json"), &cookie);
    let name = export.header("content-disposition").expect("a name");
    assert!(name.contains(&format!("{id}.fio.json")), "{name}");
    // A replaced logo is reported everywhere.
    std::fs::write(bench.library().join(id).join("logo"), [PICTURE, b"x"].concat()).expect("replaced");
    let error = bench.fails(6, &["publish", bench.path("second").to_str().expect("text")]);
    assert!(error.contains("is not the image with which the run started"), "{error}");
    let report = server.get(&format!("/runs/{id}/report"), &cookie);
    assert!(report.status == 500 && report.body.contains("is not the image"), "{}", report.body);
    let page = server.get(&format!("/runs/{id}"), &cookie);
    assert!(page.status == 200 && page.body.contains("There is no report: "), "{}", page.head);
    assert!(page.body.contains("is not the image") && page.body.contains("Tags and notes"), "{}", page.body);
}

#[test]
fn a_failed_publication_prints_one_document() {
    let bench = Bench::new();
    run(&bench, "sim:sas-slc-2011", &[]);
    let damaged = run(&bench, "sim:sata-mlc-2011", &[]);
    let journal = bench.library().join(&damaged).join("journal");
    let text = support::text(&journal);
    std::fs::write(&journal, text.replacen("\"seq\":1", "\"seq\":2", 1)).expect("damaged");
    let output = bench.run(&["publish", &site(&bench), "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!((&document["runs"], &document["exit_code"]), (&1.into(), &6.into()), "{document}");
    assert_eq!(document["left_out"][0]["what"], damaged.as_str(), "{document}");
    assert!(
        document["error"].as_str().is_some_and(|error| error.contains("was not published")),
        "{document}"
    );
}

#[test]
fn an_id_that_ends_like_a_page_does_not_collide_with_it() {
    let bench = Bench::new();
    for id in ["a", "a.html"] {
        bench.ok(&[&["job", id], &FAST[5..], &["sim:sas-slc-2011"], &FAST[..5]].concat());
    }
    let document = bench.json(&["publish", &site(&bench)]);
    assert_eq!((&document["runs"], &document["left_out"]), (&2.into(), &serde_json::json!([])), "{document}");
    let mut written = files(&bench.path("site"));
    assert!(written.remove("plateau-site.json"));
    assert_eq!(reached(&bench.path("site")), written);
    for name in ["runs/a.html", "runs/a.html.html", "runs/a/a.fio.json", "runs/-a.html/a.html.fio.json"] {
        assert!(written.contains(name), "{name} in {written:#?}");
    }
    assert_eq!(bench.json(&["publish", &site(&bench)])["unchanged"], 2);
    let exported = bench.path("exported");
    bench.ok(&["export", "--all", "--fio-json", exported.to_str().expect("text")]);
    assert_eq!(files(&exported), BTreeSet::from(["a.fio.json".to_owned(), "a.html.fio.json".to_owned()]));
}

#[test]
fn a_folder_that_may_lead_into_the_library_is_refused() {
    let bench = Bench::new();
    run(&bench, "sim:sas-slc-2011", &[]);
    let library = bench.library();
    let name = library.file_name().expect("a name").to_str().expect("text");
    let beside = library.parent().expect("a folder").join("missing");
    let dir = format!("{}/../{name}/site", beside.display());
    let error = bench.fails(2, &["publish", &dir]);
    assert!(error.contains("`..` after a folder that does not exist"), "{error}");
    assert!(!library.join("site").exists() && !beside.exists());
    std::fs::create_dir(&beside).expect("a folder");
    assert!(bench.fails(2, &["publish", &dir]).contains("is in the library"));
    bench.ok(&["publish", &format!("{}/../site", beside.display())]);
}
