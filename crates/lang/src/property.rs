//! Final conditions: `observe x, P.r;`, `exists x == 1 && P.r == 0;`, `forall ...;`, `never ...;`, `filter ...;`

use crate::lexer::Token;
use crate::parser::{Parsed, Parser, unknown};
use fencepost_diag::Diagnostic;
use fencepost_ir::{
    Compare, FinalCondition, Observable, Property, Proposition, Quantifier, Reg, Term, ThreadId,
};

const QUANTIFIERS: [(&str, Quantifier); 3] =
    [("exists", Quantifier::Exists), ("forall", Quantifier::ForAll), ("never", Quantifier::NotExists)];

const COMPARISONS: [(&str, Compare); 6] = [
    ("==", Compare::Eq),
    ("!=", Compare::Ne),
    ("<", Compare::Lt),
    ("<=", Compare::Le),
    (">", Compare::Gt),
    (">=", Compare::Ge),
];

impl Parser {
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.peek(), Token::Word(word)
            if ["observe", "filter", "exists", "forall", "never"].contains(&word.as_str()))
    }

    /// One clause. Threads must be known by name, so the clauses come after `start`, if there is one.
    pub(crate) fn property(&mut self) -> Parsed<()> {
        let mut condition = match std::mem::take(&mut self.program.property) {
            Property::Final(condition) => condition,
            Property::Assertions => FinalCondition {
                quantifier: Quantifier::Exists,
                proposition: Proposition::True,
                observed: Vec::new(),
                shown: 0,
                filter: None,
            },
        };
        if self.eat_word("observe") {
            loop {
                let observable = self.observable()?;
                condition.observed.push(observable);
                if !self.eat_sign(",") {
                    break;
                }
            }
            condition.shown = condition.observed.len();
        } else if self.eat_word("filter") {
            condition.filter = Some(self.proposition(&mut condition.observed, 0)?);
        } else {
            for (word, quantifier) in QUANTIFIERS {
                if self.eat_word(word) {
                    condition.quantifier = quantifier;
                    condition.proposition = self.proposition(&mut condition.observed, 0)?;
                    condition.shown = condition.observed.len();
                    break;
                }
            }
        }
        self.program.property = Property::Final(condition);
        self.sign(";")
    }

    fn observable(&mut self) -> Parsed<Observable> {
        let (name, span) = self.name("a shared variable, or a register such as `P.r`")?;
        if let Some((thread, reg)) = name.rsplit_once('.') {
            return self.register(thread, reg).ok_or_else(|| {
                let error = Diagnostic::error(span, format!("there is no register `{name}`"));
                Box::new(
                    error
                        .hint("write `P.r` for the register `r` of the process `P`, after both are declared"),
                )
            });
        }
        let Some(object) = self.object(&name) else { return Err(unknown(&name, span)) };
        let mut index = 0;
        if self.eat_sign("[") {
            index = self.number()?;
            self.sign("]")?;
        }
        let cells = &self.program.objects[object.0 as usize].cells;
        let cell = usize::try_from(index).ok().and_then(|index| cells.get(index));
        cell.map(|cell| Observable::Memory { object, offset: cell.offset, width: cell.width })
            .ok_or_else(|| Box::new(Diagnostic::error(span, format!("`{name}` has no element {index}"))))
    }

    /// A register of a thread: by the name of a started thread, or of the process that will be started once.
    fn register(&self, thread: &str, reg: &str) -> Option<Observable> {
        let started = self.program.threads.iter().position(|t| t.name == thread);
        let (number, function) = match started {
            Some(number) => (number, self.program.threads[number].function),
            None => {
                let function = self.function(thread)?;
                (self.process_number(function.0 as usize)?, function)
            }
        };
        let regs = &self.program.functions[function.0 as usize].regs;
        let reg = Reg(regs.iter().position(|name| name == reg)? as u32);
        Some(Observable::Register { thread: ThreadId(number as u32), reg })
    }

    fn proposition(&mut self, observed: &mut Vec<Observable>, strength: u8) -> Parsed<Proposition> {
        let mut left = self.nested(|parser| parser.simple_proposition(observed))?;
        loop {
            let (sign, level) = match self.peek() {
                Token::Sign("=>") => ("=>", 1),
                Token::Sign("||") => ("||", 2),
                Token::Sign("&&") => ("&&", 3),
                _ => return Ok(left),
            };
            if level < strength {
                return Ok(left);
            }
            self.take();
            let right = self.nested(|parser| parser.proposition(observed, level + u8::from(level > 1)))?;
            left = match sign {
                "=>" => Proposition::Implies(Box::new(left), Box::new(right)),
                "||" => Proposition::Or(vec![left, right]),
                _ => Proposition::And(vec![left, right]),
            };
        }
    }

    fn simple_proposition(&mut self, observed: &mut Vec<Observable>) -> Parsed<Proposition> {
        if self.eat_sign("!") {
            let inner = self.nested(|parser| parser.simple_proposition(observed))?;
            return Ok(Proposition::Not(Box::new(inner)));
        }
        if self.eat_sign("(") {
            let inner = self.proposition(observed, 0)?;
            self.sign(")")?;
            return Ok(inner);
        }
        if self.eat_word("true") {
            return Ok(Proposition::True);
        }
        if self.eat_word("false") {
            return Ok(Proposition::False);
        }
        let left = self.observable()?;
        let left = index_of(observed, left);
        let Token::Sign(sign) = *self.peek() else { return Err(self.expected("a comparison")) };
        let Some((_, compare)) = COMPARISONS.iter().find(|(s, _)| *s == sign) else {
            return Err(self.expected("a comparison"));
        };
        self.take();
        let right = match self.peek() {
            Token::Word(_) => {
                let right = self.observable()?;
                Term::Observed(index_of(observed, right))
            }
            _ => Term::Value(self.constant()?),
        };
        Ok(Proposition::Atom(left, *compare, right))
    }
}

fn index_of(observed: &mut Vec<Observable>, wanted: Observable) -> usize {
    observed.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        observed.push(wanted);
        observed.len() - 1
    })
}
