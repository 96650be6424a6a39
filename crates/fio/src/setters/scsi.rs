//! Parses options about SCSI commands.

use record::ScsiWrite;

use crate::Job;

const WRITES: [ScsiWrite; 7] = [
    ScsiWrite::Write,
    ScsiWrite::WriteAndVerify,
    ScsiWrite::WriteSame,
    ScsiWrite::WriteSameWithoutData,
    ScsiWrite::VerifyMedium,
    ScsiWrite::VerifyData,
    ScsiWrite::VerifyOneBlock,
];

pub fn write_mode(job: &mut Job, text: &str) -> Result<(), String> {
    // Former names.
    let name = match text {
        "verify" => "write_and_verify",
        "same" => "write_same",
        name => name,
    };
    let known = WRITES.into_iter().find(|write| write.name() == name);
    job.commands.scsi.write = known.ok_or_else(|| {
        let names: Vec<_> = WRITES.iter().map(|write| write.name()).collect();
        format!("supported: {}", names.join(", "))
    })?;
    Ok(())
}
