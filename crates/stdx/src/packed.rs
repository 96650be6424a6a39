//! Bit-packed numbers that are rarely read: each number takes only as many bits as the largest number needs.

/// An immutable list of numbers. If many of them are zero, each zero takes one bit.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// The numbers, packed contiguously starting at the lowest bit.
    words: Box<[u64]>,
    /// A bitmap of the non-zero numbers; if it is present, `words` contains only those. `None` if `words`
    /// contains all numbers.
    present: Option<Box<[u64]>>,
    length: usize,
    /// Bits of each number; 0 if all numbers are 0.
    bits: u32,
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl From<&[u64]> for Packed {
    fn from(numbers: &[u64]) -> Self {
        Self::of(numbers.iter().copied())
    }
}

/// Packs `count` numbers of `bits` bits contiguously.
fn words_of(numbers: impl Iterator<Item = u64>, count: usize, bits: u32) -> Box<[u64]> {
    let mut words = Vec::with_capacity((count * bits as usize).div_ceil(64));
    if bits == 0 {
        return words.into();
    }
    // The word that is not yet complete, and how many of its bits are used.
    let (mut word, mut used) = (0, 0);
    for number in numbers {
        word |= number << used;
        used += bits;
        if used >= 64 {
            words.push(word);
            used -= 64;
            word = number.checked_shr(bits - used).unwrap_or(0);
        }
    }
    if used > 0 {
        words.push(word);
    }
    words.into()
}

fn is_set(present: &[u64], index: usize) -> bool {
    present[index / 64] >> (index % 64) & 1 == 1
}

/// Returns how many of the first `index` bits are set.
fn set_before(present: &[u64], index: usize) -> usize {
    let whole: u32 = present[..index / 64].iter().map(|word| word.count_ones()).sum();
    let rest = present.get(index / 64).map_or(0, |word| (word & ((1 << (index % 64)) - 1)).count_ones());
    (whole + rest) as usize
}

impl From<Vec<u64>> for Packed {
    fn from(numbers: Vec<u64>) -> Self {
        numbers.as_slice().into()
    }
}

impl FromIterator<u64> for Packed {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}

/// Returns the word in which a number starts, and the position of its lowest bit there.
const fn place(index: usize, bits: u32) -> (usize, u32) {
    let bit = index * bits as usize;
    (bit / 64, (bit % 64) as u32)
}

impl Packed {
    /// Packs numbers, which are read several times.
    #[must_use]
    pub fn of(numbers: impl ExactSizeIterator<Item = u64> + Clone) -> Self {
        let length = numbers.len();
        // The highest bit set in any number is the highest bit of the largest number.
        let examined = |(all, zeros), number| (all | number, zeros + usize::from(number == 0));
        let (all, zeros) = numbers.clone().fold((0, 0), examined);
        let bits = 64 - u64::leading_zeros(all);
        if zeros * bits as usize <= length {
            return Self { words: words_of(numbers, length, bits), present: None, length, bits };
        }
        let present = words_of(numbers.clone().map(|number| u64::from(number > 0)), length, 1);
        let words = words_of(numbers.filter(|number| *number > 0), length - zeros, bits);
        Self { words, present: Some(present), length, bits }
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no numbers.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the number of bytes that the numbers occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words) + self.present.as_deref().map_or(0, size_of_val)
    }

    /// Returns a number by its position; `None` beyond the last number. To read many of them, [`range`](Self::range) is
    /// faster.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u64> {
        self.range(index..index.saturating_add(1)).next()
    }

    /// Returns a number by its position in `words`.
    #[inline]
    fn stored(&self, index: usize) -> u64 {
        if self.bits == 0 {
            return 0;
        }
        let (word, shift) = place(index, self.bits);
        let mut number = self.words[word] >> shift;
        if shift + self.bits > 64 {
            number |= self.words[word + 1] << (64 - shift);
        }
        number & (u64::MAX >> (64 - self.bits))
    }

    /// Returns all numbers, in order.
    pub fn iter(&self) -> Iter<'_> {
        self.range(0..self.length)
    }

    /// Returns the numbers in a range of positions; positions beyond the last number are omitted.
    pub fn range(&self, range: std::ops::Range<usize>) -> Iter<'_> {
        let rest = range.start.min(self.length)..range.end.min(self.length);
        let stored = self.present.as_ref().map_or(rest.start, |present| set_before(present, rest.start));
        Iter { packed: self, rest, stored }
    }
}

