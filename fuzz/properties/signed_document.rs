//! Input of `verify --verify-key` and `report --sign`: signatures and keys. Any text is either accepted or
//! refused; a signature consists of 64 bytes that occur in the document as written.

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (private, public) = plateau::untrusted::holds_keys(text);
    assert!(!(private || public) || text.contains("-----BEGIN"), "a key that is not PEM");
    let Ok(signature) = plateau::untrusted::signature(text) else { return };
    let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    let document = format!("{{\"signature\": \"{hex}\"}}");
    assert_eq!(plateau::untrusted::signature(&document), Ok(signature));
}
