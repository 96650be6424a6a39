//! Sense data: why a SCSI command failed (SPC-4, 4.5).

/// The fields of sense data that Plateau uses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sense {
    pub(crate) key: u8,
    /// Additional sense code and its qualifier.
    pub(crate) code: (u8, u8),
    /// Progress of a format or sanitize operation, 0 to 1, if reported.
    pub(crate) share_done: Option<f64>,
}

/// Logical unit not ready, format in progress.
pub(crate) const FORMAT_RUNNING: (u8, u8) = (0x04, 0x04);
/// Logical unit not ready, sanitize in progress.
pub(crate) const SANITIZE_RUNNING: (u8, u8) = (0x04, 0x1b);
/// Format command failed.
pub(crate) const FORMAT_FAILED: (u8, u8) = (0x31, 0x01);
/// Sanitize command failed.
pub(crate) const SANITIZE_FAILED: (u8, u8) = (0x31, 0x03);

impl Sense {
    /// Returns `None` if the response is not valid sense data.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.first()? & 0x7f {
            // Fixed format, SPC-4 table 53.
            0x70 | 0x71 => {
                let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
                let specific = [at(15), at(16), at(17)];
                Some(Self { key: at(2) & 0xf, code: (at(12), at(13)), share_done: progress(specific) })
            }
            // Descriptor format, SPC-4 table 30; type 02h is the sense key specific descriptor, table 33.
            0x72 | 0x73 => {
                let head: &[u8; 4] = bytes.get(..4)?.try_into().ok()?;
                let specific = descriptors(bytes)
                    .filter(|d| d.first() == Some(&0x02))
                    .find_map(|d| <[u8; 3]>::try_from(d.get(4..7)?).ok());
                Some(Self {
                    key: head[1] & 0xf,
                    code: (head[2], head[3]),
                    share_done: specific.and_then(progress),
                })
            }
            _ => None,
        }
    }

    /// Describes the failure.
    pub(crate) fn text(&self) -> String {
        let what = match (self.key, self.code) {
            (_, FORMAT_FAILED) => "the format failed",
            (_, SANITIZE_FAILED) => "the sanitize operation failed",
            (_, FORMAT_RUNNING) => "a format is running",
            (_, SANITIZE_RUNNING) => "a sanitize operation is running",
            (2, _) => "the device is not ready",
            (3, _) => "a medium error",
            (4, _) => "a hardware error",
            (5, (0x20, 0)) => "the device does not support this command",
            (5, _) => "illegal request",
            (6, _) => "the device was reset or changed",
            (7, _) => "the device is write-protected",
            (0xb, _) => "the device aborted the command",
            _ => "see the sense codes of SPC-4",
        };
        format!("{what} (sense {:x}h/{:02x}h/{:02x}h)", self.key, self.code.0, self.code.1)
    }
}

/// Decodes the progress in sense key specific data, in units of 1/65536; `None` unless the valid bit is set.
fn progress(specific: [u8; 3]) -> Option<f64> {
    let raw = u16::from_be_bytes([specific[1], specific[2]]);
    (specific[0] & 0x80 != 0).then(|| f64::from(raw) / 65_536.0)
}

/// Returns the descriptors of descriptor-format sense data, each starting with its type.
pub(crate) fn descriptors(sense: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = sense.get(8..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let length = usize::from(*rest.get(1)?) + 2;
        let (first, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = others;
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_formats_are_decoded_alike() {
        let fixed = [0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 4, 0x1b, 0, 0x80, 0x40, 0];
        let descriptor = [0x72, 2, 4, 0x1b, 0, 0, 0, 8, 2, 6, 0, 0, 0x80, 0x40, 0, 0];
        let expected = Sense { key: 2, code: SANITIZE_RUNNING, share_done: Some(0.25) };
        assert_eq!(Sense::decode(&fixed), Some(expected));
        assert_eq!(Sense::decode(&descriptor), Some(expected));
        assert_eq!(Sense::decode(&[]), None);
        assert!(expected.text().contains("a sanitize operation is running"));
    }

    proptest! {
        #[test]
        fn arbitrary_sense_data_causes_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(descriptors(&bytes).count() <= bytes.len());
            if let Some(sense) = Sense::decode(&bytes) {
                prop_assert!(!sense.text().is_empty());
                prop_assert!(sense.share_done.is_none_or(|share| (0.0..1.0).contains(&share)));
            }
        }
    }
}
