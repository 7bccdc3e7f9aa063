//! The order in which the instructions of a function are run symbolically, and which registers matter where.
//!
//! The order is a weak topological order [Bou93]: every edge leads forward, or back to the head of a loop that it is in.
//! So where ways meet again all of them have been followed first, and a loop can be run round by round.
//!
//! Reference: `[Bou93]` F. Bourdoncle, Efficient chaotic iteration strategies with widenings, FMPA 1993.

use fencepost_ir::{Function, Reg, live_registers};

/// A part of a weak topological order.
#[derive(Clone, Debug)]
pub(super) enum Element {
    /// One instruction; the number after the last is the end of the function.
    Instr(u32),
    /// A loop.
    Loop(Loop),
}

/// A loop: a strongly connected part of the control flow.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Where it is entered and comes round.
    pub head: u32,
    /// The rest of it.
    pub body: Vec<Element>,
    /// All its instructions.
    pub members: Vec<bool>,
}

/// What is known about a function.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// All reachable instructions and the end.
    pub elements: Vec<Element>,
    /// Live registers before each instruction that is the head of a loop, sorted; empty for others.
    pub live: Vec<Vec<Reg>>,
}

/// Analyses a function; `observed` registers are of interest at its end.
pub(super) fn analyse(function: &Function, observed: &[Reg]) -> Flow {
    let end = function.body.len() as u32;
    let edges: Vec<Vec<u32>> = (0u32..)
        .zip(&function.body)
        .map(|(at, instr)| instr.successors(at).map(|to| to.min(end)).collect())
        .chain([Vec::new()])
        .collect();
    let within = vec![true; edges.len()];
    let elements = order(&edges, &[0], &within);
    let live = live_at_heads(function, observed, &elements);
    Flow { elements, live }
}

/// The weak topological order of what can be reached from `starts` within a part of the graph.
fn order(edges: &[Vec<u32>], starts: &[u32], within: &[bool]) -> Vec<Element> {
    let mut elements = Vec::new();
    for component in components(edges, starts, within).into_iter().rev() {
        // The last is the one that was met first.
        let head = component[component.len() - 1];
        if component.len() == 1 && !edges[head as usize].contains(&head) {
            elements.push(Element::Instr(head));
            continue;
        }
        let mut members = vec![false; edges.len()];
        component.iter().for_each(|&at| members[at as usize] = true);
        let mut rest = members.clone();
        rest[head as usize] = false;
        let body = order(edges, &edges[head as usize], &rest);
        elements.push(Element::Loop(Loop { head, body, members }));
    }
    elements
}

/// Strongly connected components, the last ones first [Tarjan 1972]; in each the instruction met first stands last.
fn components(edges: &[Vec<u32>], starts: &[u32], within: &[bool]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut open = vec![false; edges.len()];
    let (mut stack, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(u32, usize)> = Vec::new();
    for &start in starts {
        if !within[start as usize] || index[start as usize] != NEW {
            continue;
        }
        path.push((start, 0));
        while let Some((at, next)) = path.pop() {
            let a = at as usize;
            if next == 0 {
                (index[a], low[a], open[a]) = (count, count, true);
                count += 1;
                stack.push(at);
            } else {
                low[a] = low[a].min(low[edges[a][next - 1] as usize]);
            }
            let follow = (next..edges[a].len()).find(|&i| {
                let to = edges[a][i] as usize;
                if within[to] && open[to] {
                    low[a] = low[a].min(index[to]);
                }
                within[to] && index[to] == NEW
            });
            if let Some(i) = follow {
                path.push((at, i + 1));
                path.push((edges[a][i], 0));
            } else if low[a] == index[a] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    open[member as usize] = false;
                    component.push(member);
                    if member == at {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}

fn live_at_heads(function: &Function, observed: &[Reg], elements: &[Element]) -> Vec<Vec<Reg>> {
    let (end, live) = (function.body.len(), live_registers(function, observed));
    let mut out = vec![Vec::new(); end + 1];
    let mut work: Vec<&Element> = elements.iter().collect();
    while let Some(element) = work.pop() {
        let Element::Loop(inner) = element else { continue };
        work.extend(&inner.body);
        out[inner.head as usize] = live[inner.head as usize].iter().collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Instr, Label, Operand, Span};

    fn show(elements: &[Element]) -> String {
        let parts: Vec<String> = elements
            .iter()
            .map(|element| match element {
                Element::Instr(at) => at.to_string(),
                Element::Loop(inner) => format!("({} {})", inner.head, show(&inner.body)),
            })
            .collect();
        parts.join(" ")
    }

    #[test]
    fn loops_are_nested_and_exits_come_after_them() {
        let mut function = Function { regs: vec!["r".into()], ..Function::default() };
        let branch = |then_to, else_to| Instr::Branch {
            condition: Operand::Reg(Reg(0)),
            then_to: Label(then_to),
            else_to: Label(else_to),
        };
        // 0: while (r) { 1: while (r) { 2: } 3: } 4:
        for instr in [branch(1, 4), branch(2, 3), Instr::Jump(Label(1)), Instr::Jump(Label(0)), Instr::Halt] {
            function.push(instr, Span::default());
        }
        let flow = analyse(&function, &[]);
        assert_eq!(show(&flow.elements), "(0 (1 2) 3) 4");
        assert_eq!(flow.live[1], [Reg(0)]);
    }
}
