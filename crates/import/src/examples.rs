//! Published figures of real drives, typed off: what a newcomer can open and compare at once.

/// A drive whose figures come with Plateau.
#[derive(Debug)]
pub struct Example {
    /// As typed: `mlc-a`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The figures, in the format `published`.
    pub text: &'static str,
}

/// Every example.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "mlc-a",
        about: "256 GB client SSD, PTS-C 1.0 report of 2011",
        text: include_str!("../examples-data/mlc-a.toml"),
    },
    Example {
        name: "mlc-b",
        about: "160 GB client SSD, PTS-C 1.0 report of 2011",
        text: include_str!("../examples-data/mlc-b.toml"),
    },
    Example {
        name: "slc-a",
        about: "100 GB enterprise SAS SSD, PTS-E 1.0 report of 2011",
        text: include_str!("../examples-data/slc-a.toml"),
    },
    Example {
        name: "slc-b",
        about: "100 GB enterprise SATA SSD, PTS-E 1.0 report of 2011",
        text: include_str!("../examples-data/slc-b.toml"),
    },
    Example {
        name: "stec-mach16",
        about: "STEC MACH16 200 GB, TKperf 1.1 report",
        text: include_str!("../examples-data/stec-mach16.toml"),
    },
    Example {
        name: "wd-sn720",
        about: "WD CL SN720 256 GB, TKperf 2.2 report of 2019",
        text: include_str!("../examples-data/wd-sn720.toml"),
    },
];

impl Example {
    /// Id of its run.
    #[must_use]
    pub fn run_id(&self) -> String {
        format!("example-{}", self.name)
    }
}
