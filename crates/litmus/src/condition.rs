//! The end of a test: `locations [...]`, `filter`, and `exists`, `~exists`, `forall` or `final` with a proposition.
//!
//! Precedence is herd7's: `not` binds tightest, then `=>`, `/\` and `\/`; a proposition in parentheses without a
//! quantifier means `exists`. A name on the right of `=` is the address of that location. What the condition or `locations`
//! mentions is shown in final states; what only the filter mentions
//! is not, but must be known to judge it, so it stands after the shown parts. A test without a condition asks for
//! `forall true`, as in herd7: it holds, and all states are shown. What follows the condition (`with ...`, `<<...>>`)
//! told older tools what to do with the result, and is ignored.

use crate::Arch;
use crate::error::{MOST_NESTING, Parsed, expect, expected, expected_next};
use crate::init::{parse_index, parse_integer};
use crate::lexer::{Kind, Lexer, Token};
use crate::table::named_register;
use crate::test::{Test, thread_number};
use fencepost_diag::Diagnostic;
use fencepost_ir::{Compare, ObjectId, Proposition, Quantifier, Reg, Span, Term, Value, Width};

/// Something that a proposition mentions; atoms refer to it by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// A register of the thread with that index.
    Register(usize, Reg),
    /// A cell.
    Memory(ObjectId, usize),
}

/// A condition whose order and widths are not yet settled.
pub(crate) struct Condition {
    pub(crate) quantifier: Quantifier,
    pub(crate) proposition: Proposition,
    pub(crate) filter: Option<Proposition>,
    pub(crate) items: Vec<Item>,
    /// Which of the items a final state shows.
    pub(crate) shown: Vec<bool>,
    /// As it is written, from its quantifier on, without comments.
    pub(crate) text: String,
}

struct Reader<'t, 'a> {
    arch: Arch,
    lexer: &'t mut Lexer<'a>,
    test: &'t mut Test<'a>,
    items: Vec<Item>,
    shown: Vec<bool>,
    /// What is mentioned now is shown.
    showing: bool,
    /// The location that was read last had an index.
    indexed: bool,
    depth: u32,
}

/// True if a condition, or the end of the file, comes next.
pub(crate) fn starts_condition(lexer: &mut Lexer<'_>) -> bool {
    let token = lexer.peek();
    match token.kind {
        Kind::Eof => true,
        Kind::Op => matches!(lexer.text(token), "~" | "<<" | "("),
        Kind::Ident => {
            let word = lexer.text(token);
            let keyword =
                matches!(word, "exists" | "forall" | "final" | "locations" | "filter" | "not" | "with")
                    || is_observed(word);
            // A label may have any name.
            let after = lexer.peek_second();
            keyword && lexer.text(after) != ":"
        }
        _ => false,
    }
}

/// Reads everything from after the program to the end of the file.
pub(crate) fn parse_condition<'a>(
    arch: Arch,
    lexer: &mut Lexer<'a>,
    test: &mut Test<'a>,
) -> Parsed<Condition> {
    let mut reader = Reader {
        arch,
        lexer,
        test,
        items: Vec::new(),
        shown: Vec::new(),
        showing: true,
        indexed: false,
        depth: 0,
    };
    let mut filter = None;
    loop {
        if reader.lexer.eat_word("locations") {
            reader.locations()?;
        } else if reader.lexer.eat_word("filter") {
            reader.showing = false;
            filter = Some(reader.proposition()?);
            reader.showing = true;
            reader.lexer.eat(";");
        } else {
            break;
        }
    }
    let token = reader.lexer.peek();
    let start = token.start;
    let (quantifier, proposition) = if token.kind == Kind::Ident && is_observed(reader.lexer.text(token)) {
        (Quantifier::Exists, reader.observed()?)
    } else {
        match reader.quantifier()? {
            Some(quantifier) => (quantifier, reader.proposition()?),
            None => (Quantifier::ForAll, Proposition::True),
        }
    };
    let text = reader.lexer.without_comments(start, reader.lexer.position());
    while reader.lexer.eat(";") {}
    let end = reader.lexer.peek();
    if end.kind != Kind::Eof && !matches!(reader.lexer.text(end), "with" | "<<") {
        return Err(expected(reader.lexer, end, "`/\\`, `\\/` or the end of the condition"));
    }
    Ok(Condition { quantifier, proposition, filter, items: reader.items, shown: reader.shown, text })
}

