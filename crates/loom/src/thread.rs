//! Threads of a model: as `std::thread`.

#![allow(unsafe_code)]

use crate::rt::{self, Here, Order, RmwOp};
use crate::sync::atomic::{Atomic, THIS};
use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub use crate::lazy_static::AccessError;
pub use std::thread::panicking;

/// Where a thread leaves its result.
struct Packet<T>(UnsafeCell<Option<T>>);

// SAFETY: the thread writes it before it ends, and whoever joins it reads it afterwards.
unsafe impl<T: Send> Sync for Packet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Packet<T> {}

/// Owns the right to join a thread.
pub struct JoinHandle<T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
}

/// A thread.
#[derive(Clone)]
pub struct Thread {
    number: usize,
    name: Option<Arc<str>>,
}

/// What tells threads apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(usize);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadId({})", self.0)
    }
}

impl Thread {
    /// What tells it apart from others.
    pub fn id(&self) -> ThreadId {
        ThreadId(self.number)
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Hands it the token that `park` waits for.
    #[track_caller]
    pub fn unpark(&self) {
        token(self.number).rmw(RmwOp::Exchange, 1, Order::AcqRel, Location::caller());
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish()
    }
}

fn token(thread: usize) -> Atomic<u32> {
    Atomic::fixed(rt::TOKENS, thread as u32, 0)
}

/// The thread that runs.
pub fn current() -> Thread {
    let number = rt::current();
    Thread { number, name: rt::name_of(number) }
}

/// Waits for the token of this thread, and takes it.
#[track_caller]
pub fn park() {
    token(rt::current()).wait_and((THIS, 1), RmwOp::Exchange, 0, Order::Acquire, Location::caller());
}

/// The same; the time may be up at any moment.
#[track_caller]
pub fn park_timeout(_timeout: Duration) {
    let here = Location::caller();
    if rt::choose(here) {
        token(rt::current()).rmw(RmwOp::Exchange, 0, Order::Acquire, here);
    } else {
        token(rt::current()).wait_and((THIS, 1), RmwOp::Exchange, 0, Order::Acquire, here);
    }
}

/// Says that this thread waits for others.
pub fn yield_now() {
    rt::waits();
}

/// Time passes: others may do what they like meanwhile, as always.
pub fn sleep(_duration: Duration) {
    rt::waits();
}

fn start<'a, T: 'a>(
    f: impl FnOnce() -> T + 'a,
    name: Option<Arc<str>>,
    here: Here,
) -> (Arc<Packet<T>>, Thread) {
    assert!(rt::is_inside(), "threads are started by a model; see `fencepost_loom::model`");
    let packet = Arc::new(Packet(UnsafeCell::new(None)));
    let result = packet.clone();
    let body: Box<dyn FnOnce() + 'a> = Box::new(move || {
        let value = f();
        // SAFETY: see `Packet`.
        unsafe { *result.0.get() = Some(value) };
    });
    // SAFETY: only the lifetime changes. `spawn` asks for 'static, and a scope ends when its threads have.
    let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce() + 'static>>(body) };
    let number = rt::spawn(body, name.clone(), here);
    (packet, Thread { number, name })
}

fn result<T>(packet: &Packet<T>) -> std::thread::Result<T> {
    // SAFETY: see `Packet`.
    match unsafe { (*packet.0.get()).take() } {
        Some(value) => Ok(value),
        None => Err(Box::new("the thread has no result") as Box<dyn Any + Send>),
    }
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let (packet, thread) = start(f, None, Location::caller());
    JoinHandle { packet, thread }
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        rt::join(self.thread.number, Location::caller());
        result(&self.packet)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether the thread has ended: it may, at any moment; the answer says no more.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        rt::waits();
        if !rt::choose(Location::caller()) {
            return false;
        }
        rt::join(self.thread.number, Location::caller());
        true
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// What a thread is to be like.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Like any other.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// With a name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// All stacks are of the same size here.
    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let (packet, thread) = start(f, self.name.map(Arc::from), Location::caller());
        Ok(JoinHandle { packet, thread })
    }
}

/// Threads that may borrow, since they end with it.
pub struct Scope<'scope, 'env: 'scope> {
    started: std::cell::RefCell<Vec<usize>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

// SAFETY: threads of a model run one at a time, and do not switch while they look at the list.
unsafe impl Sync for Scope<'_, '_> {}

/// Owns the right to join a thread of a scope.
pub struct ScopedJoinHandle<'scope, T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
    scope: PhantomData<&'scope ()>,
}

/// Runs `f`, and waits for all threads that it has started.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let here = Location::caller();
    let scope = Scope { started: Default::default(), scope: PhantomData, env: PhantomData };
    let result = f(&scope);
    loop {
        let next = scope.started.borrow_mut().pop();
        let Some(thread) = next else { break };
        rt::join(thread, here);
    }
    result
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (packet, thread) = start(f, None, Location::caller());
        self.started.borrow_mut().push(thread.number);
        ScopedJoinHandle { packet, thread, scope: PhantomData }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the end of the thread.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        rt::join(self.thread.number, Location::caller());
        result(&self.packet)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

/// A value that every thread has for itself; made by [`crate::thread_local!`].
pub struct LocalKey<T: 'static> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

impl<T: 'static> LocalKey<T> {
    /// Looks at the value of this thread.
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("a thread-local value is looked at too late: {error}"),
        }
    }

    /// The same; an error when it is gone.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let key = self as *const LocalKey<T> as usize;
        let Some(value) = rt::local(key, || Box::new((self.init)())) else {
            return Err(AccessError { _private: () });
        };
        // SAFETY: it lives until the thread ends.
        match unsafe { &*value }.downcast_ref::<T>() {
            Some(value) => Ok(f(value)),
            None => unreachable!("a key has one type"),
        }
    }
}

impl<T: 'static> LocalKey<std::cell::Cell<T>> {
    /// Replaces the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// The value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(std::cell::Cell::get)
    }
}

impl<T: 'static> LocalKey<std::cell::RefCell<T>> {
    /// Looks at the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Changes the value.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}
