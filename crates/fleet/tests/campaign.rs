//! Generates the Slurm configuration and the scripts of a campaign from the drive lists of three hosts.

use std::collections::BTreeMap;
use std::path::Path;

use fleet::{
    Campaign, Expected, Inventory, Job, Place, Program, at, batches, dependencies, gres_conf, jobs,
    nodes_conf, queue, script,
};

const CAMPAIGN: &str = include_str!("golden/campaign.toml");

fn inventory(names: &[&str]) -> Inventory {
    let listed = |name: &&str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.list.json"));
        let text = std::fs::read_to_string(&path).expect("a list");
        ((*name).to_owned(), Inventory::parse_list(name, &text).expect("a list"))
    };
    Inventory::of(&names.iter().map(listed).collect()).expect("an inventory")
}

/// Compares text with a file; `PLATEAU_BLESS=1` writes the file instead.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let expected = std::fs::read_to_string(&path).expect("a golden file");
    assert_eq!(text, expected, "{name}: compare the two, then accept with PLATEAU_BLESS=1");
}

#[test]
fn configuration_and_scripts_are_as_in_the_golden_files() {
    let inventory = inventory(&["alpha", "beta"]);
    golden("gres.conf", &gres_conf(&inventory));
    let more = BTreeMap::from([("alpha".to_owned(), "CPUs=32 RealMemory=64000".to_owned())]);
    golden("nodes.conf", &nodes_conf(&inventory, &more));
    let campaign = Campaign::parse(CAMPAIGN).expect("a campaign");
    let drives = campaign.select(&inventory).expect("drives");
    let program = Program {
        path: "/usr/bin/plateau".into(),
        library: "/srv/plateau runs".into(),
        logs: "/srv/logs".into(),
    };
    let scripts: Vec<String> = jobs(&campaign, &inventory, &drives)
        .iter()
        .map(|job| script(&[job], &program, 90).expect("a script"))
        .collect();
    assert_eq!(scripts.len(), drives.len() * 2 * 2);
    golden("scripts.txt", &scripts.join("\n"));
}

