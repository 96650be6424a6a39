//! Writes the report of a synthetic run: `cargo run -p report --example fixture -- PLAN FILE`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let plans = fixture::plans();
    let names: Vec<&str> = plans.iter().map(|plan| plan.id).collect();
    let usage = || format!("usage: fixture PLAN FILE, where PLAN is one of {}", names.join(", "));
    let (name, file) = arguments.next().zip(arguments.next()).ok_or_else(usage)?;
    let plan = plans.iter().find(|plan| plan.id == name).ok_or_else(usage)?;
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), plan);
    std::fs::write(file, report::html(&report::fold(&run.file, &loaded)?))?;
    Ok(())
}
