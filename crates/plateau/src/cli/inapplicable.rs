//! Options that do not apply to a simulated drive. They are refused rather than ignored, because a user who
//! specifies one expects it to have an effect. Settings in a plan may be meant for other targets and are not
//! refused.

use plans::settings::Given;

use crate::failure::{Done, Exit, Failure};
use crate::run::request::RunRequest;

/// Returns the first target if all targets are simulated drives.
pub fn all_simulated(requests: &[RunRequest]) -> Option<&str> {
    let is_simulated = |each: &RunRequest| each.target.starts_with("sim:");
    requests.first().filter(|_| requests.iter().all(is_simulated)).map(|first| &*first.target)
}

/// Rejects the first option that does not apply to `target`.
pub fn check<'a>(target: &str, typed: impl IntoIterator<Item = &'a Given>, erase: &[String]) -> Done {
    if !target.starts_with("sim:") {
        return Ok(());
    }
    match first(typed, erase) {
        None => Ok(()),
        Some((option, why)) => {
            let text = format!("--{option} does not apply to {target}, a simulated drive: {why}; omit it");
            Err(Failure::text(Exit::Usage, text))
        }
    }
}

fn first<'a>(
    typed: impl IntoIterator<Item = &'a Given>,
    erase: &[String],
) -> Option<(&'static str, &'static str)> {
    let setting = typed.into_iter().find_map(|given| {
        let setting = given.setting();
        setting.no_meaning_simulated.map(|why| (setting.name, why))
    });
    let erased = || ("erase", "it is created for each run, so it contains no data");
    setting.or_else(|| (!erase.is_empty()).then(erased))
}

#[cfg(test)]
mod tests {
    use plans::settings::{Literal, setting};

    use super::*;

    #[test]
    fn only_simulated_drives_refuse_inapplicable_options() {
        let tune = [Given::new(setting("tune").unwrap(), Literal::Flag(true)).unwrap()];
        assert!(check("/dev/nvme0n1", &tune, &["S1".into()]).is_ok());
        let failure = check("sim:sas-slc-2011", &tune, &[]).expect_err("it means nothing");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message().starts_with("--tune does not apply to sim:sas-slc-2011"));
        assert!(check("sim:sas-slc-2011", &[], &[]).is_ok());
        assert!(check("sim:sas-slc-2011", &[], &["S1".into()]).is_err());
    }
}
