use super::super::entry::{BigEntry, Entry, Head};
use super::*;

const ENTRIES: u32 = 4;
/// Longer than any host can delay a call.
const LONG: Duration = Duration::from_secs(5);

fn no_op(user_data: u64) -> Head {
    let opcode = rustix::io_uring::IoringOp::Nop as u8;
    Head { opcode, user_data, ..Head::default() }
}

/// Submits many times more no-ops than the ring has entries, a few at a time; each must complete once, in
/// order.
fn no_ops_come_back<S: Submission>(flags: Setup, polling: Polling, entry: fn(Head) -> S) {
    let (file, params) = match set_up(ENTRIES, flags | S::FLAGS) {
        Ok(made) => made,
        Err(error) => return println!("{flags:?}: not on this kernel ({error})"),
    };
    let mut ring = Ring::<S>::of(file, &params, polling, false).expect("a ring");
    let (mut pushed, mut back) = (0u64, Vec::new());
    while back.len() < 1000 {
        for _ in 0..=pushed % u64::from(ENTRIES) {
            // SAFETY: a no-op refers to no memory.
            unsafe { ring.push(entry(no_op(pushed))) };
            pushed += 1;
        }
        let unpublished = ring.unpublished().count();
        assert!(unpublished > 0 && ring.in_flight() == unpublished);
        while ring.in_flight() > 0 {
            ring.enter(1).expect("a call");
            assert_eq!(ring.unpublished().count(), 0);
            ring.peek();
            back.extend(std::iter::from_fn(|| ring.next()).map(|done| (done.user_data, done.result)));
        }
        assert!(polling == Polling::Submissions || !ring.has_unsubmitted());
    }
    assert_eq!(back, (0..pushed).map(|mark| (mark, 0)).collect::<Vec<_>>(), "{flags:?}");
}

#[test]
fn every_kernel_gets_a_ring_that_it_supports() {
    for flags in GRANTS {
        no_ops_come_back(*flags, Polling::No, |head| Entry { head, rest: [0; 2] });
        no_ops_come_back(*flags, Polling::No, |head| BigEntry { head, command: [0; 80] });
    }
    for flags in SUBMITTING_GRANTS {
        no_ops_come_back(*flags, Polling::Submissions, |head| Entry { head, rest: [0; 2] });
    }
}

#[test]
fn a_wait_ends_when_its_time_is_over() {
    let mut ring = match Ring::<Entry>::new(ENTRIES, Polling::No, false) {
        Ok(ring) => ring,
        Err(error) => return println!("no ring on this host: {error}"),
    };
    let begun = std::time::Instant::now();
    ring.enter_for(Duration::from_millis(20)).expect("a call");
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(20) || !ring.timed, "{waited:?}");
    ring.peek();
    assert_eq!((ring.ready(), ring.next().map(|done| done.user_data)), (0, None));

    // Before Linux 5.11, the call checks the ring repeatedly instead of waiting; it still submits SQEs.
    ring.timed = false;
    // SAFETY: a no-op refers to no memory.
    unsafe { ring.push(Entry { head: no_op(7), rest: [0; 2] }) };
    let begun = Instant::now();
    ring.enter_for(LONG).expect("a call");
    let waited = begun.elapsed();
    assert!((NAP..LONG).contains(&waited), "{waited:?}");
    ring.peek();
    assert_eq!(ring.next().map(|done| done.user_data), Some(7));
    assert_eq!(ring.in_flight(), 0);
}
