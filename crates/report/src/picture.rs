//! A counterexample as a picture: a column per thread, a box per step in the order of the story, coloured arrows for
//! reads-from, coherence and from-read. As a Graphviz graph, or as SVG with a layout of our own (`layout`).

use crate::events::escape_markup;
use crate::layout::{LINE, Layout, Rect, Route, threads};
use fencepost_answer::picture::{Kind, Picture};
use std::fmt::Write;

fn color(kind: Kind) -> &'static str {
    match kind {
        Kind::Rf => "#c62828",
        Kind::Co => "#1565c0",
        Kind::Fr => "#c76a00",
        Kind::Po => "#555555",
        Kind::Addr | Kind::Data | Kind::Ctrl => "#7b1fa2",
    }
}

/// What stands above a column.
fn thread_name(picture: &Picture, thread: u32) -> String {
    match picture.threads.get(thread as usize) {
        Some(name) => name.clone(),
        None => format!("thread {thread}"),
    }
}

/// As a graph in the DOT language.
pub fn dot(picture: &Picture) -> String {
    let mut out = String::from("digraph counterexample {\n  node [shape=box, fontname=\"monospace\"];\n");
    let _ = writeln!(out, "  label=\"{}\";", escape_dot(&picture.title));
    for thread in threads(picture) {
        let _ = writeln!(
            out,
            "  subgraph cluster_{thread} {{\n    label=\"{}\";",
            escape_dot(&thread_name(picture, thread))
        );
        let mut last = None;
        for (i, step) in picture.boxes.iter().enumerate().filter(|(_, step)| step.thread == thread) {
            let label = format!("{}\\n{}", escape_dot(&step.event), escape_dot(&step.place));
            let _ = writeln!(out, "    s{i} [label=\"{label}\"];");
            if let Some(last) = last {
                let _ = writeln!(out, "    s{last} -> s{i} [label=\"po\"];");
            }
            last = Some(i);
        }
        out.push_str("  }\n");
    }
    for arrow in &picture.arrows {
        let (name, color) = (arrow.kind.name(), color(arrow.kind));
        let _ = writeln!(
            out,
            "  s{} -> s{} [label=\"{name}\", color=\"{color}\", fontcolor=\"{color}\"];",
            arrow.from, arrow.to
        );
    }
    out.push_str("}\n");
    out
}

/// As an SVG file.
pub fn svg(picture: &Picture) -> String {
    let layout = Layout::new(picture);
    let shown: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| picture.arrows.iter().any(|arrow| arrow.kind == *kind)).collect();
    let (width, height) = (layout.width.max(480), layout.legend + shown.len() * 18 + 12);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
            {height}\" font-family=\"monospace\" font-size=\"12\">\n"
    );
    out.push_str(
        "<style>.name{paint-order:stroke;stroke:white;stroke-width:4px}</style>\n\
        <rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n<defs>\n",
    );
    for kind in Kind::ALL {
        let _ = writeln!(
            out,
            "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerUnits=\"userSpaceOnUse\" \
                markerWidth=\"10\" markerHeight=\"10\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"{}\"/></marker>",
            kind.name(),
            color(kind)
        );
    }
    let _ = writeln!(out, "</defs>\n<text x=\"20\" y=\"22\">{}</text>", escape_markup(&picture.title));
    for (&thread, x) in layout.threads.iter().zip(&layout.columns) {
        let name = escape_markup(&thread_name(picture, thread));
        let _ = writeln!(out, "<text x=\"{x}\" y=\"50\" font-weight=\"bold\">{name}</text>");
    }
    layout.routes.iter().for_each(|route| out.push_str(&arrow(route)));
    for (row, step) in picture.boxes.iter().enumerate() {
        let Rect { x, y, w, h } = layout.boxes[row];
        let (fill, stroke) = if step.marked { ("#ffe0e0", "#b00000") } else { ("#f4f4f4", "black") };
        let _ = writeln!(
            out,
            "<g class=\"event\" data-thread=\"{}\" data-at=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" \
                height=\"{h}\" rx=\"4\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
            step.thread, step.span.start
        );
        let [event, place] = &layout.texts[row];
        let colors =
            event.iter().map(|line| (line, "")).chain(place.iter().map(|line| (line, " fill=\"#555\"")));
        for (number, (line, color)) in colors.enumerate() {
            let (x, y, line) = (x + 6, y + LINE * (number + 1), escape_markup(line));
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\"{color}>{line}</text>");
        }
        out.push_str("</g>\n");
    }
    for route in &layout.routes {
        let (Rect { x, y, w, h }, kind) = (route.label, route.kind);
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\" fill=\"{}\">{}</text>",
            x + w / 2,
            y + h - 3,
            color(kind),
            kind.name()
        );
    }
    for (line, kind) in shown.into_iter().enumerate() {
        let (y, color) = (layout.legend + line * 18, color(kind));
        let _ = writeln!(
            out,
            "<path d=\"M30 {y} H70\" stroke=\"{color}\" marker-end=\"url(#{})\"/><text x=\"80\" y=\"{}\" \
                fill=\"{color}\">{}: {}</text>",
            kind.name(),
            y + 4,
            kind.name(),
            kind.about()
        );
    }
    out.push_str("</svg>\n");
    out
}

