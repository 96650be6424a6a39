//! Restores the changed settings in a restore record.

use device::Tuning;
use serde_json::{Value, json};

use console::printer;
use failure::message::of_drive;
use state::Host;

/// Restores a setting; a failure is reported but does not prevent a run.
pub(super) fn is_undone(tuning: &Tuning, host: &dyn Host) -> bool {
    let undone = host.set(tuning, &tuning.was);
    if let Err(error) = &undone {
        printer::print_line(&format!("warning: {}; the next run will try again", of_drive(error)));
    }
    undone.is_ok()
}

/// Returns the settings in a record that still exist. Prints a warning for each invalid setting.
pub(super) fn noted(content: &Value, host: &dyn Host, lives: impl Fn(&Tuning) -> bool) -> Vec<Tuning> {
    let accepted = |judged| match judged {
        Ok(tuning) => Some(tuning),
        Err(error) => {
            printer::print_line(&format!("warning: {}", of_drive(&error)));
            None
        }
    };
    read_all(content).filter(lives).map(|tuning| host.accept(tuning)).filter_map(accepted).collect()
}

/// Returns the valid settings in a record.
pub(super) fn read_all(content: &Value) -> impl Iterator<Item = Tuning> {
    content["tunings"].as_array().into_iter().flatten().filter_map(read)
}

/// Returns a setting in its recorded form.
pub(super) fn written(tuning: &Tuning) -> Value {
    json!({
        "setting": tuning.setting,
        "path": tuning.path,
        "was": tuning.was,
        "to": tuning.to,
        "of_host": tuning.of_host,
    })
}

fn read(value: &Value) -> Option<Tuning> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    Some(Tuning {
        setting: text("setting")?,
        path: text("path")?.into(),
        was: text("was")?,
        to: text("to")?,
        of_host: value["of_host"].as_bool()?,
    })
}
