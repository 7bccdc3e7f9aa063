//! From the syntax tree to a checked [`System`]: declarations, transitions, and the bookkeeping of parameters.

use crate::ast::{self, Decl, File, Ident, SymbolKind, UpdateValue};
use crate::cube::Atom;
use crate::literal::{Fact, Lit, Term};
use crate::normal::{Conj, Formula, Full, Refused, conjoin_lits, dnf, lift_exists, rename_all, rename_atom};
use crate::system::*;
use crate::typing::{Place, Scope, Typing};
use fencepost_diag::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Checks a file. `weak` asks for the rules and the accesses of a weak memory model; without it `weak`, `fence()` and
/// `p @` are erased. Returns the system and warnings, or the mistakes.
pub fn lower(file: &File, weak: bool) -> Result<(System, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut lower = Lower::new(file, weak);
    lower.declare();
    lower.declarations();
    if !lower.errors.is_empty() {
        return Err(lower.errors);
    }
    settle_constants(&mut lower.system);
    Ok((lower.system, lower.warnings))
}

/// What no transition assigns is a constant, and what `init` says of numbers that are constants holds in every
/// reachable state: guards say it too, so that it is known wherever a constant is used.
fn settle_constants(system: &mut System) {
    let assigned: Vec<SymId> =
        system.transitions.iter().flat_map(|t| t.updates.iter().map(|u| u.sym)).collect();
    for (sym, symbol) in (0..).zip(&mut system.symbols) {
        symbol.rigid |= !symbol.weak && !assigned.contains(&sym);
    }
    let constants = system.number_constants();
    let is_constant = |a: SrcAtom| match a {
        SrcAtom::Sym(sym, _) => constants.contains(&Atom::Cell(sym, [NONE; MAX_ARITY])),
        SrcAtom::View(..) | SrcAtom::Proc(_) => false,
    };
    let certain = system.init.iter().filter(|clause| clause.dnf.len() == 1).flat_map(|clause| &clause.dnf[0]);
    let mut known: Vec<SrcLit> =
        certain.filter(|l| matches!(l, Lit::Lin(..)) && !l.mentions(|a| !is_constant(a))).cloned().collect();
    known.sort();
    known.dedup();
    for Transition { guard, .. } in &mut system.transitions {
        let new: Vec<SrcLit> = known.iter().filter(|lit| !guard.contains(lit)).cloned().collect();
        guard.extend(new);
    }
}

