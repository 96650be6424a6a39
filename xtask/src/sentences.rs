//! `cargo xtask sentences`: prints a random sample of the project's prose for a reader to judge.
//!
//! A sample depends only on the files and the seed, so that the same sentences can be read before and after a change.

mod prose;

use std::path::Path;

use anyhow::ensure;
use stdx::rng::Rng;

use crate::chore::Chore;
use prose::Sentence;
use tidy::tree::Tree;

/// Print sentences drawn at random from comments, documents and messages
#[derive(clap::Args)]
pub struct Sentences {
    /// Seed for the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of sentences
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: usize,
}

impl Chore for Sentences {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let mut all = prose::sentences(&Tree::read(root)?);
        ensure!(!all.is_empty(), "there are no sentences in {}", root.display());
        let found = all.len();
        for Sentence { path, line, text } in drawn(&mut all, self.seed, self.count) {
            println!("{path}:{line}: {text}");
        }
        println!("{} of {found} sentences, seed {}", self.count.min(found), self.seed);
        Ok(())
    }
}

/// Draws `count` sentences, all with the same probability, and returns them sorted by path and line.
fn drawn(all: &mut [Sentence], seed: u64, count: usize) -> &[Sentence] {
    let mut rng = Rng::from_seed(seed);
    let count = count.min(all.len());
    for place in 0..count {
        let rest = (all.len() - place) as u64;
        all.swap(place, place + rng.below(rest) as usize);
    }
    all[..count].sort();
    &all[..count]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> Vec<Sentence> {
        (0..50).map(|line| Sentence { path: "a.md".into(), line, text: String::new() }).collect()
    }

    #[test]
    fn a_seed_repeats_its_draw_and_no_sentence_is_drawn_twice() {
        let mut lines = [1, 1, 2].map(|seed| {
            let mut all = numbered();
            drawn(&mut all, seed, 10).iter().map(|sentence| sentence.line).collect::<Vec<_>>()
        });
        assert_eq!(lines[0], lines[1]);
        assert_ne!(lines[0], lines[2]);
        lines[0].dedup();
        assert_eq!(lines[0].len(), 10);
        assert_eq!(drawn(&mut numbered(), 1, 99), numbered());
    }
}
