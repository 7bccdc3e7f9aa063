//! Tokens to syntax tree, by recursive descent. The top level is here, formulas and terms are in `parser_expr`.
//!
//! After a mistake the parser skips to the next word that opens a declaration (none of them occurs inside one), so
//! one run reports one mistake per declaration.

use crate::ast::*;
use crate::lexer::{Spanned, Tok, lex};
use fencepost_diag::{Diagnostic, Span};

/// Words that open a declaration: where the parser finds its feet again.
const OPENERS: &[&str] = &[
    "type",
    "init",
    "transition",
    "invariant",
    "array",
    "var",
    "const",
    "unsafe",
    "predicate",
    "number_procs",
    "weak",
];

/// Largest number of processes that can be fixed.
const MAX_PROCS: i64 = 10;

/// Parses a whole file; the tree holds whatever could be understood.
pub fn parse(text: &str) -> (File, Vec<Diagnostic>) {
    let (tokens, errors) = lex(text);
    let scale = tokens.iter().map(|(t, _)| if let Tok::Number(_, d, _) = t { *d } else { 1 }).max();
    let mut parser = Parser { tokens, at: 0, errors, depth: 0 };
    let file = File { real_scale: scale.unwrap_or(1), ..parser.file() };
    (file, parser.errors)
}

pub(crate) struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
    pub(crate) errors: Vec<Diagnostic>,
    /// Nesting of formulas, bounded so that no input overflows the stack.
    pub(crate) depth: usize,
}

/// A parse that failed; the message is already among the errors.
pub(crate) struct Failed;
pub(crate) type Parsed<T> = Result<T, Failed>;

impl Parser {
    pub(crate) fn peek(&self) -> &Tok {
        &self.tokens[self.at].0
    }

