//! Memory models as data: an interpreter for the cat language, and SC, TSO, PSO, RA, RC11, POWER and ARMv8 written in
//! it.
//!
//! A model goes through four stages, one module each: `lexer` and [`parser`] make a syntax tree ([`ast`]), `lower`
//! turns it into a [`graph`] of operations on sets and relations (names, sorts, functions and includes are resolved
//! there, and all mistakes are reported there), and `eval` computes the graph over an execution. Lowering never
//! fails at judging time: a loaded model judges every execution.
//!
//! The language is that of herd7's manual (Alglave, Maranget, *herd7: the cat language*) without enumerations, bell
//! files and `forall`. Sets of sets and of relations, `match`, `++` and recursive functions are read and have no value: what a
//! check needs of them is an error that names the construct. Coherence is given: `co` and `fr` are base relations, including
//! `cos.cat` does nothing, and where a file beside the model says `with co from generate_cos(r)` that is the given one, which has
//! to extend `r`.
//!
//! [`registry`] is the table of the models; [`mapping`] compiles C11 programs for the machines whose models these are,
//! and [`mod@prepare`] makes of a program what an engine takes.

pub mod ast;
pub mod base;
mod builtin;
mod eval;
pub mod graph;
mod lexer;
mod lower;
pub mod mapping;
pub mod parser;
pub mod prepare;
pub mod registry;

pub use eval::Checker;
pub use prepare::prepare;
pub use registry::Entry;

use ast::{Binary, Expr, ExprKind, Question, Role, Statement};
use eval::Plan;
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_ir::{Execution, Relation};
use graph::{Graph, Growth, NodeId};
use lower::Lowered;

pub use lower::Check;

/// What a model says about an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judgement {
    /// All axioms hold.
    pub consistent: bool,
    /// Names of the axioms that do not hold, in the order of the text.
    pub failed: Vec<String>,
    /// Names of the flags that a consistent execution raises, in the order of the text.
    pub flags: Vec<String>,
    /// One of the flags makes the behaviour of the program undefined (`undefined_unless`, such as a data race).
    pub undefined: bool,
}

/// An axiom or a flag, as a user sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom<'m> {
    /// Its name.
    pub name: &'m str,
    /// Axiom or kind of flag.
    pub role: Role,
    /// A partial execution that violates it has no consistent extension: its relation can only grow when events and
    /// edges are added, by its syntax.
    pub monotone: bool,
}

/// A part of a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// The name that is defined.
    pub definition: String,
    /// The clause.
    pub text: String,
    /// The definition without it, for [`Model::with_definition`].
    pub rest: String,
}

/// A memory model, ready to judge executions.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    title: Option<String>,
    source: SourceFile,
    replaced: Vec<(String, String)>,
    dropped: Vec<String>,
    lowered: Lowered,
    plan: Plan,
}

/// Names of the built-in models.
pub fn builtin_names() -> Vec<&'static str> {
    builtin::names()
}

/// The cat text of a built-in model.
pub fn builtin_source(name: &str) -> Option<&'static str> {
    builtin::source(name)
}

impl Model {
    /// A built-in model: `sc`, `tso`, `pso`, `ra`, `rc11`, `power` or `armv8`.
    pub fn builtin(name: &str) -> Option<Model> {
        if !builtin::names().contains(&name) {
            return None;
        }
        let source = SourceFile::new(format!("{name}.cat"), builtin::source(name)?);
        match Model::from_file(&source, &|_| None) {
            Ok(model) => Some(Model { name: name.to_string(), ..model }),
            Err(errors) => unreachable!("the built-in model {name} is broken: {errors:?}"),
        }
    }

