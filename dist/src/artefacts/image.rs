//! A container image that contains only the program (FROM scratch), as an archive of an OCI image layout.

use serde_json::{Value, json};

use super::artefact::{Artefact, Parts};
use crate::packed::{Entry, gzip, sha256, tar};
use crate::product::NAME;
use crate::release::Release;

pub const ARTEFACT: Artefact = Artefact { file, make };

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

pub fn file(release: &Release) -> String {
    format!("{NAME}-{}-x86_64-oci.tar", release.version)
}

fn make(parts: &Parts<'_>) -> anyhow::Result<Vec<u8>> {
    let seconds = parts.release.seconds();
    let root = tar(&parts.payload.image(), "", seconds)?;
    tar(&layout(parts.release, &root)?, "", seconds)
}

/// Returns the files in the layout for a root file system.
fn layout(release: &Release, root: &[u8]) -> anyhow::Result<Vec<Entry>> {
    let layer = gzip(root)?;
    let config = json(&config(release, root));
    let manifest = json(&json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor(CONFIG, &config),
        "layers": [descriptor(LAYER, &layer)],
        "annotations": labels(release),
    }));
    let mut named = descriptor(MANIFEST, &manifest);
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let index = json(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    }));
    let blob = |bytes: Vec<u8>| Entry::file(format!("blobs/sha256/{}", sha256(&bytes)), bytes);
    Ok(vec![
        Entry::file("oci-layout", json(&json!({ "imageLayoutVersion": "1.0.0" }))),
        Entry::file("index.json", index),
        blob(layer),
        blob(config),
        blob(manifest),
    ])
}

fn config(release: &Release, root: &[u8]) -> Value {
    let created = release.time.to_string();
    json!({
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Entrypoint": [format!("/usr/bin/{NAME}")],
            "Cmd": ["--help"],
            "Env": ["PATH=/usr/bin", "HOME=/tmp"],
            "Labels": labels(release),
            "Volumes": { format!("/var/lib/{NAME}"): {} },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256(root))] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    })
}

fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.title": NAME,
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.revision": release.commit,
        "org.opencontainers.image.created": release.time.to_string(),
        "org.opencontainers.image.licenses": "Apache-2.0 OR MIT",
    })
}

/// Returns a descriptor: the reference from one file of the layout to another.
fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": kind, "digest": format!("sha256:{}", sha256(bytes)), "size": bytes.len() })
}

fn json(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use super::super::tests::with_parts;

    fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(archive);
        let entries = archive.entries().expect("entries").map(|entry| {
            let mut entry = entry.expect("an entry");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("bytes");
            (entry.path().expect("a path").to_string_lossy().into_owned(), bytes)
        });
        entries.collect()
    }

    #[test]
    fn every_digest_and_size_is_that_of_the_file_it_names() {
        let files = files(&with_parts(super::make).expect("an image"));
        let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON");
        let followed = |descriptor: &serde_json::Value| {
            let digest =
                descriptor["digest"].as_str().expect("a digest").strip_prefix("sha256:").expect("sha256");
            let bytes = files.get(&format!("blobs/sha256/{digest}")).expect("the file is there");
            assert_eq!(super::sha256(bytes), digest);
            assert_eq!(descriptor["size"].as_u64(), Some(bytes.len() as u64));
            bytes
        };
        assert_eq!(parsed(&files["oci-layout"])["imageLayoutVersion"], "1.0.0");
        let manifest = parsed(followed(&parsed(&files["index.json"])["manifests"][0]));
        let config = parsed(followed(&manifest["config"]));
        let mut root = Vec::new();
        let layer = followed(&manifest["layers"][0]);
        flate2::read::GzDecoder::new(&layer[..]).read_to_end(&mut root).expect("unpacked");
        assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", super::sha256(&root)));
        assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/plateau");
        assert_eq!(config["created"], "2026-03-01T09:00:00Z");
        let installed = self::files(&root);
        assert_eq!(installed["usr/bin/plateau"], b"program");
        assert!(
            installed.contains_key("tmp/")
                && installed.contains_key("usr/share/licenses/plateau/LICENSE-MIT")
        );
        let blobs =
            files.keys().filter(|path| path.starts_with("blobs/sha256/") && !path.ends_with('/')).count();
        assert_eq!(blobs, 3, "nothing else is in it");
    }
}
