//! What every fuzz target has in common.
//!
//! cargo-fuzz compiles a target with libFuzzer. Otherwise, a target is a program for stable Rust that checks the files
//! named on its command line: `cargo run -p fuzz --bin job_file -- FILE`. The checks of the workspace therefore notice
//! if a target no longer matches its parser.

#![forbid(unsafe_code)]

#[cfg(fuzzing)]
#[doc(hidden)]
pub use libfuzzer_sys;

/// Defines the entry point of a fuzz target: `fuzz::target!(|bytes: &[u8]| check(bytes));`
#[macro_export]
macro_rules! target {
    (|$bytes:ident: &[u8]| $check:expr) => {
        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(|$bytes: &[u8]| $check);

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::check_files(|$bytes: &[u8]| $check)
        }
    };
}

/// Checks each file named on the command line. Like libFuzzer, panics at the first input that violates a property, after
/// printing the name of its file.
///
/// Fails if no file is given or a file cannot be read.
pub fn check_files(check: impl Fn(&[u8])) -> std::process::ExitCode {
    let mut paths = std::env::args_os().skip(1).peekable();
    if paths.peek().is_none() {
        eprintln!("error: name one or more inputs, such as the files of the target's folder in fuzz/corpus");
        return 2.into();
    }
    for path in paths {
        let path = std::path::Path::new(&path);
        eprintln!("{}", path.display());
        match std::fs::read(path) {
            Ok(bytes) => check(&bytes),
            Err(error) => {
                eprintln!("error: cannot read {}: {error}", path.display());
                return 2.into();
            }
        }
    }
    std::process::ExitCode::SUCCESS
}
