use std::path::Path;
use std::time::Duration;

use super::*;
use crate::notice::Event;

fn mistakes(text: &str) -> Vec<String> {
    let found = Config::read("n.toml", text).expect_err("mistakes");
    found.iter().map(ToString::to_string).collect()
}

const WHOLE: &str = r#"
look-every = "1 s"
stuck-after = "20 min"
interrupted-after = "0 s"
attempts = 3
first-retry = "100 ms"

[[program]]
name = "desk"
run = ["/usr/bin/logger", "-t", "a b"]
events = ["failed", "stuck"]
timeout = "5 s"

[[webhook]]
name = "chat"
url-file = "/etc/plateau/chat"
token-file = "/etc/plateau/token"

[[mail]]
name = "ops"
server = "smtp://mail.example:587"
from = "lab@mail.example"
to = ["a@mail.example", "b@mail.example"]
user = "lab"
password-file = "/etc/plateau/password"
"#;

#[test]
fn a_whole_configuration_is_read() {
    let config = Config::read("n.toml", WHOLE).expect("valid");
    assert_eq!((config.look_every, config.attempts), (Duration::from_secs(1), 3));
    assert_eq!(config.rules.stuck_after, Duration::from_secs(1200));
    assert_eq!(
        (config.rules.interrupted_after, config.first_retry),
        (Duration::ZERO, Duration::from_millis(100))
    );
    let names: Vec<&str> = config.channels.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(names, ["desk", "chat", "ops"]);
    assert_eq!(config.channels[0].events, [Event::Failed, Event::Stuck]);
    assert_eq!(config.channels[0].timeout, Duration::from_secs(5));
    assert_eq!(config.channels[1].events, Event::SELECTABLE);
    let Means::Program { run } = &config.channels[0].means else { panic!("a program") };
    assert_eq!(run[2], "a b");
    let Means::Webhook { url, .. } = &config.channels[1].means else { panic!("a webhook") };
    assert_eq!(*url, Source::File("/etc/plateau/chat".into()));
    let Means::Mail(mail) = &config.channels[2].means else { panic!("mail") };
    assert!(mail.tls);
    assert_eq!(mail.password_file.as_deref(), Some(Path::new("/etc/plateau/password")));
}

#[test]
fn all_mistakes_are_reported_with_line_and_nearest_word() {
    let text = r#"look-evry = "1 s"
attempts = 0
first-retry = "soon"
[[program]]
name = "a b"
run = ["logger"]
[[program]]
name = "p"
run = []
events = ["finnished", 7, "x"]
[[webhook]]
name = "w"
url = "ftp://h"
[[webhook]]
name = "v"
url = "http://chat.example/"
token-file = "token"
[[mail]]
name = "w"
server = "mail.example"
tls = "maybe"
from = "Lab <lab@mail.example>"
user = "u"
"#;
    let found = mistakes(text);
    let expected = [
        "n.toml:1:1: unknown key 'look-evry'; did you mean 'look-every'?",
        "n.toml:2:12: must be a number from 1 to 100",
        "n.toml:3:15: 'soon' is not a time",
        "n.toml:5:8: 'a b' cannot be the name of a channel",
        "n.toml:6:7: 'logger' is not an absolute path",
        "n.toml:9:7: must be a list of 1 to 100 strings",
        "n.toml:10:11: unknown event 'finnished'; did you mean 'finished'?",
        "n.toml:10:24: an event is one of: finished, failed",
        "n.toml:10:27: an event is one of: finished, failed",
        "n.toml:13:7: the address must begin with https://",
        "n.toml:16:7: the token would be sent unencrypted",
        "n.toml:17:14: this is not the absolute path of a file; write the secret into a file",
        "n.toml:18:1: `user` and `password-file` belong together",
        "n.toml:18:1: this [[mail]] has no `to`",
        "n.toml:20:10: the server must begin with smtps://",
        "n.toml:21:7: tls is \"required\" or \"none\"",
        "n.toml:22:8: 'Lab <lab@mail.example>' is not a mail address",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found} is not {expected}");
    }
}

