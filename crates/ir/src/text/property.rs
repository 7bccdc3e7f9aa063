//! Text of final conditions.

use super::parser::{Kind, Parser, Text, print_field};
use crate::program::{Program, Reg, ThreadId};
use crate::property::{FinalCondition, Observable, Property, Proposition, Term};
use fencepost_diag::Diagnostic;

/// Propositions may be nested this deep; the parser and everything after it recurse.
const MAX_DEPTH: u32 = 200;

impl Text for Property {
    fn print(&self, out: &mut String) {
        match self {
            Property::Assertions => out.push_str("property assertions"),
            Property::Final(condition) => {
                out.push_str("property ");
                condition.print(out);
            }
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.word("property")?;
        if parser.eat_word("assertions") {
            return Ok(Property::Assertions);
        }
        FinalCondition::parse(parser).map(Property::Final)
    }
}

impl Text for FinalCondition {
    fn print(&self, out: &mut String) {
        self.quantifier.print(out);
        print_field(out, "observed", &self.observed);
        print_field(out, "shown", &self.shown);
        print_field(out, "filter", &self.filter);
        print_field(out, "that", &self.proposition);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        let quantifier = Text::parse(parser)?;
        let observed: Vec<Observable> = parser.field("observed")?;
        let place = parser.span();
        let shown = parser.field("shown")?;
        if shown > observed.len() {
            return Err(Box::new(Diagnostic::error(place, "more is shown than observed")));
        }
        let filter = parser.field("filter")?;
        parser.check(Kind::Observed, observed.len(), "observed part")?;
        let proposition = parser.field("that")?;
        parser.check(Kind::Observed, shown, "shown part")?;
        Ok(FinalCondition { quantifier, proposition, observed, shown, filter })
    }
}

impl Text for Observable {
    fn print(&self, out: &mut String) {
        match self {
            Observable::Register { thread, reg } => {
                thread.print(out);
                reg.print(out);
            }
            Observable::Memory { object, offset, width } => {
                object.print(out);
                out.push('+');
                offset.print(out);
                out.push(':');
                width.print(out);
            }
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if matches!(parser.peek(), super::lexer::Token::Sign("!")) {
            let thread = ThreadId::parse(parser)?;
            return Ok(Observable::Register { thread, reg: Reg::parse(parser)? });
        }
        let object = Text::parse(parser)?;
        parser.sign("+")?;
        let offset = parser.int()?;
        parser.sign(":")?;
        Ok(Observable::Memory { object, offset, width: Text::parse(parser)? })
    }
}

/// The registers of observables are registers of their threads' functions.
pub(super) fn check_registers(parser: &mut Parser, program: &Program) -> Result<(), Box<Diagnostic>> {
    let Property::Final(condition) = &program.property else { return Ok(()) };
    for observable in &condition.observed {
        if let Observable::Register { thread, reg } = observable
            && reg.0 as usize >= program.thread_function(*thread).regs.len()
        {
            parser.check(Kind::Register, reg.0 as usize, "register in that thread")?;
        }
    }
    Ok(())
}

/// Atoms are `0 eq 1`, where a bare number is the index of an observed part and `(n)` is a value.
impl Text for Proposition {
    fn print(&self, out: &mut String) {
        match self {
            Proposition::True => out.push_str("true"),
            Proposition::False => out.push_str("false"),
            Proposition::Atom(left, compare, right) => {
                left.print(out);
                out.push(' ');
                compare.print(out);
                out.push(' ');
                right.print(out);
            }
            Proposition::Not(inner) => {
                out.push_str("not ");
                inner.print(out);
            }
            Proposition::And(parts) => {
                out.push_str("and ");
                parts.print(out);
            }
            Proposition::Or(parts) => {
                out.push_str("or ");
                parts.print(out);
            }
            Proposition::Implies(a, b) => {
                out.push_str("implies ");
                a.print(out);
                out.push_str(", ");
                b.print(out);
            }
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if parser.depth == MAX_DEPTH {
            return Err(Box::new(Diagnostic::error(parser.span(), "this proposition is nested too deeply")));
        }
        parser.depth += 1;
        let proposition = parse_proposition(parser)?;
        parser.depth -= 1;
        Ok(proposition)
    }
}

fn parse_proposition(parser: &mut Parser) -> Result<Proposition, Box<Diagnostic>> {
    if parser.eat_word("true") {
        Ok(Proposition::True)
    } else if parser.eat_word("false") {
        Ok(Proposition::False)
    } else if parser.eat_word("not") {
        Text::parse(parser).map(Proposition::Not)
    } else if parser.eat_word("and") {
        Text::parse(parser).map(Proposition::And)
    } else if parser.eat_word("or") {
        Text::parse(parser).map(Proposition::Or)
    } else if parser.eat_word("implies") {
        let a = Text::parse(parser)?;
        parser.sign(",")?;
        Ok(Proposition::Implies(a, Text::parse(parser)?))
    } else {
        let left = observed(parser)?;
        Ok(Proposition::Atom(left, Text::parse(parser)?, Text::parse(parser)?))
    }
}

fn observed(parser: &mut Parser) -> Result<usize, Box<Diagnostic>> {
    let span = parser.span();
    let index = parser.int()?;
    parser.note(Kind::Observed, index, span);
    Ok(index)
}

impl Text for Term {
    fn print(&self, out: &mut String) {
        match self {
            Term::Value(value) => {
                out.push('(');
                value.print(out);
                out.push(')');
            }
            Term::Observed(index) => index.print(out),
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if !parser.eat_sign("(") {
            return observed(parser).map(Term::Observed);
        }
        let value = Text::parse(parser)?;
        parser.sign(")")?;
        Ok(Term::Value(value))
    }
}
