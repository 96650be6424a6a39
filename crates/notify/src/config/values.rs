//! The values of a configuration, each checked by a pure function that returns the problem.

use std::time::Duration;

use stdx::text::is_unprintable;

/// Maximum length of a string.
const MOST_CHARS: usize = 2_000;
/// Maximum length of a name.
const MOST_NAME_CHARS: usize = 60;

/// Parses a time, such as `30 s` or `10min`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = (text[..digits].parse::<u64>().ok(), text[digits..].trim());
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let found = number.zip(milliseconds).and_then(|(number, unit)| number.checked_mul(unit));
    found
        .map(Duration::from_millis)
        .ok_or_else(|| format!("'{text}' is not a time; write it like \"30 s\", \"10 min\" or \"2 h\""))
}

/// Parses a time within limits.
pub fn duration_within(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let found = duration(text)?;
    if found < least || found > most {
        return Err(format!("'{text}' is out of range; use {least:?} to {most:?}"));
    }
    Ok(found)
}

/// Checks the name of a channel.
pub fn name(text: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && text.len() <= MOST_NAME_CHARS && text.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!(
        "'{}' cannot be the name of a channel; use up to {MOST_NAME_CHARS} letters, digits, '-', '_' and '.'",
        text.escape_default()
    ))
}

/// Checks that a string is one line of reasonable length.
pub fn line(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("must not be empty".into());
    }
    if text.chars().any(is_unprintable) {
        return Err("must not contain line breaks or other control characters".into());
    }
    if text.chars().count() > MOST_CHARS {
        return Err(format!("is longer than {MOST_CHARS} characters"));
    }
    Ok(())
}

/// Checks an absolute path.
pub fn absolute_path(text: &str) -> Result<(), String> {
    line(text)?;
    if text.starts_with('/') {
        Ok(())
    } else {
        Err(format!("'{text}' is not an absolute path; begin it with /"))
    }
}

/// Checks the absolute path of a file with a secret. The text may be the secret itself, so the problem does not contain
/// it.
pub fn secret_path(text: &str) -> Result<(), String> {
    line(text)?;
    if text.starts_with('/') {
        Ok(())
    } else {
        Err("this is not the absolute path of a file; write the secret into a file, and its path here, beginning with /"
            .into())
    }
}

/// Checks the address of a webhook.
pub fn webhook_url(text: &str) -> Result<(), String> {
    line(text)?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else { return Err("the address must begin with https:// or http://".into()) };
    check_host(rest)
}

/// Checks the address of a webhook, and that a token is not sent unencrypted.
///
/// # Errors
/// Returns the problem, without the address.
pub fn check_webhook(url: &str, has_token: bool, has_proxy: bool) -> Result<(), String> {
    webhook_url(url)?;
    if has_token && url.starts_with("http:") && (has_proxy || !is_loopback(url)) {
        return Err("the token would be sent unencrypted; use https://".into());
    }
    Ok(())
}

/// Checks the address of a proxy.
pub fn proxy_url(text: &str) -> Result<(), String> {
    line(text)?;
    let schemes = ["http://", "https://", "socks5h://"];
    let Some(rest) = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)) else {
        return Err(
            "the proxy must begin with http://, https:// or socks5h://, such as http://proxy.example:3128"
                .into(),
        );
    };
    if rest.trim_end_matches('/').contains(['/', '?', '#']) {
        return Err("the proxy consists only of a host and a port, such as http://proxy.example:3128".into());
    }
    check_host(rest)
}

/// Checks the address of a mail server.
pub fn mail_url(text: &str) -> Result<(), String> {
    line(text)?;
    let rest = text.strip_prefix("smtps://").or_else(|| text.strip_prefix("smtp://"));
    let Some(rest) = rest else {
        return Err("the server must begin with smtps:// or smtp://, such as smtps://mail.example:465".into());
    };
    if rest.trim_end_matches('/').contains(['/', '?', '#']) {
        return Err("the server consists only of a host and a port, such as smtps://mail.example:465".into());
    }
    check_host(rest)
}

fn check_host(rest: &str) -> Result<(), String> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("the address must not contain a user or password; put the password into a file".into());
    }
    if authority.is_empty() || authority.starts_with(':') || rest.contains(char::is_whitespace) {
        return Err("the address has no host, or contains spaces".into());
    }
    Ok(())
}

/// Returns the host in an address, for messages that must not contain the rest of the address.
pub fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns whether an address refers to this host.
pub fn is_loopback(url: &str) -> bool {
    let host = host_of(url);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks a mail address.
pub fn mail_address(text: &str) -> Result<(), String> {
    line(text)?;
    let is_plain = |c: char| c.is_ascii_graphic() && !"<>()[],;:\\\"".contains(c);
    let parts = text.split_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty());
    match parts {
        Some((_, host)) if text.chars().all(is_plain) && !host.contains('@') && text.len() <= 254 => Ok(()),
        _ => Err(format!("'{text}' is not a mail address; write it like lab@mail.example, without a name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("30 s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration(" 2 h "), Ok(Duration::from_secs(7200)));
        for text in [
            "",
            "30",
            "s",
            "-1 s",
            "1.5 h",
            "1 week",
            "99999999999999999999 s",
            "18446744073709551615 d",
            "ü",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_contain_no_secrets_and_no_line_breaks() {
        for url in ["https://chat.example/hooks/a?b=c", "http://127.0.0.1:8080/", "https://[::1]:1/x"] {
            assert_eq!(webhook_url(url), Ok(()), "{url}");
        }
        for url in [
            "file:///etc/passwd",
            "https://",
            "https://u:p@h/",
            "https://h/a b",
            "https://h/\nb",
            "gopher://h",
        ] {
            assert!(webhook_url(url).is_err(), "{url}");
        }
        for url in ["http://proxy.example:3128", "https://[::1]:8443/", "socks5h://10.0.0.1:1080"] {
            assert_eq!(proxy_url(url), Ok(()), "{url}");
        }
        for url in ["proxy.example:3128", "socks4://h", "http://u:p@h:1", "http://h:1/path", "http://"] {
            assert!(proxy_url(url).is_err(), "{url}");
        }
        assert_eq!(mail_url("smtps://mail.example:465/"), Ok(()));
        for url in ["https://h", "smtp://h/client", "smtp://u@h", "smtp://"] {
            assert!(mail_url(url).is_err(), "{url}");
        }
        assert_eq!(mail_address("lab@mail.example"), Ok(()));
        for address in ["lab", "@h", "a@", "A <a@h>", "a@h, b@h", "a@b@c", "a@h\r\nBcc: b@h", "ü@h"] {
            assert!(mail_address(address).is_err(), "{address}");
        }
    }

    #[test]
    fn only_addresses_of_this_host_are_loopback() {
        for url in ["http://localhost/", "http://127.0.0.1:80", "http://[::1]:80/a"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://localhost.example/", "http://10.0.0.1/127.0.0.1", "http://[fe80::1]/"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
