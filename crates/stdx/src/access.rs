//! Access streams: the offset of each access, and whether it is a read or a write. The load engine and the
//! simulator share this generator, so that one seed yields the same stream in both.

mod lane;
mod mix;
mod pattern;
mod permutation;
mod regions;
mod scatter;
mod sequence;
mod span;

use crate::Rng;
use lane::Lane;
use mix::Mix;
use scatter::Scatter;

pub use lane::Access;
pub use pattern::{Kind, Pattern, Zone};
pub use regions::Regions;
pub use scatter::Offsets;
pub use sequence::Sequence;
pub use span::{Order, Span, share};

/// The infinite access stream of one thread.
#[derive(Debug, Clone)]
pub struct Stream {
    rng: Rng,
    lane: Lane,
    mix: Option<Box<Mix>>,
    scatter: Option<Box<Scatter>>,
}

impl Stream {
    /// Creates the stream of `thread` (from 0) out of `threads`.
    ///
    /// # Panics
    /// Panics if the pattern is impossible ([`Pattern::problem`]); callers validate first.
    #[must_use]
    pub fn new(seed: u64, thread: u16, threads: u16, pattern: &Pattern) -> Self {
        let problem = pattern.problem(threads);
        assert!(problem.is_none(), "impossible: {}", problem.unwrap_or_default());
        let mut rng = Rng::from_seed_and_stream(seed, u64::from(thread));
        let scatter = Scatter::new(pattern.offsets, pattern.sequence.as_ref(), pattern.positions(), &mut rng);
        Self {
            rng,
            lane: Lane::new(&pattern.kinds[0], pattern, thread, threads),
            scatter: scatter.map(Box::new),
            mix: (!pattern.is_plain()).then(|| Box::new(Mix::new(pattern, thread, threads))),
        }
    }

    /// Returns the next access.
    #[inline]
    pub fn next_access(&mut self) -> Access {
        let Self { rng, lane, mix, scatter } = self;
        match (mix, scatter) {
            (None, None) => lane.next_access(rng),
            (Some(mix), _) => mix.next_access(rng),
            (None, Some(scatter)) => lane.scattered(scatter, rng),
        }
    }