/// The old keyword for a list of states.
fn is_observed(word: &str) -> bool {
    word.eq_ignore_ascii_case("observed")
}

impl<'a> Reader<'_, 'a> {
    /// `Observed 0:r1=1; x=2; and 0:r1=0; x=2;`: one of these states.
    fn observed(&mut self) -> Parsed<Proposition> {
        self.lexer.next();
        let mut states = Vec::new();
        loop {
            let mut atoms = Vec::new();
            while self.lexer.peek().kind != Kind::Eof
                && !self.lexer.at_word("and")
                && !self.lexer.at_word("And")
            {
                atoms.push(self.atom()?);
                if !self.lexer.eat(";") {
                    break;
                }
            }
            states.push(Proposition::And(atoms));
            if !(self.lexer.eat_word("and") || self.lexer.eat_word("And")) {
                return Ok(Proposition::Or(states));
            }
        }
    }

    fn quantifier(&mut self) -> Parsed<Option<Quantifier>> {
        let token = self.lexer.peek();
        let negated = self.lexer.at("~") || self.lexer.at_word("not");
        if negated {
            self.lexer.next();
            if !self.lexer.eat_word("exists") {
                return Err(expected_next(self.lexer, "`exists` after `~`"));
            }
            return Ok(Some(Quantifier::NotExists));
        }
        if self.lexer.eat_word("exists") || self.lexer.eat_word("final") {
            return Ok(Some(Quantifier::Exists));
        }
        if self.lexer.eat_word("forall") {
            return Ok(Some(Quantifier::ForAll));
        }
        if self.lexer.at("(") {
            return Ok(Some(Quantifier::Exists));
        }
        if token.kind == Kind::Eof || matches!(self.lexer.text(token), "with" | "<<") {
            return Ok(None);
        }
        Err(expected(self.lexer, token, "`exists`, `~exists`, `forall` or `final`"))
    }

    /// `[0:r1; x; y[1];]`, after the keyword.
    fn locations(&mut self) -> Parsed<()> {
        expect(self.lexer, "[")?;
        loop {
            while self.lexer.eat(";") {}
            if self.lexer.eat("]") {
                return Ok(());
            }
            let item = self.item("a register such as `0:r1` or a location")?;
            // The whole of an array, if no element is named.
            if let Item::Memory(object, 0) = self.items[item]
                && !self.indexed
            {
                for element in 1..self.test.globals[object.0 as usize].len() {
                    self.add(Item::Memory(object, element));
                }
            }
            // herd7 lets a type follow, which says how to print the value.
            while self.lexer.peek().kind == Kind::Ident || self.lexer.at("*") {
                self.lexer.next();
            }
            if !self.lexer.at(";") && !self.lexer.at("]") {
                return Err(expected_next(self.lexer, "`;` or `]`"));
            }
        }
    }

    fn proposition(&mut self) -> Parsed<Proposition> {
        self.depth += 1;
        if self.depth > MOST_NESTING {
            let token = self.lexer.peek();
            return Err(Box::new(Diagnostic::error(token.span(), "this condition is nested too deeply")));
        }
        let first = self.conjunction()?;
        let result = if self.lexer.at("\\/") {
            let mut parts = vec![first];
            while self.lexer.eat("\\/") {
                parts.push(self.conjunction()?);
            }
            Proposition::Or(parts)
        } else {
            first
        };
        self.depth -= 1;
        Ok(result)
    }

    fn conjunction(&mut self) -> Parsed<Proposition> {
        let first = self.implication()?;
        if !self.lexer.at("/\\") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.lexer.eat("/\\") {
            parts.push(self.implication()?);
        }
        Ok(Proposition::And(parts))
    }

    fn implication(&mut self) -> Parsed<Proposition> {
        let mut parts = vec![self.negation()?];
        while self.lexer.eat("=>") {
            parts.push(self.negation()?);
        }
        // `a => b => c` is `a => (b => c)`.
        let mut result = parts.pop().unwrap_or(Proposition::True);
        while let Some(left) = parts.pop() {
            result = Proposition::Implies(Box::new(left), Box::new(result));
        }
        Ok(result)
    }

    fn negation(&mut self) -> Parsed<Proposition> {
        let mut negated = false;
        while self.lexer.eat("~") || self.lexer.eat_word("not") {
            negated = !negated;
        }
        let open = self.lexer.peek();
        let inner = if self.lexer.eat("(") {
            let inner = self.proposition()?;
            expect(self.lexer, ")").map_err(|error| Box::new(error.related(open.span(), "opened here")))?;
            inner
        } else if self.lexer.eat_word("true") {
            Proposition::True
        } else if self.lexer.eat_word("false") {
            Proposition::False
        } else {
            self.atom()?
        };
        Ok(if negated { Proposition::Not(Box::new(inner)) } else { inner })
    }

    fn atom(&mut self) -> Parsed<Proposition> {
        let left = self.item("a condition such as `0:r1=1` or `x=2`")?;
        let token = self.lexer.next();
        let compare = match self.lexer.text(token) {
            "=" | "==" => Compare::Eq,
            "!=" | "<>" => Compare::Ne,
            "<" => Compare::Lt,
            "<=" => Compare::Le,
            ">" => Compare::Gt,
            ">=" => Compare::Ge,
            _ => return Err(expected(self.lexer, token, "`=` and a value")),
        };
        if self.lexer.at("{") {
            return self.array_atom(left, compare);
        }
        let term = self.term()?;
        Ok(self.narrow_atom(left, compare, term))
    }

    /// `x={1,2}`, after the comparison: all elements of an array at once.
    fn array_atom(&mut self, left: usize, compare: Compare) -> Parsed<Proposition> {
        let open = self.lexer.next();
        let (Item::Memory(object, 0), false, Compare::Eq | Compare::Ne) =
            (self.items[left], self.indexed, compare)
        else {
            let error = Diagnostic::error(open.span(), "a list of values is compared with an array only");
            return Err(Box::new(error.label("expected a number or a location")));
        };
        let mut parts = Vec::new();
        loop {
            let token = self.lexer.peek();
            self.test.element_offset(object, parts.len() as u64, token.span())?;
            let element = self.add(Item::Memory(object, parts.len()));
            let term = self.term()?;
            parts.push(Proposition::Atom(element, Compare::Eq, term));
            if !self.lexer.eat(",") {
                break;
            }
        }
        expect(self.lexer, "}")?;
        let all = Proposition::And(parts);
        Ok(if compare == Compare::Ne { Proposition::Not(Box::new(all)) } else { all })
    }

    /// A register that was written through its 32-bit name holds zeros or copies of the sign above, see
    /// [`crate::thread::ThreadBuilder::narrow_write`]; a 32-bit constant means either.
    fn narrow_atom(&self, left: usize, compare: Compare, term: Term) -> Proposition {
        let atom = |term| Proposition::Atom(left, compare, term);
        let (Item::Register(..), Arch::AArch64, Term::Value(value)) = (self.items[left], self.arch, term)
        else {
            return atom(term);
        };
        let (unsigned, signed) = (Width::W32.zero_extend(value), Width::W32.sign_extend(value));
        let is_narrow = value == unsigned || value == signed;
        if unsigned == signed || !is_narrow || value.as_pointer().is_some() {
            return atom(term);
        }
        let both = vec![atom(Term::Value(signed)), atom(Term::Value(unsigned))];
        match compare {
            Compare::Eq => Proposition::Or(both),
            Compare::Ne => Proposition::And(both),
            _ => atom(term),
        }
    }

    fn term(&mut self) -> Parsed<Term> {
        // `1:r2` on the right starts with a number too.
        let token = self.lexer.peek();
        let after = self.lexer.peek_second();
        let is_thread = self.lexer.text(after) == ":";
        if !is_thread && let Some(value) = parse_integer(self.lexer)? {
            return Ok(Term::Value(value));
        }
        // `*y` is the value of `y`, not its address.
        if is_thread || self.lexer.at("[") || self.lexer.eat("*") {
            return Ok(Term::Observed(self.item("a value")?));
        }
        self.lexer.eat("&");
        let name = self.lexer.next();
        if name.kind != Kind::Ident {
            return Err(expected(self.lexer, token, "a number or a location"));
        }
        let Some(object) = self.test.find_global(self.lexer.text(name)) else {
            let message = format!("unknown location `{}`", self.lexer.text(name));
            let error =
                Box::new(Diagnostic::error(name.span(), message).label("nothing in this test is called so"));
            let names = self.test.globals.iter().map(|g| g.name);
            return Err(crate::error::suggest(error, self.lexer.text(name), names));
        };
        let offset = parse_index(self.lexer, self.test, object)?.map_or(0, |(_, offset)| offset);
        Ok(Term::Value(Value::pointer(object, offset)))
    }

    /// A register or a location, as an index into the items.
    fn item(&mut self, what: &str) -> Parsed<usize> {
        let bracketed = self.lexer.eat("[");
        let token = self.lexer.next();
        if !bracketed && self.lexer.at(":") && matches!(token.kind, Kind::Ident | Kind::Number) {
            self.lexer.next();
            return self.register(token);
        }
        if token.kind != Kind::Ident {
            return Err(expected(self.lexer, token, what));
        }
        let name = self.lexer.text(token);
        if self.lexer.at("(") {
            let message = format!("`{name}(...)` is not supported in conditions");
            return Err(Box::new(Diagnostic::error(token.span(), message).label("not modelled")));
        }
        let object = self.test.global(name, token.span());
        let index = parse_index(self.lexer, self.test, object)?;
        self.indexed = index.is_some();
        let index = index.map_or(0, |(index, _)| index);
        if bracketed {
            expect(self.lexer, "]")?;
        }
        Ok(self.add(Item::Memory(object, index as usize)))
    }

    /// The rest of `0:r1`, after the colon.
    fn register(&mut self, thread: Token) -> Parsed<usize> {
        let Some(number) = thread_number(self.lexer.text(thread)) else {
            return Err(expected(self.lexer, thread, "a thread such as `0` or `P0`"));
        };
        let Some(index) = self.test.thread_index(number) else {
            return Err(self.test.no_such_thread(number, thread.span()));
        };
        let token = self.lexer.next();
        if token.kind != Kind::Ident {
            return Err(expected(self.lexer, token, "a register"));
        }
        let name = self.lexer.text(token);
        let reg = if self.arch == Arch::C {
            Some(self.local(index, name))
        } else {
            named_register(self.arch, &mut self.test.threads[index], name)
        };
        let Some(reg) = reg else { return Err(self.not_a_register(name, token.span())) };
        Ok(self.add(Item::Register(index, reg)))
    }

    /// A local of a C thread. One that the thread does not have is 0, as a register that was never written.
    fn local(&mut self, thread: usize, name: &str) -> Reg {
        let function = &mut self.test.threads[thread].function;
        match function.regs.iter().position(|reg| reg == name) {
            Some(index) => Reg(index as u32),
            None => function.new_reg(name),
        }
    }

    fn not_a_register(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let message = format!("`{name}` is not a register of {}", self.arch.name());
        Box::new(Diagnostic::error(span, message).label("expected a register"))
    }

    fn add(&mut self, item: Item) -> usize {
        let index = self.items.iter().position(|&i| i == item).unwrap_or_else(|| {
            self.items.push(item);
            self.shown.push(false);
            self.items.len() - 1
        });
        self.shown[index] |= self.showing;
        index
    }
}
