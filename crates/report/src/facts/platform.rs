//! Information on the test platform that is not in the page headers: host firmware, kernel command line, and
//! information from the operator.

use record::RunFile;

use super::drive_and_host::TextTable;

/// Returns the test platform; None if none of its properties are known.
pub(crate) fn table(run: &RunFile) -> Option<TextTable> {
    let (host, stated) = (&run.host, &run.stated);
    let read = [
        ("BIOS version", &host.bios_version),
        ("Microcode", &host.microcode),
        ("Kernel command line", &host.kernel_command_line),
    ];
    let host_facts = [
        ("Tested by", &stated.company),
        ("Chassis", &stated.chassis),
        ("CPU cooler", &stated.cooler),
        ("Power supply", &stated.power_supply),
    ];
    if read.iter().all(|(_, value)| value.is_none()) && stated.is_empty() {
        return None;
    }
    let row = |item: &str, value: &str| vec![item.to_owned(), value.to_owned()];
    let mut rows: Vec<Vec<String>> =
        read.iter().map(|(item, value)| row(item, value.as_deref().unwrap_or("n/a"))).collect();
    rows.extend(host_facts.iter().filter_map(|(item, value)| Some(row(item, value.as_deref()?))));
    let link = |link: &record::Link| match link.name.as_str() {
        "" => row("Link", &link.address),
        name => row(&format!("Link: {name}"), &link.address),
    };
    rows.extend(stated.links.iter().map(link));
    let head = vec![("Item", 20.0), ("Value", 80.0)];
    Some(TextTable { caption: "Test platform", head, is_of_numbers: false, rows })
}