#[test]
fn repetitions_are_tasks_of_one_array_if_the_campaign_asks_for_it() {
    let inventory = inventory(&["alpha", "beta"]);
    let program = Program { path: "p".into(), library: "l".into(), logs: "o".into() };
    let of = |more: &str| {
        let campaign = Campaign::parse(&CAMPAIGN.replacen("repetitions = 2", more, 1)).expect("a campaign");
        let drives = campaign.select(&inventory).expect("drives");
        (jobs(&campaign, &inventory, &drives), campaign)
    };
    let sizes = |(jobs, campaign): &(Vec<Job>, Campaign)| {
        let all: Vec<&Job> = jobs.iter().collect();
        batches(campaign, &all).iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(sizes(&of("repetitions = 2")), [1; 8]);
    assert_eq!(sizes(&of("repetitions = 3\narrays = true")), [3; 4]);
    let beyond = sizes(&of("repetitions = 1002\narrays = true"));
    assert_eq!(
        (beyond.len(), beyond[0], beyond[4]),
        (4 + 4 * 2, 1000, 1),
        "no array is larger than Slurm permits"
    );

    let (jobs, campaign) = of("repetitions = 3\narrays = true");
    // The second repetition is already complete.
    let missing: Vec<&Job> = jobs.iter().filter(|job| job.repetition != 2).collect();
    let array = &batches(&campaign, &missing)[0];
    let text = script(array, &program, 10).expect("a script");
    assert!(text.contains("#SBATCH --job-name=qual-iops-A-1\n#SBATCH"), "{text}");
    assert!(text.contains("--array=1,3%1") && text.contains("--output=o/qual-iops-A-1-%a.log"), "{text}");
    assert!(text.contains("job qual-iops-A-1-\"${SLURM_ARRAY_TASK_ID:?}\" iops serial:A-1"), "{text}");
    assert!(!text.contains("singleton"), "{text}");
    let single = script(&array[..1], &program, 10).expect("a script");
    assert!(single.contains("--job-name=qual-iops-A-1-1\n") && !single.contains("ARRAY"), "{single}");
}

#[test]
fn a_job_checks_its_drive_first_unless_the_campaign_says_otherwise() {
    let inventory = inventory(&["alpha", "beta"]);
    let program = Program { path: "p".into(), library: "l".into(), logs: "o".into() };
    let first = |more: &str| {
        let campaign = Campaign::parse(&format!("{more}\n{CAMPAIGN}")).expect("a campaign");
        let drives = campaign.select(&inventory).expect("drives");
        script(&[&jobs(&campaign, &inventory, &drives)[0]], &program, 10).expect("a script")
    };
    let checked = |text: &str| text.lines().filter(|line| line.contains("fleet check")).count();
    assert!(first("").contains("\np fleet check serial:A-1 || exit\nexec p "));
    assert_eq!(checked(&first("unchecked = true")), 0);
    let limited = first("limits = { max-temperature = 60, min-spare = 10, max-used = 90 }");
    let line =
        "\np fleet check serial:A-1 --max-temperature=60 --min-spare=10 --max-used=90 || exit\nexec p ";
    assert!(limited.contains(line), "{limited}");
    let unknown = Campaign::parse(&format!("limits = {{ max-age = 1 }}\n{CAMPAIGN}"));
    assert!(unknown.is_err_and(|error| error.to_string().contains("max-age")));
}

#[test]
fn one_job_at_a_time_uses_an_enclosure_if_the_campaign_asks_for_it() {
    let drive = |identity: &str, enclosure: &str| {
        format!(r#"{{"path": "/dev/{identity}", "kind": "SAS", "identity": "{identity}"{enclosure}}}"#)
    };
    let shared = r#", "enclosure": {"id": "0x5003048001a2b37f"}"#;
    let local = r#", "enclosure": {"local": "6:0:12:0"}"#;
    let lists = [
        ("n1", [drive("A", shared), drive("B", local), drive("C", local), drive("D", "")]),
        ("n2", [drive("E", shared), drive("F", local), drive("G", ""), drive("H", r#", "enclosure": null"#)]),
    ];
    let listed = |(host, drives): &(&str, [String; 4])| {
        let list = Inventory::parse_list(host, &format!("[{}]", drives.join(","))).expect("a list");
        ((*host).to_owned(), list)
    };
    let inventory = Inventory::of(&lists.iter().map(listed).collect()).expect("an inventory");
    assert_eq!(Inventory::parse(&inventory.json()).expect("an inventory"), inventory);
    let nodes = nodes_conf(&inventory, &BTreeMap::new());
    assert!(nodes.contains("\nLicenses=enclosure_0x5003048001a2b37f:1,n1_enclosure_6_0_12_0:1\n"), "{nodes}");
    let licenses = |contention: &str| {
        let text =
            format!("name = \"q\"\n{contention}\n[[drives]]\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n");
        let campaign = Campaign::parse(&text).expect("a campaign");
        let drives = campaign.select(&inventory).expect("drives");
        let jobs = jobs(&campaign, &inventory, &drives);
        jobs.into_iter().map(|job| job.licenses.join(",")).collect::<Vec<_>>()
    };
    let (of_all, of_n1) = ("enclosure_0x5003048001a2b37f", "n1_enclosure_6_0_12_0");
    assert_eq!(
        licenses("contention = \"avoid-in-enclosures\""),
        [of_all, of_n1, of_n1, "", of_all, "", "", ""],
        "the names of enclosures differ between hosts, their ids do not"
    );
    for contention in ["", "contention = \"avoid\"", "contention = \"allow\""] {
        assert_eq!(licenses(contention), [""; 8], "{contention}");
    }
}

#[test]
fn drives_are_selected_by_slot_and_a_change_of_slot_is_a_move() {
    let of = |slots: [&str; 3]| {
        let drive = |(identity, slot): (&str, &str)| {
            format!(
                r#"{{"path": "/dev/{identity}", "kind": "NVMe", "identity": "{identity}", "slot": {slot}}}"#
            )
        };
        let list: Vec<String> = ["A", "B", "C"].into_iter().zip(slots).map(drive).collect();
        let list = Inventory::parse_list("n1", &format!("[{}]", list.join(","))).expect("a list");
        Inventory::of(&BTreeMap::from([("n1".to_owned(), list)])).expect("an inventory")
    };
    let inventory = of([r#""Slot 01""#, r#""5""#, "null"]);
    assert_eq!(Inventory::parse(&inventory.json()).expect("an inventory"), inventory);
    let nodes = nodes_conf(&inventory, &BTreeMap::new());
    assert!(nodes.contains(" Feature=slot-5,slot-Slot_01\n"), "{nodes}");
    let selected = |slot: &str| {
        let text = format!(
            "name = \"q\"\n[[drives]]\nslot = \"{slot}\"\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n"
        );
        let drives =
            Campaign::parse(&text).expect("a campaign").select(&inventory).map_err(|e| e.to_string())?;
        Ok::<_, String>(drives.iter().map(|drive| drive.identity.clone()).collect::<Vec<_>>())
    };
    assert_eq!(selected("Slot 01").expect("a drive"), ["A"]);
    assert_eq!(selected("Slot_01").expect("a drive"), ["A"], "as in the feature");
    assert_eq!(selected("5").expect("a drive"), ["B"]);
    assert!(selected("6").is_err_and(|error| error.contains("matches a selection")));
    let changes = of([r#""Slot 02""#, "null", r#""7""#]).changes(&inventory);
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        ["moved     A  from n1:/dev/A (slot Slot_01) to n1:/dev/A (slot Slot_02)"],
        "an unknown slot is not another slot"
    );
}

/// A host reports its own devices, and `gres.conf` and `nodes.conf` are read on all hosts.
#[test]
fn a_path_that_a_host_reports_cannot_add_lines_or_devices_to_the_configuration() {
    for path in
        ["/dev/sda\nNodeName=beta Name=drive", "/dev/sda Flags=x", "/dev/sd[a-z]", "/dev/sda,/dev/sdb"]
    {
        let json = serde_json::json!([{ "path": path, "identity": "A-1" }]).to_string();
        let listed = Inventory::parse_list("alpha", &json).expect("a list");
        let inventory = Inventory::of(&BTreeMap::from([("alpha".to_owned(), listed)])).expect("an inventory");
        assert_eq!(inventory.unusable.len(), 1, "{path}");
        assert!(!gres_conf(&inventory).contains("/dev/"), "{path}");
    }
}

/// `slurmd` exits if drives with and without a device node have the same GRES name.
#[test]
fn simulated_drives_have_a_separate_gres_name() {
    let list = r#"[{"path": "/dev/sda", "kind": "SATA", "identity": "A1"},
        {"path": "sim:sas-slc-2011", "kind": "simulated", "identity": "D1"}]"#;
    let listed = Inventory::parse_list("n1", list).expect("a list");
    let inventory = Inventory::of(&BTreeMap::from([("n1".to_owned(), listed)])).expect("an inventory");
    let gres = gres_conf(&inventory);
    assert!(gres.contains("NodeName=n1 Name=drive Type=A1 File=/dev/sda\n"), "{gres}");
    assert!(gres.contains("NodeName=n1 Name=simulated Type=D1 Count=1\n"), "{gres}");
    let nodes = nodes_conf(&inventory, &BTreeMap::new());
    assert!(nodes.contains("GresTypes=drive,simulated\n"), "{nodes}");
    assert!(nodes.contains("NodeName=n1 Gres=drive:A1:1,simulated:D1:1"), "{nodes}");
    let campaign = Campaign::parse(
        "name = \"q\"\n[[drives]]\nidentities = [\"D1\"]\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n",
    );
    let campaign = campaign.expect("a campaign");
    let drives = campaign.select(&inventory).expect("drives");
    let program = Program { path: "p".into(), library: "l".into(), logs: "o".into() };
    let jobs = jobs(&campaign, &inventory, &drives);
    let text = script(&[&jobs[0]], &program, 10).expect("a script");
    assert!(text.contains("#SBATCH --gres=simulated:D1:1\n"), "{text}");
    // The rest of the option would become a command in the script.
    for logs in ["/srv/logs\ntouch /tmp/x #", "/srv/logs\r", "/srv/\u{1b}logs"] {
        let program = Program { logs: logs.into(), ..program.clone() };
        let error = script(&[&jobs[0]], &program, 10).expect_err("a control character").to_string();
        assert!(error.contains("control character") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn an_inventory_reports_what_changed_and_what_cannot_be_tested() {
    let earlier = inventory(&["alpha", "beta"]);
    let now = inventory(&["alpha", "gamma"]);
    let changes: Vec<String> = now.changes(&earlier).iter().map(ToString::to_string).collect();
    golden("changes.txt", &(changes.join("\n") + "\n"));
    assert_eq!(now.changes(&now), []);
    assert!(earlier.unusable.iter().any(|device| device.reason.contains("mounted")));
    assert_eq!(Inventory::parse(&earlier.json()).expect("an inventory"), earlier);
    let error = Inventory::of(&BTreeMap::from([
        ("a".to_owned(), Inventory::parse_list("a", &list("S1")).expect("a list")),
        ("b".to_owned(), Inventory::parse_list("b", &list("S1")).expect("a list")),
    ]));
    assert!(error.expect_err("one drive in two hosts").to_string().contains("both have the identity 'S1'"));
}

/// The list is made again while a campaign is running.
#[test]
fn a_drive_that_is_being_tested_stays_in_the_inventory() {
    let of = |earlier: &Inventory, list: &str| {
        let listed = Inventory::parse_list("n1", list).expect("a list");
        Inventory::after(earlier, &BTreeMap::from([("n1".to_owned(), listed)]))
    };
    let both = r#"[{"path": "/dev/sda", "identity": "S1", "links": ["l"]},
        {"path": "/dev/sdb", "identity": "S2", "links": ["l"]}]"#;
    let earlier = of(&Inventory::default(), both).expect("an inventory");
    let refused = r#"{"path": "/dev/sdc", "identity": "S1", "refusals": ["open by process 1 (plateau)"]"#;
    let list = |more: &str| format!(r#"[{refused}{more}}}, {{"path": "/dev/sdb", "identity": "S2"}}]"#);
    let now = of(&earlier, &list(r#", "in_use": true"#)).expect("an inventory");
    assert_eq!((now.drives.len(), now.unusable.len()), (2, 0));
    assert_eq!(now.drives[1].path, "/dev/sdc", "renamed in the meantime");
    assert_eq!(now.drives[1].links, ["l"]);
    assert!(gres_conf(&now).contains("Type=S1 File=/dev/sdc"));
    let changes: Vec<String> = now.changes(&earlier).iter().map(ToString::to_string).collect();
    assert!(
        changes.contains(&"busy      S1  n1:/dev/sdc: open by process 1 (plateau)".to_owned()),
        "{changes:?}"
    );
    assert!(!changes.iter().any(|change| change.starts_with("refused")), "{changes:?}");
    // A drive that is refused for other reasons, or that was never tested, is not a drive of the fleet.
    assert_eq!(of(&earlier, &list("")).expect("an inventory").unusable.len(), 1);
    let new = of(&Inventory::default(), &list(r#", "in_use": true"#)).expect("an inventory");
    assert_eq!((new.drives.len(), new.unusable.len()), (1, 1));
    let error = of(&earlier, "[]").expect_err("a command that has failed").to_string();
    assert!(error.contains("the last inventory has 2 drives"), "{error}");
    assert!(of(&Inventory::default(), "[]").is_ok());
}

#[test]
fn hosts_have_names_that_slurm_accepts() {
    for host in ["", "a b", "a\nNodeName=b", "a[1-3]", "a,b", "#a", "-a", "a=b"] {
        let error = Inventory::of(&BTreeMap::from([(host.to_owned(), Vec::new())]));
        let error = error.expect_err("a name that no node has").to_string();
        assert!(error.contains("is not a valid node name"), "{error}");
    }
    let listed = Inventory::parse_list("lab-1.example_2", &list("S1")).expect("a list");
    let inventory = Inventory::of(&BTreeMap::from([("lab-1.example_2".to_owned(), listed)]));
    // Anyone may have edited the file.
    let json = inventory.expect("an inventory").json();
    assert!(Inventory::parse(&json).is_ok());
    for host in ["a\\nNodeName=b", "a b", "", "-oProxyCommand=x"] {
        let edited = json.replace("lab-1.example_2", host);
        let error = Inventory::parse(&edited).expect_err("a name that no node has").to_string();
        assert!(error.contains("is not a valid node name"), "{error}");
        let unusable = format!(
            r#"{{"version": 1, "drives": [], "unusable": [{{"host": "{host}", "path": "/dev/sda", "identity": null, "reason": "r"}}]}}"#
        );
        assert!(Inventory::parse(&unusable).is_err(), "{host}");
    }
}

fn list(identity: &str) -> String {
    format!(
        r#"[{{"path": "/dev/sda", "kind": "SATA", "identity": "{identity}", "model": null, "capacity_bytes": 1}}]"#
    )
}

#[test]
fn errors_in_a_campaign_are_found_before_submission() {
    let inventory = inventory(&["alpha", "beta"]);
    let wrong = |from: &str, to: &str| {
        assert!(CAMPAIGN.contains(from), "{from}");
        let parsed = Campaign::parse(&CAMPAIGN.replacen(from, to, 1));
        match parsed.and_then(|campaign| campaign.select(&inventory).map(|_| ())) {
            Ok(()) => panic!("{to} is accepted"),
            Err(error) => error.to_string(),
        }
    };
    for (from, to, expected) in [
        ("name = \"qual\"", "name = \"a/b\"", "is not a valid name"),
        ("repetitions = 2", "repetitions = 0", "at least one repetition"),
        ("repetitions = 2", "repetitions = 10000", "the limit is"),
        ("repetitions = 2", "repetition = 2", "unknown field"),
        ("repetitions = 2", "time-limit-minutes = 2", "at least 10"),
        ("repetitions = 2", "time-limit-minutes = 0", "at least 10"),
        ("preset = \"quick\"", "", "needs one of"),
        ("name = \"short\"", "name = \"iops\"", "several plans"),
        ("options = [\"--seed\", \"7\"]", "options = [\"--erase\", \"S1\"]", "is set by"),
        ("options = [\"--seed\", \"7\"]", "options = [\"--restart-test\"]", "at every requeue"),
        ("\"A-1\"", "\"A-7\"", "has the identity 'A-7'"),
        ("\"A-1\"", "\"A-3\"", "mounted"),
        ("count = 1", "count = 5", "only 2 match"),
        ("model = \"beta\"", "model = \"delta\"", "is left"),
    ] {
        let error = wrong(from, to);
        assert!(error.contains(expected), "{to}: {error}");
    }
}

/// A purge or a workload that is interrupted starts again from its beginning.
#[test]
fn a_time_limit_leaves_time_for_the_longest_step() {
    let minutes = |minutes: u64| minutes * 60_000_000_000;
    let expected = Expected {
        longest_ns: minutes(300),
        purge_ns: minutes(20),
        step_ns: minutes(250),
        ..Expected::default()
    };
    assert_eq!(expected.time_limit(None), Ok(640), "twice the longest duration and the purge");
    assert_eq!(expected.time_limit(Some(252)), Ok(252));
    assert_eq!(expected.time_limit(Some(251)), Err(252));
    let slow_purge = Expected {
        longest_ns: minutes(50),
        purge_ns: minutes(170),
        step_ns: minutes(170),
        ..Expected::default()
    };
    assert_eq!(slow_purge.time_limit(None), Ok(440));
    assert_eq!(slow_purge.time_limit(Some(100)), Err(172));
    assert_eq!(Expected::default().time_limit(None), Ok(10));
    let sum = expected.and(slow_purge);
    assert_eq!((sum.step_ns, sum.purge_ns), (minutes(250), minutes(190)), "steps do not add up");
}

#[test]
fn jobs_start_after_those_that_use_the_same_drive() {
    let inventory = inventory(&["alpha", "beta"]);
    let campaign = Campaign::parse(CAMPAIGN).expect("a campaign");
    let drives = campaign.select(&inventory).expect("drives");
    let jobs = jobs(&campaign, &inventory, &drives);
    assert_eq!(dependencies(&[&jobs[0]], &[]), None, "the script contains its own dependency");
    assert_eq!(dependencies(&[&jobs[0]], &[7, 9]).as_deref(), Some("singleton,afterany:7:9"));
    assert_eq!(dependencies(&[&jobs[0], &jobs[1]], &[7]).as_deref(), Some("afterany:7"), "an array");
}

#[test]
fn the_queue_reports_the_state_of_jobs() {
    let text = "12|N/A|qual-iops-A-1-1|RUNNING|N/A|n1\n13|N/A|b|PENDING|N/A|(Resources)\n14|N/A|c|PENDING|N/A|(JobHeldUser)\n\
                15|N/A|d|COMPLETING|N/A|n2\n16|3|e|PENDING|N/A|(job requeued in held state)\n\
                17|N/A|f|PENDING|N/A|(launch failed requeued held)\n18|N/A|g|PENDING|N/A|(Dependency)\n";
    let names: Vec<String> = queue(text).expect("a queue").into_iter().map(|queued| queued.name).collect();
    assert_eq!(
        names,
        ["qual-iops-A-1-1", "b", "c", "d", "e-3", "f", "g"],
        "a task of an array has the id of its run"
    );
    let places: Vec<Place> = queue(text).expect("a queue").iter().map(at).collect();
    let waiting = Place::Waiting("Resources".into());
    let held = |reason: &str| Place::Held(reason.into());
    let expected = [
        Place::Running("n1".into()),
        waiting,
        held("JobHeldUser"),
        Place::Ending,
        held("job requeued in held state"),
        held("launch failed requeued held"),
        Place::AfterOthers,
    ];
    let is_unexplained: Vec<bool> = places.iter().map(Place::is_held_without_reason).collect();
    assert_eq!(is_unexplained, [false, false, true, false, false, false, false]);
    assert_eq!(places, expected);
    assert!(queue("slurm_load_jobs error").is_err());
}
