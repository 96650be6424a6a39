//! Tests which program is run and how malformed responses are handled.

use super::*;

#[test]
fn programs_are_tried_in_their_order() {
    let shown = include_str!("../../../../../admin/src/storcli/answers/controller.json");
    let script = Script::default()
        .missing("storcli64 /c0 show J nolog")
        .answers("storcli /c0 show J nolog", shown)
        .answers("storcli /c0 show J nolog", shown);
    let version = with(script, |controller| {
        controller.version()?;
        controller.version()
    });
    let expected =
        "storcli 007.1907.0000.0000 Sep 13, 2021, AVAGO MegaRAID SAS 9361-8i, firmware 4.680.00-8417";
    assert_eq!(version.as_deref().ok(), Some(expected));
    let mut script = Script::default();
    for program in PERCCLI {
        script = script.missing(&format!("{program} /c1 show J nolog"));
    }
    let mut controller = StorCli::new(script, Program::PercCli, 1);
    let error = controller.version().expect_err("none is there");
    assert_eq!(error.kind(), ErrorKind::Unusable);
    assert!(matches!(of_array(error), ArrayError::NoProgram(PERCCLI)));
    controller.outside.over();
    let script = Script::default().fails("storcli64 /c0 show J nolog", "Segmentation fault");
    let error = with(script, |controller| controller.version()).expect_err("no answer");
    let unreadable = of_array(error);
    assert!(
        matches!(&unreadable, ArrayError::Response { printed, .. } if printed == "Segmentation fault"),
        "{unreadable:?}"
    );
    let script =
        Script::default().answers("storcli64 /c0 show J nolog", &failure("Controller 0 not found", "-"));
    let error = with(script, |controller| controller.version()).expect_err("no controller");
    assert!(of_command(error).cause.is_some_and(|cause| cause.contains("run as root")));
}
