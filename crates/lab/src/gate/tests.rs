//! Tests which requests the gate admits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::sessions::{LONGEST, LONGEST_IDLE, MOST_SESSIONS};

fn gate() -> Gate {
    Gate::new(&["127.0.0.1".into(), "localhost".into()], 7070, Transport::default(), false, Users::none())
        .expect("random bytes")
}

fn facts<'a>(host: &'a str, cookies: &'a str) -> Facts<'a> {
    Facts { host: Some(host), cookies: Some(cookies), ..Facts::default() }
}

fn signed_in(gate: &Gate) -> String {
    let cookie = gate.enter(&gate.token()).expect("random bytes").expect("the token is valid");
    cookie.split(';').next().expect("a pair").to_owned()
}

#[test]
fn a_link_admits_one_browser() {
    let gate = gate();
    let token = gate.token();
    let cookie = signed_in(&gate);
    assert!(gate.judge(&facts("127.0.0.1:7070", &cookie), Access::Viewer).is_ok());
    assert_eq!(gate.enter(&token).expect("random bytes"), None, "it was used");
    assert_ne!(gate.token(), token);
    assert_eq!(gate.enter("").expect("random bytes"), None);
}

#[test]
fn without_the_cookie_only_public_routes_are_answered() {
    let gate = gate();
    for cookies in ["", "plateau_7070=", "plateau_7070=0", "plateau_7071=x; other"] {
        let facts = facts("localhost:7070", cookies);
        assert_eq!(gate.judge(&facts, Access::Viewer), Err(Refusal::NotSignedIn), "{cookies}");
        assert_eq!(gate.judge(&facts, Access::Public), Ok(None));
    }
}

#[test]
fn other_names_and_origins_are_refused_even_with_the_cookie() {
    let gate = gate();
    let cookie = signed_in(&gate);
    for host in ["evil.example:7070", "127.0.0.1", "127.0.0.1:7071", "localhost.evil.example:7070", ""] {
        let judged = gate.judge(&facts(host, &cookie), Access::Public);
        assert_eq!(judged, Err(Refusal::UnknownHost), "{host}");
    }
    for (origin, expected) in [
        ("http://localhost:7070", Ok(())),
        ("http://127.0.0.1:7070", Err(Refusal::ForeignOrigin)),
        ("https://localhost:7070", Err(Refusal::ForeignOrigin)),
        ("http://localhost:70701", Err(Refusal::ForeignOrigin)),
        ("null", Err(Refusal::ForeignOrigin)),
    ] {
        let facts = Facts { origin: Some(origin), ..facts("localhost:7070", &cookie) };
        assert_eq!(gate.judge(&facts, Access::Viewer).map(|_| ()), expected, "{origin}");
    }
    let none = Facts { cookies: Some(&cookie), ..Facts::default() };
    assert_eq!(gate.judge(&none, Access::Public), Err(Refusal::UnknownHost));
}

#[test]
fn a_change_needs_the_token_of_its_session_and_the_role() {
    let dir = tempfile::tempdir().expect("a folder");
    let users = Users::at(&dir.path().join("lab"));
    users.add("ann", Role::Viewer, "correct horse").expect("added");
    users.add("bob", Role::Operator, "battery staple").expect("added");
    let names = ["localhost".to_owned()];
    let gate = Gate::new(&names, 7070, Transport::default(), false, users.clone()).expect("random bytes");
    let login = |name: &str, password: &str| {
        gate.attempt().and_then(|attempt| gate.login(attempt, name, password).expect("random bytes"))
    };
    let change = |cookie: &str, csrf: Option<&str>| {
        let facts = Facts { csrf, is_change: true, ..facts("localhost:7070", cookie) };
        gate.judge(&facts, Access::Operator).map(|_| ())
    };
    let ann = login("ann", "correct horse").expect("a viewer");
    let bob = login("bob", "battery staple").expect("an operator");
    let csrf = |cookie: &str| {
        let judged = gate.judge(&facts("localhost:7070", cookie), Access::Viewer);
        judged.expect("signed in").expect("a visitor").csrf
    };
    let (of_ann, of_bob) = (csrf(&ann), csrf(&bob));
    assert_eq!(change(&bob, Some(&of_bob)), Ok(()));
    assert_eq!(change(&bob, Some(&of_ann)), Err(Refusal::NoToken));
    assert_eq!(change(&bob, Some("")), Err(Refusal::NoToken));
    assert_eq!(change(&bob, None), Err(Refusal::NoToken));
    assert_eq!(change(&ann, Some(&of_ann)), Err(Refusal::NotOperator));
    assert_eq!(change("", Some(&of_bob)), Err(Refusal::NotSignedIn));
    users.add("bob", Role::Viewer, "battery staple").expect("changed");
    assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotSignedIn), "he has a new role and password");
    let bob = login("bob", "battery staple").expect("a viewer");
    let of_bob = csrf(&bob);
    assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotOperator));
    users.remove("bob").expect("removed");
    assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotSignedIn));
    let login_form = Facts { is_change: true, ..facts("localhost:7070", "") };
    assert_eq!(gate.judge(&login_form, Access::Public), Err(Refusal::ForeignOrigin), "no origin");
    for _ in 0..MOST_FAILED_LOGINS {
        assert_eq!(login("ann", "wrong horse"), Err(Refusal::WrongPassword));
    }
    assert_eq!(login("ann", "correct horse"), Err(Refusal::TooManyLogins));
}

