//! Has no code: its manifest selects features of libraries, so that the program, its tests and xtask share one build of
//! them.
#![forbid(unsafe_code)]

use {
    base64 as _, clap as _, digest as _, getrandom as _, libc as _, log as _, num_traits as _,
    once_cell as _, rustix as _, serde as _, serde_core as _, serde_json as _,
};
