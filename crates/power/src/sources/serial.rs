//! A meter on a serial port (eight data bits, no parity, one stop bit) that sends one value per line.

use rustix::fs::{Mode, OFlags};
use rustix::termios::{
    ControlModes, OptionalActions, QueueSelector, SpecialCodeIndex, isatty, tcflush, tcgetattr, tcsetattr,
};

use crate::error::PowerError;
use crate::lines::{Lines, Stated};
use crate::source::{Kind, Opened, Pace, Sample, Source, Surroundings};

pub(super) const KIND: Kind = Kind {
    name: "serial",
    argument: Some("PORT[,BAUD]"),
    about: "a meter on a serial port that sends watts, one value per line [default: 115200 baud]",
    is_per_drive: false,
    needs_trust: true,
    open,
};

const USUAL_BAUD: u32 = 115_200;

struct Serial {
    lines: Lines,
}

impl Source for Serial {
    fn pace(&self) -> Pace {
        Pace::AtAllTimes
    }

    fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        self.lines.read()
    }
}

fn open(argument: &str, _: Surroundings) -> Result<Opened, PowerError> {
    let (port, baud) = match argument.rsplit_once(',') {
        Some((port, baud)) => (port, baud.parse().ok()),
        None => (argument, Some(USUAL_BAUD)),
    };
    let what = format!("serial:{port}");
    let failed = |errno: rustix::io::Errno| PowerError::io(&what, errno);
    let baud =
        baud.ok_or_else(|| PowerError::absent(&what, "the baud rate after the comma is not a number"))?;
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(port, flags, Mode::empty()).map_err(failed)?;
    if !isatty(&fd) {
        return Err(PowerError::absent(&what, "not a serial port"));
    }
    let mut settings = tcgetattr(&fd).map_err(failed)?;
    settings.make_raw();
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    settings.control_modes &= !(ControlModes::CSTOPB | ControlModes::CRTSCTS);
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    settings.set_speed(baud).map_err(failed)?;
    tcsetattr(&fd, OptionalActions::Now, &settings).map_err(failed)?;
    // Data received at the wrong speed is not text.
    tcflush(&fd, QueueSelector::IFlush).map_err(failed)?;
    let mut lines = Lines::of_port(what, fd);
    lines.wait_for_value()?;
    if lines.stated == Stated::default() {
        // The port may have been opened after the meter sent its comment; the meter repeats it before each
        // value.
        lines.wait_for_value()?;
    }
    let facts = lines.stated.facts(format!("meter on serial port {port}"));
    Ok(Opened { facts, source: Box::new(Serial { lines }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fcntl_setfl;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Stops the meter, even if the test fails.
    struct End<'a>(&'a AtomicBool);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// A meter on a pseudo-terminal, which sends until it is dropped.
    fn with_meter<T>(line: &str, f: impl FnOnce(&str) -> T) -> T {
        let meter = rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY)
            .expect("a terminal");
        rustix::pty::grantpt(&meter).expect("ours");
        rustix::pty::unlockpt(&meter).expect("ours");
        let port = rustix::pty::ptsname(&meter, Vec::new()).expect("a name").into_string().expect("a path");
        // The port must stay open, because the meter would otherwise hang up between two opens.
        let _open = std::fs::File::open(&port).expect("the port");
        fcntl_setfl(&meter, OFlags::NONBLOCK | OFlags::RDWR).expect("ours");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut meter = std::fs::File::from(meter);
            let is_over = &is_over;
            scope.spawn(move || {
                let mut left: &[u8] = &[];
                while !is_over.load(Ordering::Relaxed) {
                    if left.is_empty() {
                        left = line.as_bytes();
                    }
                    // A terminal's queue fills up while nothing reads from it, and then accepts partial lines.
                    left = &left[meter.write(left).unwrap_or(0)..];
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
            });
            let _end = End(is_over);
            f(&port)
        })
    }

    #[test]
    fn a_meter_is_read_through_a_port() {
        with_meter("# tolerance=1% resolution=0.1\r\n6.4 W\r\n", |port| {
            for argument in [port.to_owned(), format!("{port},9600")] {
                let mut opened =
                    open(&argument, Surroundings::default()).map_err(|e| e.to_string()).expect("a meter");
                assert_eq!(opened.facts.tolerance_ppm, Some(10_000));
                assert_eq!(opened.facts.resolution_microwatts, Some(100_000));
                let values = loop {
                    let values = opened.source.read().expect("watts");
                    if !values.is_empty() {
                        break values;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                };
                assert!(values.iter().all(|sample| *sample == Sample::now(6.4)), "{values:?}");
            }
        });
    }

    #[test]
    fn paths_other_than_ports_are_refused() {
        let message = |argument: &str| {
            open(argument, Surroundings::default()).map(|_| ()).expect_err(argument).to_string()
        };
        assert!(message("/dev/null").contains("not a serial port"));
        assert!(message("/dev/null,fast").contains("baud"));
        assert!(message("/dev/no-such-port").contains("No such file"));
    }
}