    /// A model from the text of a cat file. `loader` finds included files beside it; what it does not find may still
    /// be a built-in file. Errors point into `file`, also those of included files.
    pub fn from_file(
        file: &SourceFile,
        loader: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, Vec<Diagnostic>> {
        Model::build(file, loader, Vec::new())
    }

    fn build(
        file: &SourceFile,
        loader: &dyn Fn(&str) -> Option<String>,
        replaced: Vec<(String, String)>,
    ) -> Result<Model, Vec<Diagnostic>> {
        let mut values = Vec::new();
        for (name, text) in &replaced {
            values.push((name.clone(), parser::parse_expression(text)?));
        }
        let lowered = lower::lower(file, loader, &values)?;
        let plan = Plan::new(&lowered);
        let title = parser::parse(&file.text).ok().and_then(|parsed| parsed.title);
        let stem = file.name.rsplit(['/', '\\']).next().unwrap_or(&file.name);
        let name = stem.strip_suffix(".cat").unwrap_or(stem).to_string();
        let (source, dropped) = (file.clone(), Vec::new());
        Ok(Model { name, title, source, replaced, dropped, lowered, plan })
    }

    /// Its name: that of a built-in model, or the file's without folder and `.cat`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title in the file.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its text.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Judges one execution. For many executions over the same events a [`Checker`] is faster.
    pub fn check(&self, execution: &Execution) -> Judgement {
        Checker::new(self, execution).judge(execution)
    }

    /// Axioms and flags in the order of the text.
    pub fn axioms(&self) -> Vec<Axiom<'_>> {
        let view = |c| self.view(c);
        self.lowered.checks.iter().map(view).collect()
    }

    fn view<'m>(&'m self, check: &'m Check) -> Axiom<'m> {
        Axiom { name: &check.name, role: check.role, monotone: self.is_monotone(check) }
    }

    /// Is the axiom with this index in [`Model::axioms`] monotone by its syntax?
    pub fn is_monotone_axiom(&self, index: usize) -> bool {
        self.is_monotone(&self.lowered.checks[index])
    }

    /// Whether a violation of the axiom with this index is final when only edges are added, by its syntax.
    pub fn is_final_axiom(&self, index: usize) -> bool {
        self.is_final(&self.lowered.checks[index])
    }

    pub(crate) fn is_monotone(&self, check: &Check) -> bool {
        let growth = self.lowered.graph.facts(check.node).growth;
        !check.negated && matches!(growth, Growth::Fixed | Growth::Grows)
    }

    /// Whether every consistent execution is coherent location by location, as the syntax tells: there is an axiom that a union
    /// with `po-loc`, `rf`, `co` and `fr` among its operands is acyclic.
    pub fn implies_coherence(&self) -> bool {
        let graph = &self.lowered.graph;
        self.lowered.checks.iter().any(|check| {
            let asked = check.role == Role::Axiom && !check.negated && check.question == Question::Acyclic;
            asked && graph.is_within_coherence(check.node)
        })
    }

    /// The same, also for models that say it as C11 does: `hb; eco?` is irreflexive, for an `hb` that contains `po` and an
    /// `eco` that is the closure of a union of at least `rf`, `co` and `fr`.
    pub fn forbids_incoherence(&self) -> bool {
        let graph = &self.lowered.graph;
        self.implies_coherence()
            || self.lowered.checks.iter().any(|check| {
                let asked = check.role == Role::Axiom && !check.negated;
                asked && check.question == Question::Irreflexive && graph.is_coherent_order(check.node)
            })
    }

    /// Whether a violation is final when only edges are added, as far as the syntax tells.
    pub(crate) fn is_final(&self, check: &Check) -> bool {
        let growth = self.lowered.graph.facts(check.node).with_edges;
        !check.negated && matches!(growth, Growth::Fixed | Growth::Grows)
    }

    /// All operations of the model.
    pub fn operations(&self) -> &Graph {
        &self.lowered.graph
    }

    /// What it checks, in the order of the text.
    pub fn checks(&self) -> &[Check] {
        &self.lowered.checks
    }

    /// The operation that a definition stands for.
    pub fn definition(&self, name: &str) -> Option<NodeId> {
        self.lowered.definitions.iter().find(|(known, _)| known == name).map(|(_, node)| *node)
    }

