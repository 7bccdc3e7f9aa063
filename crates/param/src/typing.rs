//! Names and types of formulas and terms: from syntax to formulas in negation normal form over typed atoms.
//!
//! Predicates are expanded here. Under a weak model this is also where the rules of weak memory are checked: who may
//! read what, and through whose eyes. Mistakes are collected; a formula with a mistake becomes `true`.

use crate::ast::{self, Arg, Cmp, Expr, ExprKind, Ident, TermKind};
use crate::literal::{Fact, LinOp, Linear, Lit, Term, equal, linear};
use crate::normal::Formula;
use crate::system::{MAX_ARITY, NONE, ProcRef, Sort, SrcAtom, SrcTerm, SymId, System};
use fencepost_diag::{Diagnostic, Span};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Where a formula stands: decides which accesses are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `init`
    Init,
    /// `unsafe` or `invariant`
    Bad,
    /// Guard or right-hand side of a transition.
    Transition,
}

/// What a lower-case name stands for.
#[derive(Clone)]
enum Binding {
    Proc(ProcRef),
    Term(ast::Term, Rc<Scope>),
    Formula(Expr, Rc<Scope>),
}

/// Names in scope.
#[derive(Clone, Default)]
pub struct Scope {
    names: FxHashMap<String, Binding>,
    acting: Option<ProcRef>,
    /// Binder of a whole-array update: it may read its own cell of a local array.
    pub(crate) binder: Option<ProcRef>,
    depth: usize,
}

impl Scope {
    /// Binds a process variable.
    pub fn bind_proc(&mut self, name: &str, proc: ProcRef) {
        self.names.insert(name.to_string(), Binding::Proc(proc));
    }

    /// Binds a let.
    pub fn bind_term(&mut self, name: &str, term: ast::Term) {
        let scope = Rc::new(self.clone());
        self.names.insert(name.to_string(), Binding::Term(term, scope));
    }

    /// Sets the acting process.
    pub fn set_acting(&mut self, proc: Option<ProcRef>) {
        self.acting = proc;
    }

    pub(crate) fn acting(&self) -> Option<ProcRef> {
        self.acting
    }

    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}

/// The type checker.
pub struct Typing<'a> {
    /// What is declared so far.
    pub system: &'a System,
    /// Name to symbol.
    pub symbols: &'a FxHashMap<String, SymId>,
    /// Constructor to enumeration and number.
    pub constructors: &'a FxHashMap<String, (u16, u8)>,
    /// Name to predicate.
    pub predicates: &'a FxHashMap<String, ast::Quantified>,
    /// Whether accesses go through a weak memory model.
    pub weak: bool,
    /// Where the formula stands.
    pub place: Place,
    /// Mistakes.
    pub errors: &'a mut Vec<Diagnostic>,
    /// Next free variable.
    pub next_var: u8,
}

/// Predicates may call predicates, this deep.
const MAX_EXPANSION: usize = 40;

