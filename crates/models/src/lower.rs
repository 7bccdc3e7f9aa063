//! From syntax trees to a [`Graph`]: includes, names, sorts and functions are gone afterwards.
//!
//! A function is expanded where it is applied; the same function on the same arguments is expanded once. Sorts are
//! therefore always known when an operator is reached, and a function may take sets here and relations there. A mistake
//! becomes [`Meaning::Wrong`], which fits everywhere, so that one mistake is reported once.
//!
//! Lowering always ends: nesting, expansions and includes are counted and bounded.

mod expressions;
mod statements;

use crate::ast::{Expr, Name, Question, Role, Statement};
use crate::base::{BaseSet, RELATIONS, SETS};
use crate::graph::{Graph, Node, NodeId, Sort};
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_ir::fence::TABLE;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How deep expressions and calls may nest together.
const MAX_DEPTH: usize = 200;
/// How many expressions are lowered before we give up: functions of functions can grow without end.
const MAX_WORK: usize = 300_000;
/// Number of includes, repeated ones counted.
const MAX_INCLUDES: usize = 200;
/// Further mistakes are not reported.
const MAX_ERRORS: usize = 20;

/// Functions of the library on sets of sets, of relations or of tags.
const BEYOND: [&str; 6] = ["linearisations", "classes-loc", "partition", "map", "tag2events", "tag2instrs"];

/// What a name or an expression stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Meaning {
    /// A set of events.
    Set(NodeId),
    /// A relation.
    Relation(NodeId),
    /// `0` or `{}`: empty, a set or a relation as needed.
    Empty,
    /// Several values.
    Tuple(Vec<Meaning>),
    /// A function of the file, by its number.
    Function(usize),
    /// `domain` or `range`.
    Projection(Projection),
    /// A procedure, by its number.
    Procedure(usize),
    /// Something about sets of sets or of relations, or about tags; what it is.
    Beyond(&'static str),
    /// A mistake that has been reported.
    Wrong,
}

/// The functions that are built in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Projection {
    /// `domain r`.
    Domain,
    /// `range r`.
    Range,
    /// `ctrlcfence S`, or `ctrlcfence (r, S)` with the control dependencies as an argument: both are in use.
    ControlFence,
}

/// A check of the model.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name, from `as` or made from its question and number.
    pub name: String,
    /// What follows from it.
    pub role: Role,
    /// With `~`.
    pub negated: bool,
    /// What is asked.
    pub question: Question,
    /// Of what.
    pub node: NodeId,
}

/// A lowered model.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// All operations.
    pub graph: Graph,
    /// The checks, in the order of the text.
    pub checks: Vec<Check>,
    /// The sets and relations that have a name at the end; the later of two definitions of one name counts.
    pub definitions: Vec<(String, NodeId)>,
    /// The included files, so that the model can be lowered again.
    pub includes: Vec<(String, String)>,
    /// Which of the replaced definitions occurred.
    pub replaced: Vec<bool>,
}

/// Finds the text of an included file.
pub type Loader<'l> = &'l dyn Fn(&str) -> Option<String>;

/// Lowers a model; `replace` gives other values for definitions by name.
pub fn lower(
    file: &SourceFile,
    load: Loader<'_>,
    replace: &[(String, Expr)],
) -> Result<Lowered, Vec<Diagnostic>> {
    let syntax = crate::parser::parse(&file.text)?;
    let mut lowerer = Lowerer::new(file, load, replace);
    let mut scope = lowerer.base_scope(syntax.architecture.as_deref() == Some("C"));
    scope = lowerer.prelude(scope);
    lowerer.replacing = true;
    scope = lowerer.statements(&syntax.statements, scope);
    if lowerer.faults > 0 {
        return Err(lowerer.errors);
    }
    let definitions = lowerer.definitions(scope);
    Ok(Lowered {
        graph: lowerer.graph,
        checks: lowerer.checks,
        definitions,
        includes: lowerer.included,
        replaced: lowerer.replaced,
    })
}

/// A place in the chain of visible names.
type Scope = Option<usize>;

/// One link of the chain.
struct Link {
    name: String,
    meaning: Meaning,
    next: Scope,
}

struct Function {
    parameters: Vec<Option<Name>>,
    body: Rc<Expr>,
    scope: Scope,
    file: usize,
}

struct Procedure {
    parameters: Vec<Option<Name>>,
    body: Rc<Vec<Statement>>,
    scope: Scope,
    file: usize,
}

/// A file that is part of the model; the first is the user's.
struct Part {
    source: SourceFile,
    /// The `include` in the user's file that brought it in.
    included_at: Span,
}

struct Lowerer<'l> {
    graph: Graph,
    checks: Vec<Check>,
    errors: Vec<Diagnostic>,
    /// Number of mistakes so far, those that were not kept in `errors` counted.
    faults: usize,
    links: Vec<Link>,
    functions: Vec<Function>,
    procedures: Vec<Procedure>,
    expansions: FxHashMap<(usize, Meaning), Meaning>,
    parts: Vec<Part>,
    /// The part that is being lowered.
    part: usize,
    /// Names of the files that are being included, outermost first.
    open_includes: Vec<String>,
    include_count: usize,
    included: Vec<(String, String)>,
    load: Loader<'l>,
    replace: &'l [(String, Expr)],
    replaced: Vec<bool>,
    replacing: bool,
    depth: usize,
    work: usize,
}