    /// The definition of the model's own text that an operation belongs to, the smallest one: its name, and where it stands.
    pub fn defined_at(&self, node: NodeId) -> Option<(String, Span)> {
        let file = parser::parse(&self.source.text).ok()?;
        let bindings = file.statements.iter().filter_map(|statement| match statement {
            Statement::Let { bindings, .. } => Some(bindings),
            _ => None,
        });
        let mut found: Option<(usize, String, Span)> = None;
        for name in bindings.flatten().flat_map(|binding| &binding.pattern).flatten() {
            let Some(defined) = self.definition(&name.text) else { continue };
            let parts = self.lowered.graph.needed(&[defined]);
            if parts.contains(&node) && found.as_ref().is_none_or(|(size, ..)| parts.len() < *size) {
                found = Some((parts.len(), name.text.clone(), name.span));
            }
        }
        found.map(|(_, name, span)| (name, span))
    }

    /// It is a built-in model as it stands in its file.
    pub fn is_as_built_in(&self) -> bool {
        self.replaced.is_empty()
            && self.dropped.is_empty()
            && builtin::source(&self.name) == Some(self.source.text.as_str())
    }

    /// The model without the axioms of that name.
    pub fn without_axiom(&self, name: &str) -> Option<Model> {
        let mut model = self.clone();
        model.lowered.checks.retain(|c| c.name != name);
        if model.lowered.checks.len() == self.lowered.checks.len() {
            return None;
        }
        model.dropped.push(name.to_string());
        model.plan = Plan::new(&model.lowered);
        Some(model)
    }

    /// The model with another value for the definitions of `name` in its text, such as `"0"`; a recursive definition
    /// stays recursive. Errors are about the new value.
    pub fn with_definition(&self, name: &str, value: &str) -> Result<Model, Vec<Diagnostic>> {
        let mut replaced = self.replaced.clone();
        replaced.retain(|(n, _)| n != name);
        replaced.push((name.to_string(), value.to_string()));
        let includes = self.lowered.includes.clone();
        let load = |file: &str| includes.iter().find(|(n, _)| n == file).map(|(_, text)| text.clone());
        let mut model = Model::build(&self.source, &load, replaced)?;
        if model.lowered.replaced.last() != Some(&true) {
            let error =
                Diagnostic::error(Default::default(), format!("the model has no definition of `{name}`"));
            return Err(vec![error]);
        }
        model.name = self.name.clone();
        for dropped in &self.dropped {
            model = model.without_axiom(dropped).unwrap_or(model);
        }
        Ok(model)
    }

    /// The clauses of the definitions in the model's own text: the operands of an outermost `|`, or the whole value.
    /// Tests drop each of them once and look for a test that notices.
    pub fn clauses(&self) -> Vec<Clause> {
        let mut clauses = Vec::new();
        let file = parser::parse(&self.source.text).unwrap_or_default();
        let bindings = file.statements.iter().filter_map(|s| match s {
            Statement::Let { bindings, .. } => Some(bindings),
            _ => None,
        });
        for binding in bindings.flatten() {
            let [Some(name)] = &binding.pattern[..] else { continue };
            let text = |e: &Expr| self.source.text[e.span.start as usize..e.span.end as usize].to_string();
            let operands: Vec<String> = match &binding.value.kind {
                ExprKind::Binary(Binary::Union, operands) => operands.iter().map(text).collect(),
                ExprKind::Fun(..) => continue,
                _ => vec![text(&binding.value)],
            };
            for dropped in 0..operands.len() {
                let rest = (0..operands.len()).filter(|&i| i != dropped);
                let rest: Vec<String> = rest.map(|i| format!("({})", operands[i])).collect();
                clauses.push(Clause {
                    definition: name.text.clone(),
                    text: operands[dropped].clone(),
                    rest: if rest.is_empty() { "0".to_string() } else { rest.join(" | ") },
                });
            }
        }
        clauses
    }

    /// The value of a relation that the model defines, in an execution; of a set, the identity on it.
    pub fn relation(&self, execution: &Execution, name: &str) -> Option<Relation> {
        let (_, node) = self.lowered.definitions.iter().find(|(n, _)| n == name)?;
        Some(Checker::new(self, execution).named(*node, execution))
    }
}
