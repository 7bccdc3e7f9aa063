//! The whole answer as one self-contained page: verdict and scope, the source with its lines marked, the execution step by
//! step, the picture, and the command that gives it. No network, no library: style and script stand in the page.

use crate::format::text;
use crate::report::{Report, position, show_seconds};
use crate::{events, picture};
use fencepost_answer::{Explanation, Finding, Line, Verdict};
use fencepost_diag::SourceFile;
use std::collections::BTreeSet;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Lines of a file around those that matter, if the file is too long to be shown whole.
const AROUND: usize = 12;
/// Longest file that is shown whole.
const WHOLE: usize = 400;

/// The page.
pub fn page(report: &Report<'_>, command: &str) -> String {
    let outcome = report.outcome;
    let verdict = outcome.verdict.name();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}: {verdict} under {}</title>\n<style>{STYLE}</style></head>\n<body>\n",
        escape(report.file),
        escape(report.model)
    );
    let _ = writeln!(
        out,
        "<header class=\"{verdict}\"><h1>{verdict}</h1><p>{}</p></header>\n<main>",
        escape(&text::headline(report))
    );
    for (number, finding) in outcome.findings.iter().enumerate() {
        out.push_str(&show_finding(finding, number, report));
    }
    if outcome.findings.is_empty() && outcome.verdict == Verdict::Safe {
        out.push_str("<section><p>Nothing goes wrong, as far as the line above reaches.</p></section>\n");
    }
    if let Some(coverage) = outcome.coverage.as_ref().filter(|coverage| !coverage.unreached.is_empty()) {
        let shown = escape(&text::show_coverage(coverage, report.sources, usize::MAX));
        let _ = writeln!(out, "<section><h2>Not reached</h2><pre>{shown}</pre></section>");
    }
    if let Some(suggestion) = &outcome.suggestion {
        let shown = escape(&text::show_suggestion(suggestion, report));
        let _ = writeln!(out, "<section><h2>What would help</h2><pre>{shown}</pre></section>");
    }
    if let Some(drawn) = &outcome.picture {
        let _ = writeln!(
            out,
            "<section><h2>Picture</h2><div class=\"picture\">{}</div></section>",
            picture::svg(drawn)
        );
    }
    out.push_str(&show_sources(report));
    let _ = writeln!(
        out,
        "<section><h2>How</h2><dl><dt>command</dt><dd><code>{}</code></dd><dt>engine</dt><dd>{}{}</dd>\
         <dt>found in</dt><dd>{}</dd><dt>time</dt><dd>{}</dd><dt>version</dt><dd>{}</dd></dl></section>\n</main>\n\
         <script>{SCRIPT}</script>\n</body></html>",
        escape(command),
        escape(report.engine),
        report.picked.map_or(String::new(), |why| format!(": {}", escape(why))),
        escape(&statistics(report)),
        show_seconds(report.seconds),
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// Counts, and the bounds that cut something.
fn statistics(report: &Report<'_>) -> String {
    let counts = &report.outcome.statistics;
    let counted = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let all = [
        counts
            .executions
            .map(|n| counted(n, "execution") + if counts.symmetric { " up to symmetry" } else { "" }),
        counts.states.map(|n| counted(n, "state")),
        counts.transitions.map(|n| counted(n, "transition")),
        counts.nodes.map(|n| counted(n, "node")),
        (counts.blocked > 0).then(|| format!("{} blocked", counts.blocked)),
        (counts.left_out > 0).then(|| format!("{} left out", counts.left_out)),
        (counts.cut > 0).then(|| format!("{} cut", counts.cut)),
    ];
    let mut parts: Vec<String> = all.into_iter().flatten().collect();
    parts.extend(
        report.outcome.bounds.iter().map(|bound| format!("bound {} {}", bound.name.name(), bound.value)),
    );
    if parts.is_empty() { "a formula".into() } else { parts.join(", ") }
}

/// A finding: what, where, and the execution as a table that can be stepped through.
fn show_finding(finding: &Finding, number: usize, report: &Report<'_>) -> String {
    let sources = report.sources;
    let mut out = format!(
        "<section class=\"finding\"><h2><code>{}</code> {}</h2>\n<ul>\n",
        finding.kind.code(),
        escape(&finding.message)
    );
    for place in &finding.places {
        let at = position(sources, place.span);
        let _ = writeln!(
            out,
            "<li><a class=\"at\" data-at=\"{}\" href=\"#{}\">{}:{}</a> {}</li>",
            place.span.start,
            anchor(at.file, at.line),
            escape(at.file),
            at.line,
            escape(&place.label)
        );
    }
    out.push_str("</ul>\n");
    let explanation = report.outcome.explanations.get(number);
    if let Some(Explanation { sentence, why, remedy, .. }) = explanation {
        if !sentence.is_empty() {
            let _ = writeln!(out, "<p class=\"sentence\">{}</p>", escape(sentence));
        }
        if !why.is_empty() {
            let lines: String = why.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
            let _ = writeln!(out, "<ul class=\"why\">{lines}</ul>");
        }
        if let Some(remedy) = remedy {
            let shown = escape(&text::show_remedy(remedy, report.model, sources));
            let _ = writeln!(out, "<div class=\"wide\"><pre>{shown}</pre></div>");
        }
    }
    let names = explanation.map_or(&[][..], |explanation| &explanation.threads);
    if finding.trace.is_empty() {
        out.push_str("</section>\n");
        return out;
    }
    let _ = writeln!(
        out,
        "<div class=\"stepper\" data-finding=\"{number}\"><button class=\"back\" title=\"left arrow\">&larr; back</button>\
         <button class=\"next\" title=\"right arrow\">next &rarr;</button> <span class=\"count\"></span></div>"
    );
    let buffers = finding.trace.iter().any(|step| step.buffers.iter().any(|buffer| !buffer.is_empty()));
    let what = if report.model == "ps" { "views and promises" } else { "buffers" };
    let head = if buffers { format!("<th>{what} afterwards</th>") } else { String::new() };
    let _ = writeln!(
        out,
        "<div class=\"wide\"><table class=\"steps\"><thead><tr><th>thread</th><th>line</th><th>source</th><th>what \
            happens</th>{head}</tr></thead><tbody>"
    );
    for step in &finding.trace {
        out.push_str(&show_step(step, names, report, buffers));
    }
    out.push_str("</tbody></table></div></section>\n");
    out
}

fn show_step(step: &Line, names: &[String], report: &Report<'_>, buffers: bool) -> String {
    let at = position(report.sources, step.span);
    let line = if at.file.is_empty() { String::new() } else { at.line.to_string() };
    let what = std::iter::once(&step.action).chain(&step.details).map(|text| escape(text));
    let shown = text::changed_buffers(&[], &step.buffers, names).unwrap_or_default();
    let buffers =
        if buffers { format!("<td>{}</td>", escape(&shown).replace(" | ", "<br>")) } else { String::new() };
    format!(
        "<tr tabindex=\"0\" data-at=\"{}\" data-thread=\"{}\" data-line=\"{}\"><td \
            class=\"t{}\">{}</td><td>{line}</td><td><code>{}</code></td><td>{}</td>{buffers}</tr>\n",
        step.span.start,
        step.thread,
        anchor(at.file, at.line),
        step.thread % 8,
        names.get(step.thread as usize).map_or_else(|| step.thread.to_string(), |name| escape(name)),
        escape(report.sources.expression(step.span).trim()),
        what.collect::<Vec<_>>().join("<br>")
    )
}

/// The files that the findings speak of; long ones around the lines that matter.
fn show_sources(report: &Report<'_>) -> String {
    let findings = &report.outcome.findings;
    let spans = findings.iter().flat_map(|finding| {
        let places = finding.places.iter().map(|place| place.span);
        places.chain(finding.trace.iter().map(|step| step.span))
    });
    let used: BTreeSet<(&str, usize)> = spans
        .map(|span| position(report.sources, span))
        .filter(|at| !at.file.is_empty() && !at.file.starts_with('<'))
        .map(|at| (at.file, at.line))
        .collect();
    let mut out = String::new();
    for file in report.sources.files() {
        let lines: BTreeSet<usize> =
            used.iter().filter(|(name, _)| *name == file.name).map(|(_, line)| *line).collect();
        if !lines.is_empty() {
            out.push_str(&show_source(file, &lines));
        }
    }
    out
}

fn show_source(file: &SourceFile, marked: &BTreeSet<usize>) -> String {
    let mut out =
        format!("<section><h2>{}</h2><div class=\"wide\"><pre class=\"source\">", escape(&file.name));
    let whole = file.text.lines().count() <= WHOLE;
    let near = |line: usize| marked.range(line.saturating_sub(AROUND)..=line + AROUND).next().is_some();
    let mut skipped = false;
    for (line, text) in (1..).zip(file.text.lines()) {
        if !whole && !near(line) {
            if !skipped {
                out.push_str("<span class=\"gap\">...</span>");
            }
            skipped = true;
            continue;
        }
        skipped = false;
        let class = if marked.contains(&line) { " class=\"used\"" } else { "" };
        // Each is a block of its own: what ends a line would be another one.
        let _ = write!(
            out,
            "<span id=\"{}\"{class}><b>{line:>5}</b>  {}</span>",
            anchor(&file.name, line),
            escape(text)
        );
    }
    out.push_str("</pre></div></section>\n");
    out
}

/// The name of a line in the page.
fn anchor(file: &str, line: usize) -> String {
    let plain: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("L-{plain}-{line}")
}

fn escape(text: &str) -> String {
    events::escape_markup(text)
}
