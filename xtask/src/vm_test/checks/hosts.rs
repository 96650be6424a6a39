//! Load from two hosts on one array, over NVMe/TCP, and runs forwarded over a bad link. Two network namespaces are the
//! hosts; the array and the server are in the guest's own namespace.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use stdx::histogram::slot_of;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::guest::Guest;

pub const GROUP: Group = Group {
    name: "hosts",
    needs: Some("ls /modules/nvmet_tcp.ko /modules/sch_netem.ko && ip.host -V && tc.host -V && curl.host -V"),
    checks: &[
        Check {
            name: "two hosts load one array over NVMe/TCP, and their results are merged exactly",
            ci: false,
            run: merged,
        },
        Check { name: "a sweep of queue depths from two hosts is merged job by job", ci: false, run: swept },
        Check { name: "a host that dies makes the result invalid", ci: false, run: died },
        Check {
            name: "runs that are forwarded over a link that drops, delays, duplicates and cuts arrive unchanged",
            ci: false,
            run: forwarded,
        },
    ],
};

/// The hosts, with the third byte of the addresses of their links. The array has the address .1, the host .2.
const HOSTS: [(&str, u8); 2] = [("near", 1), ("far", 2)];
/// Name of the array as an NVMe subsystem.
const ARRAY: &str = "plateau-array";
const ARRAY_BYTES: &str = "64M";
/// The device behind the array.
const LOOP: &str = "/dev/loop7";
/// Delay of the link to the far host.
const FAR_MS: u32 = 4;
/// Time until the loads start, which includes the measurement of the host's ceiling on an emulated CPU.
const AHEAD_SECONDS: u32 = 40;
/// Skew that an emulated CPU does not exceed.
const SKEW: &str = "10s";

/// Creates the namespaces with their links, unless an earlier check has done so.
fn links(guest: &mut Guest) -> anyhow::Result<()> {
    if guest.run("test -e /tmp/near.pid")?.code == 0 {
        return Ok(());
    }
    guest.sh("for name in veth sch_netem; do insmod /modules/$name.ko; done; ip link set lo up")?;
    for (name, number) in HOSTS {
        guest.sh(&format!("(unshare -n sleep 100000 >/dev/null 2>&1 & echo $! >/tmp/{name}.pid)"))?;
        guest.wait_for("a namespace", &format!("ip.host netns identify >/dev/null; test \"$(readlink /proc/$(cat /tmp/{name}.pid)/ns/net)\" != \"$(readlink /proc/self/ns/net)\""))?;
        guest.sh(&format!(
            "ip.host link add {name} type veth peer name eth0 netns $(cat /tmp/{name}.pid) && ip.host addr add 10.9.{number}.1/24 \
             dev {name} && ip.host link set {name} up"
        ))?;
        on(
            guest,
            name,
            &format!(
                "ip.host addr add 10.9.{number}.2/24 dev eth0 && ip.host link set eth0 up && ip.host link set lo up"
            ),
        )?;
    }
    Ok(())
}

fn on(guest: &mut Guest, host: &str, command: &str) -> anyhow::Result<String> {
    guest.sh(&inside(host, command))
}

fn inside(host: &str, command: &str) -> String {
    format!("nsenter -t $(cat /tmp/{host}.pid) -n sh -c '{command}'")
}

