//! Expressions: operators with their sorts, application, local definitions, recursion.

use super::{Function, Lowerer, MAX_DEPTH, MAX_WORK, Meaning, Projection, Scope};
use crate::ast::{Binary, Binding, Condition, Expr, ExprKind, Name, Unary};
use crate::base::{BaseRelation, BaseSet};
use crate::graph::{Node, NodeId, Sort};
use fencepost_diag::{Diagnostic, Span};

impl Lowerer<'_> {
    pub(super) fn expression(&mut self, expr: &Expr, scope: Scope) -> Meaning {
        self.work += 1;
        if self.depth >= MAX_DEPTH || self.work > MAX_WORK {
            let what =
                if self.depth >= MAX_DEPTH { "calls nest too deeply" } else { "the model is too large" };
            let hint = "does a function apply itself?";
            self.report(Diagnostic::error(expr.span, what).label("gave up here").hint(hint));
            return Meaning::Wrong;
        }
        self.depth += 1;
        let meaning = self.expression_here(expr, scope);
        self.depth -= 1;
        meaning
    }

    fn expression_here(&mut self, expr: &Expr, scope: Scope) -> Meaning {
        match &expr.kind {
            ExprKind::Name(name) => match self.lookup(scope, name) {
                Some(meaning) => meaning.clone(),
                None => {
                    self.unknown(scope, name, expr.span, &[]);
                    Meaning::Wrong
                }
            },
            ExprKind::Empty => Meaning::Empty,
            ExprKind::Beyond(what) => Meaning::Beyond(what),
            ExprKind::Universe => Meaning::Set(self.graph.add(Node::Set(BaseSet::All))),
            ExprKind::Binary(operator, operands) => self.binary(*operator, operands, scope),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand, scope),
            ExprKind::Tuple(items) => {
                Meaning::Tuple(items.iter().map(|e| self.expression(e, scope)).collect())
            }
            ExprKind::Apply(function, argument) => {
                let f = self.expression(function, scope);
                let x = self.expression(argument, scope);
                self.apply(f, x, function.span, argument.span)
            }
            ExprKind::Fun(parameters, body) => {
                let mut locals = Vec::new();
                self.check_function(parameters, body, scope, &mut locals);
                self.functions.push(Function {
                    parameters: parameters.clone(),
                    body: body.clone(),
                    scope,
                    file: self.part,
                });
                Meaning::Function(self.functions.len() - 1)
            }
            ExprKind::Let { recursive, bindings, body } => {
                let inner = self.bindings(*recursive, bindings, scope);
                self.expression(body, inner)
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expression(if holds(condition) { then } else { otherwise }, scope)
            }
            // `try` is for names that not every simulator gives, and for nothing else.
            ExprKind::Try(first, second) => match self.knows_all(first, scope, &mut Vec::new()) {
                true => self.expression(first, scope),
                false => self.expression(second, scope),
            },
        }
    }

    /// The meaning as a relation; reports what is wrong and goes on with the empty one.
    pub(super) fn relation(&mut self, meaning: &Meaning, span: Span, context: &str) -> NodeId {
        match meaning {
            Meaning::Relation(node) => *node,
            Meaning::Empty | Meaning::Wrong => self.graph.add(Node::Empty(Sort::Relation)),
            Meaning::Beyond(what) => {
                self.beyond(what, span);
                self.graph.add(Node::Empty(Sort::Relation))
            }
            other => {
                let message = format!("{context} needs a relation, and this is {}", describe(other));
                let mut error = Diagnostic::error(span, message).label("expected a relation");
                if matches!(other, Meaning::Set(_)) {
                    error = error.hint("the identity on a set `S` is written `[S]`");
                }
                self.report(error);
                self.graph.add(Node::Empty(Sort::Relation))
            }
        }
    }

    /// Reports that something depends on what is not supported.
    fn beyond(&mut self, what: &str, span: Span) {
        let error = Diagnostic::error(span, format!("this depends on {what}, which is not supported"));
        let hint = "sets of sets, sets of relations, tags and recursive functions have no value here";
        self.report(error.label("needed here").hint(hint));
    }

    fn set(&mut self, meaning: &Meaning, span: Span, context: &str) -> NodeId {
        match meaning {
            Meaning::Set(node) => *node,
            Meaning::Empty | Meaning::Wrong => self.graph.add(Node::Empty(Sort::Set)),
            Meaning::Beyond(what) => {
                self.beyond(what, span);
                self.graph.add(Node::Empty(Sort::Set))
            }
            other => {
                let message = format!("{context} needs a set of events, and this is {}", describe(other));
                let mut error = Diagnostic::error(span, message).label("expected a set of events");
                if matches!(other, Meaning::Relation(_)) {
                    error = error.hint("`domain(r)` and `range(r)` are the sets of a relation `r`");
                }
                self.report(error);
                self.graph.add(Node::Empty(Sort::Set))
            }
        }
    }

    fn binary(&mut self, operator: Binary, operands: &[Expr], scope: Scope) -> Meaning {
        let meanings: Vec<Meaning> = operands.iter().map(|e| self.expression(e, scope)).collect();
        // Whether it can be done without is known where it is used.
        if let Some(beyond) = meanings.iter().find(|m| matches!(m, Meaning::Beyond(_))) {
            return beyond.clone();
        }
        let spans = operands.iter().map(|e| e.span);
        let context = format!("`{}`", operator.text());
        match operator {
            Binary::Product => {
                let nodes: Vec<NodeId> =
                    meanings.iter().zip(spans).map(|(m, s)| self.set(m, s, &context)).collect();
                Meaning::Relation(self.graph.add(Node::Product(nodes[0], nodes[1])))
            }
            Binary::Sequence => {
                let nodes: Vec<NodeId> =
                    meanings.iter().zip(spans).map(|(m, s)| self.relation(m, s, &context)).collect();
                Meaning::Relation(self.fold(nodes, Node::Sequence))
            }
            Binary::Union | Binary::Intersection | Binary::Difference => {
                self.boolean(operator, &meanings, operands, &context)
            }
        }
    }

    /// `|`, `&` and `\` take sets or relations; the first operand that is one or the other decides.
    fn boolean(
        &mut self,
        operator: Binary,
        meanings: &[Meaning],
        operands: &[Expr],
        context: &str,
    ) -> Meaning {
        let sort = meanings.iter().zip(operands).find_map(|(m, e)| match m {
            Meaning::Set(_) => Some((Sort::Set, e.span)),
            Meaning::Relation(_) => Some((Sort::Relation, e.span)),
            _ => None,
        });
        let wrong = meanings.contains(&Meaning::Wrong);
        let Some((sort, first)) = sort else {
            let all_empty = meanings.iter().all(|m| matches!(m, Meaning::Empty | Meaning::Wrong));
            if !all_empty {
                let (m, e) = (&meanings[0], &operands[0]);
                self.relation(m, e.span, context);
            }
            return if wrong || !all_empty { Meaning::Wrong } else { Meaning::Empty };
        };
        let mut nodes = Vec::new();
        for (m, e) in meanings.iter().zip(operands) {
            nodes.push(match (sort, m) {
                (Sort::Set, Meaning::Relation(_)) | (Sort::Relation, Meaning::Set(_)) => {
                    self.mixed(context, sort, first, e.span);
                    self.graph.add(Node::Empty(sort))
                }
                (Sort::Set, m) => self.set(m, e.span, context),
                (Sort::Relation, m) => self.relation(m, e.span, context),
            });
        }
        let node = match operator {
            Binary::Union => self.fold(nodes, Node::Union),
            Binary::Intersection => self.fold(nodes, Node::Intersection),
            _ => self.fold(nodes, Node::Difference),
        };
        match sort {
            Sort::Set => Meaning::Set(node),
            Sort::Relation => Meaning::Relation(node),
        }
    }

    fn mixed(&mut self, context: &str, sort: Sort, first: Span, other: Span) {
        let (one, two) = match sort {
            Sort::Set => ("a set", "a relation"),
            Sort::Relation => ("a relation", "a set"),
        };
        let mut error = Diagnostic::error(other, format!("{context} between {one} and {two}"))
            .label(format!("this is {two}"));
        // A related place is shown in the same file, and only the user's file is shown.
        if self.part == 0 {
            error = error.related(first, format!("this is {one}"));
        }
        self.report(error.hint("the identity on a set `S` is written `[S]`, all pairs of two sets `S * T`"));
    }

    fn fold(&mut self, nodes: Vec<NodeId>, node: fn(NodeId, NodeId) -> Node) -> NodeId {
        let mut nodes = nodes.into_iter();
        let first = nodes.next().unwrap_or_else(|| unreachable!("an operator has operands"));
        nodes.fold(first, |a, b| self.graph.add(node(a, b)))
    }

    fn unary(&mut self, operator: Unary, operand: &Expr, scope: Scope) -> Meaning {
        let meaning = self.expression(operand, scope);
        if let Meaning::Beyond(_) = meaning {
            return meaning;
        }
        let context = format!("`{}`", operator.text());
        match operator {
            Unary::Complement => {
                if let Meaning::Set(node) = meaning {
                    return Meaning::Set(self.graph.add(Node::Complement(node)));
                }
                let node = self.relation(&meaning, operand.span, &context);
                Meaning::Relation(self.graph.add(Node::Complement(node)))
            }
            Unary::Identity => {
                let node = self.set(&meaning, operand.span, &context);
                Meaning::Relation(self.graph.add(Node::Identity(node)))
            }
            _ => {
                let node = self.relation(&meaning, operand.span, &context);
                Meaning::Relation(self.graph.add(match operator {
                    Unary::Plus => Node::Plus(node),
                    Unary::Star => Node::Star(node),
                    Unary::Optional => Node::Optional(node),
                    _ => Node::Inverse(node),
                }))
            }
        }
    }

    fn apply(&mut self, function: Meaning, argument: Meaning, span: Span, argument_span: Span) -> Meaning {
        match function {
            Meaning::Wrong => Meaning::Wrong,
            beyond @ Meaning::Beyond(_) => beyond,
            Meaning::Projection(_) if matches!(argument, Meaning::Beyond(_)) => argument,
            Meaning::Projection(Projection::ControlFence) => self.control_fence(argument, argument_span),
            Meaning::Projection(projection) => {
                let node = self.relation(&argument, argument_span, "this function");
                Meaning::Set(self.graph.add(match projection {
                    Projection::Domain => Node::Domain(node),
                    _ => Node::Range(node),
                }))
            }
            Meaning::Function(index) => {
                let key = (index, argument);
                if let Some(known) = self.expansions.get(&key) {
                    return known.clone();
                }
                let (index, argument) = key;
                let wanted = self.functions[index].parameters.clone();
                let Some(scope) =
                    self.bind_parameters(&wanted, &argument, self.functions[index].scope, argument_span)
                else {
                    return Meaning::Wrong;
                };
                let body = self.functions[index].body.clone();
                let outer = std::mem::replace(&mut self.part, self.functions[index].file);
                let faults = self.faults;
                let meaning = self.expression(&body, scope);
                self.part = outer;
                // A mistake must be reported again where it counts: this expansion may be the part of a `try`.
                if self.faults == faults {
                    self.expansions.insert((index, argument), meaning.clone());
                }
                meaning
            }
            other => {
                let message = format!("this is {}, not a function", describe(&other));
                self.report(Diagnostic::error(span, message).label("applied to what follows"));
                Meaning::Wrong
            }
        }
    }

    /// Pairs with a branch on the first and then such a fence between them.
    fn control_fence(&mut self, argument: Meaning, span: Span) -> Meaning {
        let (control, fences) = match argument {
            Meaning::Wrong => return Meaning::Wrong,
            Meaning::Tuple(items) if items.len() == 2 => {
                (self.relation(&items[0], span, "`ctrlcfence`"), items[1].clone())
            }
            other => (self.graph.add(Node::Relation(BaseRelation::Ctrl)), other),
        };
        let fences = self.set(&fences, span, "`ctrlcfence`");
        let fences = self.graph.add(Node::Identity(fences));
        let po = self.graph.add(Node::Relation(BaseRelation::Po));
        Meaning::Relation(self.fold(vec![control, fences, po], Node::Sequence))
    }

    /// Binds parameters to an argument: one parameter takes it whole, several take a tuple apart.
    pub(super) fn bind_parameters(
        &mut self,
        parameters: &[Option<Name>],
        argument: &Meaning,
        mut scope: Scope,
        span: Span,
    ) -> Option<Scope> {
        let whole = [argument.clone()];
        let items = match argument {
            Meaning::Wrong => return None,
            Meaning::Tuple(items) if parameters.len() != 1 => &items[..],
            _ => &whole[..],
        };
        if items.len() != parameters.len() {
            let count = |n: usize| format!("{n} value{}", if n == 1 { "" } else { "s" });
            let message = format!("expected {}, got {}", count(parameters.len()), count(items.len()));
            self.report(Diagnostic::error(span, message));
            return None;
        }
        for (parameter, item) in parameters.iter().zip(items) {
            if let Some(name) = parameter {
                scope = self.bind(scope, &name.text, item.clone());
            }
        }
        Some(scope)
    }

    /// `let` and `let rec`: the scope in which the names hold.
    pub(super) fn bindings(&mut self, recursive: bool, bindings: &[Binding], scope: Scope) -> Scope {
        if recursive {
            return self.recursive(bindings, scope);
        }
        let meanings: Vec<Meaning> =
            bindings.iter().map(|b| self.expression(&self.value_of(b), scope)).collect();
        let mut inner = scope;
        for (binding, meaning) in bindings.iter().zip(meanings) {
            match &binding.pattern[..] {
                [Some(name)] => inner = self.bind(inner, &name.text, meaning),
                [None] => {}
                pattern => {
                    let bound = self.bind_parameters(pattern, &meaning, inner, binding.value.span);
                    inner = bound.unwrap_or_else(|| {
                        pattern
                            .iter()
                            .flatten()
                            .fold(inner, |scope, name| self.bind(scope, &name.text, Meaning::Wrong))
                    });
                }
            }
        }
        inner
    }

    /// The value of a binding: the user's, or the one that replaces it.
    fn value_of(&self, binding: &Binding) -> Expr {
        if self.replacing
            && let [Some(name)] = &binding.pattern[..]
            && let Some((_, value)) = self.replace.iter().find(|(n, _)| *n == name.text)
        {
            return value.clone();
        }
        binding.value.clone()
    }

    /// `let rec`: relations at first; a body that turns out to be a set makes its variable one, and all is done again.
    fn recursive(&mut self, bindings: &[Binding], scope: Scope) -> Scope {
        let mut names = Vec::new();
        for binding in bindings {
            match (&binding.pattern[..], &binding.value.kind) {
                ([Some(name)], kind) if !matches!(kind, ExprKind::Fun(..)) => names.push(name),
                // Recursive functions walk through sets of sets.
                ([Some(_)], _) => {
                    let names = bindings.iter().flat_map(|b| b.pattern.iter().flatten());
                    let what = Meaning::Beyond("a recursive function");
                    return names.fold(scope, |s, name| self.bind(s, &name.text, what.clone()));
                }
                (pattern, _) => {
                    let span = pattern.iter().flatten().next().map_or(binding.value.span, |n| n.span);
                    let error = Diagnostic::error(span, "only sets and relations can be recursive");
                    self.report(error.label("not a recursive function or pattern"));
                    return pattern
                        .iter()
                        .flatten()
                        .fold(scope, |s, n| self.bind(s, &n.text, Meaning::Wrong));
                }
            }
        }
        let mut sorts = vec![Sort::Relation; bindings.len()];
        let mark = (self.errors.len(), self.faults);
        loop {
            let group = self.graph.open_group(&sorts);
            let variables = self.graph.group(group).variables.clone();
            let inner = names.iter().zip(&variables).zip(&sorts).fold(scope, |s, ((name, &node), sort)| {
                let meaning = match sort {
                    Sort::Set => Meaning::Set(node),
                    Sort::Relation => Meaning::Relation(node),
                };
                self.bind(s, &name.text, meaning)
            });
            let meanings: Vec<Meaning> =
                bindings.iter().map(|b| self.expression(&self.value_of(b), inner)).collect();
            let before = sorts.clone();
            for (sort, meaning) in sorts.iter_mut().zip(&meanings) {
                if matches!(meaning, Meaning::Set(_)) {
                    *sort = Sort::Set;
                }
            }
            if before != sorts {
                self.forgive(mark);
                continue;
            }
            let mut bodies = Vec::new();
            for ((meaning, binding), sort) in meanings.iter().zip(bindings).zip(&sorts) {
                bodies.push(match sort {
                    Sort::Set => self.set(meaning, binding.value.span, "this definition"),
                    Sort::Relation => self.relation(meaning, binding.value.span, "this definition"),
                });
            }
            return self.close(group, &names, bindings, bodies, scope);
        }
    }

    fn close(
        &mut self,
        group: u32,
        names: &[&Name],
        bindings: &[Binding],
        bodies: Vec<NodeId>,
        scope: Scope,
    ) -> Scope {
        for (body, binding) in bodies.iter().zip(bindings) {
            if self.graph.facts(*body).negative.binary_search(&group).is_ok() {
                let message = "this recursive definition has no least solution";
                let error = Diagnostic::error(binding.value.span, message)
                    .label("a name of this `let rec` occurs under `~` or on the right of `\\`");
                self.report(error);
                return names.iter().fold(scope, |s, n| self.bind(s, &n.text, Meaning::Wrong));
            }
        }
        let solutions = self.graph.close_group(group, bodies);
        names.iter().zip(solutions).fold(scope, |s, (name, node)| {
            let meaning = match self.graph.facts(node).sort {
                Sort::Set => Meaning::Set(node),
                Sort::Relation => Meaning::Relation(node),
            };
            self.bind(s, &name.text, meaning)
        })
    }

    /// Reports unknown names in a function that may never be applied.
    fn check_function<'e>(
        &mut self,
        parameters: &'e [Option<Name>],
        body: &'e Expr,
        scope: Scope,
        locals: &mut Vec<&'e str>,
    ) {
        let before = locals.len();
        locals.extend(parameters.iter().flatten().map(|n| n.text.as_str()));
        for (name, span, locals) in self.unknown_names(body, scope, locals) {
            self.unknown(scope, name, span, &locals);
        }
        locals.truncate(before);
    }

    /// Whether every name in an expression stands for something.
    fn knows_all<'e>(&self, expr: &'e Expr, scope: Scope, locals: &mut Vec<&'e str>) -> bool {
        self.unknown_names(expr, scope, locals).is_empty()
    }

    /// The names in an expression that stand for nothing, with the local ones that are visible there.
    fn unknown_names<'e>(
        &self,
        expr: &'e Expr,
        scope: Scope,
        locals: &mut Vec<&'e str>,
    ) -> Vec<(&'e str, Span, Vec<&'e str>)> {
        let mut unknown = Vec::new();
        self.find_unknown(expr, scope, locals, &mut unknown);
        unknown
    }

    fn find_unknown<'e>(
        &self,
        expr: &'e Expr,
        scope: Scope,
        locals: &mut Vec<&'e str>,
        unknown: &mut Vec<(&'e str, Span, Vec<&'e str>)>,
    ) {
        let before = locals.len();
        match &expr.kind {
            ExprKind::Name(name) => {
                if !locals.contains(&name.as_str()) && self.lookup(scope, name).is_none() {
                    unknown.push((name, expr.span, locals.clone()));
                }
            }
            ExprKind::Empty | ExprKind::Universe | ExprKind::Beyond(_) => {}
            ExprKind::Binary(_, list) | ExprKind::Tuple(list) => {
                list.iter().for_each(|e| self.find_unknown(e, scope, locals, unknown));
            }
            ExprKind::Unary(_, e) => self.find_unknown(e, scope, locals, unknown),
            ExprKind::Apply(f, x) => {
                self.find_unknown(f, scope, locals, unknown);
                self.find_unknown(x, scope, locals, unknown);
            }
            ExprKind::Fun(parameters, body) => {
                locals.extend(parameters.iter().flatten().map(|n| n.text.as_str()));
                self.find_unknown(body, scope, locals, unknown);
            }
            ExprKind::Let { recursive, bindings, body } => {
                let bound = bindings.iter().flat_map(|b| b.pattern.iter().flatten()).map(|n| n.text.as_str());
                if *recursive {
                    locals.extend(bound.clone());
                }
                bindings.iter().for_each(|b| self.find_unknown(&b.value, scope, locals, unknown));
                locals.extend(bound);
                self.find_unknown(body, scope, locals, unknown);
            }
            ExprKind::If(condition, a, b) => {
                self.find_unknown(if holds(condition) { a } else { b }, scope, locals, unknown);
            }
            ExprKind::Try(first, second) => {
                if !self.knows_all(first, scope, locals) {
                    self.find_unknown(second, scope, locals, unknown);
                }
            }
        }
        locals.truncate(before);
    }
}

/// No variant of herd7 is ever on.
pub(super) fn holds(condition: &Condition) -> bool {
    match condition {
        Condition::Variant(_) => false,
        Condition::Not(c) => !holds(c),
        Condition::And(a, b) => holds(a) && holds(b),
        Condition::Or(a, b) => holds(a) || holds(b),
    }
}

fn describe(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Set(_) => "a set of events",
        Meaning::Relation(_) => "a relation",
        Meaning::Empty => "empty",
        Meaning::Tuple(_) => "a tuple",
        Meaning::Function(_) | Meaning::Projection(_) => "a function",
        Meaning::Procedure(_) => "a procedure",
        Meaning::Beyond(what) => what,
        Meaning::Wrong => "wrong",
    }
}
