//! Published figures of real drives that a new user can open and compare immediately.

/// A drive whose published figures are bundled with Plateau.
#[derive(Debug)]
pub struct Example {
    /// Name as typed, such as `mlc-a`.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// The figures in the `published` format.
    pub text: &'static str,
}

/// All examples.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "mlc-a",
        about: "256 GB client SSD, PTS-C 1.0 report from 2011",
        text: include_str!("../examples-data/mlc-a.toml"),
    },
    Example {
        name: "mlc-b",
        about: "160 GB client SSD, PTS-C 1.0 report from 2011",
        text: include_str!("../examples-data/mlc-b.toml"),
    },
    Example {
        name: "slc-a",
        about: "100 GB enterprise SAS SSD, PTS-E 1.0 report from 2011",
        text: include_str!("../examples-data/slc-a.toml"),
    },
    Example {
        name: "slc-b",
        about: "100 GB enterprise SATA SSD, PTS-E 1.0 report from 2011",
        text: include_str!("../examples-data/slc-b.toml"),
    },
    Example {
        name: "stec-mach16",
        about: "STEC MACH16 200 GB, TKperf 1.1 report",
        text: include_str!("../examples-data/stec-mach16.toml"),
    },
    Example {
        name: "wd-sn720",
        about: "WD CL SN720 256 GB, TKperf 2.2 report from 2019",
        text: include_str!("../examples-data/wd-sn720.toml"),
    },
];

impl Example {
    /// Returns the id of its run.
    #[must_use]
    pub fn run_id(&self) -> String {
        format!("example-{}", self.name)
    }
}
