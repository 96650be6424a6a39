//! The errors after which a job continues.

use record::{Errors, Tolerated, errno};

/// The errors that fio calls non-fatal: failures of the device, and wrong data.
const NON_FATAL: [&str; 2] = ["EIO", "EILSEQ"];

/// The errors that do not end a job: those of reads, of writes, and of verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Continues {
    /// Whether the job continues after errors of this kind.
    pub(crate) kinds: [bool; 3],
    /// The errors of each kind, if specified.
    pub(crate) errors: [Option<Vec<u8>>; 3],
}

impl Continues {
    /// Returns the errors of I/Os that the engine tolerates. Wrong data never ends a job.
    pub(crate) fn tolerated(&self) -> Tolerated {
        let errors = |kind: usize| match (self.kinds[kind], &self.errors[kind]) {
            (false, _) => Errors::default(),
            (true, Some(errors)) => Errors::try_from(errors.clone()).unwrap_or_default(),
            (true, None) => {
                let numbers = NON_FATAL.iter().filter_map(|name| u8::try_from(errno::number(name)?).ok());
                Errors::try_from(numbers.collect::<Vec<_>>()).unwrap_or_default()
            }
        };
        Tolerated { read: errors(0), write: errors(1) }
    }
}
