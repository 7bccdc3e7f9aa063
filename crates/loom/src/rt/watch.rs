//! Says which step of a thread does not come back: a lock of the standard library that is held across a step, or a loop that
//! neither accesses anything of the model nor yields. Nothing can be done about it from outside, so that the exploration
//! waits on; but nobody has to guess why.

use super::Here;
use std::panic::Location;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// How often is looked, and after how many looks a step is told of.
const PAUSE: Duration = Duration::from_millis(250);
const LOOKS: u32 = 4;

/// The step that a run is in.
#[derive(Debug, Default)]
pub struct Watched {
    /// How many steps began and ended: odd within one.
    changes: AtomicU64,
    thread: AtomicU64,
    /// The access behind which it began.
    place: AtomicPtr<Location<'static>>,
}

/// A run that is looked at, what was seen there, and how often.
struct Look {
    watched: Weak<Watched>,
    seen: u64,
    times: u32,
}

static ALL: OnceLock<Mutex<Vec<Look>>> = OnceLock::new();

impl Watched {
    /// One that is looked at as long as it is there.
    pub fn new() -> Arc<Watched> {
        let watched = Arc::new(Watched::default());
        let all = ALL.get_or_init(|| {
            // Without this thread nothing is told, and nothing else is missed.
            let _ = std::thread::Builder::new().name("fencepost-watch".into()).spawn(watch);
            Mutex::default()
        });
        let look = Look { watched: Arc::downgrade(&watched), seen: 0, times: 0 };
        all.lock().unwrap_or_else(PoisonError::into_inner).push(look);
        watched
    }

    /// A thread goes on, behind the access at that place.
    pub fn begin(&self, thread: usize, here: Option<Here>) {
        let place = here.map_or(null_mut(), |here| std::ptr::from_ref(here).cast_mut());
        self.place.store(place, Ordering::Relaxed);
        self.thread.store(thread as u64, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// It has come to its next access.
    pub fn end(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    fn message(&self) -> String {
        let place = self.place.load(Ordering::Relaxed);
        // SAFETY: it is null or the place of a call, which lives as long as the program.
        let place = unsafe { place.as_ref() };
        let thread = self.thread.load(Ordering::Relaxed);
        let began = place.map_or("at its beginning".to_owned(), |place| format!("behind {place}"));
        format!(
            "warning: a step of thread {thread}, {began}, has not ended for a second\n  it may wait for a lock of the standard \
             library, which another thread of the model holds, or go round a loop without `yield_now`"
        )
    }
}

fn watch() {
    loop {
        std::thread::sleep(PAUSE);
        let Some(all) = ALL.get() else { continue };
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain_mut(|look| {
            let Some(watched) = look.watched.upgrade() else { return false };
            let now = watched.changes.load(Ordering::Acquire);
            if now % 2 == 0 || now != look.seen {
                (look.seen, look.times) = (now, 0);
                return true;
            }
            look.times += 1;
            if look.times == LOOKS {
                eprintln!("{}", watched.message());
            }
            true
        });
    }
}
