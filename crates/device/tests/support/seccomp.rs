//! Counts or denies the system calls of a thread and of all threads that it starts, using seccomp filters.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// Number of calls by thread name and system call number.
pub type Calls = BTreeMap<(String, i64), u64>;

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

fn step(code: u16, jump_false: u8, value: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: jump_false, k: value }
}

/// Installs a filter on the calling thread. It cannot be removed.
fn filter(program: &mut [libc::sock_filter], flags: libc::c_ulong) -> io::Result<i32> {
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the first call takes only numbers; the second reads the program, which outlives the call.
    let answer = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

/// Makes these calls fail with `errno` in the calling thread and in all threads that it starts.
pub fn forbid(calls: &[i64], errno: i32) -> io::Result<()> {
    let mut program = vec![step(LOAD, 0, 0)];
    for &call in calls {
        program.push(step(JUMP_IF_EQUAL, 1, call as u32));
        program.push(step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno as u32));
    }
    program.push(step(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    filter(&mut program, 0).map(drop)
}

/// Runs `work` in a new thread and counts the system calls of that thread and all threads that it starts. The
/// error says why the kernel does not support this.
pub fn counted<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<(T, Calls)> {
    const NOT_YET: i32 = -1;
    const NEVER: i32 = -2;
    let listener = AtomicI32::new(NOT_YET);
    std::thread::scope(|scope| {
        let subject = scope.spawn(|| {
            let mut program = [step(RETURN, 0, libc::SECCOMP_RET_USER_NOTIF)];
            let made = filter(&mut program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
            // Each system call of this thread waits for the counting thread, so the result is passed through
            // memory.
            listener.store(*made.as_ref().unwrap_or(&NEVER), Ordering::Release);
            made.map(|_| work())
        });
        let fd = loop {
            match listener.load(Ordering::Acquire) {
                NOT_YET => std::hint::spin_loop(),
                fd => break fd,
            }
        };
        let calls = if fd >= 0 { answer_all(fd) } else { Calls::new() };
        let done = subject.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((done, calls))
    })
}

/// Counts and permits every call until the last filtered thread has exited.
fn answer_all(fd: i32) -> Calls {
    let mut calls = Calls::new();
    let mut names: BTreeMap<u32, (String, bool)> = BTreeMap::new();
    let mut renamed = BTreeSet::new();
    loop {
        let mut waiting = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor is polled; all zeros are a valid request, which contains only integers.
        let (ready, mut request) =
            unsafe { (libc::poll(&raw mut waiting, 1, -1), std::mem::zeroed::<libc::seccomp_notif>()) };
        if ready < 0 {
            continue;
        }
        if waiting.revents & libc::POLLIN == 0 {
            break;
        }
        // SAFETY: the kernel writes one request, into memory that is zeroed, as it requires.
        if unsafe { libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut request) } < 0 {
            continue;
        }
        // A new thread has the name of its creator until it sets its own with this call.
        let (name, is_final) = names.entry(request.pid).or_default();
        if !*is_final {
            let path = format!("/proc/self/task/{}/comm", request.pid);
            *name = std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
            *is_final = renamed.contains(&request.pid);
        }
        if i64::from(request.data.nr) == libc::SYS_prctl {
            renamed.insert(request.pid);
        }
        *calls.entry((name.clone(), request.data.nr.into())).or_default() += 1;
        let mut response = libc::seccomp_notif_resp {
            id: request.id,
            val: 0,
            error: 0,
            flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        };
        // SAFETY: the kernel reads one response. A thread that has exited in the meantime needs no response.
        unsafe { libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
    }
    // SAFETY: this function owns the descriptor and does not use it again.
    unsafe { libc::close(fd) };
    calls
}