    /// Passes the next `count` accesses to `take`. Yields the same stream as
    /// [`next_access`](Self::next_access), but faster.
    #[inline]
    pub fn draw(&mut self, count: usize, mut take: impl FnMut(Access)) {
        let Self { rng, lane, mix, scatter } = self;
        if let (None, Some(scatter)) = (&mix, &mut *scatter) {
            (0..count).for_each(|_| take(lane.scattered(scatter, rng)));
            return;
        }
        match mix {
            None if lane.order == Order::Random && lane.span.segments == 1 => match lane.read_percent {
                0 => lane.draw_random(rng, count, |_| false, &mut take),
                100 => lane.draw_random(rng, count, |_| true, &mut take),
                percent => lane.draw_random(rng, count, |rng| rng.percent(percent), &mut take),
            },
            None => {
                let (mut own, mut copy) = (rng.clone(), lane.clone());
                (0..count).for_each(|_| take(copy.next_access(&mut own)));
                (*rng, *lane) = (own, copy);
            }
            Some(mix) => (0..count).for_each(|_| take(mix.next_access(rng))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AR: Span = Span { start_bytes: 0, segments: 2048, segment_bytes: 8 << 20, stride_bytes: 100 << 20 };

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut stream = Stream::new(1, 0, 2, &Pattern::plain(Order::Random, 65, 4096, AR));
        let mut print = 0xcbf2_9ce4_8422_2325_u64;
        for _ in 0..1000 {
            let access = stream.next_access();
            print = (print ^ access.offset_bytes ^ u64::from(access.read)).wrapping_mul(0x0100_0000_01b3);
        }
        assert_eq!(print, FINGERPRINT, "the stream of every stored seed has changed: {print:#x}");
    }
    const FINGERPRINT: u64 = 0x6e12_96a7_3a9d_be94;

    /// Returns a hash of a thousand accesses by one of three threads.
    fn print(seed: u64, thread: u16, pattern: &Pattern) -> u64 {
        let mut stream = Stream::new(seed, thread, 3, pattern);
        (0..1000).fold(0xcbf2_9ce4_8422_2325, |print: u64, _| {
            let Access { read, block_bytes, offset_bytes } = stream.next_access();
            [offset_bytes, block_bytes.into(), read.into()]
                .into_iter()
                .fold(print, |print, part| (print ^ part).wrapping_mul(0x0100_0000_01b3))
        })
    }

    #[test]
    fn no_kind_of_stream_ever_changes() {
        let one_segment = Span::contiguous(1 << 20, 3 << 30);
        let kind = |share_percent, order, read_percent, block_bytes| Kind {
            share_percent,
            order,
            read_percent,
            block_bytes,
        };
        let zone = |access_percent, span_percent| Zone { access_percent, span_percent };
        let sizes = vec![
            kind(50, Order::Random, 40, 512),
            kind(30, Order::Random, 100, 4096),
            kind(20, Order::Sequential, 0, 65536),
        ];
        let zones = vec![zone(50, 5), zone(30, 15), zone(20, 80)];
        let random = |span| Pattern::plain(Order::Random, 65, 4096, span);
        let patterns = [
            ("random, one segment", 1, 0, random(one_segment)),
            ("another seed", 0x9e37_79b9_7f4a_7c15, 0, random(one_segment)),
            ("another thread", 1, 2, random(one_segment)),
            ("writes", 1, 0, Pattern::plain(Order::Random, 0, 512, one_segment)),
            ("random, segments", 1, 1, random(AR)),
            ("sequential", 1, 1, Pattern::plain(Order::Sequential, 65, 131_072, one_segment)),
            ("sequential, segments", 1, 2, Pattern::plain(Order::Sequential, 0, 1 << 20, AR)),
            ("zones", 1, 0, Pattern { zones: zones.clone(), ..random(AR) }),
            ("sizes", 1, 0, Pattern { kinds: sizes.clone(), ..random(one_segment) }),
            ("sizes and zones", 7, 2, Pattern { kinds: sizes, zones, ..random(AR) }),
        ];
        let prints = patterns.map(|(name, seed, thread, pattern)| (name, print(seed, thread, &pattern)));
        assert_eq!(prints, PRINTS, "the streams of all stored seeds have changed: {prints:#x?}");
    }
    const PRINTS: [(&str, u64); 10] = [
        ("random, one segment", 0xe6ad_a99b_1cbb_618c),
        ("another seed", 0x3bff_7fe6_ccf6_2c7f),
        ("another thread", 0xdd49_b4fb_9f5e_7a46),
        ("writes", 0xa827_6940_73db_5785),
        ("random, segments", 0x1acb_0bf6_4e80_4033),
        ("sequential", 0xf177_faf4_189a_3565),
        ("sequential, segments", 0x6653_201a_b6e6_4b85),
        ("zones", 0x1256_1fe4_d65d_5b7e),
        ("sizes", 0x3c9b_101d_6613_d4b9),
        ("sizes and zones", 0xe485_6c28_037b_4610),
    ];

    #[test]
    fn drawing_many_accesses_yields_the_same_as_one_by_one() {
        let one_segment = Span::contiguous(1 << 20, 3 << 30);
        for (order, read_percent) in
            [(Order::Random, 65), (Order::Random, 0), (Order::Random, 100), (Order::Sequential, 100)]
        {
            for span in [AR, one_segment] {
                let pattern = Pattern::plain(order, read_percent, 4096, span);
                let (mut one_by_one, mut at_once) =
                    (Stream::new(1, 0, 2, &pattern), Stream::new(1, 0, 2, &pattern));
                for count in [1, 64, 7] {
                    at_once.draw(count, |access| assert_eq!(access, one_by_one.next_access()));
                }
            }
        }
    }

    #[test]
    fn a_pass_over_segments_visits_every_block_once() {
        let span = Span { start_bytes: 4096, segments: 7, segment_bytes: 143 * 512, stride_bytes: 1 << 20 };
        let pattern =
            Pattern { offsets: Offsets::OncePerPass, ..Pattern::plain(Order::Random, 50, 512, span) };
        let mut stream = Stream::new(1, 0, 2, &pattern);
        let mut seen = Vec::new();
        stream.draw(1000, |access| seen.push(access.offset_bytes));
        seen.push(stream.next_access().offset_bytes);
        seen.sort_unstable();
        assert!(seen.into_iter().eq((0..1001).map(|block| span.offset_of(block, 512, 143))));
    }

    /// As in fio, whose offset is the drawn number times the alignment.
    #[test]
    fn distributions_and_sequences_number_positions_at_the_alignment() {
        const BLOCK: u32 = 16 << 10;
        let (bytes, order) = (1 << 20, Sequence { blocks: vec![2, 0, 1], strided: false });
        let chosen = [
            (Offsets::Zipf { theta_milli: 600 }, None),
            (Offsets::Pareto { h_milli: 400 }, None),
            (Offsets::Normal { deviation_percent: 30 }, None),
            (Offsets::Independent, Some(order)),
        ];
        for (offsets, sequence) in chosen {
            for (align_bytes, positions) in [(0, 64), (4096, 64), (BLOCK, 64), (64 << 10, 16)] {
                let plain = Pattern::plain(Order::Random, 0, BLOCK, Span::contiguous(8192, bytes));
                let pattern = Pattern { align_bytes, offsets, sequence: sequence.clone(), ..plain };
                let unit = u64::from(if align_bytes == 0 { BLOCK } else { align_bytes });
                let mut seen = std::collections::BTreeSet::new();
                Stream::new(1, 0, 1, &pattern).draw(10_000, |access| {
                    seen.insert(access.offset_bytes - 8192);
                });
                let what = format!("{offsets:?} with {align_bytes}: {seen:?}");
                assert!(seen.iter().all(|offset| offset % unit == 0 && offset / unit < positions), "{what}");
                match &sequence {
                    Some(_) => assert!(seen.into_iter().eq([0, unit, 2 * unit]), "{what}"),
                    // The last rank of a Pareto distribution is practically never drawn.
                    None => assert!(seen.len() as u64 >= positions - 1, "{what}"),
                }
            }
        }
    }

    #[test]
    fn sequential_threads_cover_the_span_once() {
        let span = Span::contiguous(0, 1000 * 4096);
        let mut seen = vec![0; 1000];
        for thread in 0..3 {
            let mut stream = Stream::new(1, thread, 3, &Pattern::plain(Order::Sequential, 0, 4096, span));
            let part = share(1000, thread, 3);
            for _ in part {
                seen[(stream.next_access().offset_bytes / 4096) as usize] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n == 1));
    }

    #[test]
    fn sequential_starts_over_at_the_end_of_its_part() {
        let pattern = Pattern::plain(Order::Sequential, 0, 4096, Span::contiguous(0, 4 * 4096));
        let mut stream = Stream::new(1, 1, 2, &pattern);
        let blocks: Vec<u64> = (0..4).map(|_| stream.next_access().offset_bytes / 4096).collect();
        assert_eq!(blocks, [2, 3, 2, 3]);
    }

    #[test]
    fn sequential_continues_at_a_block_of_each_part() {
        // Parts of 4 and 5 blocks.
        let span = Span::contiguous(0, 9 * 4096);
        let from = |thread, from_block| {
            let pattern = Pattern { from_block, ..Pattern::plain(Order::Sequential, 0, 4096, span) };
            let mut stream = Stream::new(1, thread, 2, &pattern);
            (0..3).map(|_| stream.next_access().offset_bytes / 4096).collect::<Vec<_>>()
        };
        assert_eq!((from(0, 3), from(1, 3)), (vec![3, 0, 1], vec![7, 8, 4]));
        // At the end of the part, counting wraps to its start.
        assert_eq!((from(0, 4), from(1, 4)), (vec![0, 1, 2], vec![8, 4, 5]));
        assert_eq!((from(0, 22), from(1, 22)), (vec![2, 3, 0], vec![6, 7, 8]));
    }

    #[test]
    fn descending_streams_visit_the_blocks_in_reverse() {
        let span = Span { start_bytes: 4096, segments: 5, segment_bytes: 4096, stride_bytes: 3 * 4096 };
        let ascending = Pattern::plain(Order::Sequential, 100, 4096, span);
        let descending = Pattern { descending: true, ..ascending.clone() };
        let offsets = |pattern: &Pattern, thread| {
            let mut stream = Stream::new(1, thread, 2, pattern);
            (0..4).map(|_| stream.next_access().offset_bytes / 4096).collect::<Vec<_>>()
        };
        assert_eq!((offsets(&ascending, 0), offsets(&ascending, 1)), (vec![1, 4, 1, 4], vec![7, 10, 13, 7]));
        assert_eq!(
            (offsets(&descending, 0), offsets(&descending, 1)),
            (vec![4, 1, 4, 1], vec![13, 10, 7, 13])
        );
        let from = Pattern { from_block: 1, ..descending };
        assert_eq!(offsets(&from, 1), [10, 7, 13, 10]);
    }

    #[test]
    fn random_is_uniform_beyond_two_to_the_32_blocks() {
        let span = Span::contiguous(0, 64 << 40);
        let mut stream = Stream::new(5, 0, 1, &Pattern::plain(Order::Random, 0, 512, span));
        let mut bins = [0u32; 1024];
        for _ in 0..1 << 20 {
            bins[(stream.next_access().offset_bytes >> 36) as usize] += 1;
        }
        let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - 1024.0).powi(2) / 1024.0).sum();
        assert!((797.0..1249.0).contains(&chi2), "chi-square {chi2}");
    }

