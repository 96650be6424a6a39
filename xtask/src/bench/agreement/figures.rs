//! What is compared: the IOPS and the 99th percentiles in the JSON result of either program.
//!
//! Plateau's keys are fio's, so the same code reads both.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::Value;

/// The directions of a job.
const DIRECTIONS: [&str; 2] = ["read", "write"];
/// fio's response times: from the end of the submission, and from its beginning. They are the same in Plateau.
const TIMES: [&str; 2] = ["clat_ns", "lat_ns"];

/// fio has 64 buckets for each power of two (`FIO_IO_U_PLAT_BITS`), and this many of such groups.
const BUCKET_BITS: u32 = 6;
const GROUPS: usize = 29;

/// The results of all clones of a job, in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Name of the job.
    pub job: String,
    /// `read` or `write`.
    pub direction: &'static str,
    pub iops: f64,
    /// 99th percentile of the completion latency, which excludes the submission in fio.
    pub clat_p99_ns: u64,
    /// 99th percentile of the whole response time.
    pub lat_p99_ns: u64,
}

/// Sums over the clones of a job: fio reports each of them, and Plateau their job.
struct Sums {
    job: String,
    direction: &'static str,
    iops: f64,
    /// Number of I/Os by response time in ns, for each of [`TIMES`].
    counts: [BTreeMap<u64, u64>; 2],
}

/// Returns the results in a JSON document, which notices may precede.
pub fn figures(output: &[u8]) -> anyhow::Result<Vec<Figures>> {
    let begin = output.iter().position(|byte| *byte == b'{').unwrap_or(0);
    let document: Value = serde_json::from_slice(&output[begin..]).context("not JSON")?;
    let mut all: Vec<Sums> = Vec::new();
    for entry in document["jobs"].as_array().context("no jobs")? {
        let job = entry["jobname"].as_str().context("a job without a name")?;
        for direction in DIRECTIONS {
            let way = &entry[direction];
            if way["total_ios"].as_u64().with_context(|| format!("{job}: no number of {direction}s"))? > 0 {
                sums_of(&mut all, job, direction).add(way).with_context(|| format!("{job}: {direction}"))?;
            }
        }
    }
    all.into_iter().map(Sums::figures).collect()
}

/// Returns the sums of a job, which are appended if they do not exist.
fn sums_of<'a>(all: &'a mut Vec<Sums>, job: &str, direction: &'static str) -> &'a mut Sums {
    let known = all.iter().position(|sums| sums.job == job && sums.direction == direction);
    let place = known.unwrap_or(all.len());
    if place == all.len() {
        all.push(Sums { job: job.to_owned(), direction, iops: 0.0, counts: Default::default() });
    }
    &mut all[place]
}

impl Sums {
    fn add(&mut self, way: &Value) -> anyhow::Result<()> {
        self.iops += way["iops"].as_f64().context("no rate")?;
        for (name, counts) in TIMES.into_iter().zip(&mut self.counts) {
            let bins = way[name]["bins"].as_object().with_context(|| format!("no histogram in {name}"))?;
            for (ns, count) in bins {
                let count = count.as_u64().context("a count that is not a number")?;
                *counts.entry(ns.parse().context("a time that is not a number")?).or_default() += count;
            }
        }
        Ok(())
    }

    fn figures(self) -> anyhow::Result<Figures> {
        let [clat, lat] = self.counts.map(|counts| p99_ns(&counts));
        Ok(Figures {
            job: self.job,
            direction: self.direction,
            iops: self.iops,
            clat_p99_ns: clat.context("an empty histogram of completion latencies")?,
            lat_p99_ns: lat.context("an empty histogram of response times")?,
        })
    }
}

/// Returns the smallest response time that at least 99 % of the I/Os do not exceed, as fio does.
fn p99_ns(counts: &BTreeMap<u64, u64>) -> Option<u64> {
    let rank = (counts.values().sum::<u64>() * 99).div_ceil(100);
    let mut seen = 0;
    let mut reaches = |count: u64| {
        seen += count;
        seen >= rank
    };
    counts.iter().find(|(_, count)| reaches(**count)).map(|(ns, _)| *ns)
}

