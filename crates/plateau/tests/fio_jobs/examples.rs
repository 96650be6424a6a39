//! The fio example job files that `plateau load` runs, as the sections and options that each contains. The test
//! replaces amounts and targets.

/// An example: its name, and one string per section with its title and options.
pub type Example = (&'static str, &'static [&'static str]);

/// The examples that run.
pub const EXAMPLES: &[Example] = &[
    (
        "1mbs_clients",
        &[
            "global size=32m rw=read directory=tmp rate=1250 ratemin=1024",
            "file1 startdelay=0",
            "file2 startdelay=4",
        ],
    ),
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
    ("backwards-read", &["backwards-read bs=4k rw=read:-8k filename=128m size=128m"]),
    (
        "basic-verify",
        &[
            "write-and-verify rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=16 verify=crc32c filename=/dev/XXX",
        ],
    ),
    (
        "butterfly",
        &[
            "global filename=/tmp/testfile bs=4k direct=1",
            "forward rw=read flow=2",
            "backward rw=read:-8k flow=2",
        ],
    ),
    (
        "cmdprio-bssplit",
        &[
            "global filename=/dev/sda direct=1 write_lat_log=prio-run.log log_prio=1 rw=randrw ioengine=libaio iodepth=16",
            "cmdprio bssplit=64k/40:1024k/60,1024k/100 cmdprio_bssplit=64k/100:1024k/0,1024k/0 cmdprio_class=1 cmdprio=0",
            "cmdprio-adv stonewall bssplit=64k/40:1024k/60,1024k/100 cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0",
            "cmdprio-adv-def stonewall prioclass=2 prio=7 bssplit=64k/40:1024k/60,1024k/100 \
             cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0",
            "cmdprio-hints stonewall rw=randread bssplit=1M/40:2M/60 \
             cmdprio_bssplit=1M/10/2/0/1:1M/30/2/0/2:1M/60/2/0/0:2M/10/2/0/3:2M/90/2/0/0",
        ],
    ),
    (
        "cmdprio-percentage",
        &[
            "global filename=/dev/sda direct=1 write_lat_log=prio-run.log log_prio=1",
            "randread rw=randread bs=128k ioengine=libaio iodepth=8 prioclass=3 cmdprio_percentage=20 cmdprio_class=1",
        ],
    ),
    (
        "cross-stripe-verify",
        &[
            "global bs=16k direct=1 rw=write:112k verify=crc32c filename=/dev/nvme0n1 verify_backlog=1 offset_increment=124g \
             io_size=120g offset=120k group_reporting verify_dump=1 loops=2",
            "write-verify numjobs=30",
        ],
    ),
    (
        "dedupe-global",
        &[
            "global ioengine=libaio iodepth=256 size=100m dedupe_mode=working_set dedupe_global=1 dedupe_percentage=50 \
             blocksize=4k rw=write buffer_compress_percentage=50 dedupe_working_set_percentage=50",
            "a ",
            "b ",
        ],
    ),
    (
        "dircreate-ioengine",
        &[
            "global create_on_open=1 nrfiles=30 ioengine=dircreate fallocate=none filesize=4k openfiles=1",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
        ],
    ),
    (
        "dirdelete-ioengine",
        &[
            "global ioengine=dirdelete filesize=4k nrfiles=200 unlink=0",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
        ],
    ),
    (
        "dirstat-ioengine",
        &[
            "global ioengine=dirstat numjobs=10 filesize=4k nrfiles=5 thread",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
        ],
    ),
    (
        "disk-zone-profile",
        &[
            "global bs=64k direct=1 rw=read ioengine=libaio iodepth=2 zonemode=strided zonesize=256m zoneskip=2g",
            "disk-zone-profile filename=/dev/sdb write_bw_log log_offset=1",
        ],
    ),
    (
        "enospc-pressure",
        &[
            "global ioengine=libaio directory=/scratch filesize=128G size=999G iodepth=128 continue_on_error=write \
             ignore_error=,ENOSPC error_dump=0 fallocate=none exitall",
            "dio-raicer bs=128k direct=1 buffered=0 rw=randwrite runtime=100 filename=raicer time_based",
            "punch_hole-raicer bs=4k rw=randtrim filename=raicer",
            "aio-dio-verifier create_on_open=1 verify=crc32c-intel verify_fatal=1 verify_dump=1 verify_backlog=1024 \
             verify_async=4 direct=1 bs=4k rw=randrw filename=aio-dio-verifier",
        ],
    ),
    (
        "example_latency_steadystate",
        &[
            "global ioengine=libaio iodepth=32 bs=4k direct=1 rw=randread numjobs=1 time_based=1 runtime=3600 \
             steadystate=lat:5% steadystate_duration=300 steadystate_ramp_time=60 steadystate_check_interval=10 \
             write_lat_log=lat_steadystate log_avg_msec=10000",
            "latency_steady_test filename=/dev/nvme3n1 size=10G",
        ],
    ),
    (
        "exitwhat",
        &[
            "global filename=/tmp/test filesize=1G blocksize=4096 group_reporting exitall=1",
            "slow1 rw=read numjobs=1 ioengine=sync new_group=1 thinktime=2000 number_ios=1000 exit_what=stonewall",
            "fast1 new_group=1 rw=randrw numjobs=3 ioengine=libaio iodepth=32 rate=300,300,300",
            "slow2 stonewall rw=write numjobs=1 ioengine=sync new_group=1 thinktime=2000 number_ios=1000 exit_what=all",
            "fast2 rw=randrw numjobs=3 ioengine=libaio iodepth=32 rate=300,300,300",
            "runsnever rw=randrw numjobs=3 ioengine=libaio iodepth=32 rate=300,300,300",
        ],
    ),
    (
        "falloc",
        &[
            "global ioengine=falloc iodepth=1 direct=0 buffered=0 directory=/scratch nrfiles=1 size=100M filesize=100M \
             group_reporting",
            "[falloc-fuzzer] stonewall runtime=10 time_based bssplit=4k/10:64k/50:32k/40 rw=randwrite numjobs=1 \
             filename=fragmented_file",
            "[punch hole-fuzzer] bs=4k runtime=10 time_based rw=randtrim numjobs=2 filename=fragmented_file",
            "[sequential aio-dio write] stonewall ioengine=libaio numjobs=1 iodepth=128 buffered=0 direct=1 rw=write bs=64k \
             filename=fragmented_file",
            "[sequential buffered read] stonewall ioengine=sync numjobs=1 iodepth=1 buffered=1 direct=0 rw=read bs=64k \
             filename=fragmented_file",
        ],
    ),
    (
        "filecreate-ioengine",
        &[
            "global create_on_open=1 nrfiles=31250 ioengine=filecreate fallocate=none filesize=4k openfiles=1",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
            "t6 ",
            "t7 ",
            "t8 ",
            "t9 ",
            "t10 ",
            "t11 ",
            "t12 ",
            "t13 ",
            "t14 ",
            "t15 ",
        ],
    ),
    (
        "filedelete-ioengine",
        &[
            "global ioengine=filedelete filesize=4k nrfiles=200 unlink=0",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
        ],
    ),
    (
        "filestat-ioengine",
        &[
            "global ioengine=filestat numjobs=1 filesize=4k nrfiles=200 thread",
            "t0 ",
            "t1 ",
            "t2 ",
            "t3 ",
            "t4 ",
            "t5 ",
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
    (
        "flow",
        &[
            "global norandommap thread time_based runtime=30 direct=1 ioengine=libaio iodepth=256 size=100g bs=8k \
             filename=/tmp/testfile flow_sleep=1000",
            "job2 numjobs=1 rw=write flow=1",
            "job1 numjobs=1 rw=randread flow=8",
        ],
    ),
    ("fsx", &["file ioengine=libaio iodepth=1 rw=randrw size=256k bs=4k norandommap direct=1 loops=500000"]),
    (
        "ftruncate",
        &[
            "global ioengine=ftruncate directory=/scratch size=102404k stonewall filename=truncate runtime=10s time_based \
             direct=1 bs=4k",
            "grow-truncate rw=write",
            "rand-truncate rw=randwrite norandommap",
        ],
    ),
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
        "latency-profile",
        &[
            "global bs=4k rw=randread random_generator=lfsr direct=1 ioengine=libaio iodepth=128 latency_target=500000 \
             latency_window=5000 latency_percentile=99.9",
            "device filename=/dev/sda",
        ],
    ),
    (
        "libblkio-io_uring",
        &[
            "global ioengine=libblkio libblkio_driver=io_uring libblkio_path=/dev/nvme0n1 rw=randread blocksize=4k direct=1 \
             time_based=1 runtime=10s",
            "job-A ",
            "job-B numjobs=2 thread=1",
            "job-C thread=1",
        ],
    ),
    ("null", &["global bs=4k gtod_reduce=1", "null ioengine=null size=100g rw=randread norandommap"]),
    (
        "numa",
        &[
            "global ioengine=libaio buffered=0 rw=randread bs=512K iodepth=16 size=512m filename=/dev/sdb1",
            "job1 numa_cpu_nodes=0 numa_mem_policy=bind:0",
            "job2 numa_cpu_nodes=0-1 numa_mem_policy=interleave:0-1",
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
        "sequence-distribution",
        &[
            "global ioengine=null rw=randread bs=4k size=48k io_size=24k",
            "repeating_sequence random_distribution=sequence:2,0,1 random_sequence_stride=0",
            "strided_sequence stonewall random_distribution=sequence:2,0,1 random_sequence_stride=1",
        ],
    ),
    (
        "sprandom",
        &[
            "global ioengine=libaio rw=randwrite bs=${FIO_BS} blockalign=${FIO_BS} direct=1 norandommap=1 iodepth=64",
            "preconditioning sprandom=1 spr_op=0.15 spr_num_regions=100",
        ],
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
        "steadystate",
        &[
            "global threads=1 group_reporting time_based size=128m",
            "ss-write filename=/dev/null rw=write bs=128k numjobs=4 runtime=5m ss=iops:10% ss_dur=30s ss_ramp=10s",
            "ss-read new_group stonewall filename=/dev/zero rw=randread bs=4k numjobs=4 runtime=5m ss=bw_slope:1% \
             ss_dur=10s ss_ramp=5s",
        ],
    ),
    (
        "surface-scan",
        &[
            "global thread bs=64k direct=1 ioengine=sync verify=meta verify_pattern=0xaa555aa5 verify_interval=512",
            "write-phase filename=datafile.tmp rw=write fill_device=1 do_verify=0",
            "verify-phase stonewall create_serialize=0 filename=datafile.tmp rw=read do_verify=1",
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
    (
        "xnvme-compare",
        &[
            "global rw=randread size=12G iodepth=1 bs=4K direct=1 thread=1 time_based=1 runtime=7 ramp_time=3 norandommap=1 \
             allow_file_create=0",
            "default ",
            "override rw=${FIO_RW} iodepth=${FIO_IODEPTH} bs=${FIO_BS}",
        ],
    ),
    ("zipf", &["job ioengine=null rw=randread norandommap size=1280m bs=4k random_distribution=zipf:0.5"]),
];

/// The examples that are refused, each with an option that is refused by name.
pub const REFUSED: &[(&str, &str)] = &[
    ("cpp_null", "ioengine=cpp_null"),
    ("cpuio", "ioengine=cpuio"),
    ("dev-dax", "ioengine=dev-dax"),
    ("dfs", "ioengine=dfs"),
    ("e4defrag", "ioengine=e4defrag"),
    ("e4defrag2", "ioengine=e4defrag"),
    ("exec", "ioengine=exec"),
    ("gfapi", "ioengine=gfapi"),
    ("gpudirect-rdmaio-client", "ioengine=rdma"),
    ("gpudirect-rdmaio-server", "ioengine=rdma"),
    ("http-s3-crypto", "ioengine=http"),
    ("http-s3-storage-class", "ioengine=http"),
    ("http-s3", "ioengine=http"),
    ("http-swift", "ioengine=http"),
    ("http-webdav", "ioengine=http"),
    ("ime", "ioengine=ime_psync"),
    ("libblkio-virtio-blk-vfio-pci", "libblkio_driver=virtio-blk-vfio-pci"),
    ("libcufile-cufile", "ioengine=libcufile"),
    ("libcufile-posix", "ioengine=libcufile"),
    ("libhdfs", "ioengine=libhdfs"),
    ("libhipfile-hipfile", "ioengine=libhipfile"),
    ("libhipfile-posix", "ioengine=libhipfile"),
    ("libiscsi", "ioengine=libiscsi"),
    ("libpmem", "ioengine=libpmem"),
    ("libzbc-rand-write", "ioengine=libzbc"),
    ("libzbc-seq-read", "ioengine=libzbc"),
    ("mtd", "ioengine=mtd"),
    ("nbd", "ioengine=nbd"),
    ("netio", "ioengine=net"),
    ("netio_multicast", "ioengine=net"),
    ("netio_vsock", "ioengine=net"),
    ("netio_vsock_receiver", "ioengine=net"),
    ("netio_vsock_sender", "ioengine=net"),
    ("nfs", "ioengine=nfs"),
    ("page_fault", "ioengine=page_fault"),
    ("rados", "ioengine=rados"),
    ("rbd", "ioengine=rbd"),
    ("rdmaio-client", "ioengine=rdma"),
    ("rdmaio-server", "ioengine=rdma"),
    ("uring-cmd-bsg", "cmd_type=bsg"),
    ("uring-cmd-pi-ext", "pi_act=0"),
    ("uring-cmd-pi-sb", "pi_act=0"),
    ("uring-cmd-zoned-append", "write_mode=zone_append"),
    ("xnvme-pi", "pi_act=0"),
];

/// Examples with options that are supported, but not in this combination, each with the error.
pub const REFUSED_COMBINATIONS: &[(&str, &[&str], &str)] = &[
    (
        "xnvme-fdp",
        &[
            "global rw=randwrite size=2M iodepth=1 bs=4K thread=1 fdp=1 fdp_pli=4,5",
            "default ",
            "override rw=${FIO_RW} iodepth=${FIO_IODEPTH} bs=${FIO_BS}",
        ],
        "write_mode, num_range above 1 and fdp need ioengine=io_uring_cmd",
    ),
    (
        "xnvme-zoned",
        &[
            "global zonemode=zbd rw=write size=1G iodepth=1 bs=4K direct=1 thread=1 ramp_time=1 norandommap=1 verify=crc32c \
             allow_file_create=0",
            "default ",
            "override rw=${FIO_RW} iodepth=${FIO_IODEPTH} bs=${FIO_BS}",
        ],
        "zonemode=zbd cannot be combined with verify",
    ),
    (
        "uring-cmd-zoned",
        &[
            "global filename=/dev/ng0n1 ioengine=io_uring_cmd cmd_type=nvme zonemode=zbd size=1G iodepth=1 bs=256K \
             verify=crc32c stonewall=1",
            "rand-write rw=randwrite",
            "write-opts rw=write registerfiles=1 sqthread_poll=1 sqthread_poll_cpu=0",
            "randwrite-opts rw=randwrite sqthread_poll=1 sqthread_poll_cpu=0 nonvectored=1 registerfiles=1",
        ],
        "zonemode=zbd needs an ioengine of the block layer",
    ),
];

/// What an example needs that the test's file lacks: its name in the documentation, and a part of the error about the file.
pub type Needed = (&'static str, &'static str);

const NVME: Needed = ("NVMe drives", "NVMe");
const SCSI: Needed = ("SCSI drives", "sg requires a whole SCSI or SATA disk");
/// A failed I/O ends the load, while fio continues with its next job.
const SCSI_UNTIL_A_FAILURE: Needed = ("SCSI drives, until its first job fails", SCSI.1);
const ZONED: Needed =
    ("zoned block devices", "zones (zonemode=zbd) are not possible here: the target is not a block device");
const ATOMIC: Needed = ("devices with atomic writes", "atomic writes are not possible here");

/// Examples that only lack the drive that they need.
pub const NEEDS_DRIVE: &[(Needed, Example)] = &[
    (
        ATOMIC,
        (
            "atomic-verify",
            &[
                "write-and-verify rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=16 verify=crc64 atomic=1 \
                 verify_write_sequence=0 numjobs=10 filename=/dev/XXX",
            ],
        ),
    ),
    (
        SCSI,
        (
            "sg_verify",
            &[
                "global filename=/dev/sdb buffer_pattern=0x01 ioengine=sg rw=write bs=512 number_ios=20 stonewall",
                "precon ",
                "verify00 sg_write_mode=verify_bytchk_00",
                "verify01 sg_write_mode=verify_bytchk_01",
                "verify01-two_ios sg_write_mode=verify_bytchk_01 bs=5120 number_ios=2",
                "verify11 sg_write_mode=verify_bytchk_11",
                "verify11-five_ios sg_write_mode=verify_bytchk_11 bs=2048 number_ios=5",
                "verify11-one_ios sg_write_mode=verify_bytchk_11 bs=10240 number_ios=1",
            ],
        ),
    ),
    (
        SCSI_UNTIL_A_FAILURE,
        (
            "sg_verify-fail",
            &[
                "global filename=/dev/sdb buffer_pattern=0x01 ioengine=sg rw=write bs=512 number_ios=20 stonewall",
                "precon ",
                "verify01 sg_write_mode=verify_bytchk_01 number_ios=20",
                "verify01-fail sg_write_mode=verify_bytchk_01 number_ios=21",
                "verify11-one_ios sg_write_mode=verify_bytchk_11 number_ios=1 bs=10240",
                "verify11-fail sg_write_mode=verify_bytchk_11 number_ios=1 bs=10752",
            ],
        ),
    ),
    (
        SCSI,
        (
            "sg_write_same_ndob",
            &[
                "global filename=/dev/sdb buffer_pattern=0x01 ioengine=sg rw=write bs=512 stonewall",
                "precon number_ios=20",
                "write_same_ndob sg_write_mode=write_same_ndob number_ios=19",
                "verify-pass sg_write_mode=verify_bytchk_01 buffer_pattern=0x00 number_ios=19",
                "verify-fail sg_write_mode=verify_bytchk_01 buffer_pattern=0x00 number_ios=20",
            ],
        ),
    ),
    (
        NVME,
        (
            "uring-cmd-fdp",
            &[
                "global filename=/dev/ng0n1 ioengine=io_uring_cmd cmd_type=nvme iodepth=32 bs=4K fdp=1 time_based=1 runtime=1000",
                "write-heavy rw=randrw rwmixwrite=90 fdp_pli=0,1,2,3 offset=0% size=30%",
                "write-mid rw=randrw rwmixwrite=30 fdp_pli=4,5 offset=30% size=30%",
                "write-light rw=randrw rwmixwrite=10 fdp_pli=6 offset=60% size=30%",
            ],
        ),
    ),
    (
        NVME,
        (
            "uring-cmd-trim-multi-range",
            &[
                "global filename=/dev/ng0n1 ioengine=io_uring_cmd cmd_type=nvme size=10M iodepth=32 thread=1 stonewall=1",
                "write_bs bs=4096 rw=randtrim num_range=8",
                "write_bssplit bssplit=4k/10:64k/50:32k/40 rw=trim num_range=8",
            ],
        ),
    ),
    (
        NVME,
        (
            "uring-cmd-write-mode",
            &[
                "global filename=/dev/ng0n1 ioengine=io_uring_cmd cmd_type=nvme size=1G iodepth=32 bs=4K thread=1",
                "mixed-write-modes rw=write write_mode=write/40:zeroes/30:uncor/20:verify/10",
            ],
        ),
    ),
    (
        ZONED,
        (
            "zbd-rand-write",
            &[
                "global name=zbd-rand-write group_reporting rw=randwrite zonemode=zbd zonesize=256M max_open_zones=32 bs=512K \
                 direct=1 numjobs=16 time_based runtime=180",
                "dev1 filename=/dev/sdj ioengine=psync",
            ],
        ),
    ),
    (
        ZONED,
        (
            "zbd-rand-write-trim-gc",
            &[
                "global group_reporting zonemode=zbd zonesize=256M direct=1 time_based runtime=30 filename=/dev/sdb offset=524z",
                "warmup rw=randwrite bs=2M size=128z ioengine=libaio runtime=3",
                "wjob wait_for=warmup rw=randwrite bs=2M size=128z ioengine=libaio flow=128",
                "trimjob wait_for=warmup rw=randtrim bs=256M size=128z ioengine=psync flow=1",
            ],
        ),
    ),
    (
        ZONED,
        (
            "zbd-rand-write-zone-reset-gc",
            &[
                "global name=zbd-rand-write-gc group_reporting rw=randwrite zonemode=zbd zonesize=256M bs=32M direct=1 \
                 time_based runtime=40",
                "dev1 filename=/dev/sdb size=8z offset=524z ioengine=psync zone_reset_threshold=0.7 zone_reset_frequency=0.125",
            ],
        ),
    ),
    (
        ZONED,
        (
            "zbd-seq-read",
            &[
                "global name=zbd-seq-read rw=read bs=256K direct=1 numjobs=1 zonemode=zbd zonesize=256M read_beyond_wp=0",
                "dev1 filename=/dev/sdd offset=140660178944 size=10G ioengine=libaio iodepth=16",
            ],
        ),
    ),
    (
        NVME,
        (
            "uring-cmd-ng",
            &[
                "global filename=/dev/ng0n1 ioengine=io_uring_cmd cmd_type=nvme size=1G iodepth=32 bs=4K thread=1 stonewall=1",
                "rand-write rw=randwrite sqthread_poll=1",
                "rand-read rw=randread",
                "write-opts rw=write sqthread_poll=1 sqthread_poll_cpu=0 nonvectored=1 registerfiles=1",
            ],
        ),
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
    // Alibaba Cloud: options with a single dash.
    "-direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -numjobs=1 -runtime=1000 -group_reporting \
     -filename=FILE -name=Rand_Write_Testing",
    "-direct=1 -iodepth=128 -rw=randread -ioengine=libaio -bs=4k -size=1G -numjobs=2 -runtime=1000 -group_reporting \
     -filename=FILE -name=Rand_Read_Testing",
    // AWS: initialization of a volume.
    "--filename=FILE --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --size=1G --name=volume-initialize",
    // A single process that writes 4 KiB blocks, as in many articles.
    "--name=random-write --ioengine=posixaio --rw=randwrite --bs=4k --size=4g --numjobs=1 --iodepth=1 --runtime=60 \
     --time_based --end_fsync=1",
    "--name=seq-read --filename=FILE --rw=read --bs=1M --ioengine=libaio --iodepth=32 --direct=1 --size=4G --runtime=30 \
     --time_based --eta=always --status-interval=5 --percentile_list=50:99:99.9",
    // Two jobs on one command line.
    "--ioengine=libaio --direct=1 --size=64M --bs=16k --name=first --filename=FILE --rw=write --name=second --stonewall \
     --filename=FILE --rw=randread --iodepth=8",
];