    #[test]
    fn random_is_uniform_over_segments_and_within_them() {
        const BINS: usize = 2048;
        let mut stream = Stream::new(5, 0, 1, &Pattern::plain(Order::Random, 0, 4096, AR));
        let (mut of_segments, mut inside) = ([0u32; BINS], [0u32; BINS]);
        stream.draw(BINS * 1024, |access| {
            of_segments[(access.offset_bytes / AR.stride_bytes) as usize] += 1;
            inside[(access.offset_bytes % AR.stride_bytes / 4096) as usize] += 1;
        });
        for bins in [of_segments, inside] {
            let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - 1024.0).powi(2) / 1024.0).sum();
            // 2047 degrees of freedom: standard deviation 64. The limits allow for a deviation of five standard
            // deviations in either direction.
            assert!((1727.0..2367.0).contains(&chi2), "chi-square {chi2}");
        }
    }

    #[test]
    fn random_reaches_every_block_of_a_small_span() {
        let segmented =
            Span { start_bytes: 4096, segments: 7, segment_bytes: 143 * 512, stride_bytes: 1 << 20 };
        for span in [Span::contiguous(8192, 1001 * 512), segmented] {
            for (thread, read_percent) in [(0, 0), (2, 65)] {
                let mut stream =
                    Stream::new(11, thread, 3, &Pattern::plain(Order::Random, read_percent, 512, span));
                let mut reached = std::collections::BTreeSet::new();
                // The probability of missing a given block is e^-30.
                stream.draw(30 * 1001, |access| reached.extend([access.offset_bytes]));
                let all =
                    (0..span.blocks(512)).map(|block| span.offset_of(block, 512, span.segment_bytes / 512));
                assert_eq!(span.blocks(512), 1001);
                assert!(reached.into_iter().eq(all), "thread {thread} in {span:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_access_is_aligned_and_inside(seed: u64, segments in 1u32..50, blocks in 4u64..100, gap in 0u64..10, threads in 1u16..5) {
            let segment_bytes = blocks * 8192;
            let span = Span { start_bytes: 1 << 20, segments, segment_bytes, stride_bytes: segment_bytes + gap * 8192 };
            for order in [Order::Random, Order::Sequential] {
                let mut stream = Stream::new(seed, threads - 1, threads, &Pattern::plain(order, 50, 8192, span));
                for _ in 0..200 {
                    let from_start = stream.next_access().offset_bytes - span.start_bytes;
                    let (segment, inside) = (from_start / span.stride_bytes, from_start % span.stride_bytes);
                    prop_assert!(segment < u64::from(segments) && inside % 8192 == 0 && inside + 8192 <= segment_bytes);
                }
            }
        }
    }
}
