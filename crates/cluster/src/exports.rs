//! The folders that an NFS server on this host exports, and whether another host may write to them.
//!
//! In doubt, an export does not count: jobs on a host that cannot reach the folder would use a folder of the same name
//! on a disk of their own.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Where an NFS server of the kernel keeps the list of its exports: `exportfs` writes it.
const EXPORTS: &str = "/var/lib/nfs/etab";
/// Counters of the kernel's NFS server. The list of exports remains when the server is killed or no longer started.
const COUNTERS: &str = "/proc/net/rpc/nfsd";

/// A folder, exported to one client or to several.
#[derive(Debug)]
struct Export {
    folder: PathBuf,
    /// A host, a network, or a pattern for hosts.
    client: String,
    is_writable: bool,
}

/// The exports of this host.
#[derive(Debug, Default)]
pub struct Exports(Vec<Export>);

/// Another host, by the names and addresses by which the server may know it.
#[derive(Debug)]
pub struct Client {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Exports {
    /// Reads the exports of this host; none if no server is running.
    pub fn of_this_host() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Self::parse(&read(COUNTERS), &read(EXPORTS))
    }

    fn parse(counters: &str, exports: &str) -> Self {
        let threads = counters
            .lines()
            .find_map(|line| line.strip_prefix("th ")?.split(' ').next()?.parse::<u32>().ok());
        if threads.is_none_or(|threads| threads == 0) {
            return Self::default();
        }
        let export = |line: &str| {
            let (folder, client) = line.split_once('\t')?;
            let (client, options) = client.split_once('(')?;
            let is_writable = options.trim_end_matches(')').split(',').any(|option| option == "rw");
            let folder = Path::new(&unescaped(folder)).canonicalize().ok()?;
            Some(Export { folder, client: client.to_owned(), is_writable })
        };
        Self(exports.lines().filter_map(export).collect())
    }

    /// Returns the host with these names, with its addresses unless nothing is exported, because looking them up may take
    /// time.
    pub fn client(&self, names: &[&str]) -> Client {
        let found = |name: &&str| Some((*name, 0).to_socket_addrs().ok()?.map(|found| found.ip()));
        let addresses = names.iter().filter(|_| !self.0.is_empty()).filter_map(found).flatten().collect();
        Client { names: names.iter().map(|name| (*name).to_owned()).collect(), addresses }
    }

    /// Returns whether `client` may write to a folder. The path need not exist.
    pub fn are_writable(&self, path: &Path, client: &Client) -> bool {
        let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
        let Some(existing) = path.ancestors().find_map(|place| place.canonicalize().ok()) else {
            return false;
        };
        // An export ends where another file system is mounted.
        let contains = |folder: &Path| existing.starts_with(folder) && device(&existing) == device(folder);
        // As for the server, the most specific entry decides: it may be read-only.
        let matching = self.0.iter().filter(|export| contains(&export.folder)).filter_map(|export| {
            let depth = export.folder.components().count();
            Some((depth, rank(&export.client, client)?, !export.is_writable))
        });
        matching.max().is_some_and(|(_, _, is_read_only)| !is_read_only)
    }
}

/// Returns how specific an entry for `client` is, in the order of `exports(5)`; `None` if the entry is for other
/// hosts, or if that cannot be determined here (netgroups, Kerberos).
fn rank(entry: &str, client: &Client) -> Option<u32> {
    let is_name = |name: &String| is_same_host(entry, name);
    if client.names.iter().any(is_name)
        || entry.parse().is_ok_and(|address| client.addresses.contains(&address))
    {
        return Some(3);
    }
    if entry == "*" {
        return Some(0);
    }
    if let Some((network, mask)) = entry.split_once('/') {
        let network = network.parse().ok()?;
        return client.addresses.iter().any(|address| is_in(*address, network, mask)).then_some(2);
    }
    let is_pattern = entry.contains(['*', '?']) && !entry.starts_with('@');
    (is_pattern && client.names.iter().any(|name| fits(entry.as_bytes(), name.as_bytes()))).then_some(1)
}

/// A name without a domain may be the first part of the other.
fn is_same_host(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let rest =
        long.get(..short.len()).filter(|head| head.eq_ignore_ascii_case(short)).map(|_| &long[short.len()..]);
    !short.is_empty()
        && long.parse::<IpAddr>().is_err()
        && rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('.') && !short.contains('.')))
}

/// Returns whether an address belongs to a network, whose mask is a number of bits or an address.
fn is_in(address: IpAddr, network: IpAddr, mask: &str) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let ((address, length), (network, other)) = (bits(address), bits(network));
    let mask = match mask.parse::<u32>() {
        Ok(prefix) if prefix <= length => u128::MAX.checked_shl(128 - prefix).unwrap_or(0),
        Ok(_) => return false,
        Err(_) => match mask.parse().map(bits) {
            Ok((mask, size)) if size == length => mask,
            _ => return false,
        },
    };
    length == other && address & mask == network & mask
}

/// Returns whether a name fits a pattern with `*` and `?`, neither of which matches a dot.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), following) => {
            fits(rest, name) || following.is_some_and(|(c, tail)| *c != b'.' && fits(pattern, tail))
        }
        (Some((b'?', rest)), Some((c, tail))) => *c != b'.' && fits(rest, tail),
        (Some((p, rest)), Some((c, tail))) => p.eq_ignore_ascii_case(c) && fits(rest, tail),
        _ => false,
    }
}

