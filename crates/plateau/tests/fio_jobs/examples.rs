//! The job files among fio's examples that `plateau load` runs, as the sections and options that each contains. Amounts
//! and targets are replaced by the test.

/// An example: its name, and one string per section with its title and options.
pub type Example = (&'static str, &'static [&'static str]);

/// The examples that run.
pub const EXAMPLES: &[Example] = &[
    (
        "aio-read",
        &[
            "global ioengine=libaio buffered=0 rw=randread bs=128k size=512m directory=/data1",
            "file1 iodepth=4",
            "file2 iodepth=32",
            "file3 iodepth=8",
            "file4 iodepth=16",
        ],
    ),
    (
        "basic-verify",
        &[
            "write-and-verify rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=16 verify=crc32c filename=/dev/XXX",
        ],
    ),
    (
        "fio-rand-RW",
        &[
            "global name=fio-rand-RW filename=fio-rand-RW rw=randrw rwmixread=60 rwmixwrite=40 bs=4K direct=0 numjobs=4 \
             time_based runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fio-rand-read",
        &[
            "global name=fio-rand-read filename=fio-rand-read rw=randread bs=4K direct=0 numjobs=1 time_based runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fio-rand-write",
        &[
            "global name=fio-rand-write filename=fio-rand-write rw=randwrite bs=4K direct=0 numjobs=4 time_based runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fio-seq-RW",
        &[
            "global name=fio-seq-RW filename=fio-seq-RW rw=rw rwmixread=60 rwmixwrite=40 bs=256K direct=0 numjobs=4 time_based \
             runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fio-seq-read",
        &[
            "global name=fio-seq-reads filename=fio-seq-reads rw=read bs=256K direct=1 numjobs=1 time_based runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fio-seq-write",
        &[
            "global name=fio-seq-write filename=fio-seq-write rw=write bs=256K direct=0 numjobs=1 time_based runtime=900",
            "file1 size=10G ioengine=libaio iodepth=16",
        ],
    ),
    (
        "fixed-rate-submission",
        &[
            "fixed-rate-submit size=128m rw=read ioengine=libaio iodepth=32 direct=1 io_submit_mode=offload rate_iops=1000",
        ],
    ),
    ("fsx", &["file ioengine=libaio iodepth=1 rw=randrw size=256k bs=4k norandommap direct=1 loops=500000"]),
    (
        "iometer-file-access-server",
        &[
            "global description=IOmeter",
            "iometer bssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10 rw=randrw rwmixread=80 direct=1 size=4g \
             ioengine=libaio iodepth=64",
        ],
    ),
    (
        "jesd219",
        &[
            "JESD219 ioengine=libaio direct=1 rw=randrw norandommap randrepeat=0 rwmixread=40 rwmixwrite=60 iodepth=256 \
           numjobs=4 bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3 blockalign=4k \
           random_distribution=zoned:50/5:30/15:20/80 filename=/dev/nvme0n1 group_reporting",
        ],
    ),
    (
        "poisson-rate-submission",
        &[
            "poisson-rate-submit size=128m rw=randread ioengine=libaio iodepth=32 direct=1 io_submit_mode=offload rate_iops=50 \
           rate_process=poisson",
        ],
    ),
    (
        "rand-zones",
        &["zones size=2g direct=1 bs=4k rw=randread norandommap random_distribution=zoned:50/5:30/15:20/"],
    ),
    (
        "ssd-steadystate",
        &[
            "global ioengine=libaio direct=1 group_reporting filename=/dev/fioa",
            "sequential-fill rw=write iodepth=16 bs=1M",
            "random-write-steady stonewall rw=randwrite bs=4K iodepth=32 numjobs=4 write_bw_log=fioa-steady-state",
        ],
    ),
    (
        "ssd-test",
        &[
            "global bs=4k ioengine=libaio iodepth=4 size=10g direct=1 runtime=60 directory=/mount-point-of-ssd \
             filename=ssd.test.file",
            "seq-read rw=read stonewall",
            "rand-read rw=randread stonewall",
            "seq-write rw=write stonewall",
            "rand-write rw=randwrite stonewall",
        ],
    ),
    (
        "tiobench-example",
        &[
            "global direct=1 size=512m bsrange=4k-4k timeout=60 numjobs=4",
            "f1 rw=write",
            "f2 stonewall rw=randwrite",
            "f3 stonewall rw=read",
            "f4 stonewall rw=randread",
        ],
    ),
    (
        "waitfor",
        &[
            "global threads=1 group_reporting filename=/tmp/data filesize=128m",
            "writers rw=write bs=128k numjobs=4 runtime=10",
            "readers new_group wait_for=writers rw=randread bs=4k numjobs=4 runtime=10",
            "writers2 new_group wait_for=readers rw=randwrite bs=4k numjobs=4 runtime=10",
            "readers2 new_group wait_for=writers2 rw=randread bs=4k numjobs=4 runtime=10",
        ],
    ),
];

/// Command lines of benchmark scripts and documentation; `FILE` is a file that does not exist yet.
pub const LINES: &[&str] = &[
    // YABS (Yet Another Bench Script): preparation and measurement.
    "--name=setup --ioengine=libaio --rw=read --bs=64k --iodepth=64 --numjobs=2 --size=2G --runtime=1 --gtod_reduce=1 \
     --filename=FILE --direct=1 --minimal",
    "--name=rand_rw_4k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=4k --iodepth=64 --numjobs=2 --size=2G --runtime=30 \
     --gtod_reduce=1 --direct=1 --filename=FILE --group_reporting --minimal",
    // dbench, and the documentation of several CSI drivers.
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=read_iops --filename=FILE --bs=4K \
     --iodepth=64 --size=2G --readwrite=randread --time_based --ramp_time=2s --runtime=15s",
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=write_bw --filename=FILE --bs=128K \
     --iodepth=64 --size=2G --readwrite=randwrite --time_based --ramp_time=2s --runtime=15s",
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --name=read_latency --filename=FILE --bs=4K --iodepth=4 \
     --size=2G --readwrite=randread --time_based --ramp_time=2s --runtime=15s",
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=read_seq --filename=FILE --bs=1M \
     --iodepth=16 --size=2G --readwrite=read --time_based --ramp_time=2s --runtime=15s --thread --numjobs=4 \
     --offset_increment=4M",
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=rw_mix --filename=FILE --bs=4k \
     --iodepth=64 --size=2G --readwrite=randrw --rwmixread=75 --time_based --ramp_time=2s --runtime=15s",
    // Google Cloud: persistent disks.
    "--name=write_throughput --directory=. --numjobs=4 --size=10G --time_based --runtime=60s --ramp_time=2s \
     --ioengine=libaio --direct=1 --verify=0 --bs=1M --iodepth=64 --rw=write --group_reporting=1 --iodepth_batch_submit=64 \
     --iodepth_batch_complete_max=64",
    "--name=read_iops --directory=. --size=10G --time_based --runtime=60s --ramp_time=2s --ioengine=libaio --direct=1 \
     --verify=0 --bs=4K --iodepth=256 --rw=randread --group_reporting=1 --iodepth_batch_submit=256 \
     --iodepth_batch_complete_max=256",
    "--name=read_latency_test --filename=FILE --filesize=2500G --time_based --ramp_time=10s --runtime=1m --ioengine=libaio \
     --direct=1 --verify=0 --randrepeat=0 --bs=4K --iodepth=4 --rw=randread --iodepth_batch_submit=4 \
     --iodepth_batch_complete_max=4 --output-format=json",
    // Alibaba Cloud: options with one dash.
    "-direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -numjobs=1 -runtime=1000 -group_reporting \
     -filename=FILE -name=Rand_Write_Testing",
    "-direct=1 -iodepth=128 -rw=randread -ioengine=libaio -bs=4k -size=1G -numjobs=2 -runtime=1000 -group_reporting \
     -filename=FILE -name=Rand_Read_Testing",
    // AWS: initialization of a volume.
    "--filename=FILE --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --size=1G --name=volume-initialize",
    // A single process of 4 KiB writes, as in many articles.
    "--name=random-write --ioengine=posixaio --rw=randwrite --bs=4k --size=4g --numjobs=1 --iodepth=1 --runtime=60 \
     --time_based --end_fsync=1",
    "--name=seq-read --filename=FILE --rw=read --bs=1M --ioengine=libaio --iodepth=32 --direct=1 --size=4G --runtime=30 \
     --time_based --eta=always --status-interval=5 --percentile_list=50:99:99.9",
    // Two jobs on one command line.
    "--ioengine=libaio --direct=1 --size=64M --bs=16k --name=first --filename=FILE --rw=write --name=second --stonewall \
     --filename=FILE --rw=randread --iodepth=8",
];
