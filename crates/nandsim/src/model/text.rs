//! Models as TOML text.

use super::{MODELS, Model, ModelError};

/// Returns the error on one line, with its location: for a missing key, the line of the key's table.
fn place_and_problem(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return error.message().to_owned();
    };
    let line = before.matches('\n').count();
    let is_table = |line: &&str| line.starts_with('[');
    let table = text.lines().take(line + 1).filter(is_table).last();
    let table = table.map_or_else(String::new, |name| format!(", in {}", name.trim_end()));
    let key = text.lines().nth(line).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    let key = key.map_or_else(String::new, |key| format!("{key}: "));
    format!("line {}{table}: {key}{}", line + 1, error.message())
}

impl Model {
    /// Returns the model in [`MODELS`] with this name.
    ///
    /// # Errors
    /// For an unknown name, the error lists the available models.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let known = || MODELS.iter().map(|m| m.0).collect::<Vec<_>>().join(", ");
        let (_, text) = MODELS
            .iter()
            .find(|m| m.0 == name)
            .ok_or_else(|| ModelError::Unknown { name: name.to_owned(), known: known() })?;
        Self::from_toml(text)
    }

    /// Parses a model.
    ///
    /// # Errors
    /// Returns an error that names the key and the allowed values.
    pub fn from_toml(text: &str) -> Result<Self, ModelError> {
        let model: Self = toml::from_str(text).map_err(|e| ModelError::Text(place_and_problem(text, &e)))?;
        model.check()?;
        Ok(model)
    }

    /// Serializes the model as TOML that [`from_toml`](Self::from_toml) accepts.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every model can be written as TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_cannot_be_faster_than_its_interface() {
        let mut model = Model::named("sata-mlc-2011").unwrap();
        model.timing.link_mb_per_s = 601.0;
        let error = model.check().unwrap_err().to_string();
        assert!(error.contains("timing.link_mb_per_s") && error.contains("600"), "{error}");
    }
}
