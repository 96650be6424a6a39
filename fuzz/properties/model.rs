//! Models of simulated drives: whatever the text, reading it ends with a model or with a reason. A model is written and read again as
//! the same.

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(model) = nandsim::Model::from_toml(text) else { return };
    let again = nandsim::Model::from_toml(&model.to_toml()).expect("what was written is read");
    assert_eq!(again, model);
}
