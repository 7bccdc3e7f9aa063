//! A change of strength as a change of the text: which words of the program are to be others.
//!
//! An order is a word among the arguments of a call. Where the text does not say it (a macro that has it in its body, an
//! operator) there is no edit. What is edited is compiled and checked again before anybody sees it (`Search::write`).

use fencepost_diag::{Edit, SourceMap, Span};
use fencepost_ir::Order;

/// The orders that C names, weakest first.
const ORDERS: &[(&str, Order)] = &[
    ("relaxed", Order::Relaxed),
    ("consume", Order::Consume),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
    ("seq_cst", Order::SeqCst),
];

/// The ways to write them.
#[derive(Clone, Copy)]
enum Style {
    /// `memory_order_acquire`
    Standard,
    /// `__ATOMIC_ACQUIRE`
    Gcc,
}

impl Style {
    fn write(self, order: Order) -> Option<String> {
        let (name, _) = ORDERS.iter().find(|(_, other)| *other == order)?;
        Some(match self {
            Style::Standard => format!("memory_order_{name}"),
            Style::Gcc => format!("__ATOMIC_{}", name.to_ascii_uppercase()),
        })
    }
}

/// An argument that is an order.
struct Written {
    span: Span,
    /// Which, if the word is one of C and not a macro of the program.
    order: Option<Order>,
    style: Style,
}

