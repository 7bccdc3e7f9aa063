//! Final states: the order of their parts, and how they are shown.
//!
//! A state reads `0:r1=1; [x]=2;`: registers by thread number and then in the order of the architecture, then locations
//! alphabetically. Values are signed numbers or names of locations, elements of arrays read `x[1]=2;`.

use crate::Arch;
use crate::condition::{Condition, Item};
use crate::test::Test;
use fencepost_ir::{
    Compare, FinalCondition, Object, ObjectId, Observable, Program, Property, Proposition, Reg, Term,
    ThreadId, Value, Width,
};
use std::cmp::Ordering;
use std::fmt::Write;

/// Settles the order in which a state is shown and the widths of memory cells.
pub(crate) fn finish(
    arch: Arch,
    condition: Condition,
    test: &Test<'_>,
    objects: &[Object],
) -> FinalCondition {
    let Condition { quantifier, mut proposition, mut filter, items, shown, text: _ } = condition;
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| {
        shown[b].cmp(&shown[a]).then_with(|| compare_items(arch, test, items[a], items[b]))
    });
    let mut place = vec![0; items.len()];
    for (position, &item) in order.iter().enumerate() {
        place[item] = position;
    }
    let observed: Vec<Observable> =
        order.iter().map(|&item| observable(items[item], objects, &test.bits)).collect();
    for part in std::iter::once(&mut proposition).chain(filter.as_mut()) {
        renumber(part, &place, &observed);
        meet_doubles(part, &observed, objects);
    }
    let shown = shown.iter().filter(|&&s| s).count();
    FinalCondition { quantifier, proposition, observed, shown, filter }
}

fn whole(bits: u32) -> Width {
    match bits {
        8 => Width::W8,
        16 => Width::W16,
        32 => Width::W32,
        _ => Width::W64,
    }
}

fn observable(item: Item, objects: &[Object], bits: &[u32]) -> Observable {
    match item {
        Item::Register(thread, reg) => Observable::Register { thread: ThreadId(thread as u32), reg },
        Item::Memory(object, index) => {
            let (cells, bits) = (&objects[object.0 as usize].cells, bits[object.0 as usize]);
            // A location in parts is shown whole.
            let offset = index as u32 * bits / 8;
            match cells
                .get(index)
                .filter(|cell| cell.offset == offset && 8 * cell.width.bytes() >= bits.min(64))
            {
                Some(cell) => Observable::Memory { object, offset: cell.offset, width: cell.width },
                None => Observable::Memory { object, offset, width: whole(bits) },
            }
        }
    }
}

/// Registers by thread and then in the architecture's order, then locations alphabetically.
fn compare_items(arch: Arch, test: &Test<'_>, a: Item, b: Item) -> Ordering {
    match (a, b) {
        (Item::Register(..), Item::Memory(..)) => Ordering::Less,
        (Item::Memory(..), Item::Register(..)) => Ordering::Greater,
        (Item::Register(thread_a, a), Item::Register(thread_b, b)) => {
            let number = |thread: usize| test.threads[thread].number;
            let rank = |thread: usize, reg: Reg| {
                let name = test.threads[thread].function.regs[reg.0 as usize].as_str();
                // Locals of C come by name: `r10` before `r2`.
                if arch == Arch::C { (0, name) } else { register_rank(name) }
            };
            number(thread_a).cmp(&number(thread_b)).then_with(|| rank(thread_a, a).cmp(&rank(thread_b, b)))
        }
        (Item::Memory(a, index_a), Item::Memory(b, index_b)) => {
            let name = |object: ObjectId| test.globals[object.0 as usize].name;
            name(a).cmp(name(b)).then(index_a.cmp(&index_b))
        }
    }
}

/// Numbered registers by number, those of x86 in their traditional order, others by name.
fn register_rank(name: &str) -> (usize, &str) {
    const X86: [&str; 8] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "ESP", "EBP"];
    const X86_64: [&str; 8] = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp"];
    if let Some(rank) = (0..8).find(|&rank| X86[rank] == name || X86_64[rank] == name) {
        return (rank, "");
    }
    let digits = name
        .strip_prefix(['r', 'X', 'R', 'x'])
        .filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|d| d.parse().ok()) {
        Some(number) => (number, ""),
        None => (usize::MAX, name),
    }
}