/// Exports the array and connects both hosts; returns the device of each host.
fn array(guest: &mut Guest) -> anyhow::Result<Vec<(&'static str, String)>> {
    links(guest)?;
    if guest.run(&format!("test -d /sys/kernel/config/nvmet/subsystems/{ARRAY}"))?.code != 0 {
        guest.sh("insmod /modules/nvmet_tcp.ko && insmod /modules/nvme_tcp.ko && mount -t configfs config /sys/kernel/config")?;
        guest.sh(&format!(
            "truncate -s {ARRAY_BYTES} /tmp/array && losetup {LOOP} /tmp/array && cd /sys/kernel/config/nvmet && mkdir subsystems/{ARRAY} \
             && echo 1 >subsystems/{ARRAY}/attr_allow_any_host && mkdir subsystems/{ARRAY}/namespaces/1 && cd subsystems/{ARRAY}/namespaces/1 \
             && echo -n {LOOP} >device_path && echo 1 >enable"
        ))?;
        guest.sh(&format!(
            "cd /sys/kernel/config/nvmet && mkdir ports/1 && cd ports/1 && echo tcp >addr_trtype && echo ipv4 >addr_adrfam && echo \
             0.0.0.0 >addr_traddr && echo 4420 >addr_trsvcid && ln -s ../../../nvmet/subsystems/{ARRAY} subsystems/{ARRAY}"
        ))?;
        for (name, number) in HOSTS {
            let uuid = format!("nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-00000000000{number}");
            let connect = format!(
                "echo -n \"nqn={ARRAY},transport=tcp,traddr=10.9.{number}.1,trsvcid=4420,hostnqn={uuid},hostid=00000000-0000-4000-8000-00000000000{number}\" >/dev/nvme-fabrics"
            );
            on(guest, name, &connect)?;
        }
        let delay = format!("tc.host qdisc add dev eth0 root netem delay {FAR_MS}ms");
        on(guest, "far", &delay)?;
    }
    let mut devices = Vec::new();
    for (name, number) in HOSTS {
        let find = format!(
            "grep -l traddr=10.9.{number}.1 /sys/class/nvme/*/address | cut -d/ -f5 | sed s,^,/dev/,\\;s,\\$,n1, | while read d; do test -b $d && echo $d; done | grep ."
        );
        guest.wait_for("the array", &find)?;
        devices.push((name, guest.sh(&find)?));
    }
    Ok(devices)
}

/// Starts the same load on both hosts; returns the files with the results once both have ended.
fn load(guest: &mut Guest, targets: &[(&str, String)], what: &str) -> anyhow::Result<Vec<String>> {
    let at = guest.sh(&format!("date -u -d @$(($(date +%s) + {AHEAD_SECONDS})) +%Y-%m-%dT%H:%M:%SZ"))?;
    let mut files = Vec::new();
    for (name, target) in targets {
        let file = format!("/tmp/{name}.json");
        let command = format!("plateau load {target} {what} --start-at {at} --json");
        let command =
            inside(name, &format!("{command} >{file} 2>/tmp/{name}.err; echo $? >/tmp/{name}.code"));
        guest.sh(&format!("rm -f /tmp/{name}.code; ({command} >/dev/null 2>&1 &)"))?;
        files.push(file);
    }
    Ok(files)
}

fn wait_for_loads(guest: &mut Guest) -> anyhow::Result<()> {
    for (name, _) in HOSTS {
        guest.wait_for("the end of a load", &format!("test -s /tmp/{name}.code"))?;
        let code = guest.sh(&format!("cat /tmp/{name}.code"))?;
        let said = guest.sh(&format!("cat /tmp/{name}.err"))?;
        ensure!(code == "0", "the load of {name} ended with {code}: {said}");
    }
    Ok(())
}

fn result(guest: &mut Guest, file: &str) -> anyhow::Result<Value> {
    serde_json::from_str(&guest.sh(&format!("cat {file}"))?).with_context(|| file.to_owned())
}

/// Returns the histogram of the reads of a job, by slot: the first and the last bin are named after the extremes.
fn bins(job: &Value) -> BTreeMap<usize, u64> {
    let bins = job["read"]["lat_ns"]["bins"].as_object().into_iter().flatten();
    let mut slots = BTreeMap::new();
    for (ns, count) in bins {
        let slot = ns.parse().map_or(usize::MAX, slot_of);
        *slots.entry(slot).or_default() += count.as_u64().unwrap_or(0);
    }
    slots
}

