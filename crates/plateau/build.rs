//! Passes the git commit to the program and selects linker options, except in builds without optimisation, as for tests,
//! which would otherwise be rebuilt after each commit.

use std::path::Path;

#[path = "build/commit.rs"]
mod commit;
#[path = "build/linker.rs"]
mod linker;

fn main() -> Result<(), String> {
    let folder = std::env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?;
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-env-changed={}", commit::VARIABLE);
    let given = std::env::var(commit::VARIABLE).ok().filter(|text| !text.is_empty());
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_debug = is("PROFILE", "debug") || is("OPT_LEVEL", "0");
    let found = match given {
        Some(text) => Ok(commit::checked(&text)?),
        None if is_debug => Err("not recorded in debug builds"),
        None => {
            let folder = Path::new(&folder);
            commit::watched(folder)
                .iter()
                .for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
            commit::of(folder).ok_or("unknown: not built in a git clone")
        }
    };
    println!("cargo:rustc-env=PLATEAU_BUILD_COMMIT={}", found.as_deref().unwrap_or_default());
    println!(
        "cargo:rustc-env=PLATEAU_BUILD_COMMIT_TEXT={}",
        found.as_deref().unwrap_or_else(|reason| reason)
    );
    let target = std::env::var("TARGET").map_err(|error| error.to_string())?;
    println!("cargo:rustc-env=PLATEAU_BUILD_TARGET={target}");
    if !is_debug {
        let variable = |name: &str| std::env::var(name).map_err(|error| format!("{name}: {error}"));
        let scratch = variable("OUT_DIR")?;
        linker::accepted(&variable("RUSTC")?, &target, Path::new(&scratch))
            .iter()
            .for_each(|option| println!("cargo:rustc-link-arg-bins={option}"));
    }
    Ok(())
}
