//! Plans: any text yields either a plan or errors, each with a position within the text. A custom test in a plan is
//! unchanged after being written to `run.json` and read again.

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match plans::Plan::read("plan.toml", text) {
        Ok(plan) => {
            assert!(!plan.tests.is_empty(), "a plan without tests");
            for test in &plan.custom_tests {
                let json = serde_json::to_string(test).expect("a custom test is JSON");
                let again = serde_json::from_str::<record::CustomTest>(&json)
                    .expect("written data is read back unchanged");
                assert_eq!(again, *test);
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            let lines = text.split('\n').count();
            for error in errors {
                assert!((1..=lines).contains(&error.line) && error.column >= 1, "{error}");
                assert!(error.to_string().len() < 4096 + 16 * text.len());
            }
        }
    }
}