#[test]
fn secrets_are_not_sent_unencrypted_and_names_are_unique() {
    let hook = |url: &str| format!("[[webhook]]\nname = \"w\"\nurl = \"{url}\"\ntoken-file = \"/t\"\n");
    assert!(Config::read("n.toml", &hook("https://chat.example/")).is_ok());
    assert!(Config::read("n.toml", &hook("http://127.0.0.1:80/")).is_ok());
    assert!(mistakes(&hook("http://chat.example/"))[0].contains("unencrypted"));
    let mail = |server: &str| {
        format!(
            "[[mail]]\nname = \"m\"\nserver = \"{server}\"\ntls = \"none\"\nfrom = \"a@b\"\nto = [\"c@d\"]\n\
             user = \"u\"\npassword-file = \"/p\"\n"
        )
    };
    assert!(mistakes(&mail("smtp://mail.example"))[0].contains("unencrypted"));
    assert!(Config::read("n.toml", &mail("smtp://localhost:25")).is_ok());
    let twice = "[[program]]\nname = \"p\"\nrun = [\"/a\"]\n".repeat(2);
    assert_eq!(mistakes(&twice), ["n.toml:5:8: another channel has the name 'p'"]);
}

/// A user may type a secret in place of its file's path.
#[test]
fn values_of_secret_options_are_not_printed() {
    let hook = "[[webhook]]\nname = \"w\"\n";
    let mail =
        "[[mail]]\nname = \"m\"\nserver = \"smtps://h\"\nfrom = \"a@b\"\nto = [\"c@d\"]\nuser = \"u\"\n";
    for text in [
        format!("{hook}url = \"https://h/\"\ntoken-file = \"s3kr3t\"\n"),
        format!("{hook}url-file = \"https://h/s3kr3t\"\n"),
        format!("{hook}url = \"h/s3kr3t\"\n"),
        format!("{hook}url = \"https://u:s3kr3t@h/\"\n"),
        format!("{hook}url = \"https://h/\"\nproxy = \"http://u:s3kr3t@h\"\n"),
        format!("{mail}password-file = \"s3kr3t\"\n"),
        format!("{mail}password-file = \"s3\\nkr3t\"\n"),
    ] {
        let found = mistakes(&text);
        assert!(!found.is_empty() && found.iter().all(|line| !line.contains("kr3t")), "{found:?}");
    }
}

#[test]
fn a_token_is_not_sent_unencrypted_to_a_proxy() {
    let hook = |url: &str| {
        format!(
            "[[webhook]]\nname = \"w\"\nurl = \"{url}\"\ntoken-file = \"/t\"\nproxy = \"http://proxy.example:3128\"\n"
        )
    };
    assert!(mistakes(&hook("http://localhost/"))[0].contains("unencrypted"));
    let config = Config::read("n.toml", &hook("https://chat.example/")).expect("valid");
    let Means::Webhook { proxy, .. } = &config.channels[0].means else { panic!("a webhook") };
    assert_eq!(proxy.as_deref(), Some("http://proxy.example:3128"));
}

#[test]
fn files_that_are_not_configurations_are_refused() {
    assert!(mistakes("")[0].starts_with("n.toml:1:1: no channel;"));
    assert!(mistakes("[[program]]")[0].contains("has no `name`"));
    assert!(mistakes("program = 5")[0].contains("[[program]]"));
    assert!(mistakes("mail = [1]")[0].contains("[[mail]]"));
    assert!(mistakes("look-every = [")[0].starts_with("n.toml:1:"));
    let many = (0..60).map(|n| format!("[[program]]\nname = \"p{n}\"\nrun = [\"/a\"]\n")).collect::<String>();
    assert!(mistakes(&many)[0].contains("more than 50 channels"));
}
