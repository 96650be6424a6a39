//! Writes the report of a synthetic run: `cargo run -p report --example fixture -- SCENARIO FILE`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let scenarios = fixture::scenarios();
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.id).collect();
    let usage = || format!("usage: fixture SCENARIO FILE, where SCENARIO is one of {}", names.join(", "));
    let (name, file) = arguments.next().zip(arguments.next()).ok_or_else(usage)?;
    let scenario = scenarios.iter().find(|scenario| scenario.id == name).ok_or_else(usage)?;
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    std::fs::write(file, report::html(&report::fold(&run.file, &loaded)?))?;
    Ok(())
}
