//! The kernel's letters for an operation, such as `WS` or `FWFS`.

use crate::Op;

/// Returns the operation; None for operations that are not replayed, such as zone management and commands without
/// data.
pub fn op(letters: &[u8]) -> Option<Op> {
    // A leading F means a flush before the write; a lone F is only a flush.
    let letters = match letters {
        [b'F', rest @ ..] if rest.iter().any(|letter| b"RWD".contains(letter)) => rest,
        all => all,
    };
    match letters.first()? {
        b'R' => Some(Op::Read),
        b'W' => Some(Op::Write),
        b'D' => Some(Op::Trim),
        b'F' => Some(Op::Flush),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_the_kernel_are_understood() {
        for (letters, expected) in [
            ("R", Some(Op::Read)),
            ("RA", Some(Op::Read)),
            ("WS", Some(Op::Write)),
            ("FWFS", Some(Op::Write)),
            ("WFS", Some(Op::Write)),
            ("D", Some(Op::Trim)),
            ("DS", Some(Op::Trim)),
            ("FF", Some(Op::Flush)),
            ("FS", Some(Op::Flush)),
            ("N", None),
            ("", None),
        ] {
            assert_eq!(op(letters.as_bytes()), expected, "{letters}");
        }
    }
}
