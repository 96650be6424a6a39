//! Parses the JSON output (`J`) of `storcli` and `perccli`. The input is untrusted: its size is bounded, a
//! field of the wrong type is treated as absent, and no input causes a panic.
//!
//! This is the output format of StorCLI 1 and 7: `Controllers[0]` with `Command Status` and `Response Data`. The
//! keys in `Response Data` contain the address of the object described (`/c0/v1`, `PDs for VD 1`, `Drive
//! /c0/e252/s0 Device attributes`).

use serde_json::{Map, Value};

/// Size limit; enough for hundreds of drives and volumes.
const LONGEST_BYTES: usize = 16 << 20;
/// Limit on rows; no controller has this many drives.
const MOST_ROWS: usize = 4096;
/// Limit on the length of strings, which end up in run files and reports.
const LONGEST_TEXT: usize = 200;

/// The response of one controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Whether the command succeeded.
    pub success: bool,
    /// Description of the command's outcome: `Add VD Succeeded.`
    pub description: String,
    /// Outcome for each drive or volume.
    pub details: Vec<Detail>,
    /// Version of the program, if reported.
    pub version: Option<String>,
    data: Value,
}

/// Outcome for one drive or volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Address of the drive, such as `/c0/e252/s7`, or number of the volume.
    pub of: String,
    /// Error code, if any.
    pub code: Option<i64>,
    /// The message.
    pub message: String,
}

/// A drive as reported by its controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerDrive {
    /// State: `UGood`, `Onln`, `GHS`, `JBOD` and so on.
    pub state: String,
    /// Drive group: a number, `-` for none, `F` for a foreign configuration.
    pub group: String,
    /// Interface: `SAS`, `SATA` or `NVMe`.
    pub interface: Option<String>,
    /// Whether the drive is a hard disk.
    pub rotational: Option<bool>,
    /// Vendor.
    pub vendor: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity that the controller uses (the coerced size).
    pub capacity_bytes: u64,
    /// Logical sector size.
    pub logical_block_bytes: u32,
    /// Physical sector size.
    pub physical_block_bytes: u32,
    /// Whether the drive's encryption has locked it.
    pub locked: bool,
    /// Whether the drive is a spare.
    pub spare: bool,
    /// Whether the drive supports cryptographic erase, if reported.
    pub crypto_erase: Option<bool>,
}

/// A volume on a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Number of the volume.
    pub number: u32,
    /// Name of the volume.
    pub name: String,
    /// `RAID5`.
    pub level: String,
    /// State: `Optl`, `Dgrd`, `Pdgd`, `OfLn` and so on.
    pub state: String,
    /// Cache policy, such as `RWBD`: read-ahead, write policy, cached or direct.
    pub cache: String,
    /// Size, as reported.
    pub size: String,
    /// Slots of the drives, such as `252:0`, and their states.
    pub drives: Vec<(String, String)>,
    /// World-wide name, hexadecimal in lower case.
    pub naa: Option<String>,
    /// Kernel name of the volume, as reported by the program.
    pub node: Option<String>,
}

/// A background operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Not started, or no longer running.
    Idle,
    /// Completed fraction, 0 to 1.
    Running(f64),
    /// Any other status, as reported.
    Other(String),
}

/// Properties that a controller reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Product name.
    pub product: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
}

impl Answer {
    /// Parses a response.
    ///
    /// # Errors
    /// Returns a description of the problem if the text is not a response.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_BYTES {
            return Err(format!("longer than {LONGEST_BYTES} bytes"));
        }
        // Before the JSON, some versions print a warning that the command may take a while.
        let begin = text.find('{').ok_or("not JSON")?;
        let whole: Value =
            serde_json::from_str(&text[begin..]).map_err(|error| format!("not JSON: {error}"))?;
        let answer = &whole["Controllers"][0];
        let status = answer["Command Status"].as_object().ok_or("it has no Command Status")?;
        let word = text_of(status.get("Status")).ok_or("its Command Status has no Status")?;
        let details = status.get("Detailed Status").map(rows).unwrap_or_default();
        Ok(Self {
            success: word == "Success",
            description: text_of(status.get("Description")).unwrap_or_default(),
            details: details.into_iter().map(detail).collect(),
            version: text_of(status.get("CLI Version")),
            data: answer["Response Data"].clone(),
        })
    }

    /// Returns the product name and the firmware version of the controller.
    #[must_use]
    pub fn adapter(&self) -> Adapter {
        let known = |names: &[&str]| names.iter().find_map(|name| text_of(self.data.get(*name)));
        Adapter {
            product: known(&["Product Name", "Model"]),
            firmware: known(&["FW Version", "Firmware Version"]),
        }
    }

    /// Returns the drive at an address such as `/c0/e252/s0`; `None` if the response does not contain it.
    #[must_use]
    pub fn drive(&self, address: &str) -> Option<ControllerDrive> {
        let row = rows(self.data.get(format!("Drive {address}"))?).into_iter().next()?;
        let all = &self.data[format!("Drive {address} - Detailed Information")];
        let attributes = all[format!("Drive {address} Device attributes")].as_object()?;
        let settings = &all[format!("Drive {address} Policies/Settings")];
        let says_yes = |name: &str| text_of(settings.get(name)).is_some_and(|word| word == "Yes");
        let block_bytes = |name: &str| text_of(attributes.get(name)).and_then(|text| sector_bytes(&text));
        let logical =
            block_bytes("Logical Sector Size").or_else(|| sector_bytes(&text_of(row.get("SeSz"))?))?;
        let sectors = sectors_of(&text_of(attributes.get("Coerced size"))?)?;
        Some(ControllerDrive {
            state: text_of(row.get("State"))?,
            group: text_of(row.get("DG")).unwrap_or_default(),
            interface: text_of(row.get("Intf")),
            rotational: match text_of(row.get("Med")).as_deref() {
                Some("HDD") => Some(true),
                Some("SSD") => Some(false),
                _ => None,
            },
            vendor: text_of(attributes.get("Manufacturer Id")).filter(|vendor| vendor != "ATA"),
            model: text_of(attributes.get("Model Number")).or_else(|| text_of(row.get("Model"))),
            serial: text_of(attributes.get("SN")).filter(|serial| serial != "N/A" && serial != "-"),
            firmware: text_of(attributes.get("Firmware Revision")),
            capacity_bytes: sectors.checked_mul(u64::from(logical))?,
            logical_block_bytes: logical,
            physical_block_bytes: block_bytes("Physical Sector Size").unwrap_or(logical).max(logical),
            locked: says_yes("Locked"),
            spare: says_yes("Commissioned Spare") || says_yes("Emergency Spare"),
            crypto_erase: text_of(settings.get("Cryptographic Erase Capable")).map(|word| word == "Yes"),
        })
    }

    /// Returns all volumes on a controller, sorted by number.
    #[must_use]
    pub fn volumes(&self, controller: u32) -> Vec<Volume> {
        let Some(data) = self.data.as_object() else { return Vec::new() };
        let head = format!("/c{controller}/v");
        let number = |key: &String| key.strip_prefix(&head)?.parse::<u32>().ok();
        let numbers =
            data.iter().filter_map(|(key, row)| Some((number(key)?, rows(row).into_iter().next()?)));
        let mut all: Vec<Volume> =
            numbers.take(MOST_ROWS).map(|(number, row)| volume(data, number, row)).collect();
        all.sort_by_key(|volume| volume.number);
        all
    }

    /// Returns the status of operations on volumes (`show init`) or drives (`show erase`), in the order of
    /// the response.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        let list = self.data.get("VD Operation Status").unwrap_or(&self.data);
        rows(list).into_iter().map(operation).collect()
    }
}

