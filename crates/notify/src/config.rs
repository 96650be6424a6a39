//! The configuration: TOML. All errors are reported at once, with their positions.

mod reader;
mod types;
mod values;

use reader::Reader;

pub use stdx::Mistake;
pub use types::{CampaignPlaces, Config, Entry, Mail, Means, Source};
pub use values::check_webhook;

impl Config {
    /// Reads a configuration with this path and text.
    ///
    /// # Errors
    /// Returns all errors in the text.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader::of(file, text);
        let config = reader.config();
        match reader.mistakes() {
            mistakes if mistakes.is_empty() => Ok(config),
            mistakes => Err(mistakes),
        }
    }
}

#[cfg(test)]
mod tests;
