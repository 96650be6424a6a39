//! Extracts the uncompressed kernel, because decompression at boot takes seconds on an emulated CPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::finished;

/// Returns the kernel inside a `vmlinuz`, or the `vmlinuz` itself if the kernel cannot be extracted.
pub fn unpacked(packed: &Path, folder: &Path) -> PathBuf {
    let name = packed.file_name().unwrap_or_default().to_string_lossy().replace("vmlinuz", "vmlinux");
    let plain = folder.join(name);
    if plain.is_file() {
        return plain;
    }
    let taken = fs::read(packed).ok().and_then(|image| take_out(&image, folder));
    match taken {
        Some(kernel) if fs::write(&plain, &kernel).is_ok() => plain,
        _ => packed.into(),
    }
}

fn take_out(image: &[u8], folder: &Path) -> Option<Vec<u8>> {
    let payload = payload(image)?;
    let program = unpacker(payload)?;
    let file = folder.join("payload");
    fs::write(&file, payload).ok()?;
    let output = finished(Command::new(program).arg("-dc").arg(&file));
    drop(fs::remove_file(&file));
    output.ok().map(|output| output.stdout).filter(|kernel| kernel.starts_with(b"\x7fELF"))
}

/// Returns the compressed part (Linux/x86 boot protocol 2.08, `payload_offset` and `payload_length`), without
/// the size that the kernel build appends to it.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    let setup_sectors = usize::from(*image.get(0x1f1)?);
    let begin = (setup_sectors + 1) * 512 + number(0x248)?;
    image.get(begin..(begin + number(0x24c)?).checked_sub(4)?)
}

fn unpacker(payload: &[u8]) -> Option<&'static str> {
    const PROGRAMS: &[(&[u8], &str)] = &[
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x02\x21\x4c\x18", "lz4"),
        (b"\x1f\x8b", "gzip"),
    ];
    PROGRAMS.iter().find(|(magic, _)| payload.starts_with(magic)).map(|(_, program)| *program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_where_the_boot_protocol_says() {
        let mut image = vec![0u8; 2048];
        image[0x1f1] = 1;
        image[0x248..0x24c].copy_from_slice(&16u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&12u32.to_le_bytes());
        image[1040..1052].copy_from_slice(b"\xfd7zXZ\0\x01\x02SIZE");
        assert_eq!(payload(&image), Some(&b"\xfd7zXZ\0\x01\x02"[..]));
        assert_eq!(unpacker(payload(&image).unwrap()), Some("xz"));
        assert_eq!(payload(&image[..1045]), None);
        assert_eq!(unpacker(b"MZ"), None);
    }
}
