//! What this process has used of the machine.

use std::time::Duration;

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use nix::time::{clock_gettime, ClockId};

/// CPU time of all threads so far, in s; `None` where the system does not tell.
pub fn cpu_seconds() -> Option<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Some(micros as f64 / 1e6)
}

/// CPU time of the calling thread so far, in s; `None` where the system does not tell.
pub fn thread_cpu_seconds() -> Option<f64> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(Duration::from(time).as_secs_f64())
}

/// Most memory that was in use at a time so far, in bytes; `None` where the system does not
/// tell.
pub fn peak_bytes() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    // Linux counts KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some(u64::try_from(usage.max_rss()).ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows() {
        let (cpu, peak) = (cpu_seconds().unwrap(), peak_bytes().unwrap());
        let thread = thread_cpu_seconds().unwrap();
        let memory: Vec<u8> = (0..64 << 20).map(|byte| byte as u8).collect();
        let ones = memory.iter().filter(|&&byte| byte == 1).count();
        assert_eq!(ones, 64 << 12);
        assert!(cpu_seconds().unwrap() > cpu);
        assert!(thread_cpu_seconds().unwrap() > thread);
        // Other tests may have used more before; never less than this.
        assert!(peak_bytes().unwrap() >= peak.max(64 << 20));
    }
}
