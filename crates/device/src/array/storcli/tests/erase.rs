//! Tests purging members with scripts.

use record::PurgeEvidence;

use super::*;

fn purge(script: Script, more: &str, options: &PurgeOptions) -> Result<(Vec<Purged>, Vec<f64>), DriveError> {
    let mut shares = Vec::new();
    let purged = with(script, |controller| {
        controller.purge(&plan(more), options, Clock::start(), &mut |progress| {
            if let Purging::ShareDone(share) = progress {
                shares.push(share);
            }
            Flow::Continue
        })
    });
    purged.map(|purged| (purged, shares))
}

#[test]
fn members_that_are_not_purged_are_reported_as_such() {
    let (purged, _) = purge(Script::default(), "", &PurgeOptions::default()).expect("nothing to do");
    assert_eq!(purged.len(), 3);
    assert!(purged.iter().all(|one| !one.pts_purge && one.method.contains("were not purged")));
    for options in [
        PurgeOptions { method: Some("overwrite".into()), ..PurgeOptions::default() },
        PurgeOptions { verify: true, ..PurgeOptions::default() },
    ] {
        let error = purge(Script::default(), "", &options).expect_err("it cannot");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn an_erase_is_begun_on_all_members_and_waited_for() {
    let started = answer("Start Drive Erase Succeeded.", "");
    let mut script = looked(Script::default());
    for i in 0..3 {
        script = script.answers(&format!("storcli64 /c0/e252/s{i} start erase simple J nolog"), &started);
    }
    for text in [
        include_str!("../../../../../admin/src/storcli/answers/erase_runs.json"),
        include_str!("../../../../../admin/src/storcli/answers/erase_idle.json"),
    ] {
        for i in 0..3 {
            script = script.answers(&format!("storcli64 /c0/e252/s{i} show erase J nolog"), text);
        }
    }
    let script = looked(script);
    let (purged, shares) = purge(script, "purge = \"simple\"", &PurgeOptions::default()).expect("erased");
    // Progress is reported every second, but the controller is queried only every five seconds.
    assert!(shares.len() == 5 && shares.iter().all(|share| (share - 0.39).abs() < 1e-9), "{shares:?}");
    assert!(purged.iter().all(|one| !one.pts_purge), "nobody saw its effect");
    assert!(
        purged[0].method.contains("one overwrite pass")
            && purged[0].evidence == [PurgeEvidence::ControllerErased { cryptographic: false }]
    );
}

#[test]
fn a_stopped_wait_reports_that_the_controller_continues() {
    let started = answer("Start Drive Erase Succeeded.", "");
    let mut script = looked(Script::default());
    for i in 0..3 {
        script = script.answers(&format!("storcli64 /c0/e252/s{i} start erase simple J nolog"), &started);
    }
    for i in 0..3 {
        let runs = include_str!("../../../../../admin/src/storcli/answers/erase_runs.json");
        script = script.answers(&format!("storcli64 /c0/e252/s{i} show erase J nolog"), runs);
    }
    // All steps of the script must be used: no other query and no stop command is sent to the controller.
    let mut looks = 0;
    let stopped = with(script, |controller| {
        controller.purge(
            &plan("purge = \"simple\""),
            &PurgeOptions::default(),
            Clock::start(),
            &mut |progress| {
                looks += u32::from(matches!(progress, Purging::ShareDone(_)));
                if looks < 3 { Flow::Continue } else { Flow::Stop }
            },
        )
    });
    let error = stopped.expect_err("it was stopped");
    assert_eq!((error.kind(), looks), (ErrorKind::Stopped, 3));
    let ArrayError::EraseContinues { program, members } = of_array(error) else { panic!("another error") };
    assert_eq!((program, members.len(), members[0].as_str()), ("storcli64", 3, "/c0/e252/s0"));
}

#[test]
fn an_erase_that_fails_stops_the_run() {
    let begun = |answers: [&str; 3]| {
        let mut script = looked(Script::default());
        for (i, text) in answers.iter().enumerate() {
            script = script.answers(&format!("storcli64 /c0/e252/s{i} start erase simple J nolog"), text);
        }
        script
    };
    let started = answer("Start Drive Erase Succeeded.", "");
    let refused = failure("Start Drive Erase Failed.", "device state doesn't support requested command");
    let script =
        looked(Script::default()).answers("storcli64 /c0/e252/s0 start erase simple J nolog", &refused);
    let error = purge(script, "purge = \"simple\"", &PurgeOptions::default()).expect_err("refused");
    let (address, serial) = ("/c0/e252/s0".to_owned(), "S0".to_owned());
    assert_eq!(of_command(error).step, ControllerStep::Erase { address, serial });
    let failed = include_str!("../../../../../admin/src/storcli/answers/erase_runs.json")
        .replace("In progress", "Failed");
    let script = begun([&started; 3]).answers("storcli64 /c0/e252/s0 show erase J nolog", &failed);
    let error = purge(script, "purge = \"simple\"", &PurgeOptions::default()).expect_err("failed");
    let failed = of_array(error);
    assert!(matches!(&failed, ArrayError::EraseFailed { status, .. } if status == "Failed"), "{failed:?}");
    let mut script = begun([&started; 3]);
    for i in 0..3 {
        let done = include_str!("../../../../../admin/src/storcli/answers/erase_idle.json");
        script = script.answers(&format!("storcli64 /c0/e252/s{i} show erase J nolog"), done);
    }
    let script = script.answers("storcli64 /c0/e252/s0 show all J nolog", &drive(0).replace("UGood", "UBad"));
    let error = purge(script, "purge = \"simple\"", &PurgeOptions::default()).expect_err("broken by it");
    assert!(error.to_string().contains("bad"), "{error}");
}

#[test]
fn a_drive_without_a_key_is_not_erased_by_one() {
    let script = Script::default().answers("storcli64 /c0/e252/s0 show all J nolog", &drive(0));
    let error = purge(script, "purge = \"crypto\"", &PurgeOptions::default()).expect_err("no key");
    let without = of_array(error);
    assert!(matches!(&without, ArrayError::NoCryptoErase { serial, .. } if serial == "S0"), "{without:?}");
}