impl<'l> Lowerer<'l> {
    fn new(file: &SourceFile, load: Loader<'l>, replace: &'l [(String, Expr)]) -> Lowerer<'l> {
        Lowerer {
            graph: Graph::default(),
            checks: Vec::new(),
            errors: Vec::new(),
            faults: 0,
            links: Vec::new(),
            functions: Vec::new(),
            procedures: Vec::new(),
            expansions: FxHashMap::default(),
            parts: vec![Part { source: file.clone(), included_at: Span::default() }],
            part: 0,
            open_includes: vec![file.name.clone()],
            include_count: 0,
            included: Vec::new(),
            load,
            replace,
            replaced: vec![false; replace.len()],
            replacing: false,
            depth: 0,
            work: 0,
        }
    }

    /// The names that are given. `language` is true for a model of C, where `A` means atomic.
    fn base_scope(&mut self, language: bool) -> Scope {
        let mut scope = None;
        for &(name, base) in SETS {
            let base = if language && name == "A" { BaseSet::Atomic } else { base };
            let node = self.graph.add(Node::Set(base));
            scope = self.bind(scope, name, Meaning::Set(node));
        }
        for row in TABLE.iter().filter(|row| !row.cat.is_empty()) {
            let node = self.graph.add(Node::Set(BaseSet::Kind(row.fence)));
            scope = self.bind(scope, row.cat, Meaning::Set(node));
        }
        for &(name, base) in RELATIONS {
            let node = self.graph.add(Node::Relation(base));
            scope = self.bind(scope, name, Meaning::Relation(node));
        }
        for name in BEYOND {
            scope = self.bind(scope, name, Meaning::Beyond(name));
        }
        scope = self.bind(scope, "domain", Meaning::Projection(Projection::Domain));
        scope = self.bind(scope, "range", Meaning::Projection(Projection::Range));
        self.bind(scope, "ctrlcfence", Meaning::Projection(Projection::ControlFence))
    }

    /// The definitions that every model may use, from `prelude.cat`.
    fn prelude(&mut self, scope: Scope) -> Scope {
        match crate::parser::parse(crate::builtin::PRELUDE) {
            Ok(file) => self.statements(&file.statements, scope),
            Err(errors) => unreachable!("the prelude is broken: {errors:?}"),
        }
    }

    fn bind(&mut self, scope: Scope, name: &str, meaning: Meaning) -> Scope {
        self.links.push(Link { name: name.to_string(), meaning, next: scope });
        Some(self.links.len() - 1)
    }

    fn lookup(&self, scope: Scope, name: &str) -> Option<&Meaning> {
        let mut at = scope;
        while let Some(index) = at {
            let link = &self.links[index];
            if link.name == name {
                return Some(&link.meaning);
            }
            at = link.next;
        }
        None
    }

    fn names(&self, scope: Scope) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = scope;
        while let Some(index) = at {
            names.push(self.links[index].name.as_str());
            at = self.links[index].next;
        }
        names
    }

    fn definitions(&mut self, scope: Scope) -> Vec<(String, NodeId)> {
        let mut definitions: Vec<(String, NodeId)> = Vec::new();
        let mut at = scope;
        while let Some(index) = at {
            let (name, meaning) = (self.links[index].name.clone(), self.links[index].meaning.clone());
            at = self.links[index].next;
            let node = match meaning {
                Meaning::Set(node) | Meaning::Relation(node) => node,
                Meaning::Empty => self.graph.add(Node::Empty(Sort::Relation)),
                _ => continue,
            };
            if !definitions.iter().any(|(n, _)| *n == name) {
                definitions.push((name, node));
            }
        }
        definitions.reverse();
        definitions
    }

    /// Reports a mistake in the current part. One in an included file is shown at the `include` of the user's file.
    fn report(&mut self, mut error: Diagnostic) {
        self.faults += 1;
        if self.part != 0 {
            let part = &self.parts[self.part];
            let (line, column) = part.source.line_column(error.span.start);
            let message = format!(
                "in the included file `{}`, line {line}, column {column}: {}",
                part.source.name, error.message
            );
            let code = part.source.text.lines().nth(line - 1).unwrap_or("").trim().to_string();
            let mut shown = Diagnostic::error(part.included_at, message).label("included here");
            shown.hints = error.hints;
            error = shown.hint(format!("the line there reads `{code}`"));
        }
        if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Forgets the mistakes since `mark`, which is (kept errors, faults).
    fn forgive(&mut self, mark: (usize, usize)) {
        self.errors.truncate(mark.0);
        self.faults = mark.1;
    }

    /// Reports an unknown name; `locals` are visible in addition to the scope.
    fn unknown(&mut self, scope: Scope, name: &str, span: Span, locals: &[&str]) {
        let mut error = Diagnostic::error(span, format!("unknown name `{name}`")).label("not defined here");
        let mut candidates = self.names(scope);
        candidates.extend(locals);
        if let Some(near) = nearest(name, &candidates) {
            error = error.hint(format!("did you mean `{near}`?"));
        }
        self.report(error);
    }
}

/// The candidate that is nearest to a name, if it is near enough to be a typo. Case matters less than letters.
fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let limit = 1 + name.len() / 4;
    let folded = name.to_ascii_lowercase();
    let measured = candidates.iter().map(|&c| {
        let letters = edit_distance(&folded, &c.to_ascii_lowercase());
        (letters, edit_distance(name, c), c)
    });
    measured.filter(|&(letters, exact, _)| letters == 0 || exact <= limit).min().map(|(_, _, c)| c)
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