#[test]
fn a_token_of_a_sender_admits_to_its_routes_only() {
    let dir = tempfile::tempdir().expect("a folder");
    let senders = Senders::at(&dir.path().join("lab"));
    let token = senders.add("rack7").expect("added");
    let of = |read_only| {
        let gate = Gate::new(&["lab.example".into()], 7070, Transport::default(), read_only, Users::none());
        gate.expect("random bytes").admitting(senders.clone(), false)
    };
    let sent = |token| Facts { bearer: Some(token), ..facts("lab.example:7070", "") };
    let judged =
        of(false).judge(&sent(&token), Access::Sender).map(|visitor| visitor.expect("a sender").user);
    assert_eq!(judged, Ok(Some("rack7".into())));
    for access in [Access::Viewer, Access::Operator] {
        assert_eq!(of(false).judge(&sent(&token), access), Err(Refusal::NotSignedIn));
    }
    assert_eq!(of(false).judge(&sent("0"), Access::Sender), Err(Refusal::NotSender));
    let none = facts("lab.example:7070", "");
    assert_eq!(of(false).judge(&none, Access::Sender), Err(Refusal::NotSender));
    assert_eq!(of(true).judge(&sent(&token), Access::Sender), Err(Refusal::ReadOnly));
    let page = Facts { origin: Some("http://lab.example:7070"), ..sent(&token) };
    assert_eq!(of(false).judge(&page, Access::Sender), Err(Refusal::ForeignOrigin));
    let other = Facts { host: Some("evil.example:7070"), ..sent(&token) };
    assert_eq!(of(false).judge(&other, Access::Sender), Err(Refusal::UnknownHost));
    // A browser that has signed in is not a sender.
    let gate = of(false);
    let cookie = signed_in(&gate);
    let browser = Facts { cookies: Some(&cookie), ..facts("lab.example:7070", "") };
    assert_eq!(gate.judge(&browser, Access::Sender), Err(Refusal::NotSender));
}

#[test]
fn a_certificate_of_a_sender_admits_to_its_routes_only_and_replaces_tokens() {
    let dir = tempfile::tempdir().expect("a folder");
    let senders = Senders::at(&dir.path().join("lab"));
    let token = senders.add("rack7").expect("added");
    let gate = |needs_certificate| {
        let gate = Gate::new(&["lab.example".into()], 7070, Transport::default(), false, Users::none());
        gate.expect("random bytes").admitting(senders.clone(), needs_certificate)
    };
    let (rack7, rack9) = (["rack7".to_owned()], ["rack9".to_owned()]);
    let certified = |certified| Facts { certified, ..facts("lab.example:7070", "") };
    let judged = gate(true).judge(&certified(&rack7), Access::Sender);
    assert_eq!(judged.map(|visitor| visitor.expect("a sender").user), Ok(Some("rack7".into())));
    for access in [Access::Viewer, Access::Operator] {
        assert_eq!(gate(true).judge(&certified(&rack7), access), Err(Refusal::NotSignedIn));
    }
    assert_eq!(gate(true).judge(&certified(&rack9), Access::Sender), Err(Refusal::NotCertified));
    let with_token = Facts { bearer: Some(&token), ..certified(&[]) };
    assert_eq!(gate(true).judge(&with_token, Access::Sender), Err(Refusal::NotCertified));
    assert_eq!(gate(false).judge(&certified(&rack7), Access::Sender), Err(Refusal::NotSender));
    let page = Facts { origin: Some("http://lab.example:7070"), ..certified(&rack7) };
    assert_eq!(gate(true).judge(&page, Access::Sender), Err(Refusal::ForeignOrigin));
}

#[test]
fn the_number_of_sessions_is_bounded() {
    let gate = gate();
    let first = signed_in(&gate);
    let others: Vec<String> = (0..MOST_SESSIONS).map(|_| signed_in(&gate)).collect();
    let judged = |cookie: &str| gate.judge(&facts("localhost:7070", cookie), Access::Viewer).map(|_| ());
    assert_eq!(judged(&first), Err(Refusal::NotSignedIn));
    assert!(others.iter().all(|cookie| judged(cookie).is_ok()));
}