fn volume(data: &Map<String, Value>, number: u32, row: &Map<String, Value>) -> Volume {
    let word = |name: &str| text_of(row.get(name)).unwrap_or_default();
    let drives = data.get(&format!("PDs for VD {number}")).map(rows).unwrap_or_default();
    let place = |row: &Map<String, Value>| {
        let word = |name: &str| text_of(row.get(name)).unwrap_or_default();
        (word("EID:Slt"), word("State"))
    };
    let properties = data.get(&format!("VD{number} Properties"));
    let property = |name: &str| text_of(properties?.get(name));
    let is_name = |naa: &String| naa.len() >= 16 && naa.bytes().all(|byte| byte.is_ascii_hexdigit());
    Volume {
        number,
        name: word("Name"),
        level: word("TYPE"),
        state: word("State"),
        cache: word("Cache"),
        size: word("Size"),
        drives: drives.into_iter().map(place).collect(),
        naa: property("SCSI NAA Id")
            .map(|naa| naa.to_ascii_lowercase().trim_start_matches("naa.").to_owned())
            .filter(is_name),
        node: property("OS Drive Name").filter(|node| node.starts_with("/dev/")),
    }
}

fn operation(row: &Map<String, Value>) -> Operation {
    let status = text_of(row.get("Status")).unwrap_or_default();
    match status.to_ascii_lowercase().as_str() {
        "not in progress" | "completed" => Operation::Idle,
        "in progress" => {
            let percent = text_of(row.get("Progress%")).and_then(|text| text.parse::<f64>().ok());
            Operation::Running((percent.filter(|p| p.is_finite()).unwrap_or(0.0) / 100.0).clamp(0.0, 1.0))
        }
        _ => Operation::Other(status),
    }
}

fn detail(row: &Map<String, Value>) -> Detail {
    let of = ["Drive", "Drive-ID", "VD", "Ctrl"].iter().find_map(|name| text_of(row.get(*name)));
    let message = ["ErrMsg", "ErrType", "Status"].iter().find_map(|name| text_of(row.get(*name)));
    Detail {
        of: of.unwrap_or_default(),
        code: row.get("ErrCd").and_then(Value::as_i64),
        message: message.unwrap_or_default(),
    }
}

fn rows(list: &Value) -> Vec<&Map<String, Value>> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().take(MOST_ROWS).filter_map(Value::as_object).collect()
}

/// Returns printable text or a number, with single spaces between words; `None` if empty.
fn text_of(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let printable: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_TEXT).collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Parses `111.281 GB [0xde90000 Sectors]`.
fn sectors_of(size: &str) -> Option<u64> {
    let (_, rest) = size.split_once("[0x")?;
    let (digits, _) = rest.split_once(" Sectors]")?;
    u64::from_str_radix(digits, 16).ok().filter(|&sectors| sectors > 0)
}

/// Parses `512B` or `4 KB`.
fn sector_bytes(size: &str) -> Option<u32> {
    let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
    let factor = match size[digits.len()..].trim() {
        "B" | "" => 1,
        "KB" | "K" | "KiB" => 1024,
        _ => return None,
    };
    let bytes = digits.parse::<u32>().ok()?.checked_mul(factor)?;
    (512..=65_536).contains(&bytes).then_some(bytes).filter(|bytes| bytes.is_power_of_two())
}

#[cfg(test)]
mod tests;
