//! As `std::sync::Condvar`. A wait takes a ticket, of which there are 32. The low half of the state has a bit for every ticket that waits, the high
//! half one for every ticket that was woken. Whoever notifies one wakes any one of those that wait.

use super::MutexGuard;
use super::atomic::{Atomic, any_bit};
use crate::rt::{self, Here, Order, RmwOp};
use fencepost_answer::FindingKind;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

const TICKETS: u32 = 32;

/// Threads wait here for each other.
pub struct Condvar {
    state: Atomic<u64>,
    next: Atomic<u32>,
}

/// Whether the time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

fn result<'a, T: ?Sized>(guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
    if guard.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

impl Condvar {
    /// Nobody waits.
    pub const fn new() -> Condvar {
        Condvar { state: Atomic::from_bits(0), next: Atomic::from_bits(0) }
    }

    fn ticket(&self, here: Here) -> u32 {
        let ticket = self.next.rmw(RmwOp::Add, 1, Order::Relaxed, here);
        if ticket >= TICKETS {
            let message = format!("more than {TICKETS} waits on one condition variable are not told apart");
            rt::fail(FindingKind::Unsupported, message, &[here]);
        }
        self.state.rmw(RmwOp::Or, 1 << (ticket % TICKETS), Order::Relaxed, here);
        ticket % TICKETS
    }

    /// Waits for a notification, or until the time is up, if that is so.
    fn wait_or<T: ?Sized>(
        &self,
        guard: &MutexGuard<'_, T>,
        is_late: impl FnOnce() -> bool,
        here: Here,
    ) -> bool {
        let ticket = self.ticket(here);
        guard.let_go(here);
        let late = is_late();
        if late {
            self.state.rmw(RmwOp::And, !(1 << ticket), Order::Relaxed, here);
        } else {
            self.state.wait(any_bit(1 << (ticket + TICKETS)), 0, Order::Relaxed, here);
        }
        guard.take_again(here);
        late
    }

    /// Gives the mutex back, waits for a notification, and takes the mutex again.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let here = Location::caller();
        let spurious = || {
            rt::with(|run| run.shared.spurious_wakeups.load(Ordering::Relaxed)) == Some(true)
                && rt::choose(here)
        };
        self.wait_or(&guard, spurious, here);
        result(guard)
    }

    /// Waits as long as the condition holds.
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits for a notification, or until the time is up, which may be at any moment.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        _time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let here = Location::caller();
        let late = WaitTimeoutResult(self.wait_or(&guard, || rt::choose(here), here));
        match result(guard) {
            Ok(guard) => Ok((guard, late)),
            Err(poison) => Err(PoisonError::new((poison.into_inner(), late))),
        }
    }

    /// Waits as long as the condition holds and the time is not up.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut late = WaitTimeoutResult(false);
        while condition(&mut *guard) {
            if late.0 {
                return Ok((guard, late));
            }
            (guard, late) = self.wait_timeout(guard, time)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one of those that wait, whichever.
    #[track_caller]
    pub fn notify_one(&self) {
        let here = Location::caller();
        self.wake(here, |mut waiting| {
            let mut chosen = waiting & waiting.wrapping_neg();
            while waiting != chosen && rt::choose(here) {
                waiting &= !chosen;
                chosen = waiting & waiting.wrapping_neg();
            }
            chosen
        });
    }

    /// Wakes all of those that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        self.wake(Location::caller(), |waiting| waiting);
    }

    fn wake(&self, here: Here, choose: impl Fn(u64) -> u64) {
        let mut state = self.state.load(Order::Relaxed, here);
        loop {
            let waiting = state & u64::from(u32::MAX);
            if waiting == 0 {
                return;
            }
            let chosen = choose(waiting);
            let new = state & !chosen | chosen << TICKETS;
            match self.state.exchange((state, new), (Order::Relaxed, Order::Relaxed), false, here) {
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