/// Checks a merged job against the results of the hosts.
fn check(merged: &Value, of_hosts: &[&Value]) -> anyhow::Result<()> {
    let mut sum: BTreeMap<usize, u64> = BTreeMap::new();
    for job in of_hosts {
        for (slot, count) in bins(job) {
            *sum.entry(slot).or_default() += count;
        }
    }
    ensure!(!sum.is_empty() && bins(merged) == sum, "the histograms are not the sum: {sum:?}; {merged}");
    let total: u64 = sum.values().sum();
    ensure!(merged["read"]["total_ios"] == total, "{merged}");
    let slowest = merged["slowest"]["file"].as_str().unwrap_or_default();
    ensure!(slowest.contains("far"), "the delayed host is the slowest: {merged}");
    let skew = merged["skew_ns"].as_i64().context("no skew")?;
    ensure!(skew >= 0 && merged["overlap_share"].as_f64().is_some_and(|share| share > 0.0), "{merged}");
    let shares: Vec<f64> =
        merged["hosts"].as_array().into_iter().flatten().filter_map(|host| host["share"].as_f64()).collect();
    ensure!(shares.len() == HOSTS.len() && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{merged}");
    println!("#   skew {:.1} ms, shares {shares:.2?}, {total} reads", skew as f64 / 1e6);
    Ok(())
}

fn merged(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let devices = array(guest)?;
    let files = load(guest, &devices, "--rw randread --bs 4k --iodepth 4 --runtime 3 --time_based")?;
    wait_for_loads(guest)?;
    let document = guest.json(&format!("load --hosts 2 --skew-limit {SKEW} --merge {}", files.join(" ")))?;
    let results = files.iter().map(|file| result(guest, file)).collect::<anyhow::Result<Vec<Value>>>()?;
    let jobs: Vec<&Value> = results.iter().map(|result| &result["jobs"][0]).collect();
    check(&document["jobs"][0], &jobs)?;
    for result in &results {
        ensure!(result["start"]["actual"].is_string() && result["start"]["clock"].is_object(), "{result}");
    }
    Ok(())
}

fn swept(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let devices = array(guest)?;
    let job = |depth: u32| format!("[qd{depth}]\\niodepth={depth}\\nstonewall\\n");
    let jobs: String = [1, 4, 16].map(job).concat();
    for (name, device) in &devices {
        let global =
            format!("[global]\\nfilename={device}\\nrw=randread\\nbs=4k\\nruntime=2\\ntime_based\\n");
        guest.sh(&format!("printf '{global}{jobs}' >/tmp/{name}.fio"))?;
    }
    let described: Vec<(&str, String)> =
        devices.iter().map(|(name, _)| (*name, format!("/tmp/{name}.fio"))).collect();
    let files = load(guest, &described, "")?;
    wait_for_loads(guest)?;
    let document = guest.json(&format!("load --hosts 2 --skew-limit {SKEW} --merge {}", files.join(" ")))?;
    let results = files.iter().map(|file| result(guest, file)).collect::<anyhow::Result<Vec<Value>>>()?;
    let all = document["jobs"].as_array().context("jobs")?;
    ensure!(all.len() == 3, "{document}");
    for (index, merged) in all.iter().enumerate() {
        let jobs: Vec<&Value> = results.iter().map(|result| &result["jobs"][index]).collect();
        ensure!(jobs.iter().all(|job| job["jobname"] == merged["jobname"]), "{document}");
        check(merged, &jobs)?;
    }
    Ok(())
}

fn died(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let devices = array(guest)?;
    let files = load(guest, &devices, "--rw randread --bs 4k --iodepth 4 --runtime 10 --time_based")?;
    // The far host dies while both are measuring.
    let device = devices.iter().find(|(name, _)| *name == "far").context("the far host")?.1.clone();
    let block = device.trim_start_matches("/dev/").to_owned();
    guest.sh(&format!("cat /sys/block/{block}/stat | (read ios rest; echo $ios) >/tmp/before"))?;
    guest.wait_for(
        "reads of the far host",
        &format!("test $(cat /sys/block/{block}/stat | (read ios rest; echo $ios)) -gt $(($(cat /tmp/before) + 500))"),
    )?;
    guest.sh(&format!("kill -9 $(ps | grep \"plateau load {device} \" | grep -v -e grep -e nsenter -e \"sh -c\" | (read pid rest; echo $pid))"))?;
    for (name, _) in HOSTS {
        guest.wait_for("the end of a load", &format!("test -s /tmp/{name}.code"))?;
    }
    let codes = guest.sh("cat /tmp/near.code /tmp/far.code")?;
    ensure!(codes == "0\n137", "only the far host was killed: {codes}");
    let error = guest.fails(7, &format!("load --skew-limit {SKEW} --merge {}", files.join(" ")))?;
    ensure!(error.contains("far.json") && !error.contains("near.json"), "{error}");
    Ok(())
}

/// Number of faults of the link, at least.
const FAULTS: u64 = 200;

/// Returns the packets that the link of the far host has dropped, at both ends.
fn dropped(guest: &mut Guest) -> anyhow::Result<u64> {
    let here = guest.sh("tc.host -s qdisc show dev far")?;
    let there = on(guest, "far", "tc.host -s qdisc show dev eth0")?;
    let counts = [here, there].map(|text| {
        let count =
            text.split("(dropped ").nth(1).and_then(|rest| rest.split(',').next()?.trim().parse().ok());
        count.unwrap_or(0_u64)
    });
    Ok(counts.iter().sum())
}

fn forwarded(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    links(guest)?;
    guest.sh("rm -rf /tmp/server /tmp/state-server /runs/library; mkdir -p /tmp/server /tmp/state-server; ln -sf curl.host /bin/curl")?;
    let server = "PLATEAU_LIBRARY=/tmp/server PLATEAU_STATE=/tmp/state-server plateau";
    guest.sh(&format!("{server} sender add far | head -1 >/tmp/token && chmod 600 /tmp/token"))?;
    let listen = "serve --listen 10.9.2.1:7070 --tls-self-signed --allow-host 10.9.2.1";
    guest.sh(&format!("({server} {listen} >/tmp/job.out 2>&1 & echo $! >/tmp/serve.pid)"))?;
    guest.wait_for("the server", "grep -q https /tmp/job.out")?;
    let certificate = guest.sh("find /tmp/state-server -name '*certificate.pem'")?;
    // Loss, delay, duplicates and reordering in both directions.
    let netem = "netem delay 5ms 5ms loss 8% duplicate 8% reorder 20%";
    guest.sh(&format!("tc.host qdisc replace dev far root {netem}"))?;
    on(guest, "far", &format!("tc.host qdisc replace dev eth0 root {netem}"))?;
    let forward = format!(
        "plateau forward --to https://10.9.2.1:7070 --token-file /tmp/token --ca-file {certificate} --look-every 1"
    );
    guest.sh(&format!(
        "({} & echo $! >/tmp/forward.pid)",
        inside("far", &format!("exec {forward} >/tmp/job.err 2>&1"))
    ))?;
    let mut runs = 0;
    while dropped(guest)? < FAULTS || runs < 3 {
        runs += 1;
        ensure!(runs <= 40, "only {} packets were dropped", dropped(guest)?);
        guest.plateau(&format!("job run-{runs} iops sim:sas-slc-2011 --scale 1/1024 {SHORT}"))?;
        // The link is cut while records are on their way.
        guest.sh("ip.host link set far down; sleep 1; ip.host link set far up")?;
    }
    let same = "cd /runs/library && for run in run-*; do cmp -s $run/journal /tmp/server/$run/journal || exit 1; done";
    guest.wait_for("all runs at the server", same)?;
    let faults = dropped(guest)?;
    for number in 1..=runs {
        guest.sh(&format!("{server} verify run-{number}"))?;
    }
    guest.sh("kill $(cat /tmp/serve.pid); kill $(ps | grep \"plateau forward\" | grep -v grep | (read pid rest; echo $pid)); rm -rf /tmp/server /tmp/state-server /runs/library")?;
    println!("#   {runs} runs, {faults} packets dropped, {runs} cuts");
    Ok(())
}
