//! One execution as a Graphviz graph: a box per event, a column per thread, coloured edges per relation.

use crate::events::show_event;
use fencepost_ir::{Execution, Program, Relation};
use std::fmt::Write;

/// The graph in the DOT language. Program order is drawn between neighbours only, coherence too.
pub fn execution(program: &Program, execution: &Execution) -> String {
    let mut out = String::from("digraph execution {\n  node [shape=box, fontname=\"monospace\"];\n");
    let _ = writeln!(out, "  label=\"{}\";", escape(&program.name));
    for (t, thread) in (0u32..).zip(&program.threads) {
        let _ = writeln!(out, "  subgraph cluster_{t} {{\n    label=\"{}\";", escape(&thread.name));
        for (i, event) in execution.events.iter().enumerate() {
            if event.thread.is_some_and(|owner| owner.0 == t) {
                let _ = writeln!(out, "    e{i} [label=\"{}\"];", escape(&show_event(program, event)));
            }
        }
        out.push_str("  }\n");
    }
    let used =
        |i: usize| execution.rf.successors(i).next().is_some() || execution.co.successors(i).next().is_some();
    for (i, event) in execution.events.iter().enumerate() {
        if event.is_init() && used(i) {
            let _ = writeln!(
                out,
                "  e{i} [label=\"init {}\", style=dashed];",
                escape(&show_event(program, event))
            );
        }
    }
    let edges: [(&str, Relation, &str); 8] = [
        ("po", neighbours(&execution.po), "black"),
        ("rf", execution.rf.clone(), "red"),
        ("co", neighbours(&execution.co), "blue"),
        ("fr", execution.fr(), "darkorange"),
        ("rmw", execution.rmw.clone(), "brown"),
        ("addr", execution.addr.clone(), "purple"),
        ("data", execution.data.clone(), "purple"),
        ("ctrl", nearest(&execution.ctrl, &execution.po), "purple"),
    ];
    for (name, relation, color) in edges {
        for (a, b) in relation.pairs() {
            let _ = writeln!(out, "  e{a} -> e{b} [label=\"{name}\", color={color}, fontcolor={color}];");
        }
    }
    out.push_str("}\n");
    out
}

/// A transitive relation without the pairs that it implies.
fn neighbours(relation: &Relation) -> Relation {
    relation.difference(&relation.compose(relation))
}

/// Control dependencies to the first events after the branch only.
fn nearest(ctrl: &Relation, po: &Relation) -> Relation {
    ctrl.difference(&ctrl.compose(po))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