fn renumber(proposition: &mut Proposition, place: &[usize], observed: &[Observable]) {
    match proposition {
        Proposition::True | Proposition::False => {}
        Proposition::Atom(left, _, term) => {
            *left = place[*left];
            match (term, observed[*left]) {
                (Term::Observed(right), _) => *right = place[*right],
                // A cell is read with its sign, so a constant such as 0xffffffff has to be too.
                (Term::Value(value), Observable::Memory { width, .. }) => *value = width.sign_extend(*value),
                (Term::Value(_), Observable::Register { .. }) => {}
            }
        }
        Proposition::Not(inner) => renumber(inner, place, observed),
        Proposition::And(parts) | Proposition::Or(parts) => {
            parts.iter_mut().for_each(|part| renumber(part, place, observed));
        }
        Proposition::Implies(a, b) => {
            renumber(a, place, observed);
            renumber(b, place, observed);
        }
    }
}

/// Comparisons of locations of 128 bits with numbers that no cell stands for: the halves in it are smaller.
fn meet_doubles(proposition: &mut Proposition, observed: &[Observable], objects: &[Object]) {
    match proposition {
        Proposition::Atom(left, compare, Term::Value(value)) => {
            let Observable::Memory { object, .. } = observed[*left] else { return };
            let beyond = Value(1 << 32);
            if !is_double(&objects[object.0 as usize]) || value.0 < beyond.0 {
                return;
            }
            match compare {
                Compare::Eq => *proposition = Proposition::False,
                Compare::Ne => *proposition = Proposition::True,
                // The number lies between the lower halves and the higher ones.
                Compare::Lt | Compare::Le => {
                    *proposition = Proposition::Atom(*left, Compare::Lt, Term::Value(beyond));
                }
                Compare::Gt | Compare::Ge => {
                    *proposition = Proposition::Atom(*left, Compare::Ge, Term::Value(beyond));
                }
            }
        }
        Proposition::True | Proposition::False | Proposition::Atom(..) => {}
        Proposition::Not(inner) => meet_doubles(inner, observed, objects),
        Proposition::And(parts) | Proposition::Or(parts) => {
            parts.iter_mut().for_each(|part| meet_doubles(part, observed, objects));
        }
        Proposition::Implies(a, b) => {
            meet_doubles(a, observed, objects);
            meet_doubles(b, observed, objects);
        }
    }
}

/// True for a location of 128 bits, or an array of them.
fn is_double(object: &Object) -> bool {
    object.size as usize == 16 * object.cells.len()
}

/// The value of a location of 128 bits, which a cell of 64 stands for: see `aarch64::pair`.
fn double(program: &Program, observable: &Observable, value: Value) -> Option<u128> {
    let &Observable::Memory { object, .. } = observable else { return None };
    let object = &program.objects[object.0 as usize];
    is_double(object).then(|| u128::from(value.0 >> 32) << 64 | u128::from(value.0 & 0xffff_ffff))
}

/// Appends one final state, `0:r1=1; [x]=2;`.
pub(crate) fn show_state_into(program: &Program, values: &[Value], out: &mut String) {
    let Property::Final(condition) = &program.property else { return };
    let mut separator = "";
    for (observable, &value) in condition.observed.iter().zip(values).take(condition.shown) {
        out.push_str(separator);
        separator = " ";
        // Writing to a string cannot fail.
        let _ = match *observable {
            Observable::Register { thread, reg } => {
                let name = &program.thread_function(thread).regs[reg.0 as usize];
                let number = program.threads[thread.0 as usize].name.trim_start_matches('P');
                write!(out, "{number}:{name}=")
            }
            Observable::Memory { object, offset, width } => {
                let object = &program.objects[object.0 as usize];
                let divided = object.cells.first().is_some_and(|cell| cell.width < width);
                match object.cells.iter().position(|cell| cell.offset == offset) {
                    Some(_) if divided && object.size > width.bytes() => {
                        write!(out, "{}[{}]=", object.name, offset / width.bytes())
                    }
                    Some(index) if object.cells.len() > 1 && !divided => {
                        write!(out, "{}[{index}]=", object.name)
                    }
                    _ => write!(out, "[{}]=", object.name),
                }
            }
        };
        if let Some(value) = double(program, observable, value) {
            let _ = write!(out, "{value};");
            continue;
        }
        let _ = match value.as_pointer() {
            Some((object, _)) if (object.0 as usize) < program.objects.len() => {
                write!(out, "{};", program.show_value(value))
            }
            // A large number may look like an address of something that does not exist.
            _ => write!(out, "{};", value.as_i64()),
        };
    }
}
