//! A drive's assumed speeds, and the rules for deriving workload rates from them.
//!
//! * Random I/O: between known block sizes, rates are interpolated linearly in the logarithm of the size. Below the
//!   smallest size, IOPS are constant; above the largest, bytes per second are constant.
//! * Mixes: 1/X(r) = (1-r)/W + r/R + 4 r (1-r) c / W. If the coupling c is 0, this is the harmonic law of a drive
//!   on which reads and writes do not affect each other.
//! * If few I/Os are outstanding, the response time limits the rate.
//! * A purged drive accepts random writes faster until it is full; an idle drive regains some of that speed.

mod observed;
mod speeds;
mod usual;

pub use observed::Observed;
pub use speeds::{Alone, Assumed, Figures, Rates, Saturation};

pub(crate) use speeds::State;
