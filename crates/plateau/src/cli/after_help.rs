//! The exit codes and the ways to name a run, as printed by `--help`.

/// Printed after every command's help.
pub const TEXT: &str = "\
Exit codes: 0 success; 1 internal error; 2 wrong command line or impossible setting; 3 target refused \
for the safety of its data; 4 target cannot be used; 5 device failed in use; 6 run not found, unreadable, \
unwritable, or evaluated differently by this version (verify); 7 a `compare --fail-if` condition is met, a run does not \
pass a `gate`, or `check` found settings that would invalidate results; 8 a run is in progress (status, gate); \
9 a burn-in rejects the drive; 10 the operator must decide how the run continues (job); 75 another process is \
working on the run or its target (job), a shared store cannot be reached (index, query), or a notice was not delivered (notify); try again later; \
130 interrupted (resume with `plateau resume RUN`).

RUN is a run id, a unique prefix of one, its name, the path of a run's directory, or `latest` \
(`latest~1` is the run before it).";