/// An arrow: out of a box, along a lane between the columns, and into the other box, with round corners.
fn arrow(route: &Route) -> String {
    let Route { from: (x1, y1), to: (x2, y2), lane, kind, on_cycle, .. } = *route;
    let (near, far) =
        (if x1 < lane { lane - 5 } else { lane + 5 }, if x2 < lane { lane - 5 } else { lane + 5 });
    let (first, last) = if y1 < y2 { (y1 + 5, y2 - 5) } else { (y1 - 5, y2 + 5) };
    let (name, color) = (kind.name(), color(kind));
    let width = if on_cycle { 3 } else { 1 };
    format!(
        "<path d=\"M{x1} {y1} H{near} Q{lane} {y1} {lane} {first} V{last} Q{lane} {y2} {far} {y2} H{x2}\" \
            fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" marker-end=\"url(#{name})\"/>\n"
    )
}

fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_answer::picture::{Arrow, Box};
    use fencepost_diag::Span;

    fn picture() -> Picture {
        let step = |thread, event: &str| Box {
            thread,
            event: event.into(),
            place: "1: f(\"<a>\")".into(),
            span: Span::default(),
            marked: false,
        };
        let arrow = |from, to, kind| Arrow { from, to, kind, on_cycle: false };
        Picture {
            title: "a & b".into(),
            threads: Vec::new(),
            boxes: vec![step(1, "W x = 1"), step(2, "R x = 1"), step(1, "W x = 2")],
            arrows: vec![
                arrow(0, 1, Kind::Rf),
                arrow(0, 2, Kind::Co),
                arrow(1, 2, Kind::Fr),
                arrow(0, 9, Kind::Rf),
            ],
        }
    }

    #[test]
    fn dot_has_a_cluster_per_thread_and_the_arrows() {
        let dot = dot(&picture());
        assert!(dot.contains("cluster_1") && dot.contains("cluster_2"), "{dot}");
        assert!(dot.contains("s0 -> s2 [label=\"po\"]") && dot.contains("s0 -> s1 [label=\"rf\""), "{dot}");
        assert!(dot.contains("f(\\\"<a>\\\")"), "{dot}");
    }

    #[test]
    fn svg_is_escaped_and_draws_what_there_is() {
        let svg = svg(&picture());
        assert!(svg.contains("a &amp; b") && svg.contains("f(&quot;&lt;a&gt;&quot;)"), "{svg}");
        assert_eq!(
            svg.matches("<path d=\"M").count(),
            Kind::ALL.len() + 3 + 3,
            "arrow heads, arrows, the legend: {svg}"
        );
    }
}