/// The edits that give the access or fence at `span` this order.
pub fn order(sources: &SourceMap, span: Span, to: Order) -> Vec<Edit> {
    let Some(call) = Call::at(sources, span) else { return Vec::new() };
    let orders = call.orders();
    let wanted: Vec<(&Written, Order)> = match (call.name.contains("compare_exchange"), &orders[..]) {
        // As a compare-exchange that fails only reads, its order is raised to what a read can have of the new one.
        (true, [success, failure]) => {
            let fails = failure.order.map_or(reading(to), |order| order.max(reading(to)));
            vec![(success, to), (failure, fails)]
        }
        (false, [only]) => vec![(only, to)],
        _ => return Vec::new(),
    };
    let changed = wanted.into_iter().filter(|(written, order)| written.order != Some(*order));
    let edit = |(written, order): (&Written, Order)| {
        Some(Edit { span: written.span, text: written.style.write(order)? })
    };
    changed.map(edit).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The edit that puts a statement before the one that the access at `span` is part of: at the beginning of a line of its own if
/// the statement has one, with the same indentation.
pub fn before(sources: &SourceMap, span: Span, statement: &str) -> Option<Edit> {
    let (base, file) = sources.locate(span.start)?;
    let text = file.text.get(..(span.start - base) as usize)?;
    let begins = text.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    let begins = begins + (file.text[begins..].len() - file.text[begins..].trim_start().len());
    let line = file.text[..begins].rfind('\n').map_or(0, |at| at + 1);
    let indentation = &file.text[line..begins];
    let at = base + begins as u32;
    let text = match indentation.trim().is_empty() {
        true => format!("{statement}\n{indentation}"),
        false => format!("{statement} "),
    };
    Some(Edit { span: Span { start: at, end: at }, text })
}

/// What a read can have of an order.
fn reading(order: Order) -> Order {
    match order {
        Order::AcqRel => Order::Acquire,
        Order::Release => Order::Relaxed,
        order => order,
    }
}

/// `name(argument, ...)` in the text.
struct Call<'a> {
    name: &'a str,
    /// Each with its place, without the blanks around it.
    arguments: Vec<(Span, &'a str)>,
}

impl<'a> Call<'a> {
    fn at(sources: &'a SourceMap, span: Span) -> Option<Call<'a>> {
        let (base, file) = sources.locate(span.start)?;
        let start = (span.start - base) as usize;
        let text = file.text.get(start..)?;
        let open = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let rest = text[open..].strip_prefix('(')?;
        let first = start + open + 1;
        let mut arguments = Vec::new();
        let (mut depth, mut from) = (0, 0);
        for (at, c) in rest.char_indices() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => {
                    arguments.push(from..at);
                    let arguments = arguments.into_iter().map(|range| {
                        let raw = &rest[range.clone()];
                        let word = raw.trim();
                        let at = base as usize + first + range.start + (raw.len() - raw.trim_start().len());
                        (Span::new(at, at + word.len()), word)
                    });
                    return Some(Call { name: &text[..open], arguments: arguments.collect() });
                }
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => {
                    arguments.push(from..at);
                    from = at + 1;
                }
                // Quotes may hide any of these; none of them is in an access.
                '"' | '\'' => return None,
                _ => {}
            }
        }
        None
    }

    /// A function of C, or of the compiler, whose last arguments are orders.
    fn says_orders(&self) -> bool {
        let c11 = self.name.starts_with("atomic_") && self.name.ends_with("_explicit");
        c11 || self.name.starts_with("__atomic_") || self.name == "atomic_thread_fence"
    }

    /// The arguments that are orders; those that are numbers, or macros of the program, only where an order must stand.
    fn orders(&self) -> Vec<Written> {
        let own = if self.name.starts_with("__atomic") { Style::Gcc } else { Style::Standard };
        let last = if self.name.contains("compare_exchange") { 2 } else { 1 };
        let from = self.arguments.len().saturating_sub(last);
        let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let order = |(number, &(span, word)): (usize, &(Span, &str))| {
            let named = |name: &str| ORDERS.iter().find(|(other, _)| *other == name).map(|(_, order)| *order);
            let (order, style) = if let Some(name) = word.strip_prefix("memory_order_") {
                (Some(named(name)?), Style::Standard)
            } else if let Some(name) = word.strip_prefix("__ATOMIC_") {
                (Some(named(&name.to_ascii_lowercase())?), Style::Gcc)
            } else if self.says_orders() && number >= from && is_name(word) {
                let number = word.parse::<usize>().ok();
                (number.and_then(|number| ORDERS.get(number)).map(|(_, order)| *order), own)
            } else {
                return None;
            };
            Some(Written { span, order, style })
        };
        self.arguments.iter().enumerate().filter_map(order).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_diag::SourceFile;

    fn edited(text: &str, at: &str, to: Order) -> String {
        let mut sources = SourceMap::default();
        sources.add(SourceFile::new("before.c", "int unrelated;"));
        let base = sources.add(SourceFile::new("a.c", text));
        let start = base as usize + text.find(at).expect("it is there");
        let edits = order(&sources, Span::new(start, start + at.len()), to);
        sources.edited(&edits).into_iter().map(|(_, file)| file.text).collect()
    }

    #[test]
    fn the_order_of_a_call_is_written_as_the_others_are() {
        let load = "x = atomic_load_explicit(&a[f(1, 2)], memory_order_relaxed);";
        let changed = "x = atomic_load_explicit(&a[f(1, 2)], memory_order_acquire);";
        assert_eq!(edited(load, "atomic_load", Order::Acquire), changed);
        let store = "__atomic_store_n(&x, 1, __ATOMIC_RELAXED);";
        assert_eq!(edited(store, "__atomic", Order::SeqCst), "__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);");
        let number = "atomic_store_explicit(&x, 1, 0);";
        let changed = "atomic_store_explicit(&x, 1, memory_order_release);";
        assert_eq!(edited(number, "atomic", Order::Release), changed);
    }

    #[test]
    fn a_compare_exchange_that_fails_reads() {
        let exchange = |success: &str, failure: &str| {
            format!(
                "atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_{success}, memory_order_{failure})"
            )
        };
        let weak = exchange("relaxed", "relaxed");
        assert_eq!(edited(&weak, "atomic", Order::Release), exchange("release", "relaxed"));
        assert_eq!(edited(&weak, "atomic", Order::AcqRel), exchange("acq_rel", "acquire"));
        let builtin = "__atomic_compare_exchange_n(&x, &e, 1, 0, 0, 0)";
        let changed = "__atomic_compare_exchange_n(&x, &e, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)";
        assert_eq!(edited(builtin, "__atomic", Order::Acquire), changed);
    }

    #[test]
    fn what_the_text_does_not_say_is_not_edited() {
        let own = "atomic_load_explicit(&x, ACQ)";
        let changed = "atomic_load_explicit(&x, memory_order_acquire)";
        assert_eq!(edited(own, "atomic", Order::Acquire), changed);
        assert_eq!(edited("LD(x);", "LD", Order::Acquire), "");
        assert_eq!(edited("x = 1;", "x = 1", Order::SeqCst), "");
        assert_eq!(edited("atomic_load_explicit(&x", "atomic", Order::SeqCst), "");
    }

    #[test]
    fn a_statement_comes_before_another_one() {
        let text = "{\n    a := x;\n    b := y;\n}";
        let mut sources = SourceMap::default();
        sources.add(SourceFile::new("a.fp", text));
        let at = text.find("y;").expect("it is there");
        let edit = before(&sources, Span::new(at, at + 1), "fence;").expect("a place");
        let changed = sources.edited(&[edit]);
        assert_eq!(changed[0].1.text, "{\n    a := x;\n    fence;\n    b := y;\n}");
    }
}
