//! A counterexample as a picture: a column per thread, a box per step in the order of the story, coloured arrows for
//! reads-from, coherence and from-read. As a Graphviz graph, or as SVG with a layout of our own.

use std::fmt::Write;

/// What to draw.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Above everything.
    pub title: String,
    /// The boxes, from top to bottom.
    pub boxes: Vec<Step>,
    /// Arrows between boxes.
    pub arrows: Vec<Arrow>,
}

/// A box.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its column.
    pub thread: u32,
    /// What happens.
    pub event: String,
    /// Where, and the source text.
    pub place: String,
}

/// An arrow from one box to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Index of a box.
    pub from: usize,
    /// Index of a box.
    pub to: usize,
    /// What it means.
    pub kind: Kind,
}

/// The relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The read reads the write.
    Rf,
    /// The next newer write of the cell.
    Co,
    /// The read does not see the write.
    Fr,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Rf => "rf",
            Kind::Co => "co",
            Kind::Fr => "fr",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Kind::Rf => "red",
            Kind::Co => "blue",
            Kind::Fr => "darkorange",
        }
    }
}

const COLUMN: usize = 330;
const BOX: (usize, usize) = (270, 36);
const ROW: usize = 52;
const TOP: usize = 70;

impl Picture {
    /// The threads that have boxes.
    fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = self.boxes.iter().map(|step| step.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// As a graph in the DOT language.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph counterexample {\n  node [shape=box, fontname=\"monospace\"];\n");
        let _ = writeln!(out, "  label=\"{}\";", escape_dot(&self.title));
        for thread in self.threads() {
            let _ = writeln!(out, "  subgraph cluster_{thread} {{\n    label=\"thread {thread}\";");
            let mut last = None;
            for (i, step) in self.boxes.iter().enumerate().filter(|(_, step)| step.thread == thread) {
                let label = format!("{}\\n{}", escape_dot(&step.event), escape_dot(&step.place));
                let _ = writeln!(out, "    s{i} [label=\"{label}\"];");
                if let Some(last) = last {
                    let _ = writeln!(out, "    s{last} -> s{i} [label=\"po\"];");
                }
                last = Some(i);
            }
            out.push_str("  }\n");
        }
        for arrow in &self.arrows {
            let (name, color) = (arrow.kind.name(), arrow.kind.color());
            let _ = writeln!(
                out,
                "  s{} -> s{} [label=\"{name}\", color={color}, fontcolor={color}];",
                arrow.from, arrow.to
            );
        }
        out.push_str("}\n");
        out
    }

    /// As an SVG file.
    pub fn svg(&self) -> String {
        let threads = self.threads();
        let (width, height) = (threads.len().max(1) * COLUMN + 60, TOP + self.boxes.len() * ROW + 20);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n"
        );
        out.push_str("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<defs>\n");
        for kind in [Kind::Rf, Kind::Co, Kind::Fr] {
            let _ = writeln!(
                out,
                "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"{}\"/></marker>",
                kind.name(),
                kind.color()
            );
        }
        let _ = writeln!(out, "</defs>\n<text x=\"20\" y=\"22\">{}</text>", escape_xml(&self.title));
        let left = |thread: u32| 30 + threads.iter().position(|&t| t == thread).unwrap_or(0) * COLUMN;
        for &thread in &threads {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"50\" font-weight=\"bold\">thread {thread}</text>",
                left(thread)
            );
        }
        for (row, step) in self.boxes.iter().enumerate() {
            let (x, y) = (left(step.thread), TOP + row * ROW);
            let (w, h) = BOX;
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"4\" fill=\"#f4f4f4\" stroke=\"black\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\" fill=\"gray\">{}</text>",
                x + 6,
                y + 15,
                escape_xml(&clipped(&step.event)),
                x + 6,
                y + 30,
                escape_xml(&clipped(&step.place))
            );
        }
        for arrow in &self.arrows {
            out.push_str(&self.curve(*arrow, &left));
        }
        out.push_str("</svg>\n");
        out
    }

    /// From side to side between columns; around the right side within one.
    fn curve(&self, arrow: Arrow, left: &dyn Fn(u32) -> usize) -> String {
        let (Some(a), Some(b)) = (self.boxes.get(arrow.from), self.boxes.get(arrow.to)) else {
            return String::new();
        };
        let (xa, xb) = (left(a.thread), left(b.thread));
        let middle = |row: usize| TOP + row * ROW + BOX.1 / 2;
        let (ya, yb) = (middle(arrow.from), middle(arrow.to));
        let (start, end, bend) = match xa.cmp(&xb) {
            std::cmp::Ordering::Less => (xa + BOX.0, xb, (xa + BOX.0 + xb) / 2),
            std::cmp::Ordering::Greater => (xa, xb + BOX.0, (xa + xb + BOX.0) / 2),
            std::cmp::Ordering::Equal => (xa + BOX.0, xb + BOX.0, xa + BOX.0 + 40),
        };
        let (name, color) = (arrow.kind.name(), arrow.kind.color());
        format!(
            "<path d=\"M{start} {ya} C{bend} {ya} {bend} {yb} {end} {yb}\" fill=\"none\" stroke=\"{color}\" marker-end=\"url(#{name})\"/>\n<text x=\"{bend}\" y=\"{}\" fill=\"{color}\">{name}</text>\n",
            (ya + yb) / 2
        )
    }
}

/// What fits into a box.
fn clipped(text: &str) -> String {
    let fits = BOX.0 / 8 + 2;
    if text.chars().count() <= fits {
        return text.to_string();
    }
    text.chars().take(fits - 3).collect::<String>() + "..."
}

fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let step = |thread, event: &str| Step { thread, event: event.into(), place: "1: f(\"<a>\")".into() };
        let arrow = |from, to, kind| Arrow { from, to, kind };
        Picture {
            title: "a & b".into(),
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
        let dot = picture().dot();
        assert!(dot.contains("cluster_1") && dot.contains("cluster_2"), "{dot}");
        assert!(dot.contains("s0 -> s2 [label=\"po\"]") && dot.contains("s0 -> s1 [label=\"rf\""), "{dot}");
        assert!(dot.contains("f(\\\"<a>\\\")"), "{dot}");
    }

    #[test]
    fn svg_is_escaped_and_draws_what_there_is() {
        let svg = picture().svg();
        assert!(svg.contains("a &amp; b") && svg.contains("f(&quot;&lt;a&gt;&quot;)"), "{svg}");
        assert_eq!(svg.matches("<path d=\"M").count(), 3 + 3, "three arrow heads, three arrows: {svg}");
    }
}