/// Returns the number of fio's bucket for a response time.
pub fn bucket_of(ns: u64) -> usize {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(BUCKET_BITS + 1);
    let bucket = ((shift as usize) << BUCKET_BITS) + (ns >> shift) as usize;
    bucket.min((GROUPS << BUCKET_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn way(iops: f64, bins: &Value) -> Value {
        let ios: u64 = bins.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        json!({ "total_ios": ios, "iops": iops, "clat_ns": { "bins": bins }, "lat_ns": { "bins": bins } })
    }

    #[test]
    fn buckets_are_those_of_fio() {
        // fio has one bucket per ns below 128 ns, then 64 per power of two; the last one has no upper bound.
        assert_eq!([0, 1, 127, 128, 129, 130, 255, 256].map(bucket_of), [0, 1, 127, 128, 128, 129, 191, 192]);
        // The middles of adjacent buckets of fio around 1 ms are 8,192 and 16,384 ns apart.
        assert_eq!([1_036_288, 1_044_480, 1_056_768, 1_073_152].map(bucket_of), [958, 959, 960, 961]);
        assert_eq!([u64::MAX, 1 << 35].map(bucket_of), [1855; 2]);
    }

    #[test]
    fn the_percentile_is_the_first_time_that_99_percent_do_not_exceed() {
        let p99 = |counts: &[(u64, u64)]| p99_ns(&counts.iter().copied().collect());
        assert_eq!(p99(&[(10, 99), (20, 1)]), Some(10));
        assert_eq!(p99(&[(10, 98), (20, 1), (30, 1)]), Some(20));
        assert_eq!(p99(&[(10, 1)]), Some(10));
        assert_eq!(p99(&[(10, 49), (20, 1)]), Some(20));
        assert_eq!(p99(&[]), None);
    }

    /// Times are keys of JSON objects, whose order is alphabetical or arbitrary.
    #[test]
    fn clones_of_a_job_are_combined_and_notices_are_skipped() {
        let none = json!({ "total_ios": 0 });
        let document = json!({ "jobs": [
            { "jobname": "a", "read": way(10.5, &json!({ "900": 150, "1000": 1 })), "write": none },
            { "jobname": "b", "read": none, "write": way(1.0, &json!({ "7": 1 })) },
            { "jobname": "a", "read": way(20.0, &json!({ "1000": 49 })), "write": way(5.0, &json!({ "8": 2 })) },
        ] });
        let found = figures(format!("note: a notice\n{document}").as_bytes()).unwrap();
        let seen: Vec<_> =
            found.iter().map(|f| (f.job.as_str(), f.direction, f.iops, f.clat_p99_ns)).collect();
        assert_eq!(
            seen,
            [("a", "read", 30.5, 1000), ("b", "write", 1.0, 7), ("a", "write", 5.0, 8)],
            "{found:?}"
        );
    }

    #[test]
    fn completion_latency_and_response_time_are_separate() {
        let mut read = way(1.0, &json!({ "100": 10 }));
        read["lat_ns"]["bins"] = json!({ "300": 10 });
        let document = json!({ "jobs": [{ "jobname": "a", "read": read, "write": { "total_ios": 0 } }] });
        let found = figures(document.to_string().as_bytes()).unwrap();
        assert_eq!((found[0].clat_p99_ns, found[0].lat_p99_ns), (100, 300));
    }

    #[test]
    fn a_result_without_histograms_is_an_error() {
        let entry =
            json!({ "jobname": "a", "read": { "total_ios": 1, "iops": 1.0 }, "write": { "total_ios": 0 } });
        for document in [json!({}), json!({ "jobs": [entry] }), json!({ "jobs": [{ "jobname": "a" }] })] {
            assert!(figures(document.to_string().as_bytes()).is_err(), "{document}");
        }
        assert!(figures(b"fio: failed").is_err());
    }
}
