//! Looks up settings by name, and formats the table of settings for the manual.

use super::literal::Literal;
use super::setting::{Given, Setting};
use super::table::SETTINGS;

/// Looks up the setting called `name`.
#[must_use]
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Parses an argument of the option called `name`.
///
/// # Errors
/// Returns an error if there is no such setting, or the value is not valid.
pub fn typed(name: &str, value: &str) -> Result<Given, String> {
    let setting = setting(name).ok_or_else(|| format!("no setting '{name}'"))?;
    Given::new(setting, Literal::Typed(value.into()))
}

/// Returns the settings that plans may contain, as a Markdown table for the manual.
#[must_use]
pub fn manual() -> String {
    let row =
        |setting: &Setting| format!("| `{}` | {} | {} |\n", setting.name, setting.values(), setting.about());
    let rows: String = SETTINGS.iter().filter(|setting| setting.is_in_plans()).map(row).collect();
    format!("| key | value | meaning |\n|---|---|---|\n{rows}")
}
