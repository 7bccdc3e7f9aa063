//! Statements: definitions, checks, procedures and includes.

use super::expressions::holds;
use super::{Check, Lowerer, MAX_INCLUDES, Meaning, Part, Procedure, Scope};
use crate::ast::{Expr, ExprKind, Name, Question, Role, Statement, Test};
use crate::base::{BaseRelation, BaseSet};
use crate::builtin;
use crate::graph::{Node, Sort};
use fencepost_diag::{Diagnostic, SourceFile, Span};

impl Lowerer<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement], mut scope: Scope) -> Scope {
        for statement in statements {
            scope = self.statement(statement, scope);
        }
        scope
    }

    fn statement(&mut self, statement: &Statement, scope: Scope) -> Scope {
        match statement {
            Statement::Let { recursive, bindings } => {
                if self.replacing {
                    let bound = bindings.iter().flat_map(|b| b.pattern.iter().flatten());
                    for name in bound {
                        if let Some(i) = self.replace.iter().position(|(n, _)| *n == name.text) {
                            self.replaced[i] = true;
                        }
                    }
                }
                self.bindings(*recursive, bindings, scope)
            }
            Statement::Test(test) => {
                self.test(test, scope);
                scope
            }
            Statement::Include { file, span } => self.include(file, *span, scope),
            Statement::Procedure { name, parameters, body } => {
                self.procedures.push(Procedure {
                    parameters: parameters.clone(),
                    body: body.clone(),
                    scope,
                    file: self.part,
                });
                self.bind(scope, &name.text, Meaning::Procedure(self.procedures.len() - 1))
            }
            Statement::Call { name, argument } => {
                let argument_meaning = self.expression(argument, scope);
                match self.lookup(scope, &name.text).cloned() {
                    Some(Meaning::Procedure(index)) => self.call(index, &argument_meaning, argument.span),
                    Some(_) => {
                        let message = format!("`{}` is not a procedure", name.text);
                        self.report(Diagnostic::error(name.span, message));
                    }
                    None => self.unknown(scope, &name.text, name.span, &[]),
                }
                scope
            }
            Statement::If { condition, then, otherwise } => {
                self.statements(if holds(condition) { then } else { otherwise }, scope)
            }
            Statement::With { name, from } => self.chosen(name, from, scope),
            Statement::Nothing => scope,
        }
    }

    /// `with co from generate_cos(r)`: coherence is chosen by the enumerator, among all orders, and has to extend `r`.
    fn chosen(&mut self, name: &Name, from: &Expr, scope: Scope) -> Scope {
        let argument = match &from.kind {
            ExprKind::Apply(function, argument) => match (&function.kind, &argument.kind) {
                (ExprKind::Name(f), _) if f == "generate_cos" => Some(&**argument),
                (ExprKind::Name(f), ExprKind::Tuple(items)) if f == "generate_orders" => items.get(1),
                _ => None,
            },
            _ => None,
        };
        let Some(argument) = argument.filter(|_| name.text == "co") else {
            let message = format!("`with {} from` this is not supported", name.text);
            let error = Diagnostic::error(from.span, message).label("a choice among relations");
            self.report(
                error.hint("what can be chosen is `co`, from `generate_cos(r)` of the library's cross.cat"),
            );
            return self.bind(scope, &name.text, Meaning::Wrong);
        };
        let co = self.graph.add(Node::Relation(BaseRelation::Co));
        // Every coherence order extends that one.
        if argument.kind != ExprKind::Name("co0".into()) {
            let base = self.expression(argument, scope);
            let base = self.relation(&base, argument.span, "`generate_cos`");
            let writes = self.graph.add(Node::Set(BaseSet::Write));
            let pairs = self.graph.add(Node::Product(writes, writes));
            let loc = self.graph.add(Node::Relation(BaseRelation::Loc));
            let pairs = self.graph.add(Node::Intersection(pairs, loc));
            let base = self.graph.add(Node::Intersection(base, pairs));
            let node = self.graph.add(Node::Difference(base, co));
            let (role, question, negated) = (Role::Axiom, Question::Empty, false);
            self.checks.push(Check { name: "co".into(), role, negated, question, node });
        }
        self.bind(scope, &name.text, Meaning::Relation(co))
    }

    /// A procedure sees the names of its definition, so it cannot call itself, and calls always end.
    fn call(&mut self, index: usize, argument: &Meaning, span: Span) {
        self.work += 1;
        if self.work > super::MAX_WORK || self.depth >= super::MAX_DEPTH {
            self.report(Diagnostic::error(span, "the model is too large").label("gave up here"));
            return;
        }
        let (parameters, scope) = (self.procedures[index].parameters.clone(), self.procedures[index].scope);
        if let Some(scope) = self.bind_parameters(&parameters, argument, scope, span) {
            let body = self.procedures[index].body.clone();
            let outer = std::mem::replace(&mut self.part, self.procedures[index].file);
            self.depth += 1;
            self.statements(&body, scope);
            self.depth -= 1;
            self.part = outer;
        }
    }

    fn test(&mut self, test: &Test, scope: Scope) {
        let meaning = self.expression(&test.expr, scope);
        let node = match (test.question, &meaning) {
            (Question::Empty, Meaning::Set(node)) => *node,
            (Question::Empty, Meaning::Beyond(_)) => self.relation(&meaning, test.expr.span, ""),
            (Question::Empty, Meaning::Empty) => self.graph.add(Node::Empty(Sort::Set)),
            (question, meaning) => self.relation(meaning, test.expr.span, &format!("`{}`", question.text())),
        };
        let name = match &test.name {
            Some(name) => name.text.clone(),
            None => format!("{}-{}", test.question.text(), self.checks.len() + 1),
        };
        self.checks.push(Check {
            name,
            role: test.role,
            negated: test.negated,
            question: test.question,
            node,
        });
    }

    /// `include "file"`: a file beside the user's one, else one of ours.
    fn include(&mut self, file: &str, span: Span, scope: Scope) -> Scope {
        if self.open_includes.iter().any(|open| open == file) {
            let chain = self.open_includes.join("` includes `");
            let error = Diagnostic::error(span, format!("`{file}` includes itself"));
            self.report(error.label("this closes the circle").hint(format!("`{chain}` includes `{file}`")));
            return scope;
        }
        self.include_count += 1;
        if self.include_count > MAX_INCLUDES {
            self.report(Diagnostic::error(span, "too many files are included").label("gave up here"));
            return scope;
        }
        let Some(text) = (self.load)(file).or_else(|| builtin::source(file).map(str::to_string)) else {
            let error = Diagnostic::error(span, format!("there is no file `{file}` to include"));
            let hint = format!("built-in files are {}", builtin::files().join(", "));
            self.report(error.label("neither beside this file nor built in").hint(hint));
            return scope;
        };
        let included_at = if self.part == 0 { span } else { self.parts[self.part].included_at };
        self.parts.push(Part { source: SourceFile::new(file, text.clone()), included_at });
        let outer = std::mem::replace(&mut self.part, self.parts.len() - 1);
        if !self.included.iter().any(|(name, _)| name == file) {
            self.included.push((file.to_string(), text.clone()));
        }
        self.open_includes.push(file.to_string());
        let scope = match crate::parser::parse(&text) {
            Ok(parsed) => self.statements(&parsed.statements, scope),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.report(error));
                scope
            }
        };
        self.open_includes.pop();
        self.part = outer;
        scope
    }
}
