//! Models of simulated drives: any text yields a model or an
//! error. A model is unchanged after being written and read again.

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(model) = nandsim::Model::from_toml(text) else { return };
    let again = nandsim::Model::from_toml(&model.to_toml()).expect("written data is read back unchanged");
    assert_eq!(again, model);
}
