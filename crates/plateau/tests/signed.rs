//! Signatures of journals. The keys are the examples published in RFC 8410, so signatures made with them prove
//! nothing.

mod support;

use support::Bench;

const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";

#[test]
fn a_signature_is_valid_until_a_bit_changes() {
    let bench = Bench::new();
    let args = ["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    let id = bench.json(&args)["run"].as_str().unwrap().to_owned();
    let file = |name: &str, text: &str| {
        let path = bench.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (private, public) = (file("key.pem", PRIVATE), file("public.pem", PUBLIC));
    let verify = ["verify", id.as_str(), "--verify-key", public.as_str()];
    assert!(bench.fails(6, &verify).contains("has no readable signature"));
    assert!(bench.fails(2, &["report", &id, "--sign", &public]).contains("not a private Ed25519 key"));
    bench.ok(&["report", &id, "--sign", &private]);
    assert!(bench.ok(&verify).contains("valid"));
    assert_eq!(bench.json(&verify)["signature_valid"], true);

    let kept = bench.library().join(&id).join("signature.json");
    let text = support::text(&kept);
    assert!(text.contains("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"), "{text}");
    let at = text.find("\"signature\": \"").unwrap() + 14;
    let digit = if &text[at..=at] == "0" { "1" } else { "0" };
    std::fs::write(&kept, format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
    assert!(bench.fails(6, &verify).contains("does not match"));
    std::fs::write(&kept, "{}").unwrap();
    assert!(bench.fails(6, &verify).contains("contains no signature"));
}