struct Lower<'a> {
    file: &'a File,
    weak: bool,
    system: System,
    symbols: FxHashMap<String, SymId>,
    constructors: FxHashMap<String, (u16, u8)>,
    predicates: FxHashMap<String, ast::Quantified>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Lower<'a> {
    fn new(file: &'a File, weak: bool) -> Self {
        let system = System {
            number_procs: file.number_procs.map(|(n, _)| n as u8),
            enums: vec![("bool".into(), vec!["False".into(), "True".into()])],
            abstracts: vec![],
            symbols: vec![],
            init: vec![],
            bad: vec![],
            assumed: vec![],
            transitions: vec![],
            real_scale: file.real_scale,
            symmetric: true,
        };
        let constructors =
            [("False".to_string(), (0, 0)), ("True".to_string(), (0, 1))].into_iter().collect();
        let weak = weak && file.symbols.iter().any(|s| s.weak.is_some());
        Lower {
            file,
            weak,
            system,
            symbols: FxHashMap::default(),
            constructors,
            predicates: FxHashMap::default(),
            errors: vec![],
            warnings: vec![],
        }
    }

    fn declare(&mut self) {
        let file = self.file;
        let mut sorts: FxHashMap<String, Sort> = FxHashMap::default();
        for (name, sort) in
            [("int", Sort::Int), ("real", Sort::Real), ("proc", Sort::Proc), ("bool", Sort::Enum(0))]
        {
            sorts.insert(name.into(), sort);
        }
        let mut places: FxHashMap<String, Span> = FxHashMap::default();
        for def in &file.types {
            if sorts.contains_key(&def.name.name) {
                self.duplicate("type", &def.name, places.get(&def.name.name));
                continue;
            }
            places.insert(def.name.name.clone(), def.name.span);
            let sort = match &def.constructors {
                None => {
                    self.system.abstracts.push(def.name.name.clone());
                    Sort::Abstract(self.system.abstracts.len() as u16 - 1)
                }
                Some(constructors) => self.enumeration(&def.name, constructors, &mut places),
            };
            sorts.insert(def.name.name.clone(), sort);
        }
        for decl in &file.symbols {
            let name = &decl.name;
            if self.symbols.contains_key(&name.name) || self.constructors.contains_key(&name.name) {
                self.duplicate("symbol", name, places.get(&name.name));
                continue;
            }
            places.insert(name.name.clone(), name.span);
            let Some(&sort) = sorts.get(&decl.ty.name) else {
                let message = format!("unknown type `{}`", decl.ty.name);
                self.errors.push(
                    Diagnostic::error(decl.ty.span, message)
                        .hint("types are int, real, bool, proc and those declared with `type`"),
                );
                continue;
            };
            if decl.arity > MAX_ARITY {
                self.errors.push(Diagnostic::error(name.span, format!("more than {MAX_ARITY} indices")));
            }
            if self.weak && decl.kind == SymbolKind::Var && decl.weak.is_none() {
                self.errors.push(
                    Diagnostic::error(name.span, format!("`{}` is shared but not weak", name.name))
                        .hint("under TSO and PSO a system with weak symbols has no plain variables: declare it `weak var`")
                        .hint("or check the system with `-m sc`"),
                );
            }
            self.symbols.insert(name.name.clone(), self.system.symbols.len() as SymId);
            self.system.symbols.push(Symbol {
                name: name.name.clone(),
                arity: decl.arity.min(MAX_ARITY),
                sort,
                weak: self.weak && decl.weak.is_some(),
                rigid: decl.kind == SymbolKind::Const,
            });
        }
    }

    fn enumeration(
        &mut self,
        name: &Ident,
        constructors: &[Ident],
        places: &mut FxHashMap<String, Span>,
    ) -> Sort {
        let e = self.system.enums.len() as u16;
        if constructors.len() > MAX_CONSTRUCTORS {
            let message = format!("an enumeration has at most {MAX_CONSTRUCTORS} constructors");
            self.errors.push(Diagnostic::error(name.span, message));
        }
        for (v, c) in constructors.iter().enumerate() {
            if self.constructors.contains_key(&c.name) {
                self.duplicate("constructor", c, places.get(&c.name));
                continue;
            }
            self.constructors.insert(c.name.clone(), (e, v.min(63) as u8));
            places.insert(c.name.clone(), c.span);
        }
        let names = constructors.iter().map(|c| c.name.clone()).collect();
        self.system.enums.push((name.name.clone(), names));
        Sort::Enum(e)
    }

    fn duplicate(&mut self, what: &str, name: &Ident, first: Option<&Span>) {
        let mut error = Diagnostic::error(name.span, format!("the {what} `{}` is declared twice", name.name));
        match first {
            Some(&span) => error = error.related(span, "first declared here"),
            None => error = error.hint("the name is built in"),
        }
        self.errors.push(error);
    }

    fn declarations(&mut self) {
        let file = self.file;
        for decl in &file.decls {
            if let Decl::Predicate(p) = decl
                && let Some(name) = &p.name
                && let Some(old) = self.predicates.insert(name.name.clone(), p.clone())
            {
                self.duplicate("predicate", name, Some(&old.span));
            }
        }
        let mut init_span: Option<Span> = None;
        for (number, decl) in file.decls.iter().enumerate() {
            match decl {
                Decl::Init(q) => {
                    if let Some(first) = init_span {
                        self.errors.push(
                            Diagnostic::error(q.span, "there is more than one `init`")
                                .related(first, "the first one")
                                .hint("join them with `&&`"),
                        );
                    }
                    init_span = Some(q.span);
                    self.init(q);
                }
                Decl::Unsafe(q) => {
                    let bad = self.bad(q, "unsafe");
                    self.system.bad.extend(bad);
                }
                Decl::Invariant(q) => {
                    let bad = self.bad(q, "invariant");
                    self.system.assumed.extend(bad);
                }
                Decl::Predicate(_) => {}
                Decl::Transition(t) => self.transition(t, number),
            }
        }
        let whole = Span::new(0, 0);
        if init_span.is_none() {
            let error =
                Diagnostic::error(whole, "there is no `init`").hint("say in which states the system starts");
            self.errors.push(error);
        }
        if self.system.bad.is_empty() && !file.decls.iter().any(|d| matches!(d, Decl::Unsafe(_))) {
            let error =
                Diagnostic::error(whole, "there is no `unsafe`").hint("say which states must not be reached");
            self.errors.push(error);
        }
    }

    fn scope(&mut self, params: &[Ident]) -> Scope {
        let mut scope = Scope::default();
        for (i, p) in params.iter().enumerate() {
            if scope.is_bound(&p.name) {
                let message = format!("the parameter `{}` occurs twice", p.name);
                self.errors.push(Diagnostic::error(p.span, message));
            }
            scope.bind_proc(&p.name, ProcRef(i as u8));
        }
        if params.len() > 8 {
            self.errors.push(Diagnostic::error(params[8].span, "more than 8 parameters"));
        }
        scope
    }

    /// Runs the type checker; returns its result and the number of variables used.
    fn typed<T>(&mut self, place: Place, vars: u8, f: impl FnOnce(&mut Typing) -> T) -> (T, u8) {
        let mut typing = Typing {
            system: &self.system,
            symbols: &self.symbols,
            constructors: &self.constructors,
            predicates: &self.predicates,
            weak: self.weak,
            place,
            errors: &mut self.errors,
            next_var: vars,
        };
        let result = f(&mut typing);
        (result, typing.next_var)
    }

    fn disjuncts(&mut self, formula: &Formula, span: Span) -> Vec<Conj> {
        let system = &self.system;
        let full: Full = &|atom| match atom {
            SrcAtom::Sym(s, _) | SrcAtom::View(_, s, _) => system.full_mask(system.symbol(s).sort),
            SrcAtom::Proc(_) => u64::MAX,
        };
        match dnf(formula, full) {
            Ok(conjs) => conjs,
            Err(refused) => {
                let error = match refused {
                    Refused::TooLarge => Diagnostic::error(span, "this formula has too many cases")
                        .hint("split the declaration in several"),
                    Refused::Nested => Diagnostic::error(span, "this use of quantifiers is not supported")
                        .hint("the body of a `forall` has no quantifiers of its own, and a fence stands outside"),
                };
                self.errors.push(error);
                vec![]
            }
        }
    }

    fn init(&mut self, q: &ast::Quantified) {
        let scope = self.scope(&q.params);
        let declared = q.params.len().min(8) as u8;
        let (formula, _) = self.typed(Place::Init, declared, |t| t.formula(&q.body, &scope, true));
        let mut conjuncts = Vec::new();
        flatten(formula, &mut conjuncts);
        let mut plain = Vec::new();
        for conjunct in conjuncts {
            match conjunct {
                Formula::Quant { universal: true, other, vars, body } => {
                    self.init_universal(declared, other, &vars, &body, q.span)
                }
                other => plain.push(other),
            }
        }
        if !plain.is_empty() {
            let conjs = self.disjuncts(&Formula::And(plain), q.body.span);
            self.init_clause(declared, conjs, q.span);
        }
    }

    /// `for all vars: body` inside init: the bound processes are new, or named by parameters already.
    fn init_universal(&mut self, declared: u8, other: bool, vars: &[u8], body: &Formula, span: Span) {
        let conjs = self.disjuncts(body, span);
        let block = Conj { exists: vec![(vars.to_vec(), other)], ..Conj::default() };
        for (params, map) in lift_exists(&block, declared, 100) {
            let rename = |p: ProcRef| if p.0 < 128 { ProcRef(map[p.0 as usize]) } else { p };
            let renamed =
                conjs.iter().filter_map(|c| Some(Conj { lits: rename_all(&c.lits, &rename)?, ..c.clone() }));
            let renamed = renamed.collect();
            self.init_clause(params, renamed, span);
        }
    }

    fn init_clause(&mut self, params: u8, conjs: Vec<Conj>, span: Span) {
        if conjs.iter().any(|c| !c.exists.is_empty() || !c.universals.is_empty()) {
            self.errors.push(
                Diagnostic::error(span, "`init` is a universal formula")
                    .hint("no `exists`, and no `forall` inside a disjunction"),
            );
            return;
        }
        let dnf: Vec<Vec<SrcLit>> = conjs.into_iter().map(|c| c.lits).collect();
        self.note_constants(dnf.iter().flatten());
        for merged in partitions(params) {
            let params = merged.iter().map(|m| m + 1).max().unwrap_or(0);
            let dnf: Vec<Vec<SrcLit>> = dnf.iter().filter_map(|conj| merge(conj, &merged)).collect();
            // What only speaks of distinct processes says nothing of equal ones.
            if !dnf.is_empty() || usize::from(params) == merged.len() {
                self.system.init.push(InitClause { params, dnf });
            }
        }
    }

    /// Process constants break the symmetry between processes.
    fn note_constants<'b>(&mut self, lits: impl Iterator<Item = &'b SrcLit>) {
        for lit in lits {
            let constant = lit.mentions(|atom| match atom {
                SrcAtom::Sym(_, idx) => idx.iter().any(|p| p.0 >= 128 && p.0 != NONE),
                SrcAtom::View(p, _, idx) => p.0 >= 128 || idx.iter().any(|p| p.0 >= 128 && p.0 != NONE),
                SrcAtom::Proc(p) => p.0 >= 128,
            });
            // With a fixed number of processes the order is that of the constants.
            let ordered = self.system.number_procs.is_some() && matches!(lit, Lit::Lt(..));
            if constant || ordered {
                self.system.symmetric = false;
            }
        }
    }

    fn bad(&mut self, q: &ast::Quantified, what: &str) -> Vec<Bad> {
        let scope = self.scope(&q.params);
        let declared = q.params.len().min(8) as u8;
        let (formula, variables) = self.typed(Place::Bad, declared, |t| t.formula(&q.body, &scope, true));
        let conjs = self.disjuncts(&formula, q.body.span);
        let name = q.name.as_ref().map_or(what.to_string(), |n| n.name.clone());
        let mut result = Vec::new();
        for conj in conjs {
            if !conj.universals.is_empty() {
                self.errors.push(
                    Diagnostic::error(q.span, format!("`{what}` cannot have a universal quantifier"))
                        .hint("it describes a finite pattern: some processes in some states"),
                );
                break;
            }
            for (params, map) in lift_exists(&conj, declared, variables) {
                let rename = |p: ProcRef| if p.0 < 128 { ProcRef(map[p.0 as usize]) } else { p };
                if let Some(lits) = rename_all(&conj.lits, &rename) {
                    self.note_constants(lits.iter());
                    result.push(Bad { name: name.clone(), params, lits, span: q.whole });
                }
            }
        }
        result
    }

    fn transition(&mut self, t: &ast::Transition, source: usize) {
        let mut scope = self.scope(&t.params);
        if self.weak && t.acting.is_none() {
            self.errors.push(
                Diagnostic::error(
                    t.span,
                    format!("transition `{}` does not say which process acts", t.name.name),
                )
                .hint("put the acting parameter in brackets, as in `([p] q)`"),
            );
        }
        let declared = t.params.len().min(8) as u8;
        scope.set_acting(t.acting.map(|a| ProcRef(a as u8)));
        for (name, term) in &t.lets {
            if scope.is_bound(&name.name) {
                let message = format!("`{}` is already in use here", name.name);
                self.errors.push(Diagnostic::error(name.span, message));
            }
            scope.bind_term(&name.name, term.clone());
        }
        let mut variables = declared;
        let guard = match &t.guard {
            Some(guard) => {
                let (formula, used) =
                    self.typed(Place::Transition, declared, |typing| typing.formula(guard, &scope, true));
                variables = used;
                self.disjuncts(&formula, guard.span)
            }
            None => vec![Conj::default()],
        };
        let mut updates = Vec::new();
        let mut assigned: Vec<(&str, Span)> = Vec::new();
        for update in &t.updates {
            if let Some((_, first)) = assigned.iter().find(|(n, _)| *n == update.target.name) {
                self.errors.push(
                    Diagnostic::error(update.span, format!("`{}` is assigned twice", update.target.name))
                        .related(*first, "first here")
                        .hint("one assignment per symbol; use `case` to change several cells"),
                );
            }
            assigned.push((&update.target.name, update.span));
            updates.extend(self.update(update, &scope, &mut variables));
        }
        let acting = t.acting.map(|a| a as u8);
        for conj in guard {
            for (params, map) in lift_exists(&conj, declared, variables) {
                self.disjunct(t, source, acting, &conj, params, &map, &updates);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn disjunct(
        &mut self,
        t: &ast::Transition,
        source: usize,
        acting: Option<u8>,
        conj: &Conj,
        params: u8,
        map: &[u8],
        updates: &[Update],
    ) {
        let rename = |p: ProcRef| if p.0 < 128 { ProcRef(map[p.0 as usize]) } else { p };
        let Some(guard) = rename_all(&conj.lits, &rename) else { return };
        let universals: Vec<Universal> = conj
            .universals
            .iter()
            .map(|u| Universal {
                vars: u.vars.iter().map(|&v| map[v as usize]).collect(),
                other: u.other,
                dnf: u.dnf.iter().filter_map(|c| rename_all(c, &rename)).collect(),
            })
            .collect();
        let updates: Vec<Update> = updates.iter().map(|u| rename_update(u, &rename)).collect();
        let read_lits = || {
            let conditions = updates.iter().flat_map(|u| u.branches.iter().flat_map(|b| b.0.iter()));
            guard.iter().chain(universals.iter().flat_map(|u| u.dnf.iter().flatten())).chain(conditions)
        };
        let is_weak = |atom: SrcAtom| matches!(atom, SrcAtom::Sym(s, _) if self.system.symbol(s).weak);
        let in_term = |term: &SrcTerm| match term {
            Term::Value(_) => false,
            Term::Atom(a) => is_weak(*a),
            Term::Lin(l) => l.terms.iter().any(|t| is_weak(t.0)),
        };
        let reads = read_lits().any(|l| l.mentions(is_weak))
            || updates
                .iter()
                .any(|u| u.branches.iter().any(|b| b.1.as_ref().is_some_and(in_term) && !u.keeps(&b.1)));
        let writes = updates.iter().any(|u| self.system.symbol(u.sym).weak);
        let all: Vec<SrcLit> = read_lits().cloned().collect();
        self.note_constants(all.iter());
        let targets = updates.iter().any(|u| match u.target {
            Target::Cell(idx) | Target::Every(idx) => idx.iter().any(|p| p.0 >= 128 && p.0 != NONE),
        });
        let constant = |a: SrcAtom| {
            matches!(a, SrcAtom::Proc(p) if p.0 >= 128)
                || matches!(a, SrcAtom::Sym(_, i) if i.iter().any(|p| p.0 >= 128 && p.0 != NONE))
        };
        let values = updates.iter().flat_map(|u| &u.branches).any(|b| match &b.1 {
            Some(Term::Atom(a)) => constant(*a),
            Some(Term::Lin(l)) => l.terms.iter().any(|t| constant(t.0)),
            _ => false,
        });
        if targets || values {
            self.system.symmetric = false;
        }
        let variables = map.iter().filter(|v| **v != NONE).map(|v| v + 1).max().unwrap_or(0).max(params);
        self.system.transitions.push(Transition {
            name: t.name.name.clone(),
            declared: t.params.len().min(8) as u8,
            params,
            variables,
            acting,
            guard,
            universals,
            fence: conj.fence,
            updates,
            reads,
            writes,
            source,
            span: t.span,
        });
    }

    fn update(&mut self, update: &ast::Update, scope: &Scope, variables: &mut u8) -> Option<Update> {
        let name = &update.target;
        let Some(&sym) = self.symbols.get(&name.name) else {
            let message = format!("unknown symbol `{}`", name.name);
            self.errors
                .push(Diagnostic::error(name.span, message).hint("only declared symbols can be assigned"));
            return None;
        };
        let symbol = self.system.symbol(sym).clone();
        if symbol.rigid {
            let message = format!("`{}` is a constant", name.name);
            self.errors.push(Diagnostic::error(update.span, message).hint("constants are never assigned"));
            return None;
        }
        let case_array = matches!(update.value, UpdateValue::Case(_)) && symbol.arity > 0;
        let mut inner = scope.clone();
        if case_array {
            for binder in &update.indices {
                if scope.is_bound(&binder.name) {
                    self.errors.push(
                        Diagnostic::error(binder.span, format!("`{}` is already in use here", binder.name))
                            .hint("the index of a `case` over a whole array is a fresh name"),
                    );
                }
                inner.bind_proc(&binder.name, ProcRef(*variables));
                inner.binder = inner.binder.or(Some(ProcRef(*variables)));
                *variables = (*variables + 1).min(99);
            }
        }
        let vars = *variables;
        let (idx, _) = self.typed(Place::Transition, vars, |t| {
            t.indices(&name.name, symbol.arity, &update.indices, &inner, update.span)
        });
        let idx = idx?;
        let target = if case_array { Target::Every(idx) } else { Target::Cell(idx) };
        let branches = match &update.value {
            UpdateValue::Nondet(_) => vec![(vec![], None)],
            UpdateValue::Term(term) => vec![(vec![], Some(self.rhs(term, &inner, symbol.sort, vars)?))],
            UpdateValue::Case(cases) => self.cases(cases, &inner, sym, idx, vars, update.span)?,
        };
        let update_ir = Update { sym, target, branches };
        self.check_target(&update_ir, &symbol, scope, update.span);
        Some(update_ir)
    }

    /// Under weak memory a plain array is local: only the acting process's cell changes.
    fn check_target(&mut self, update: &Update, symbol: &Symbol, scope: &Scope, span: Span) {
        if !self.weak || symbol.weak || symbol.arity == 0 {
            return;
        }
        let acting = scope.acting();
        let fine = match update.target {
            Target::Cell(idx) => Some(idx[0]) == acting,
            Target::Every(idx) => update.branches.iter().all(|(condition, term)| {
                let mine = |l: &SrcLit| {
                    let sides = [Some(idx[0]), acting];
                    matches!(l, Lit::Eq(SrcAtom::Proc(a),
                        SrcAtom::Proc(b)) if sides.contains(&Some(*a)) && sides.contains(&Some(*b)))
                };
                let old =
                    matches!(term, Some(Term::Atom(SrcAtom::Sym(s, i))) if *s == update.sym && *i == idx);
                old || condition.iter().any(mine)
            }),
        };
        if !fine {
            self.errors.push(
                Diagnostic::error(span, format!("`{}` is local state of another process here", symbol.name))
                    .label("only the acting process's cell may change")
                    .hint(format!("declare `{}` weak, or check the system with `-m sc`", symbol.name)),
            );
        }
    }

    fn rhs(&mut self, term: &ast::Term, scope: &Scope, sort: Sort, vars: u8) -> Option<SrcTerm> {
        let (typed, _) = self.typed(Place::Transition, vars, |t| {
            let (value, found) = t.term(term, scope, Some(sort))?;
            if found != sort {
                let (wanted, found) = (t.sort_name(sort), t.sort_name(found));
                t.error(
                    Diagnostic::error(term.span, format!("a value of type `{wanted}` is needed here"))
                        .label(format!("this has type `{found}`")),
                );
                return None;
            }
            Some(value)
        });
        typed
    }

    /// First match wins: branch k holds when its condition does and those before it do not.
    fn cases(
        &mut self,
        cases: &[(Option<ast::Expr>, ast::Term)],
        scope: &Scope,
        sym: SymId,
        idx: [ProcRef; MAX_ARITY],
        vars: u8,
        span: Span,
    ) -> Option<Vec<(Vec<SrcLit>, Option<SrcTerm>)>> {
        let sort = self.system.symbol(sym).sort;
        let mut branches = Vec::new();
        let mut earlier: Vec<Formula> = Vec::new();
        let mut default = false;
        for (condition, term) in cases {
            let value = self.rhs(term, scope, sort, vars)?;
            let mut parts = earlier.clone();
            match condition {
                Some(c) => {
                    let ((yes, no), _) = self.typed(Place::Transition, vars, |t| {
                        (t.formula(c, scope, true), t.formula(c, scope, false))
                    });
                    parts.push(yes);
                    earlier.push(no);
                }
                None => default = true,
            }
            self.branch(parts, value, span, &mut branches);
        }
        if !default {
            self.warnings.push(
                Diagnostic::warning(span, "this `case` has no default branch")
                    .hint("where no case matches, the old value is kept; write `| _ : ...` to say so"),
            );
            let atom = SrcAtom::Sym(sym, idx);
            let old = match sort {
                Sort::Int | Sort::Real => Term::Lin(crate::literal::Linear::atom(atom, sort == Sort::Int)),
                _ => Term::Atom(atom),
            };
            self.branch(earlier, old, span, &mut branches);
        }
        Some(branches)
    }

    fn branch(
        &mut self,
        parts: Vec<Formula>,
        value: SrcTerm,
        span: Span,
        out: &mut Vec<(Vec<SrcLit>, Option<SrcTerm>)>,
    ) {
        for conj in self.disjuncts(&Formula::And(parts), span) {
            if conj.fence || !conj.exists.is_empty() || !conj.universals.is_empty() {
                let error = Diagnostic::error(span, "no quantifiers or fences in the conditions of a `case`")
                    .hint("put them in the guard");
                if !self.errors.contains(&error) {
                    self.errors.push(error);
                }
                return;
            }
            if let Some(lits) = conjoin_lits(&[], &conj.lits) {
                out.push((lits, Some(value.clone())));
            }
        }
    }
}

/// Parameters of `init` may be equal: all ways to make some of them the same, by the number that each one gets. The
/// first way keeps them apart.
fn partitions(params: u8) -> Vec<Vec<u8>> {
    let mut result = vec![vec![]];
    for _ in 0..params {
        let extend = |numbers: Vec<u8>| {
            let next = numbers.iter().map(|n| n + 1).max().unwrap_or(0);
            (0..=next).rev().map(move |n| numbers.iter().copied().chain([n]).collect())
        };
        result = result.into_iter().flat_map(extend).collect();
    }
    result
}

/// A conjunction of `init` with some parameters made the same; `None` if it compares them and they differ by that. A
/// comparison of values that could only hold of distinct processes (`Id[p] <> Id[q]`) is left out.
fn merge(conj: &[SrcLit], numbers: &[u8]) -> Option<Vec<SrcLit>> {
    let rename = |p: ProcRef| match numbers.get(usize::from(p.0)) {
        Some(number) => ProcRef(*number),
        None => p,
    };
    let mut result: Vec<SrcLit> = Vec::new();
    for lit in conj {
        match crate::normal::rename_vars(lit, &rename) {
            Fact::True => {}
            Fact::False if lit.mentions(|a| !matches!(a, SrcAtom::Proc(_))) => {}
            Fact::False => return None,
            Fact::Lit(lit) => result = conjoin_lits(&result, &[lit])?,
        }
    }
    Some(result)
}

fn flatten(formula: Formula, out: &mut Vec<Formula>) {
    match formula {
        Formula::And(parts) => parts.into_iter().for_each(|p| flatten(p, out)),
        other => out.push(other),
    }
}

fn rename_update(update: &Update, rename: &impl Fn(ProcRef) -> ProcRef) -> Update {
    let target = match update.target {
        Target::Cell(idx) => Target::Cell(idx.map(rename)),
        Target::Every(idx) => Target::Every(idx.map(rename)),
    };
    let mut branches = Vec::new();
    for (condition, term) in &update.branches {
        let Some(condition) = rename_all(condition, rename) else { continue };
        let term = term.as_ref().map(|t| rename_term(t, rename));
        branches.push((condition, term));
    }
    Update { sym: update.sym, target, branches }
}

fn rename_term(term: &SrcTerm, rename: &impl Fn(ProcRef) -> ProcRef) -> SrcTerm {
    match term {
        Term::Value(v) => Term::Value(*v),
        Term::Atom(a) => Term::Atom(rename_atom(*a, rename)),
        Term::Lin(l) => match l.map(&mut |a| Term::Atom(rename_atom(a, rename))) {
            Some(l) => Term::Lin(l),
            None => term.clone(),
        },
    }
}