impl<'a> IntoIterator for &'a Packed {
    type Item = u64;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Numbers of a [`Packed`].
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    packed: &'a Packed,
    rest: std::ops::Range<usize>,
    /// Position of the next number among those that are stored.
    stored: usize,
}

impl Iterator for Iter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let index = self.rest.next()?;
        if self.packed.present.as_ref().is_some_and(|present| !is_set(present, index)) {
            return Some(0);
        }
        self.stored += 1;
        Some(self.packed.stored(self.stored - 1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }

    /// Reads each word once.
    #[inline]
    fn fold<B, F: FnMut(B, u64) -> B>(mut self, initial: B, mut take: F) -> B {
        let Packed { words, present, bits, .. } = self.packed;
        if present.is_some() || *bits == 0 {
            let mut folded = initial;
            for number in self.by_ref() {
                folded = take(folded, number);
            }
            return folded;
        }
        let mask = u64::MAX >> (64 - bits);
        let (first, mut shift) = place(self.stored, *bits);
        let mut rest = words.get(first..).unwrap_or_default().iter().copied();
        let mut word = if self.rest.is_empty() { 0 } else { rest.next().unwrap_or(0) };
        let mut folded = initial;
        for _ in self.rest {
            let mut number = if shift < 64 { word >> shift } else { 0 };
            shift += bits;
            if shift > 64 {
                // The number ends in the next word.
                shift -= 64;
                word = rest.next().unwrap_or(0);
                number |= word.checked_shl(bits - shift).unwrap_or(0);
            }
            folded = take(folded, number & mask);
        }
        folded
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_take_as_many_bits_as_the_largest_needs() {
        let words = |numbers: Vec<u64>| Packed::from(numbers).words.len();
        assert_eq!(words(vec![0; 1000]), 0);
        assert_eq!(words(vec![1; 128]), 2);
        assert_eq!(words(vec![1; 129]), 3);
        assert_eq!(words(vec![u64::MAX, 1]), 2);
    }

    #[test]
    fn zeros_take_a_bit_if_there_are_many() {
        let numbers: Vec<u64> = (0..256).map(|index| if index % 4 == 0 { index << 20 } else { 0 }).collect();
        let packed = Packed::from(&numbers[..]);
        // 63 numbers of 28 bits, because the first number is also 0, and a bitmap of 256 bits.
        assert_eq!(packed.words.len() + packed.present.as_ref().expect("many zeros").len(), 28 + 4);
        assert_eq!(packed.iter().collect::<Vec<_>>(), numbers);
        assert!((0..256).all(|index| packed.get(index) == Some(numbers[index])));
        assert_eq!(packed.range(100..999).collect::<Vec<_>>(), numbers[100..]);
        assert_eq!(packed.range(300..400).next(), None);
        assert!(Packed::from(vec![0, 1, 1, 1, 1]).present.is_none());
    }

    #[test]
    fn there_is_nothing_beyond_the_last_number() {
        let packed = Packed::from(vec![0, 0, 0]);
        assert_eq!((packed.get(2), packed.get(3), packed.len()), (Some(0), None, 3));
        assert_eq!(packed.range(1..9).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(Packed::default().iter().next(), None);
        assert!(Packed::default().is_empty());
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were(
            wide in prop::collection::vec(any::<u64>(), 0..200), shift in 0u32..64, filled in 1u64..10
        ) {
            let number = |wide: &u64| if wide % 10 < filled { wide >> shift } else { 0 };
            let numbers: Vec<u64> = wide.iter().map(number).collect();
            let packed: Packed = numbers.iter().copied().collect();
            prop_assert_eq!(packed.iter().len(), numbers.len());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), &numbers[..]);
            let (from, to) = (numbers.len() / 3, numbers.len() / 2);
            prop_assert_eq!(packed.range(from..to).collect::<Vec<_>>(), &numbers[from..to]);
            let mut folded = Vec::new();
            packed.range(from..to).for_each(|number| folded.push(number));
            prop_assert_eq!(folded, &numbers[from..to]);
            prop_assert_eq!(packed == Packed::from(numbers), true);
        }
    }
}