/// Returns a path without the octal escapes of `exportfs`.
fn unescaped(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters of a server with 8 threads, as the kernel prints them.
    const RUNNING: &str = "rc 0 12 34\nfh 0 0 0 0 0\nio 0 0\nth 8 0 0.000 0.000\nra 32 0\n";

    fn client(names: &[&str], addresses: &[&str]) -> Client {
        Client {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            addresses: addresses.iter().map(|address| address.parse().expect("an address")).collect(),
        }
    }

    fn any() -> Client {
        client(&["n2"], &["10.1.2.3"])
    }

    #[test]
    fn a_folder_counts_only_if_it_is_exported_for_writing_and_on_the_same_file_system() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        let lines =
            ["shared\t10.0.0.0/8(rw,sync)", "read\t*(ro,sync)", "two\\040words\t*(sync,rw)", "link\t*(rw)"];
        let exports = lines.map(|line| format!("{}/{line}\n", root.display())).concat();
        for name in ["shared", "read", "two words", "real"] {
            std::fs::create_dir(root.join(name)).expect("a folder");
        }
        std::os::unix::fs::symlink("real", root.join("link")).expect("a link");
        let exports = Exports::parse(RUNNING, &exports);
        let are = |path: &str| exports.are_writable(&root.join(path), &any());
        for shared in ["two words", "link", "real/runs", "shared/runs/new"] {
            assert!(are(shared), "{shared}");
        }
        assert!(!are("read"), "jobs on other hosts write");
        assert!(!are("shared2/runs") && !are(""));
        assert!(!Exports::parse(RUNNING, "/\t*(rw,fsid=0)\n").are_writable(Path::new("/proc"), &any()));
        assert!(!Exports::parse(RUNNING, "").are_writable(&root, &any()));
    }

    #[test]
    fn the_list_of_a_server_that_does_not_run_counts_for_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let list = format!("{}\t*(rw)\n", dir.path().display());
        let are = |counters: &str| Exports::parse(counters, &list).are_writable(dir.path(), &any());
        assert!(are(RUNNING));
        assert!(!are(""), "the kernel has no server");
        assert!(!are("th 0 0 0.000\n"), "it was stopped");
    }

    #[test]
    fn an_export_counts_for_the_hosts_that_it_names() {
        let rank = |entry: &str, names: &[&str], addresses: &[&str]| rank(entry, &client(names, addresses));
        assert_eq!(rank("n2", &["n2"], &[]), Some(3));
        assert_eq!(rank("N2.lab.example", &["n2"], &[]), Some(3), "the name without its domain");
        assert_eq!(rank("n2", &["n2.lab.example"], &[]), Some(3));
        assert_eq!(rank("n2.lab.example", &["n2.other.example"], &[]), None);
        assert_eq!(rank("n1", &["n2"], &["10.1.2.3"]), None, "another host");
        assert_eq!(rank("n", &["n2"], &[]), None);
        assert_eq!(rank("10.1.2.3", &["n2"], &["10.1.2.3"]), Some(3));
        assert_eq!(rank("10.1.2.4", &["n2"], &["10.1.2.3"]), None);
        assert_eq!(rank("10", &["10.1.2.3"], &[]), None);
        assert_eq!(rank("10.1.0.0/16", &["n2"], &["fd00::1", "10.1.2.3"]), Some(2));
        assert_eq!(rank("10.1.0.0/255.255.0.0", &["n2"], &["10.1.2.3"]), Some(2));
        assert_eq!(rank("10.2.0.0/16", &["n2"], &["10.1.2.3"]), None);
        assert_eq!(rank("0.0.0.0/0", &["n2"], &["10.1.2.3"]), Some(2));
        assert_eq!(rank("fd00::/64", &["n2"], &["fd00::1"]), Some(2));
        assert_eq!(rank("10.1.0.0/33", &["n2"], &["10.1.2.3"]), None);
        assert_eq!(rank("10.1.0.0/16", &["n2"], &[]), None, "its address is unknown");
        assert_eq!(rank("*.lab.example", &["n2", "n2.lab.example"], &[]), Some(1));
        assert_eq!(rank("*.example", &["n2.lab.example"], &[]), None, "a star does not match a dot");
        assert_eq!(rank("n?", &["n2"], &[]), Some(1));
        assert_eq!(rank("*", &["n2"], &[]), Some(0));
        for unknown in ["@drives", "@*", "gss/krb5", "gss/krb5p", ""] {
            assert_eq!(rank(unknown, &["n2"], &["10.1.2.3"]), None, "{unknown}");
        }
    }

    #[test]
    fn the_most_specific_entry_decides() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        std::fs::create_dir(root.join("runs")).expect("a folder");
        let are = |lines: [&str; 2]| {
            let list = lines.map(|line| format!("{}{line}\n", root.display())).concat();
            Exports::parse(RUNNING, &list).are_writable(&root.join("runs"), &any())
        };
        for [one, other] in
            [["\t*(rw)", "\tn2(ro)"], ["\t10.0.0.0/8(ro)", "\tn?(rw)"], ["\tn2(rw)", "/runs\t*(ro)"]]
        {
            assert!(!are([one, other]) && !are([other, one]), "{one} {other}");
        }
        assert!(are(["\t*(ro)", "\tn2(rw)"]) && are(["\tn1(ro)", "\tn2(rw)"]));
    }
}
