//! An outcome as JSON and as text for people.
//!
//! JSON: one object with `verdict, scope, model, stop_reason, nodes, processes, seconds, trace[], invariant[]` and a few
//! counts. The order of the fields and of everything in them is fixed.

use crate::outcome::{Outcome, Recheck, Verdict};
use crate::show;
use std::fmt::Write;

/// A JSON string.
pub fn quote(text: &str) -> String {
    let mut result = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(result, "\\u{:04x}", c as u32);
            }
            c => result.push(c),
        }
    }
    result + "\""
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

impl Outcome {
    /// The cubes of the invariant as text: no reachable state satisfies any of them.
    pub fn invariant_text(&self) -> Vec<String> {
        self.invariant.iter().map(|c| format!("not ({})", show::cube(&self.system, c))).collect()
    }

    /// One JSON object on one line.
    pub fn to_json(&self) -> String {
        let s = &self.statistics;
        let reason = self.stop_reason.as_ref().map_or("null".into(), |r| quote(&r.to_string()));
        let trace = array(self.trace.iter().map(|step| {
            let values = step.values.iter().map(|(c, v)| format!("{}: {}", quote(c), quote(v))).collect::<Vec<_>>();
            let buffers = array(step.buffers.iter().map(|b| array(b.iter().map(|e| quote(e)))));
            format!(
                "{{\"action\": {}, \"process\": {}, \"events\": {}, \"values\": {{{}}}, \"buffers\": {buffers}}}",
                quote(&step.action),
                step.process.map_or("null".into(), |p| p.to_string()),
                array(step.events.iter().map(|e| quote(e))),
                values.join(", "),
            )
        }));
        let recheck = match self.recheck {
            Recheck::Inductive => "\"inductive\"".into(),
            Recheck::Instances(n) => format!("\"instances up to {n}\""),
            Recheck::Skipped => "null".into(),
        };
        format!(
            "{{\"verdict\": {}, \"scope\": {}, \"model\": {}, \"stop_reason\": {reason}, \"nodes\": {}, \
             \"processes\": {}, \"seconds\": {:.3}, \"depth\": {}, \"restarts\": {}, \"approximations\": {}, \"inference\": {}, \
             \"recheck\": {recheck}, \"trace\": {trace}, \"invariant\": {}}}",
            quote(self.verdict.name()),
            quote(&self.scope),
            quote(self.model.name()),
            s.nodes,
            s.processes,
            s.seconds,
            s.depth,
            s.restarts,
            s.approximations,
            self.inference.map_or("null".into(), |n| n.to_string()),
            array(self.invariant_text().iter().map(|c| quote(c))),
        )
    }

    /// Text for people.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let s = &self.statistics;
        let model = self.model.name().to_uppercase();
        let _ = writeln!(out, "{} under {model}: {}", self.verdict.name(), self.scope);
        if let Some(reason) = &self.stop_reason {
            let _ = writeln!(out, "reason: {reason}");
        }
        if self.verdict == Verdict::Unsafe {
            out += &self.trace_text();
        }
        if self.verdict == Verdict::Safe {
            let how = match self.recheck {
                Recheck::Inductive => "re-checked: inductive",
                Recheck::Instances(_) => "re-checked on small instances",
                Recheck::Skipped => "not re-checked",
            };
            let inferred = match self.inference {
                Some(procs) if s.approximations > 0 => {
                    format!(", {} of them inferred from {procs} processes", s.approximations)
                }
                _ => String::new(),
            };
            let _ = writeln!(out, "invariant of {} clauses{inferred} ({how})", self.invariant.len());
        }
        let _ = writeln!(
            out,
            "{} nodes, depth {}, {} processes, {} restarts, {:.3} s",
            s.nodes, s.depth, s.processes, s.restarts, s.seconds
        );
        out
    }

    /// The run: per step the action, its events, the cells that changed, and all buffers that are not empty.
    fn trace_text(&self) -> String {
        let mut out = String::new();
        let mut before: Option<&Vec<(String, String)>> = None;
        for (number, step) in self.trace.iter().enumerate() {
            let _ = writeln!(out, "{number:>3}  {}", step.action);
            for event in &step.events {
                let _ = writeln!(out, "       {event}");
            }
            let changed: Vec<String> = step
                .values
                .iter()
                .enumerate()
                .filter(|(i, v)| before.is_none_or(|b| b[*i] != **v))
                .map(|(_, (c, v))| format!("{c} = {v}"))
                .collect();
            if !changed.is_empty() {
                let _ = writeln!(out, "       now {}", changed.join(", "));
            }
            for (p, buffer) in step.buffers.iter().enumerate().filter(|b| !b.1.is_empty()) {
                let _ = writeln!(out, "       buffer of #{}: {}", p + 1, buffer.join(" | "));
            }
            before = Some(&step.values);
        }
        out
    }
}
