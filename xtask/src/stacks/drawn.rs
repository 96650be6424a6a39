//! The stacks to build, and how they are distributed over processes.

/// The stacks for a range of seeds.
#[derive(clap::Args)]
pub struct Drawn {
    /// Number of stacks to build
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub count: u64,
    /// Seed for the first stack; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Number of concurrent processes, each of which mostly waits for the kernel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    pub jobs: u64,
}

impl Drawn {
    /// Returns the first seed and the number of stacks for each process.
    pub fn shares(&self) -> Vec<(u64, u64)> {
        let each = self.count.div_ceil(self.jobs);
        let firsts = (0..self.jobs).map(|job| (job * each).min(self.count));
        let all = firsts.map(|first| (self.seed + first, each.min(self.count - first)));
        all.filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_in_one_share() {
        for (seed, count, jobs) in [(1, 10, 4), (7, 3, 4), (1, 1, 1), (5, 100, 3)] {
            let all: Vec<u64> = Drawn { seed, count, jobs }
                .shares()
                .into_iter()
                .flat_map(|(first, count)| first..first + count)
                .collect();
            assert_eq!(all, (seed..seed + count).collect::<Vec<_>>());
        }
    }
}