    pub(crate) fn peek_second(&self) -> &Tok {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(crate) fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(crate) fn advance(&mut self) -> Spanned {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(crate) fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let error = Diagnostic::error(self.span(), format!("expected {expected}"))
            .label(format!("found {}", self.peek().describe()));
        self.errors.push(error);
        Err(Failed)
    }

    pub(crate) fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Tok::Op(o) if *o == op)
    }

    pub(crate) fn is_key(&self, key: &str) -> bool {
        matches!(self.peek(), Tok::Key(k) if *k == key)
    }

    pub(crate) fn eat(&mut self, op: &str) -> bool {
        let yes = self.is_op(op);
        if yes {
            self.advance();
        }
        yes
    }

    pub(crate) fn eat_key(&mut self, key: &str) -> bool {
        let yes = self.is_key(key);
        if yes {
            self.advance();
        }
        yes
    }

    pub(crate) fn expect(&mut self, op: &'static str) -> Parsed<Span> {
        if self.is_op(op) { Ok(self.advance().1) } else { self.fail(&format!("`{op}`")) }
    }

    pub(crate) fn expect_key(&mut self, key: &'static str) -> Parsed<Span> {
        if self.is_key(key) { Ok(self.advance().1) } else { self.fail(&format!("`{key}`")) }
    }

    pub(crate) fn lower(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek().clone() {
            Tok::Lower(name) => Ok(Ident { name, span: self.advance().1 }),
            Tok::Upper(name) => {
                let error = Diagnostic::error(self.span(), format!("{what} starts with a lower-case letter"))
                    .label(format!("found `{name}`"));
                self.errors.push(error);
                Err(Failed)
            }
            _ => self.fail(what),
        }
    }

    pub(crate) fn upper(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek().clone() {
            Tok::Upper(name) => Ok(Ident { name, span: self.advance().1 }),
            Tok::Lower(name) => {
                let error =
                    Diagnostic::error(self.span(), format!("{what} starts with an upper-case letter"))
                        .label(format!("found `{name}`"));
                self.errors.push(error);
                Err(Failed)
            }
            _ => self.fail(what),
        }
    }

    fn any_name(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek().clone() {
            Tok::Lower(name) | Tok::Upper(name) => Ok(Ident { name, span: self.advance().1 }),
            _ => self.fail(what),
        }
    }

    /// A process index: a variable or `#n`, kept by its name.
    pub(crate) fn process(&mut self) -> Parsed<Ident> {
        match self.peek().clone() {
            Tok::Proc(n) => Ok(Ident { name: format!("#{n}"), span: self.advance().1 }),
            _ => self.lower("a process variable"),
        }
    }

    fn file(&mut self) -> File {
        let mut file = File::default();
        while *self.peek() != Tok::End {
            let before = self.at;
            if self.item(&mut file).is_err() {
                self.recover(before);
            }
        }
        file
    }

    fn recover(&mut self, before: usize) {
        self.depth = 0;
        if self.at == before {
            self.advance();
        }
        while *self.peek() != Tok::End && !matches!(self.peek(), Tok::Key(k) if OPENERS.contains(k)) {
            self.advance();
        }
    }

    fn item(&mut self, file: &mut File) -> Parsed<()> {
        let early = |file: &File| file.decls.is_empty();
        match self.peek().clone() {
            Tok::Key("number_procs") => {
                let start = self.advance().1;
                let Tok::Number(n, 1, false) = *self.peek() else {
                    return self.fail("the number of processes");
                };
                let span = start.to(self.advance().1);
                if !(1..=MAX_PROCS).contains(&n) {
                    self.errors.push(
                        Diagnostic::error(
                            span,
                            format!("the number of processes must be between 1 and {MAX_PROCS}"),
                        )
                        .hint("leave `number_procs` out to prove the system for any number"),
                    );
                }
                file.number_procs = Some((n.clamp(1, MAX_PROCS) as u32, span));
            }
            Tok::Key("type") => {
                self.order(
                    early(file) && file.symbols.is_empty(),
                    "types come before symbols and declarations",
                );
                let def = self.type_def()?;
                file.types.push(def);
            }
            Tok::Key("const" | "var" | "array" | "weak") => {
                self.order(early(file), "constants, variables and arrays come before all other declarations");
                let decl = self.symbol()?;
                file.symbols.push(decl);
            }
            Tok::Key("init") => {
                let q = self.quantified(false)?;
                file.decls.push(Decl::Init(q));
            }
            Tok::Key("unsafe") => {
                let q = self.quantified(true)?;
                file.decls.push(Decl::Unsafe(q));
            }
            Tok::Key("invariant") => {
                let q = self.quantified(true)?;
                file.decls.push(Decl::Invariant(q));
            }
            Tok::Key("predicate") => {
                let q = self.predicate()?;
                file.decls.push(Decl::Predicate(q));
            }
            Tok::Key("transition") => {
                let t = self.transition()?;
                file.decls.push(Decl::Transition(t));
            }
            _ => {
                return self
                    .fail("a declaration (`type`, `var`, `array`, `init`, `unsafe`, `transition`, ...)");
            }
        }
        Ok(())
    }

    fn order(&mut self, in_order: bool, rule: &str) {
        if !in_order {
            let error =
                Diagnostic::error(self.span(), "this declaration comes too late").hint(rule.to_string());
            self.errors.push(error);
        }
    }

    fn type_def(&mut self) -> Parsed<TypeDef> {
        self.advance();
        let name = self.lower("the name of a type")?;
        if !self.eat("=") {
            return Ok(TypeDef { name, constructors: None });
        }
        self.eat("|");
        let mut constructors = vec![self.upper("a constructor")?];
        while self.eat("|") {
            constructors.push(self.upper("a constructor")?);
        }
        Ok(TypeDef { name, constructors: Some(constructors) })
    }

    fn symbol(&mut self) -> Parsed<SymbolDecl> {
        let weak = if self.is_key("weak") { Some(self.advance().1) } else { None };
        let mut kind = match self.peek() {
            Tok::Key("const") => SymbolKind::Const,
            Tok::Key("var") => SymbolKind::Var,
            Tok::Key("array") => SymbolKind::Array,
            _ => return self.fail("`var` or `array`"),
        };
        let keyword = self.advance().1;
        if weak.is_some() && kind == SymbolKind::Const {
            self.errors.push(Diagnostic::error(keyword, "a constant cannot be weak").hint("drop `weak`"));
        }
        let name = self.upper("the name of a variable or array")?;
        let mut arity = 0;
        if kind != SymbolKind::Var && self.eat("[") {
            loop {
                let index = self.lower("the index type `proc`")?;
                if index.name != "proc" {
                    self.errors.push(
                        Diagnostic::error(index.span, "arrays are indexed by processes")
                            .label("expected `proc`")
                            .hint("no other index type exists"),
                    );
                }
                arity += 1;
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
        } else if kind == SymbolKind::Array {
            return self.fail("`[proc]` after the name of an array");
        }
        if kind == SymbolKind::Var && self.is_op("[") {
            let span = self.span();
            self.errors.push(Diagnostic::error(span, "a `var` has no index").hint("declare it with `array`"));
            return Err(Failed);
        }
        if kind == SymbolKind::Array && arity == 0 {
            kind = SymbolKind::Var;
        }
        self.expect(":")?;
        let ty = self.lower("a type")?;
        Ok(SymbolDecl { kind, weak, name, arity, ty })
    }

    fn params(&mut self) -> Parsed<Vec<Ident>> {
        let mut params = Vec::new();
        if self.eat("(") {
            while !self.is_op(")") {
                params.push(self.lower("a process variable")?);
                self.eat(",");
            }
            self.expect(")")?;
        }
        Ok(params)
    }

    fn quantified(&mut self, named: bool) -> Parsed<Quantified> {
        let start = self.advance().1;
        let name = match self.peek() {
            Tok::Lower(_) | Tok::Upper(_) if named => Some(self.any_name("a name")?),
            _ => None,
        };
        let params = self.params()?;
        let span = start.to(self.previous());
        self.expect("{")?;
        let body = self.expr()?;
        self.expect("}")?;
        let whole = start.to(self.previous());
        Ok(Quantified { name, params, body, span, whole })
    }

    fn predicate(&mut self) -> Parsed<Quantified> {
        let start = self.advance().1;
        let name = Some(self.lower("the name of a predicate")?);
        let params = self.params()?;
        let span = start.to(self.previous());
        self.expect("{")?;
        let body = self.expr()?;
        self.expect("}")?;
        let whole = start.to(self.previous());
        Ok(Quantified { name, params, body, span, whole })
    }

    fn transition(&mut self) -> Parsed<Transition> {
        let start = self.advance().1;
        let name = self.any_name("the name of a transition")?;
        self.expect("(")?;
        let (mut params, mut acting) = (Vec::new(), None);
        while !self.is_op(")") {
            if self.is_op("[") {
                let open = self.advance().1;
                if acting.replace(params.len()).is_some() {
                    self.errors.push(Diagnostic::error(open, "a transition has one acting process only"));
                }
                params.push(self.lower("the acting process")?);
                self.expect("]")?;
            } else {
                params.push(self.lower("a process variable")?);
            }
            self.eat(",");
        }
        let span = start.to(self.expect(")")?);
        let guard = if self.eat_key("requires") {
            self.expect("{")?;
            let guard = if self.is_op("}") {
                Expr { kind: ExprKind::Const(true), span: self.span() }
            } else {
                self.expr()?
            };
            self.expect("}")?;
            Some(guard)
        } else {
            None
        };
        self.expect("{")?;
        let mut lets = Vec::new();
        while self.eat_key("let") {
            let name = self.lower("a name")?;
            self.expect("=")?;
            let term = self.term()?;
            self.expect_key("in")?;
            lets.push((name, term));
        }
        let mut updates = Vec::new();
        while !self.is_op("}") {
            updates.push(self.update()?);
            if !self.eat(";") && !self.is_op("}") {
                return self.fail("`;` or `}` after an assignment");
            }
        }
        self.expect("}")?;
        Ok(Transition { name, params, acting, guard, lets, updates, span })
    }

    fn update(&mut self) -> Parsed<Update> {
        let target = self.upper("the variable or array to assign")?;
        let indices = self.indices()?;
        self.expect(":=")?;
        let value = if self.is_op("?") || self.is_op(".") {
            UpdateValue::Nondet(self.advance().1)
        } else if self.eat_key("case") {
            self.cases()?
        } else {
            UpdateValue::Term(self.term()?)
        };
        let span = target.span.to(self.previous());
        Ok(Update { target, indices, value, span })
    }

    pub(crate) fn indices(&mut self) -> Parsed<Vec<Ident>> {
        let mut indices = Vec::new();
        if self.eat("[") {
            loop {
                indices.push(self.process()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok(indices)
    }

    fn cases(&mut self) -> Parsed<UpdateValue> {
        let mut branches = Vec::new();
        if !self.is_op("|") {
            return self.fail("`|` before the first case");
        }
        while self.eat("|") {
            let underscore = self.span();
            let condition = if self.eat("_") { None } else { Some(self.expr()?) };
            self.expect(":")?;
            let term = self.term()?;
            if condition.is_none() && self.is_op("|") {
                self.errors.push(
                    Diagnostic::error(underscore, "the default case must be the last")
                        .hint("the first case that matches wins: what follows `_` would never be used"),
                );
            }
            branches.push((condition, term));
        }
        Ok(UpdateValue::Case(branches))
    }
}
