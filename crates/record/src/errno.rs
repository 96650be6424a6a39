//! Text for kernel error numbers: names, usual causes, and explanations of failed system calls.

/// Number, name and likely cause of each error that block devices return.
const ERRNOS: &[(i32, &str, &str)] = &[
    (libc::EIO, "EIO", "the device, its cable or its driver failed; see the kernel log"),
    (libc::ENODATA, "ENODATA", "a medium error: the device cannot read this block"),
    (libc::ENOSPC, "ENOSPC", "the device vanished, or the file system under it is full"),
    (libc::ENODEV, "ENODEV", "the device was removed"),
    (libc::ENXIO, "ENXIO", "the device was removed"),
    (libc::EREMOTEIO, "EREMOTEIO", "the device reported an internal failure"),
    (libc::ETIMEDOUT, "ETIMEDOUT", "the device did not respond in time"),
    (libc::ENOLINK, "ENOLINK", "the path to the device was lost"),
    (libc::EBADE, "EBADE", "another host has reserved the device"),
    (libc::EBADMSG, "EBADMSG", "the data does not match its checksum or what it was compared with"),
    (libc::EILSEQ, "EILSEQ", "protection information did not match"),
    (libc::EROFS, "EROFS", "the device became read-only"),
    (libc::EPERM, "EPERM", "the kernel denies the operation, perhaps because the device is read-only"),
    (libc::EACCES, "EACCES", "no permission"),
    (libc::EINVAL, "EINVAL", "the device does not support I/Os of this size or alignment"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP", "the device does not support this command"),
    (libc::ENOMEM, "ENOMEM", "the host is out of memory"),
    (libc::EAGAIN, "EAGAIN", "the kernel kept requesting a retry"),
    (libc::EINTR, "EINTR", "the call was interrupted repeatedly"),
    (libc::EBUSY, "EBUSY", "the device is in use"),
    (libc::EDQUOT, "EDQUOT", "the disk quota is used up"),
    (libc::EFBIG, "EFBIG", "the file system does not support files this large"),
    (libc::ENOTCONN, "ENOTCONN", "the server of the file system has stopped"),
    (libc::ESTALE, "ESTALE", "the server of the file system has stopped"),
];

/// Returns the name of an error number, such as `EIO`; `errno 999` for a number that is not listed here.
#[must_use]
pub fn name(errno: i32) -> String {
    row(errno).map_or_else(|| format!("errno {errno}"), |r| r.1.to_owned())
}

/// Returns the error number with this name, as [`name`] returns it; `None` if there is none.
#[must_use]
pub fn number(name: &str) -> Option<i32> {
    let unlisted = || name.strip_prefix("errno ")?.parse().ok();
    ERRNOS.iter().find(|row| row.1 == name).map(|row| row.0).or_else(unlisted)
}

/// Returns the usual cause if a block device reports this error number.
#[must_use]
pub fn cause(errno: i32) -> &'static str {
    row(errno).map_or("an unusual device error; see the kernel log", |r| r.2)
}

fn row(errno: i32) -> Option<&'static (i32, &'static str, &'static str)> {
    ERRNOS.iter().find(|r| r.0 == errno)
}

/// Returns the text of a failed system call's error, without the " (os error 5)" that Rust appends.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
