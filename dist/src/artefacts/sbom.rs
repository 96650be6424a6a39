//! The software bill of materials (SBOM): all packages linked into the program, in CycloneDX JSON.

use serde_json::{Value, json};

use super::artefact::{Artefact, Parts};
use crate::packages::{Package, Packages};
use crate::packed::sha256;
use crate::release::Release;

pub const ARTEFACT: Artefact = Artefact { file, make };

pub fn file(release: &Release) -> String {
    format!("{}-{}.cdx.json", crate::product::NAME, release.version)
}

fn make(parts: &Parts<'_>) -> anyhow::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(&bill(parts.release, parts.packages)?)?;
    text.push(b'\n');
    Ok(text)
}

fn bill(release: &Release, packages: &Packages) -> anyhow::Result<Value> {
    let (program, below): (Vec<&Package>, Vec<&Package>) =
        packages.all.iter().partition(|package| package.name == crate::product::NAME);
    let [program] = &program[..] else {
        anyhow::bail!("cargo must report exactly one package with the name of the program")
    };
    let mut subject = component(program, "application");
    subject["properties"] = json!([{ "name": "git:commit", "value": release.commit }]);
    let depends = |package: &Package| {
        let names = package.uses.iter().map(|(name, version)| purl(name, version)).collect::<Vec<_>>();
        json!({ "ref": purl(&package.name, &package.version), "dependsOn": names })
    };
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        // Derived from the release instead of random, so that the file is reproducible.
        "serialNumber": serial_number(&sha256(format!("{}\n{}", release.version, release.commit).as_bytes())),
        "version": 1,
        "metadata": {
            "timestamp": release.time.to_string(),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": release.version }] },
            "component": subject,
        },
        "components": below.iter().map(|package| component(package, "library")).collect::<Vec<_>>(),
        "dependencies": packages.all.iter().map(depends).collect::<Vec<_>>(),
    }))
}

fn component(package: &Package, kind: &str) -> Value {
    let name = purl(&package.name, &package.version);
    let mut component = json!({
        "type": kind,
        "bom-ref": name,
        "name": package.name,
        "version": package.version,
        "licenses": [{ "expression": package.licence }],
        "purl": name,
    });
    if let Some(sha256) = &package.sha256 {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    component
}

/// Returns the package URL. The only character in a version that needs escaping is the plus sign before build
/// metadata.
fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// Returns a version 8 UUID built from a digest.
fn serial_number(digest: &str) -> String {
    let (a, b, c, d, e) = (&digest[..8], &digest[8..12], &digest[13..16], &digest[17..20], &digest[20..32]);
    format!("urn:uuid:{a}-{b}-8{c}-8{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_parts;
    use super::*;

    #[test]
    fn every_package_is_a_component_with_its_licence_and_its_checksum() {
        let bill: Value = serde_json::from_slice(&with_parts(make).expect("a bill")).expect("JSON");
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
        assert_eq!(bill["metadata"]["timestamp"], "2026-03-01T09:00:00Z");
        assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/plateau@1.0.0");
        let components = bill["components"].as_array().expect("components");
        let expected = json!({
            "type": "library", "bom-ref": "pkg:cargo/a@1.0.0", "name": "a", "version": "1.0.0", "purl": "pkg:cargo/a@1.0.0",
            "licenses": [{ "expression": "MIT OR Apache-2.0" }], "hashes": [{ "alg": "SHA-256", "content": "ab" }],
        });
        assert_eq!(components[..], [expected]);
        let named = bill["dependencies"].as_array().expect("dependencies").iter();
        let program = named.clone().find(|row| row["ref"] == "pkg:cargo/plateau@1.0.0").expect("the program");
        assert_eq!(program["dependsOn"], json!(["pkg:cargo/a@1.0.0"]));
        assert_eq!(named.count(), 2, "each has a row");
    }

    #[test]
    fn serial_numbers_have_the_form_of_a_uuid() {
        let number = serial_number(&sha256(b"x"));
        let lengths: Vec<usize> = number.trim_start_matches("urn:uuid:").split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{number}");
        assert_ne!(number, serial_number(&sha256(b"y")));
        assert_eq!(purl("toml", "1.0.0+spec-1.1"), "pkg:cargo/toml@1.0.0%2Bspec-1.1");
    }
}
