//! Pictures of the search: Graphviz and a self-contained SVG. Both draw the tree of cubes from the bad ones (left)
//! towards the initial states (right).

use crate::outcome::{Outcome, SearchNode};
use std::fmt::Write;

/// Nodes drawn at most: beyond that a picture helps nobody.
const MAX_DRAWN: usize = 2000;

fn colour(status: &str) -> &'static str {
    match status {
        "visited" => "#cfe8cf",
        "subsumed" => "#e0e0e0",
        "deleted" => "#f5e6c8",
        "reached" => "#f4b6b6",
        _ => "#ffffff",
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Outcome {
    /// The search for Graphviz.
    pub fn search_dot(&self) -> String {
        let mut out = String::from(
            "digraph search {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=monospace];\n",
        );
        for (i, node) in self.search.iter().enumerate().take(MAX_DRAWN) {
            let text = node.cube.replace('\\', "\\\\").replace('"', "\\\"").replace(" && ", "\\n");
            let _ = writeln!(out, "  n{i} [label=\"{i}: {text}\", fillcolor=\"{}\"];", colour(node.status));
            if let Some(parent) = node.parent {
                let _ = writeln!(out, "  n{parent} -> n{i} [label=\"{}\"];", node.label.replace('"', "\\\""));
            }
        }
        if self.search.len() > MAX_DRAWN {
            let _ = writeln!(out, "  more [label=\"{} more nodes\"];", self.search.len() - MAX_DRAWN);
        }
        out + "}\n"
    }

    /// The search as SVG: one row per leaf, one column per step; the cube is the tooltip.
    pub fn search_svg(&self) -> String {
        let nodes = &self.search[..self.search.len().min(MAX_DRAWN)];
        let places = layout(nodes);
        let width = places.iter().map(|p| p.0).max().unwrap_or(0) * 190 + 200;
        let height = places.iter().map(|p| p.1).max().unwrap_or(0) * 26 + 60;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"monospace\" font-size=\"11\">\n"
        );
        let at = |i: usize| (places[i].0 * 190 + 10, places[i].1 * 26 + 10);
        for (i, node) in nodes.iter().enumerate() {
            let (x, y) = at(i);
            if let Some(parent) = node.parent {
                let (px, py) = at(parent);
                let _ = writeln!(
                    out,
                    "<path d=\"M{} {} C{} {} {} {} {x} {}\" fill=\"none\" stroke=\"#888\"/>",
                    px + 150,
                    py + 10,
                    px + 170,
                    py + 10,
                    x - 20,
                    y + 10,
                    y + 10
                );
            }
        }
        for (i, node) in nodes.iter().enumerate() {
            let (x, y) = at(i);
            let label = if node.label.is_empty() { "bad state" } else { &node.label };
            let short: String = label.chars().take(20).collect();
            let _ = writeln!(
                out,
                "<g><title>{}: {}</title><rect x=\"{x}\" y=\"{y}\" width=\"150\" height=\"20\" fill=\"{}\" \
                 stroke=\"#444\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
                node.status,
                escape(&node.cube),
                colour(node.status),
                x + 4,
                y + 14,
                escape(&short)
            );
        }
        out + "</svg>\n"
    }
}

/// Column and row of each node: children to the right of their parent, leaves on rows of their own.
fn layout(nodes: &[SearchNode]) -> Vec<(usize, usize)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(p) if p < nodes.len() => children[p].push(i),
            _ => roots.push(i),
        }
    }
    let mut places = vec![(0, 0); nodes.len()];
    let mut row = 0;
    let mut stack: Vec<(usize, usize)> = roots.into_iter().rev().map(|r| (r, 0)).collect();
    while let Some((i, column)) = stack.pop() {
        places[i] = (column, row);
        if children[i].is_empty() {
            row += 1;
        }
        stack.extend(children[i].iter().rev().map(|c| (*c, column + 1)));
    }
    places
}
