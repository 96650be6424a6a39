//! The SCSI commands of a job.

use engine::Engine;
use record::ScsiCommands;

use super::Job;

impl Job {
    /// Checks that the options about SCSI commands can be combined.
    pub(crate) fn check_scsi(&self) -> Result<(), String> {
        if self.engine != Engine::Scsi {
            let is_plain = self.commands.scsi == ScsiCommands::default();
            return if is_plain {
                Ok(())
            } else {
                Err("sg_write_mode, readfua and writefua need ioengine=sg".into())
            };
        }
        if self.trims {
            return Err("ioengine=sg does not trim; use another ioengine".into());
        }
        if self.syncs.each_write.is_some() {
            return Err("sync has no effect on SCSI commands; use writefua".into());
        }
        if self.verify && !self.commands.scsi.write.writes_data() {
            return Err("verify needs written data; use sg_write_mode=write".into());
        }
        Ok(())
    }

    /// Returns the SCSI commands of the job; `None` for plain reads and writes.
    pub(crate) fn scsi_commands(&self) -> Option<ScsiCommands> {
        Some(self.commands.scsi).filter(|scsi| *scsi != ScsiCommands::default())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{DataPattern, ScsiWrite, Workload};

    fn workload(options: &str) -> Result<Workload, String> {
        let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
        let job = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options").remove(0);
        Ok(job.streams(1 << 30, 0, 1)?.remove(0))
    }

    #[test]
    fn options_become_commands() {
        let options = "ioengine=sg rw=write bs=512 number_ios=20 buffer_pattern=0x01 iodepth=8";
        let plain = workload(options).expect("a load");
        assert_eq!((plain.commands, plain.queue_depth), (None, 1), "one command at a time");
        assert_eq!(plain.data_pattern, DataPattern::Byte(1));
        for (name, write) in [
            ("verify_bytchk_00", ScsiWrite::VerifyMedium),
            ("verify_bytchk_01", ScsiWrite::VerifyData),
            ("verify_bytchk_11", ScsiWrite::VerifyOneBlock),
            ("write_same_ndob", ScsiWrite::WriteSameWithoutData),
            ("same", ScsiWrite::WriteSame),
            ("verify", ScsiWrite::WriteAndVerify),
        ] {
            let workload = workload(&format!("{options} sg_write_mode={name}")).expect("a load");
            let scsi = workload.commands.and_then(|commands| commands.scsi).expect("a command");
            assert_eq!(scsi.write, write, "{name}");
            assert!(!scsi.read_fua && !scsi.write_fua);
        }
    }

    #[test]
    fn impossible_options_say_why() {
        for (options, expected) in [
            ("rw=write sg_write_mode=write_same", "need ioengine=sg"),
            ("rw=read ioengine=io_uring_cmd readfua=1", "need ioengine=sg"),
            ("rw=trim ioengine=sg", "does not trim"),
            ("rw=write ioengine=sg sync=1", "use writefua"),
            ("rw=write ioengine=sg sg_write_mode=write_same verify=md5", "verify needs written data"),
            ("rw=write buffer_pattern=0x01 zero_buffers", "buffer_pattern"),
        ] {
            let error = workload(options).expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
