//! Final states: the registers and cells that a final condition looks at, where all threads have ended.

use crate::aig::{Graph, Lit};
use crate::symbolic::{CellId, Unrolled};
use crate::word::Word;
use fencepost_ir::{
    BinaryOp, Compare, Extend, FinalCondition, Observable, Proposition, Quantifier, Term, Value, Width,
};

/// What a final condition comes to.
pub struct Finals {
    /// All threads that were started have ended.
    pub complete: Lit,
    /// The values of `FinalCondition::observed`.
    pub observed: Vec<Word>,
    /// The state counts: the filter admits it.
    pub admitted: Lit,
    /// The state is what `exists` looks for, or what the others forbid.
    pub wanted: Lit,
    /// It is looked for, not forbidden.
    pub sought: bool,
}

impl Finals {
    /// For an encoded program, whose ordering half knows the last value of a cell.
    pub fn new(
        unrolled: &mut Unrolled,
        last_value: &mut dyn FnMut(&mut Unrolled, CellId) -> Word,
        condition: &FinalCondition,
    ) -> Finals {
        let complete = unrolled.all_end();
        let observed: Vec<Word> =
            condition.observed.iter().map(|observable| value_of(unrolled, last_value, observable)).collect();
        Finals::of(&mut unrolled.graph, complete, observed, condition)
    }

    /// For what is observed where all threads have ended.
    pub fn of(graph: &mut Graph, complete: Lit, observed: Vec<Word>, condition: &FinalCondition) -> Finals {
        let admitted = condition.filter.as_ref().map_or(Lit::TRUE, |filter| holds(graph, filter, &observed));
        let proposition = holds(graph, &condition.proposition, &observed);
        let wanted = proposition.complement_if(condition.quantifier == Quantifier::ForAll);
        let sought = condition.quantifier == Quantifier::Exists;
        Finals { complete, observed, admitted, wanted, sought }
    }

    /// A state that is looked for, or forbidden.
    pub fn state(&self) -> [Lit; 3] {
        [self.complete, self.admitted, self.wanted]
    }

    /// A state that is forbidden.
    pub fn violated(&self, graph: &mut Graph) -> Lit {
        if self.sought { Lit::FALSE } else { graph.and_all(&self.state()) }
    }
}

fn value_of(
    unrolled: &mut Unrolled,
    last_value: &mut dyn FnMut(&mut Unrolled, CellId) -> Word,
    observable: &Observable,
) -> Word {
    let zero = || Word::constant(Value::ZERO);
    match *observable {
        Observable::Register { thread, reg } => {
            let registers = unrolled.threads.get(thread.0 as usize).map(|thread| &thread.registers);
            registers.and_then(|registers| registers.get(reg.0 as usize)).cloned().unwrap_or_else(zero)
        }
        Observable::Memory { object, offset, width } => {
            let this = |cell: &crate::symbolic::CellInfo| {
                cell.object == object.0 && cell.offset == offset && cell.width == width
            };
            match unrolled.cells.iter().position(this) {
                Some(cell) => last_value(unrolled, CellId(cell as u32)).extend(width, Extend::Sign),
                None => zero(),
            }
        }
    }
}

/// Whether a proposition holds of what is observed.
fn holds(graph: &mut Graph, proposition: &Proposition, observed: &[Word]) -> Lit {
    match proposition {
        Proposition::True => Lit::TRUE,
        Proposition::False => Lit::FALSE,
        Proposition::Atom(left, compare, right) => {
            let right = match right {
                Term::Value(value) => Word::constant(*value),
                Term::Observed(index) => observed[*index].clone(),
            };
            let op = match compare {
                Compare::Eq => BinaryOp::Eq,
                Compare::Ne => BinaryOp::Ne,
                Compare::Lt => BinaryOp::LtS,
                Compare::Le => BinaryOp::LeS,
                Compare::Gt => BinaryOp::GtS,
                Compare::Ge => BinaryOp::GeS,
            };
            let extend = Extend::Zero;
            match crate::arithmetic::binary(graph, op, Width::W64, extend, &observed[*left], &right) {
                Ok(computed) => computed.word.bit(0),
                // Comparisons of integers have circuits.
                Err(_) => Lit::FALSE,
            }
        }
        Proposition::Not(inner) => !holds(graph, inner, observed),
        Proposition::And(parts) => {
            let parts: Vec<Lit> = parts.iter().map(|part| holds(graph, part, observed)).collect();
            graph.and_all(&parts)
        }
        Proposition::Or(parts) => {
            let parts: Vec<Lit> = parts.iter().map(|part| holds(graph, part, observed)).collect();
            graph.or_all(&parts)
        }
        Proposition::Implies(a, b) => {
            let (a, b) = (holds(graph, a, observed), holds(graph, b, observed));
            graph.implies(a, b)
        }
    }
}
