//! Words for memory orders and fences.

use fencepost_ir::{Fence, Order};

/// `.acq`, `.rlx`; nothing for a plain access.
pub fn dotted(order: Order) -> String {
    match order {
        Order::Plain => String::new(),
        order => format!(".{}", order.name()),
    }
}

/// The order of the two halves of a read-modify-write.
pub fn joined(read: Order, write: Order) -> String {
    let order = match (read, write) {
        (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
        (read, write) if read.acquires() && write.releases() => Order::AcqRel,
        (read, write) => read.max(write),
    };
    dotted(order)
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
pub fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_named_as_in_the_literature() {
        assert_eq!(joined(Order::Acquire, Order::Release), ".acqrel");
        assert_eq!(joined(Order::Acquire, Order::Relaxed), ".acq");
        assert_eq!(joined(Order::Relaxed, Order::Release), ".rel");
        assert_eq!(joined(Order::Plain, Order::Plain), "");
        assert_eq!(
            (fence(Fence::C11(Order::SeqCst)), fence(Fence::DmbLd)),
            ("F.sc".into(), "F.dmb.ld".into())
        );
    }
}
