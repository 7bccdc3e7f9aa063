//! C11.

use super::{Fence, OrderRow, fence};
use crate::edge::{Note, Order};
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 4] = [
    fence("FenceSc", "atomic_thread_fence(memory_order_seq_cst);", "fence.sc"),
    fence("FenceAcqRel", "atomic_thread_fence(memory_order_acq_rel);", "fence.acqrel"),
    fence("FenceAcq", "atomic_thread_fence(memory_order_acquire);", "fence.acq"),
    fence("FenceRel", "atomic_thread_fence(memory_order_release);", "fence.rel"),
];

pub(super) static ORDERS: [OrderRow; 5] = [
    ("Rlx", Order::Plain, false),
    ("Acq", Order::Acquire, false),
    ("Rel", Order::Release, false),
    ("AcqRel", Order::AcquireRelease, false),
    ("Sc", Order::Sc, false),
];

pub(super) struct C11;

fn order(order: Order) -> &'static str {
    match order {
        Order::Plain | Order::NotAtomic => "memory_order_relaxed",
        Order::Acquire | Order::AcquirePc => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcquireRelease => "memory_order_acq_rel",
        Order::Sc => "memory_order_seq_cst",
    }
}

/// The order of a read-modify-write whose read and whose write have these.
fn both(read: Order, write: Order) -> Order {
    match (read, write) {
        (Order::Sc, _) | (_, Order::Sc) => Order::Sc,
        (Order::Plain, other) => other,
        (other, Order::Plain) => other,
        _ => Order::AcquireRelease,
    }
}

impl Assembly for C11 {
    fn register(&self, index: usize) -> String {
        format!("r{index}")
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let into = text.fresh();
        text.locals.push(format!("int {into} = 0;"));
        if place.note.order == Order::NotAtomic {
            text.line(format!("{into} = *{};", place.location));
            return into;
        }
        text.line(format!("{into} = atomic_load_explicit({}, {});", place.location, order(place.note.order)));
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let value =
            data.map_or_else(|| value.to_string(), |register| format!("({register} ^ {register}) + {value}"));
        match place.note.order {
            Order::NotAtomic => text.line(format!("*{} = {value};", place.location)),
            other => {
                text.line(format!("atomic_store_explicit({}, {value}, {});", place.location, order(other)))
            }
        }
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, write: Note, value: u64) -> String {
        let into = text.fresh();
        text.locals.push(format!("int {into} = 0;"));
        let order = order(both(place.note.order, write.order));
        text.line(format!("{into} = atomic_exchange_explicit({}, {value}, {order});", place.location));
        into
    }

    fn branch(&self, text: &mut Text, register: &str) {
        text.line(format!("if ({register} >= 0) {{"));
        text.depth += 1;
    }

    fn finish(&self, text: &mut Text) {
        (0..text.depth).for_each(|_| text.line("}".to_owned()));
    }
}
