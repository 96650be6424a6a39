//! Names of simulated drives as users type them: `sim:` and a model's name or an unambiguous prefix of it, in
//! upper or lower case.

use std::path::Path;

use failure::{Done, Exit, Failure};
use nandsim::{MODELS, Model};
use stdx::nearest;

const PREFIX: &str = "sim:";
const ENDING: &str = ".toml";

/// Converts a target as typed to its stored form: a simulated drive gets its model's full name; other targets
/// are unchanged.
///
/// # Errors
/// Returns an error if the target is empty, or if no model or several models match.
pub fn target(typed: &str) -> Done<String> {
    if typed.trim().is_empty() {
        let text =
            "the target is empty (is a shell variable unset?); specify a block device, a file or sim:MODEL";
        return Err(Failure::text(Exit::Usage, text));
    }
    match simulated(typed) {
        Some(model) => in_full(typed, model).map_err(usage),
        None if Path::new(typed).exists() => Ok(typed.to_owned()),
        None => match built_in(typed) {
            Some(model) => Err(usage(lacks_prefix(typed, model))),
            None => Ok(typed.to_owned()),
        },
    }
}

/// Same as [`target`], but for a command that does not create files.
///
/// # Errors
/// Returns the errors of [`target`], and an error if neither a file nor a device has this name.
pub fn existing_target(typed: &str) -> Done<String> {
    let target = target(typed)?;
    // The names of arrays, and of drives on a RAID controller, contain a colon.
    if target.contains(':') || Path::new(&target).symlink_metadata().is_ok() {
        return Ok(target);
    }
    let device = format!("/dev/{typed}");
    let hint = match Path::new(&device).exists() {
        true => format!("did you mean {device}?"),
        false => "`plateau list` lists the block devices".into(),
    };
    Err(Failure::text(Exit::Unusable, format!("{typed}: no such file or device; {hint}")))
}

/// Returns the name of a model that was typed with or without `sim:`; `option` is empty for a positional
/// argument.
///
/// # Errors
/// Returns an error unless exactly one model matches.
pub fn model(option: &str, typed: &str) -> Done<String> {
    named(simulated(typed).unwrap_or(typed)).map_err(|why| usage(format!("{option}{typed}: {why}")))
}

/// Returns a built-in model, or the model in a file whose name ends in `.toml`.
///
/// # Errors
/// Returns the errors of [`model`], and an error if the file does not contain a valid model.
pub fn named_model(name: &str) -> Done<Model> {
    let name = model("", name)?;
    device::model_of(&name).map_err(|e| Failure::text(Exit::Unusable, format!("{name}: {e}")))
}

/// Returns the simulated drive `typed` as a target with its model's full name.
///
/// # Errors
/// Returns an error unless exactly one model matches.
pub fn in_full(typed: &str, model: &str) -> Result<String, String> {
    named(model).map(|model| format!("{PREFIX}{model}")).map_err(|why| format!("{typed}: {why}"))
}

fn usage(text: String) -> Failure {
    Failure::text(Exit::Usage, text)
}

/// Returns the text after `sim:`.
#[must_use]
pub fn simulated(target: &str) -> Option<&str> {
    let (prefix, model) = target.split_at_checked(PREFIX.len())?;
    prefix.eq_ignore_ascii_case(PREFIX).then_some(model)
}

/// Returns the built-in model with exactly this name, ignoring case.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    MODELS.iter().map(|(known, _)| *known).find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the hint for a model name that was typed as a target.
#[must_use]
pub fn lacks_prefix(typed: &str, model: &str) -> String {
    format!("{typed}: no such file; did you mean {PREFIX}{model}? (./{typed} names a new file)")
}

/// Returns the model `name`, or the only model whose name starts with it. The path of a model file is returned
/// unchanged.
///
/// # Errors
/// Returns an error unless exactly one model matches.
fn named(name: &str) -> Result<String, String> {
    if name.ends_with(ENDING) {
        return Ok(name.to_owned());
    }
    if let Some(known) = built_in(name) {
        return Ok(known.to_owned());
    }
    if name.contains(['/', '.']) {
        return Err(format!("the name of a model file must end in {ENDING}"));
    }
    let lower = name.to_lowercase();
    let names = || MODELS.iter().map(|(known, _)| *known);
    let matching: Vec<&str> = names().filter(|known| known.starts_with(&lower)).collect();
    match &matching[..] {
        [only] => Ok((*only).to_owned()),
        [] => Err(match nearest(name, names()) {
            Some(meant) => format!("no such model; did you mean {PREFIX}{meant}?"),
            None => "no such model; `plateau sim list` lists them".into(),
        }),
        _ if name.is_empty() => Err("the name of a model is missing; `plateau sim list` lists them".into()),
        several => Err(format!("several models start with that: {}", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_may_be_typed_in_any_case_and_abbreviated() {
        for (typed, expected) in [
            ("sim:sas-slc-2011", "sim:sas-slc-2011"),
            ("SIM:SAS-SLC-2011", "sim:sas-slc-2011"),
            ("Sim:nvme-qlc", "sim:nvme-qlc-2024"),
            ("SIM:./My.toml", "sim:./My.toml"),
            ("/dev/x", "/dev/x"),
            ("array:A.toml", "array:A.toml"),
        ] {
            assert_eq!(
                target(typed).map_err(|failure| failure.message()),
                Ok(expected.to_owned()),
                "{typed}"
            );
        }
        for typed in ["nvme-qlc", "sim:nvme-qlc", "SIM:NVME-QLC-2024"] {
            assert_eq!(model("", typed).ok().as_deref(), Some("nvme-qlc-2024"), "{typed}");
        }
    }

    #[test]
    fn an_unknown_model_suggests_similar_ones() {
        for (typed, part) in [
            ("", "is a shell variable unset?"),
            ("sim:", "the name of a model is missing"),
            ("sim:zzz", "`plateau sim list`"),
            ("sim:sas-slc", "sas-slc-2011, sas-slc-fast-2011"),
            ("sim:sata-mcl-2011", "did you mean sim:sata-mlc-2011?"),
            ("sim:./own.txt", "must end in .toml"),
            ("SAS-SLC-2011", "did you mean sim:sas-slc-2011?"),
        ] {
            let failure = target(typed).expect_err(typed);
            assert!(failure.message().contains(part), "{typed}: {}", failure.message());
            assert_eq!(failure.exit, Exit::Usage, "{typed}");
        }
    }
}
