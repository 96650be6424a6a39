//! Measurements of a drive, and the test parameters used for them.

/// Read percentage of each column in a table of measured IOPS.
pub(super) const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];

/// One cell of an IOPS test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Length of each command in bytes.
    pub block_bytes: u32,
    /// Percentage of reads.
    pub read_percent: u8,
    /// Commands per second, more than 0.
    pub iops: f64,
}

/// Number of commands that are always in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Number of threads.
    pub threads: u16,
    /// Commands in flight per thread.
    pub queue_depth: u16,
}

impl Demand {
    /// Commands in flight.
    #[must_use]
    pub fn outstanding(self) -> u64 {
        u64::from(self.threads) * u64::from(self.queue_depth)
    }
}

/// The part of a drive that the test accessed: evenly spaced segments of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveRange {
    /// Total bytes in all segments at scale 1.
    pub bytes: u64,
    /// Number of segments at scale 1.
    pub segments: u32,
}

/// 4 KiB random writes to a purged drive until steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Commands in flight.
    pub demand: Demand,
    /// IOPS in the first minute.
    pub fresh_iops: f64,
    /// Steady-state IOPS.
    pub steady_iops: f64,
    /// Start and end of steady state in the simulation, in drive fills.
    pub steady_fills: (f64, f64),
    /// Time in minutes and in drive fills when the rate first dropped.
    pub drop: (f64, f64),
    /// Time in minutes and in drive fills when the rate became steady.
    pub steady: (f64, f64),
}

/// Sequential reads and writes of one block size, repeated until the writes are steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Length of each command in bytes.
    pub block_bytes: u32,
    /// Commands in flight.
    pub demand: Demand,
    /// Whether the drive was first filled twice, which the PTS requires but TKperf does not do.
    pub preconditioned: bool,
    /// Throughput of reads and writes in MB/s.
    pub mb_per_s: [f64; 2],
}

/// Response times of random I/O with one command in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Length of each command in bytes.
    pub block_bytes: u32,
    /// Percentage of reads.
    pub read_percent: u8,
    /// Mean in ms.
    pub mean_ms: f64,
    /// Maximum in ms.
    pub most_ms: f64,
}

/// The results measured on a drive, and the parameters of the tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Number of commands in flight in the IOPS test.
    pub demand: Demand,
    /// Length of a cell in the IOPS and throughput tests at scale 1 in ns; a latency cell takes a minute.
    pub cell_ns: u64,
    /// The part of the drive that all tests except write saturation accessed; `None` for the whole drive.
    pub active_range: Option<ActiveRange>,
    /// The cells of the IOPS test.
    pub cells: Vec<Cell>,
    /// Results of the write saturation test, if it was run.
    pub saturation: Option<Saturation>,
    /// The throughput tests.
    pub throughput: Vec<Throughput>,
    /// The cells of the latency test.
    pub latency: Vec<Latency>,
}

impl Measured {
    /// Returns only the cells of the IOPS test.
    #[must_use]
    pub fn only_cells(self) -> Self {
        Self { saturation: None, throughput: Vec::new(), latency: Vec::new(), ..self }
    }

    /// Parses the cells from a CSV table: a heading, then one line per block size with the size in KiB and the
    /// IOPS at 0, 5, 35, 50, 65, 95 and 100 percent reads.
    ///
    /// # Errors
    /// Returns an error that names the invalid line.
    pub fn cells_of(table: &str) -> Result<Vec<Cell>, String> {
        let mut cells = Vec::new();
        for line in table.lines().skip(1).filter(|line| !line.trim().is_empty()) {
            let number = |text: &str| text.trim().parse::<f64>().map_err(|e| format!("'{line}': {e}"));
            let numbers = line.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
            let [kib, iops @ ..] = &numbers[..] else { return Err(format!("'{line}' has no cells")) };
            let block_bytes = (kib * 1024.0) as u32;
            let cell = |(read_percent, &iops)| Cell { block_bytes, read_percent, iops };
            cells.extend(MIXES.into_iter().zip(iops).map(cell));
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_parsed_into_cells() {
        let cells = Measured::cells_of("bs,a\n0.5,1,2,3,4,5,6,7\n\n4,8,9,10,11,12,13,14\n").unwrap();
        assert_eq!(cells.len(), 14);
        assert_eq!(cells[1], Cell { block_bytes: 512, read_percent: 5, iops: 2.0 });
        assert_eq!(cells[13], Cell { block_bytes: 4096, read_percent: 100, iops: 14.0 });
        assert!(Measured::cells_of("bs\n4,x").unwrap_err().contains("4,x"));
    }
}
