//! C with the macros of the Linux kernel. Accesses without an annotation are `ONCE`.

use super::{Fence, OrderRow, fence};
use crate::edge::{Note, Order};
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 4] = [
    fence("FenceMb", "smp_mb();", "mb"),
    fence("FenceWmb", "smp_wmb();", "wmb"),
    fence("FenceRmb", "smp_rmb();", "rmb"),
    fence("FenceSync", "synchronize_rcu();", "sync-rcu"),
];

pub(super) static ORDERS: [OrderRow; 3] =
    [("Once", Order::Plain, false), ("Acquire", Order::Acquire, false), ("Release", Order::Release, false)];

pub(super) struct Kernel;

/// The address as an expression; one that depends on a register is computed first.
fn address(text: &mut Text, place: &Place<'_>) -> String {
    let Some(register) = &place.address else { return place.location.to_owned() };
    let pointer = text.fresh();
    text.locals.push(format!("int *{pointer};"));
    text.line(format!("{pointer} = ({} + ({register} & 8));", place.location));
    pointer
}

fn local(text: &mut Text) -> String {
    let into = text.fresh();
    text.locals.push(format!("int {into} = 0;"));
    into
}

impl Assembly for Kernel {
    fn register(&self, index: usize) -> String {
        format!("r{index}")
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let address = address(text, place);
        let into = local(text);
        text.line(match place.note.order {
            Order::Acquire => format!("{into} = smp_load_acquire({address});"),
            _ => format!("{into} = READ_ONCE(*{address});"),
        });
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let address = address(text, place);
        let value = data.map_or_else(|| value.to_string(), |register| format!("({register} & 8) + {value}"));
        text.line(match place.note.order {
            Order::Release => format!("smp_store_release({address}, {value});"),
            _ => format!("WRITE_ONCE(*{address}, {value});"),
        });
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, write: Note, value: u64) -> String {
        let address = address(text, place);
        let into = local(text);
        let end = match (place.note.order, write.order) {
            (Order::Acquire, Order::Plain) => "_acquire",
            (Order::Plain, Order::Release) => "_release",
            (Order::Acquire, Order::Release) => "",
            _ => "_relaxed",
        };
        text.line(format!("{into} = xchg{end}({address}, {value});"));
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
