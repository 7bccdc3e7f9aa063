//! Words for memory orders and fences.

use fencepost_answer::trace::{Made, Seen};
use fencepost_ir::{Fence, Order};

/// `.acq`, `.rlx`; nothing for a plain access.
pub fn dotted(order: Order) -> String {
    match order {
        Order::Plain => String::new(),
        order => format!(".{}", order.name()),
    }
}

/// `R.acq x = 1`.
pub fn read(cell: &str, order: Order, value: &str) -> String {
    format!("R{} {cell} = {value}", dotted(order))
}

/// `W.rel x = 1`.
pub fn write(cell: &str, order: Order, value: &str) -> String {
    format!("W{} {cell} = {value}", dotted(order))
}

/// `U.acq lock 0 -> 1`; the values beside what they are called.
pub fn update(cell: &str, (seen, old): (&Seen, &str), (made, new): (&Made, &str)) -> String {
    format!("U{} {cell} {old} -> {new}", dotted(Order::joined(seen.order, made.order)))
}

/// `F.sc`, `F.lwsync`.
pub fn fence(fence: Fence) -> String {
    let name = fence.name();
    format!("F.{}", name.strip_prefix("c11.").unwrap_or(name))
}

/// A fence as a programmer writes it.
pub fn written(fence: Fence) -> String {
    match fence {
        Fence::C11(order) => format!("atomic_thread_fence({})", c11(order)),
        fence => fence.name().to_string(),
    }
}

fn c11(order: Order) -> &'static str {
    match order {
        Order::Acquire | Order::AcquirePc => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
        Order::Consume => "consume",
        Order::Plain | Order::Relaxed => "relaxed",
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_named_as_in_the_literature() {
        assert_eq!(dotted(Order::joined(Order::Acquire, Order::Release)), ".acqrel");
        assert_eq!(dotted(Order::joined(Order::Acquire, Order::Relaxed)), ".acq");
        assert_eq!(dotted(Order::joined(Order::Relaxed, Order::Release)), ".rel");
        assert_eq!(dotted(Order::joined(Order::Plain, Order::Plain)), "");
        assert_eq!(
            (fence(Fence::C11(Order::SeqCst)), fence(Fence::DmbLd)),
            ("F.sc".into(), "F.dmb.ld".into())
        );
    }
}