#[test]
fn sessions_end_when_they_are_unused_or_old() {
    let seconds = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&seconds);
    let clock = Box::new(move || Duration::from_secs(now.load(Ordering::Relaxed)));
    let gate = Gate { clock, ..gate() };
    let wait = |duration: Duration| seconds.fetch_add(duration.as_secs(), Ordering::Relaxed);
    let visitor = |cookie: &str| gate.judge(&facts("localhost:7070", cookie), Access::Viewer);
    let second = Duration::from_secs(1);
    let (unused, used) = (signed_in(&gate), signed_in(&gate));
    let who = visitor(&unused).expect("signed in").expect("a visitor");
    wait(LONGEST_IDLE - second);
    assert!(visitor(&used).is_ok() && gate.lasts(&who), "asking whether it lasts is no use of it");
    wait(second);
    assert_eq!(visitor(&unused), Err(Refusal::NotSignedIn));
    assert!(!gate.lasts(&who));
    let mut uses = 0;
    while visitor(&used).is_ok() {
        uses += 1;
        wait(LONGEST_IDLE / 2);
    }
    let most = LONGEST.as_secs() / (LONGEST_IDLE / 2).as_secs();
    assert!((most - 3..=most).contains(&uses), "{uses} uses");
    assert_eq!(visitor(&used), Err(Refusal::NotSignedIn));
}

#[test]
fn a_session_ends_with_its_user_its_password_and_its_logout() {
    let dir = tempfile::tempdir().expect("a folder");
    let users = Users::at(&dir.path().join("lab"));
    let gate = Gate::new(&["localhost".to_owned()], 7070, Transport::default(), false, users.clone())
        .expect("bytes");
    let login = || {
        users.add("ann", Role::Operator, "correct horse").expect("added");
        let attempt = gate.attempt().expect("few attempts");
        let cookie = gate.login(attempt, "ann", "correct horse").expect("random bytes").expect("in");
        let judged = gate.judge(&facts("localhost:7070", &cookie), Access::Viewer);
        (judged.expect("signed in").expect("a visitor"), cookie)
    };
    let (ann, cookie) = login();
    assert!(gate.lasts(&ann));
    users.add("ann", Role::Operator, "battery staple").expect("a new password");
    assert!(!gate.lasts(&ann), "a new password ends her sessions");
    let judged = gate.judge(&facts("localhost:7070", &cookie), Access::Viewer);
    assert_eq!(judged, Err(Refusal::NotSignedIn));
    let (ann, _) = login();
    users.remove("ann").expect("removed");
    assert!(!gate.lasts(&ann));
    let (ann, _) = login();
    gate.leave(&ann);
    assert!(!gate.lasts(&ann));
}

#[test]
fn logins_that_are_being_checked_count_and_block_nobody() {
    let gate = gate();
    let all: Vec<Attempt> = (0..MOST_FAILED_LOGINS).map(|_| gate.attempt().expect("few attempts")).collect();
    assert_eq!(gate.attempt(), Err(Refusal::TooManyLogins));
    assert!(gate.judge(&facts("localhost:7070", ""), Access::Public).is_ok());
    assert_eq!(gate.login(all[0], "ann", "x").expect("bytes"), Err(Refusal::WrongPassword));
    assert_eq!(gate.attempt(), Err(Refusal::TooManyLogins), "it failed");
}

#[test]
fn encrypted_connections_make_cookies_secure_and_their_scheme_that_of_the_pages() {
    let gate = |behind_proxy: bool, is_encrypted: bool, port: u16| {
        let transport = Transport { behind_proxy, is_encrypted };
        Gate::new(&["lab.example".into()], port, transport, false, Users::none()).expect("random bytes")
    };
    for (behind_proxy, is_encrypted, schemes) in [
        (false, false, &["http"][..]),
        (true, false, &["http", "https"]),
        (false, true, &["https"]),
        (true, true, &["http", "https"]),
    ] {
        let gate = gate(behind_proxy, is_encrypted, 7070);
        let cookie = gate.enter(&gate.token()).expect("random bytes").expect("the token is valid");
        let is_secure = cookie.split("; ").any(|part| part == "Secure");
        assert_eq!(is_secure, behind_proxy || is_encrypted, "{cookie}");
        for scheme in ["http", "https"] {
            let origin = format!("{scheme}://lab.example:7070");
            let facts = Facts { origin: Some(&origin), ..facts("lab.example:7070", "") };
            let is_own = gate.judge(&facts, Access::Public).is_ok();
            assert_eq!(is_own, schemes.contains(&scheme), "{behind_proxy} {is_encrypted} {origin}");
        }
    }
    for (is_encrypted, port, is_known) in
        [(false, 80, true), (false, 443, false), (true, 443, true), (true, 80, false), (true, 7070, false)]
    {
        let judged = gate(false, is_encrypted, port).judge(&facts("lab.example", ""), Access::Public);
        assert_eq!(judged.is_ok(), is_known, "{is_encrypted} {port}");
    }
}
