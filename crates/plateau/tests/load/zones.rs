//! Jobs for the zones of zoned block devices, on targets without zones.

use super::Bench;

#[test]
fn a_job_for_zones_is_refused_before_anything_is_created() {
    let writes = "rw=write\nzonemode=zbd\n";
    let reads = "rw=read\nzonemode=zbd\n";
    for jobs in [
        format!("[only]\nfilename=DATA.new\nsize=16m\n{writes}"),
        // The file would be laid out first.
        format!("[only]\nfilename=DATA.new\nsize=16m\n{reads}"),
        format!(
            "[first]\nfilename=DATA.new\nsize=16m\nrw=write\n[second]\nstonewall\nfilename=DATA\n{reads}"
        ),
    ] {
        let bench = Bench::new(&jobs);
        let output = bench.run(&[]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{jobs}: {error}");
        assert!(error.contains("the target is not a block device"), "{jobs}: {error}");
        assert!(!bench.dir.path().join("data.new").exists(), "{jobs}");
        assert!(bench.untouched(), "{jobs}");
    }
}
