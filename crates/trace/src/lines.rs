//! Lines of a stream, without copying them.

use std::io::{self, Read};

/// Maximum length of a line; longer lines are skipped and reported.
pub const LONGEST_LINE: usize = 4096;
const BUFFER_BYTES: usize = 1 << 20;

/// A line of the input.
pub enum Line<'a> {
    /// Bytes of the line, without the line break.
    Text(&'a [u8]),
    /// A line of more than [`LONGEST_LINE`] bytes, which was skipped.
    TooLong,
}

/// Splits a stream into lines.
pub struct Lines<R> {
    input: R,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Number of the current line, starting at 1.
    pub number: u64,
    /// Bytes read so far.
    pub bytes: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { input, buffer, start: 0, end: 0, at_end: false, number: 0, bytes: 0 }
    }

    /// Returns the next line; None at the end of the input.
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        let mut too_long = false;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (from, to) = (self.start, searched + found);
                self.start = to + 1;
                return Ok(Some(self.line(from, to, too_long)));
            }
            if self.at_end {
                let (from, to) = (self.start, self.end);
                self.start = to;
                return Ok((from < to || too_long).then(|| self.line(from, to, too_long)));
            }
            if self.end - self.start > LONGEST_LINE {
                too_long = true;
                self.start = self.end;
            }
            self.fill()?;
            // The part that was already searched has moved to the front of the buffer with the rest.
            searched = self.start;
        }
    }

    #[inline]
    fn line(&mut self, from: usize, to: usize, too_long: bool) -> Line<'_> {
        self.number += 1;
        if too_long || to - from > LONGEST_LINE {
            return Line::TooLong;
        }
        let line = &self.buffer[from..to];
        Line::Text(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.at_end = true,
            Ok(read) => {
                self.end += read;
                self.bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns only a few bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(3).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(Slow(text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("no errors") {
            found.push(match line {
                Line::Text(text) => Some(text.to_vec()),
                Line::TooLong => None,
            });
        }
        assert_eq!((lines.number, lines.bytes), (found.len() as u64, text.len() as u64));
        found
    }

    #[test]
    fn lines_are_split_regardless_of_read_boundaries() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(all(b"one\r\n\ntwo\nlast"), [some("one"), some(""), some("two"), some("last")]);
        assert_eq!(all(b""), [None::<Vec<u8>>; 0]);
        let long = [&b"a\n"[..], &vec![b'x'; 3 * LONGEST_LINE], b"\nb\n"].concat();
        assert_eq!(all(&long), [some("a"), None, some("b")]);
    }
}
