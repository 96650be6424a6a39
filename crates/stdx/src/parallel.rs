//! Work on several processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// Returns the number of processors that this process may use. It is determined once, because reading the limits of
/// control groups takes dozens of system calls.
#[must_use]
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Calls both functions at the same time, if there are several processors.
///
/// # Panics
/// Panics if either does.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    let second = Mutex::new(Some(second));
    let take = || second.lock().unwrap_or_else(PoisonError::into_inner).take();
    thread::scope(|scope| {
        let other = (processors() > 1)
            .then(|| thread::Builder::new().spawn_scoped(scope, || take().map(|second| second())).ok())
            .flatten();
        let first = first();
        let joined = other.and_then(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // If no other thread could be started, this thread calls the function.
        let second = joined.or_else(|| take().map(|second| second()));
        (first, second.expect("it is called on one of the threads"))
    })
}

/// Applies `make` to each item, on as many threads as there are processors, and returns the results in the order of the
/// items.
///
/// # Panics
/// Panics if `make` does.
pub fn mapped<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    mapped_on(processors(), items, make, || ()).0
}

/// Same as [`mapped`], but this thread first calls `before`, while the others process items.
///
/// # Panics
/// Panics if `make` or `before` does.
pub fn mapped_while<T: Sync, R: Send, B>(
    items: &[T],
    make: impl Fn(&T) -> R + Sync,
    before: impl FnOnce() -> B,
) -> (Vec<R>, B) {
    mapped_on(processors(), items, make, before)
}

fn mapped_on<T: Sync, R: Send, B>(
    threads: usize,
    items: &[T],
    make: impl Fn(&T) -> R + Sync,
    before: impl FnOnce() -> B,
) -> (Vec<R>, B) {
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = taken.map_while(|index| Some((index, items.get(index)?)));
        taken.map(|(index, item)| (index, make(item))).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        // This thread also processes items.
        let others = threads.min(items.len()).saturating_sub(1);
        // If the process may not start more threads, the threads that it has share the items.
        let others: Vec<_> =
            (0..others).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let before = before();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all.sort_by_key(|(index, _)| *index);
        (all.into_iter().map(|(_, result)| result).collect(), before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let squares: Vec<u32> = items.iter().map(|item| item * item).collect();
        for threads in [0, 1, 2, 7, 200] {
            assert_eq!(
                mapped_on(threads, &items, |item| item * item, || threads),
                (squares.clone(), threads),
                "{threads} threads"
            );
        }
        assert_eq!(mapped_while(&items, |item| item * item, || 1), (squares, 1));
        assert!(mapped(&[], |item: &u32| *item).is_empty());
    }

    #[test]
    fn both_are_called_once() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
        let failed = std::panic::catch_unwind(|| both(|| 1, || panic!("not a number")));
        assert_eq!(failed.unwrap_err().downcast_ref(), Some(&"not a number"));
    }

    #[test]
    fn several_threads_work_at_the_same_time() {
        let barrier = std::sync::Barrier::new(3);
        // Would never return if the items were processed one after another.
        assert_eq!(mapped_on(3, &[1, 2, 3], |item| (barrier.wait(), *item).1, || ()).0, [1, 2, 3]);
    }
}