impl Typing<'_> {
    /// Reports a mistake.
    pub fn error(&mut self, error: Diagnostic) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// The formula, negated unless `positive`.
    pub fn formula(&mut self, e: &Expr, scope: &Scope, positive: bool) -> Formula {
        let constant = |b: bool| Formula::Fact(if b { Fact::True } else { Fact::False });
        match &e.kind {
            ExprKind::Const(value) => constant(*value == positive),
            ExprKind::Fence => self.fence(e.span, positive),
            ExprKind::Compare(cmp, a, b) => self.compare(*cmp, a, b, scope, positive),
            ExprKind::Not(inner) => self.formula(inner, scope, !positive),
            ExprKind::And(a, b) => {
                let parts = vec![self.formula(a, scope, positive), self.formula(b, scope, positive)];
                if positive { Formula::And(parts) } else { Formula::Or(parts) }
            }
            ExprKind::Or(a, b) => {
                let parts = vec![self.formula(a, scope, positive), self.formula(b, scope, positive)];
                if positive { Formula::Or(parts) } else { Formula::And(parts) }
            }
            ExprKind::Implies(a, b) => {
                let parts = vec![self.formula(a, scope, !positive), self.formula(b, scope, positive)];
                if positive { Formula::Or(parts) } else { Formula::And(parts) }
            }
            ExprKind::Iff(a, b) => self.choice(a, (b, positive), (b, !positive), scope),
            // not (if c then t else e) is (if c then not t else not e).
            ExprKind::If(c, t, f) => self.choice(c, (t, positive), (f, positive), scope),
            ExprKind::Quant { universal, other, vars, body } => {
                let mut inner = scope.clone();
                let mut numbers = Vec::new();
                for var in vars {
                    let number = self.fresh(var.span);
                    if scope.is_bound(&var.name) {
                        self.error(
                            Diagnostic::error(var.span, format!("`{}` is already in use here", var.name))
                                .hint("rename the bound process"),
                        );
                    }
                    inner.bind_proc(&var.name, ProcRef(number));
                    numbers.push(number);
                }
                let body = Box::new(self.formula(body, &inner, positive));
                Formula::Quant { universal: *universal == positive, other: *other, vars: numbers, body }
            }
            ExprKind::Call(name, args) => self.call(name, args, scope, positive, e.span),
            ExprKind::Name(name) => match scope.names.get(&name.name).cloned() {
                Some(Binding::Formula(body, outer)) => self.formula(&body, &outer, positive),
                Some(_) => {
                    self.error(
                        Diagnostic::error(name.span, format!("`{}` is not a formula", name.name))
                            .hint("compare it with something"),
                    );
                    constant(true)
                }
                None => {
                    self.unknown(name.span, &name.name, "name");
                    constant(true)
                }
            },
        }
    }

    /// A number for a bound variable.
    pub fn fresh(&mut self, span: Span) -> u8 {
        if self.next_var >= 100 {
            self.error(
                Diagnostic::error(span, "too many process variables in one declaration").hint("at most 100"),
            );
            return 99;
        }
        self.next_var += 1;
        self.next_var - 1
    }

    /// `(c and a) or (not c and b)`
    fn choice(&mut self, c: &Expr, a: (&Expr, bool), b: (&Expr, bool), scope: &Scope) -> Formula {
        let yes = vec![self.formula(c, scope, true), self.formula(a.0, scope, a.1)];
        let no = vec![self.formula(c, scope, false), self.formula(b.0, scope, b.1)];
        Formula::Or(vec![Formula::And(yes), Formula::And(no)])
    }

    fn fence(&mut self, span: Span, positive: bool) -> Formula {
        if self.place != Place::Transition {
            self.error(
                Diagnostic::error(span, "`fence()` has no meaning here")
                    .hint("a fence belongs in the guard of a transition"),
            );
        } else if !positive {
            self.error(
                Diagnostic::error(span, "`fence()` cannot be negated")
                    .hint("a fence is an action of the acting process, not a condition"),
            );
        }
        if self.weak { Formula::Fence } else { Formula::Fact(Fact::True) }
    }

    fn call(&mut self, name: &Ident, args: &[Arg], scope: &Scope, positive: bool, span: Span) -> Formula {
        let truth = Formula::Fact(Fact::True);
        let Some(predicate) = self.predicates.get(&name.name).cloned() else {
            self.unknown(name.span, &name.name, "predicate");
            return truth;
        };
        if predicate.params.len() != args.len() {
            let (wants, has) = (predicate.params.len(), args.len());
            self.error(
                Diagnostic::error(span, format!("`{}` takes {wants} arguments, not {has}", name.name))
                    .related(predicate.span, "declared here"),
            );
            return truth;
        }
        if scope.depth >= MAX_EXPANSION {
            self.error(
                Diagnostic::error(span, "predicates are nested too deeply").hint("is one of them recursive?"),
            );
            return truth;
        }
        let outer = Rc::new(scope.clone());
        let mut inner = Scope { acting: scope.acting, depth: scope.depth + 1, ..Scope::default() };
        for (param, arg) in predicate.params.iter().zip(args) {
            let binding = match arg {
                Arg::Term(term) => match self.process_of(term, scope) {
                    Some(proc) => Binding::Proc(proc),
                    None => Binding::Term(term.clone(), outer.clone()),
                },
                Arg::Expr(e) => Binding::Formula(e.clone(), outer.clone()),
            };
            inner.names.insert(param.name.clone(), binding);
        }
        self.formula(&predicate.body, &inner, positive)
    }

    /// The process that a term names directly, if it does.
    fn process_of(&mut self, term: &ast::Term, scope: &Scope) -> Option<ProcRef> {
        match &term.kind {
            TermKind::Name(name) => match scope.names.get(name) {
                Some(Binding::Proc(p)) => Some(*p),
                Some(Binding::Term(t, outer)) => {
                    let (t, outer) = (t.clone(), outer.clone());
                    self.process_of(&t, &outer)
                }
                _ => None,
            },
            TermKind::ProcConst(n) => self.process_constant(*n, term.span),
            _ => None,
        }
    }

    fn process_constant(&mut self, n: u32, span: Span) -> Option<ProcRef> {
        match self.system.number_procs {
            Some(limit) if n <= u32::from(limit) => return Some(ProcRef::constant(n)),
            Some(limit) => self.error(
                Diagnostic::error(span, format!("there is no process #{n}"))
                    .hint(format!("`number_procs {limit}` declares #1 to #{limit}")),
            ),
            None => self.error(
                Diagnostic::error(span, "process constants need a fixed number of processes")
                    .hint("start the file with `number_procs N`"),
            ),
        }
        Some(ProcRef::constant(1))
    }

    fn compare(&mut self, cmp: Cmp, a: &ast::Term, b: &ast::Term, scope: &Scope, positive: bool) -> Formula {
        let truth = Formula::Fact(Fact::True);
        let numeric_first = matches!(a.kind, TermKind::Number { .. });
        let (left, right) = if numeric_first {
            let right = self.term(b, scope, None);
            (self.term(a, scope, right.as_ref().map(|r| r.1)), right)
        } else {
            let left = self.term(a, scope, None);
            let hint = left.as_ref().map(|l| l.1);
            (left, self.term(b, scope, hint))
        };
        let (Some((x, sort)), Some((y, other))) = (left, right) else { return truth };
        if sort != other {
            let (s, o) = (self.sort_name(sort), self.sort_name(other));
            self.error(
                Diagnostic::error(a.span.to(b.span), "these terms have different types")
                    .related(a.span, format!("of type `{s}`"))
                    .related(b.span, format!("of type `{o}`")),
            );
            return truth;
        }
        // a > b is b < a, and a negated comparison is another comparison.
        let (cmp, x, y) = match cmp {
            Cmp::Gt => (Cmp::Lt, y, x),
            Cmp::Ge => (Cmp::Le, y, x),
            other => (other, x, y),
        };
        let (cmp, x, y) = match (cmp, positive) {
            (Cmp::Eq, false) => (Cmp::Ne, x, y),
            (Cmp::Ne, false) => (Cmp::Eq, x, y),
            (Cmp::Lt, false) => (Cmp::Le, y, x),
            (Cmp::Le, false) => (Cmp::Lt, y, x),
            (cmp, _) => (cmp, x, y),
        };
        match (cmp, sort) {
            (Cmp::Eq, _) => self.masked(equal(x, y, true), sort),
            (Cmp::Ne, _) => self.masked(equal(x, y, false), sort),
            (_, Sort::Int | Sort::Real) => {
                let (Term::Lin(x), Term::Lin(y)) = (x, y) else { return truth };
                let Some(difference) = x.add(-1, &y) else { return truth };
                let op = if cmp == Cmp::Lt { LinOp::Lt } else { LinOp::Le };
                Formula::Fact(linear(op, difference))
            }
            (_, Sort::Proc) => {
                let (Term::Atom(x), Term::Atom(y)) = (x, y) else { return truth };
                let less = Formula::Fact(if x == y { Fact::False } else { Fact::Lit(Lit::Lt(x, y)) });
                let same = Formula::Fact(equal(Term::Atom(x), Term::Atom(y), true));
                if cmp == Cmp::Lt { less } else { Formula::Or(vec![less, same]) }
            }
            (_, Sort::Enum(_) | Sort::Abstract(_)) => {
                let name = self.sort_name(sort);
                self.error(
                    Diagnostic::error(a.span.to(b.span), format!("values of type `{name}` are not ordered"))
                        .hint("only `=` and `<>` compare them"),
                );
                truth
            }
        }
    }

    /// Cuts masks to the constructors that exist.
    fn masked(&self, fact: Fact<SrcAtom>, sort: Sort) -> Formula {
        let full = self.system.full_mask(sort);
        Formula::Fact(match fact {
            Fact::Lit(Lit::In(_, mask)) if mask & full == full => Fact::True,
            Fact::Lit(Lit::In(_, mask)) if mask & full == 0 => Fact::False,
            Fact::Lit(Lit::In(atom, mask)) => Fact::Lit(Lit::In(atom, mask & full)),
            other => other,
        })
    }

    /// How the user calls a type.
    pub fn sort_name(&self, sort: Sort) -> String {
        match sort {
            Sort::Int => "int".into(),
            Sort::Real => "real".into(),
            Sort::Proc => "proc".into(),
            Sort::Enum(e) => self.system.enums[e as usize].0.clone(),
            Sort::Abstract(a) => self.system.abstracts[a as usize].clone(),
        }
    }

    fn unknown(&mut self, span: Span, name: &str, what: &str) {
        let mut error = Diagnostic::error(span, format!("unknown {what} `{name}`"));
        let known: Vec<&String> = match what {
            "predicate" => self.predicates.keys().collect(),
            _ => self.symbols.keys().chain(self.constructors.keys()).collect(),
        };
        let near = known.into_iter().map(|k| (distance(k, name), k)).filter(|(d, _)| *d <= 2).min();
        if let Some((_, near)) = near {
            error = error.hint(format!("did you mean `{near}`?"));
        }
        self.error(error);
    }

    /// A term and its type; `None` after a mistake.
    pub fn term(&mut self, t: &ast::Term, scope: &Scope, hint: Option<Sort>) -> Option<(SrcTerm, Sort)> {
        match &t.kind {
            TermKind::Number { digits, denominator, real } => {
                self.number(t.span, *digits, *denominator, *real, hint)
            }
            TermKind::ProcConst(n) => {
                let p = self.process_constant(*n, t.span)?;
                Some((Term::Atom(SrcAtom::Proc(p)), Sort::Proc))
            }
            TermKind::Name(name) => self.name(name, t.span, scope, hint),
            TermKind::Cell(name, indices) => self.access(None, name, indices, scope, t.span),
            TermKind::View(viewer, name, indices) => {
                let viewer = self.process(viewer, scope)?;
                self.access(Some(viewer), name, indices, scope, t.span)
            }
            TermKind::Sum(a, minus, b) => {
                let (x, sort) = match a.kind {
                    TermKind::Number { .. } if hint.is_none() => {
                        let (_, sort) = self.term(b, scope, None)?;
                        self.term(a, scope, Some(sort))?
                    }
                    _ => self.term(a, scope, hint)?,
                };
                let (y, other) = self.term(b, scope, Some(sort))?;
                let (Term::Lin(x), Term::Lin(y), true) = (x, y, sort == other) else {
                    self.error(Diagnostic::error(t.span, "only numbers of one type can be added"));
                    return None;
                };
                let sum = x.add(if *minus { -1 } else { 1 }, &y);
                Some((Term::Lin(self.in_range(sum, t.span)?), sort))
            }
            TermKind::Scale(factor, inner) => {
                let (x, sort) = self.term(inner, scope, hint)?;
                let Term::Lin(x) = x else {
                    self.error(Diagnostic::error(t.span, "only numbers can be multiplied"));
                    return None;
                };
                let product = Linear::constant(0, x.int).add(*factor, &x);
                Some((Term::Lin(self.in_range(product, t.span)?), sort))
            }
        }
    }

    fn in_range(&mut self, form: Option<Linear<SrcAtom>>, span: Span) -> Option<Linear<SrcAtom>> {
        const MOST: i64 = 1_000_000_000_000_000;
        let small = form.filter(|f| f.constant.abs() < MOST && f.terms.iter().all(|t| t.1.abs() < MOST));
        if small.is_none() {
            self.error(Diagnostic::error(span, "the numbers in this term are too large"));
        }
        small
    }

    fn number(
        &mut self,
        span: Span,
        n: i64,
        d: i64,
        real: bool,
        hint: Option<Sort>,
    ) -> Option<(SrcTerm, Sort)> {
        let sort = match hint {
            Some(Sort::Real) => Sort::Real,
            _ if real => Sort::Real,
            _ => Sort::Int,
        };
        let value = if sort == Sort::Real { n.checked_mul(self.system.real_scale / d) } else { Some(n) };
        let Some(value) = value else {
            self.error(Diagnostic::error(span, "this number is too large"));
            return None;
        };
        Some((Term::Lin(Linear::constant(value, sort == Sort::Int)), sort))
    }

    fn name(&mut self, name: &str, span: Span, scope: &Scope, hint: Option<Sort>) -> Option<(SrcTerm, Sort)> {
        match scope.names.get(name).cloned() {
            Some(Binding::Proc(p)) => return Some((Term::Atom(SrcAtom::Proc(p)), Sort::Proc)),
            Some(Binding::Term(term, outer)) => return self.term(&term, &outer, hint),
            Some(Binding::Formula(..)) => {
                self.error(Diagnostic::error(span, format!("`{name}` is a formula, not a term")));
                return None;
            }
            None => {}
        }
        if let Some(&(e, v)) = self.constructors.get(name) {
            return Some((Term::Value(v), Sort::Enum(e)));
        }
        if name.starts_with(|c: char| c.is_ascii_lowercase()) {
            self.error(
                Diagnostic::error(span, format!("unknown process `{name}`"))
                    .hint("processes are the parameters of the declaration and bound variables"),
            );
            return None;
        }
        self.access(None, &Ident { name: name.to_string(), span }, &[], scope, span)
    }

    /// The process that an index names.
    pub fn process(&mut self, ident: &Ident, scope: &Scope) -> Option<ProcRef> {
        if let Some(n) = ident.name.strip_prefix('#') {
            return self.process_constant(n.parse().unwrap_or(1), ident.span);
        }
        match scope.names.get(&ident.name).cloned() {
            Some(Binding::Proc(p)) => Some(p),
            Some(Binding::Term(t, outer)) if self.process_of(&t, &outer).is_some() => {
                self.process_of(&t, &outer)
            }
            Some(_) => {
                self.error(Diagnostic::error(ident.span, format!("`{}` is not a process", ident.name)));
                None
            }
            None => {
                self.error(
                    Diagnostic::error(ident.span, format!("unknown process `{}`", ident.name))
                        .hint("processes are the parameters of the declaration and bound variables"),
                );
                None
            }
        }
    }

    fn access(
        &mut self,
        viewer: Option<ProcRef>,
        name: &Ident,
        indices: &[Ident],
        scope: &Scope,
        span: Span,
    ) -> Option<(SrcTerm, Sort)> {
        let Some(&sym) = self.symbols.get(&name.name) else {
            self.unknown(name.span, &name.name, "symbol");
            return None;
        };
        let symbol = self.system.symbol(sym).clone();
        let idx = self.indices(&name.name, symbol.arity, indices, scope, span)?;
        let atom = match viewer {
            Some(p) if self.weak => {
                self.check_view(p, symbol.weak, &name.name, scope, span);
                if self.place == Place::Transition || !symbol.weak {
                    SrcAtom::Sym(sym, idx)
                } else {
                    SrcAtom::View(p, sym, idx)
                }
            }
            Some(_) => SrcAtom::Sym(sym, idx),
            None => {
                self.check_access(&symbol, &idx, scope, span);
                SrcAtom::Sym(sym, idx)
            }
        };
        Some(match symbol.sort {
            Sort::Int | Sort::Real => (Term::Lin(Linear::atom(atom, symbol.sort == Sort::Int)), symbol.sort),
            sort => (Term::Atom(atom), sort),
        })
    }

    /// The processes that the indices name.
    pub fn indices(
        &mut self,
        name: &str,
        arity: usize,
        indices: &[Ident],
        scope: &Scope,
        span: Span,
    ) -> Option<[ProcRef; MAX_ARITY]> {
        if indices.len() != arity {
            let has = indices.len();
            self.error(
                Diagnostic::error(
                    span,
                    format!(
                        "`{name}` has {}, not {has}",
                        match arity {
                            0 => "no index".to_string(),
                            1 => "one process index".to_string(),
                            n => format!("{n} process indices"),
                        }
                    ),
                )
                .hint(if arity == 0 { "it is a variable" } else { "as in its declaration" }),
            );
            return None;
        }
        let mut idx = [ProcRef(NONE); MAX_ARITY];
        for (slot, ident) in idx.iter_mut().zip(indices) {
            *slot = self.process(ident, scope)?;
        }
        Some(idx)
    }

    fn check_view(&mut self, viewer: ProcRef, weak: bool, name: &str, scope: &Scope, span: Span) {
        if !weak {
            self.error(
                Diagnostic::error(span, format!("`{name}` is not weak"))
                    .hint("drop the `@`: all see the same value"),
            );
        } else if self.place == Place::Init {
            self.error(
                Diagnostic::error(span, "no `@` in `init`")
                    .hint("initially all processes see the same value"),
            );
        } else if self.place == Place::Transition && scope.acting != Some(viewer) {
            self.error(
                Diagnostic::error(span, "a transition reads memory through its acting process only")
                    .hint("drop the `@`"),
            );
        }
    }

    /// The rules for accesses under weak memory.
    fn check_access(&mut self, symbol: &crate::system::Symbol, idx: &[ProcRef], scope: &Scope, span: Span) {
        if !self.weak {
            return;
        }
        let name = &symbol.name;
        if symbol.weak && self.place == Place::Bad {
            self.error(
                Diagnostic::error(span, format!("`{name}` is weak: say which process sees it"))
                    .hint(format!("write `p @ {name}`: different processes may see different values")),
            );
        }
        let local = Some(idx[0]) == scope.acting || Some(idx[0]) == scope.binder;
        if !symbol.weak && !symbol.rigid && self.place == Place::Transition && symbol.arity > 0 && !local {
            self.error(
                Diagnostic::error(span, format!("`{name}` is local state of another process here"))
                    .label("the first index must be the acting process")
                    .hint(format!("declare `{name}` weak, or check the system with `-m sc`")),
            );
        }
    }
}

/// Edit distance, for hints.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
