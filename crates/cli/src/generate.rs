//! `fencepost litmus gen`: tests from cycles.

use crate::args::GenArgs;
use crate::{exit, print, tell};
use fencepost_cycle::enumerate::{self, Wanted};
use fencepost_cycle::{Cycle, Dialect, Observe, edge_names, parse, parse_pool, write};
use fencepost_diag::SourceFile;
use serde_json::json;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Edges of a cycle, unless given.
const EDGES: usize = 4;
/// Threads of a test, unless given.
pub const THREADS: usize = 4;

/// Runs the command.
pub fn run(options: &GenArgs) -> u8 {
    crate::check::handle_interrupts();
    let done = match (&options.tell, &options.relax) {
        (Some(models), _) => tell::run(options, models),
        (None, Some(edges)) => all(options, edges),
        (None, None) if options.cycles.is_empty() => Err(NOTHING.to_owned()),
        (None, None) => each(options),
    };
    done.unwrap_or_else(|error| {
        print::err(&format!("{}\n", error.trim_end()));
        exit::BAD_INPUT
    })
}

const NOTHING: &str = "error: there is nothing to make tests of\n  a cycle makes one, as in fencepost litmus gen \
    'PodWR Fre PodWR Fre'; \
     --relax all makes all of a size; --tell tso pso finds what tells two models apart";

/// What tests are for: what was asked for, or the usual.
pub fn dialect(options: &GenArgs, usual: Dialect) -> Result<Dialect, String> {
    let Some(name) = &options.arch else { return Ok(usual) };
    Dialect::from_name(name).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::name);
        format!(
            "error: tests for `{name}` cannot be made\n{}  they are made for {}",
            print::did_you_mean(name, &names),
            names.join(", ")
        )
    })
}

/// One test for each cycle that is named.
fn each(options: &GenArgs) -> Result<u8, String> {
    let dialect = dialect(options, Dialect::AArch64)?;
    if options.name.is_some() && options.cycles.len() > 1 {
        return Err("error: --name is for one cycle".into());
    }
    let mut written = Writer::new(options)?;
    for text in &options.cycles {
        let file = SourceFile::new("the cycle", text.clone());
        let cycle = parse(text, dialect).map_err(|error| error.render(&file))?;
        if !written.write(&cycle)? {
            return Err(format!(
                "error: a thread of `{text}` needs more registers than {} has",
                dialect.name()
            ));
        }
    }
    written.finish(None)
}

/// All cycles of some edges.
fn all(options: &GenArgs, edges: &str) -> Result<u8, String> {
    let dialect = dialect(options, Dialect::AArch64)?;
    let (pool, notes) = match edges {
        "all" => (dialect.edges(options.free, true), dialect.notes()),
        edges => {
            let file = SourceFile::new("--relax", edges.to_owned());
            (parse_pool(edges, dialect).map_err(|error| error.render(&file))?, Vec::new())
        }
    };
    let mut written = Writer::new(options)?;
    let deadline = options.timeout.map(|time| Instant::now() + time);
    let mut stopped = None;
    let threads = options.threads.unwrap_or(THREADS);
    for size in 2..=options.size.unwrap_or(EDGES) {
        let wanted = Wanted {
            dialect,
            pool: pool.clone(),
            edges: size,
            threads: None,
            critical: !options.free,
            notes: notes.clone(),
            marks: None,
        };
        let mut failed = None;
        let _ = enumerate::cycles(&wanted, &mut |cycle| {
            stopped = match () {
                () if options.most.is_some_and(|most| written.made >= most) => Some("--most was reached"),
                () if deadline.is_some_and(|deadline| Instant::now() > deadline) => Some("the time was up"),
                () if crate::check::is_interrupted() => Some("interrupted"),
                () => None,
            };
            if stopped.is_some() {
                return ControlFlow::Break(());
            }
            if cycle.threads > threads {
                return ControlFlow::Continue(());
            }
            match written.write(&cycle) {
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if stopped.is_some() {
            break;
        }
    }
    if written.made == 0 && stopped.is_none() {
        let size = options.size.unwrap_or(EDGES);
        return Err(format!(
            "error: these edges make no cycle of at most {size} edges and {threads} threads\n  edges must meet (a \
                read at a read), at least two \
             lead to another thread, and cycles that coherence alone forbids are left out; --free allows those with shortcuts"
        ));
    }
    written.finish(stopped)
}

/// Where tests go.
pub struct Writer<'a> {
    options: &'a GenArgs,
    /// How many there are.
    pub made: usize,
    /// Those whose threads need more registers than there are.
    left_out: usize,
    names: HashMap<String, usize>,
}

impl<'a> Writer<'a> {
    /// Nothing yet.
    pub fn new(options: &'a GenArgs) -> Result<Writer<'a>, String> {
        if let Some(folder) = &options.output {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("error: cannot make the folder {}: {error}", folder.display()))?;
        }
        Ok(Writer { options, made: 0, left_out: 0, names: HashMap::new() })
    }

    /// The name and the text of the next test; none if it cannot be written.
    pub fn text(&mut self, cycle: &Cycle) -> Option<(String, String)> {
        let name = self.options.name.clone().unwrap_or_else(|| fencepost_cycle::name(cycle));
        let times = self.names.entry(name.clone()).or_default();
        *times += 1;
        let name = if *times == 1 { name } else { format!("{name}-{times}") };
        let observe = if self.options.observe { Observe::Everything } else { Observe::Cycle };
        let text = write(cycle, Some(&name), observe)?;
        Some((name, text))
    }

    /// Writes a test into its file, if a folder was named.
    pub fn save(&self, name: &str, text: &str) -> Result<Option<PathBuf>, String> {
        let Some(folder) = &self.options.output else { return Ok(None) };
        let path = folder.join(format!("{name}.litmus"));
        match std::fs::write(&path, text) {
            Ok(()) => Ok(Some(path)),
            Err(error) => Err(format!("error: cannot write {}: {error}", path.display())),
        }
    }

    /// Writes a test; false if its threads need too many registers.
    fn write(&mut self, cycle: &Cycle) -> Result<bool, String> {
        let Some((name, text)) = self.text(cycle) else {
            self.left_out += 1;
            return Ok(false);
        };
        self.made += 1;
        let file = self.save(&name, &text)?;
        if self.options.json {
            let mut row = json!({
                "name": name, "cycle": edge_names(cycle), "arch": cycle.dialect.header(), "threads": cycle.threads,
                "accesses": cycle.accesses.len(),
            });
            match file {
                Some(path) => row["file"] = json!(path),
                None => row["text"] = json!(text),
            }
            print::out(&format!("{row}\n"));
        } else if file.is_none() {
            let gap = if self.made > 1 { "\n" } else { "" };
            print::out(&format!("{gap}{text}"));
        }
        Ok(true)
    }

    /// Says what came of it, where that is not what was printed.
    fn finish(&self, stopped: Option<&str>) -> Result<u8, String> {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let mut line = String::new();
        if let Some(folder) = &self.options.output {
            line += &format!("{} test{} in {}\n", self.made, plural(self.made), folder.display());
        }
        if self.left_out > 0 {
            line += &format!(
                "{} cycle{} left out: a thread would need more registers than there are\n",
                self.left_out,
                plural(self.left_out)
            );
        }
        if let Some(why) = stopped {
            line += &format!("{why}: there are more\n");
        }
        print::err(&line);
        Ok(exit::OK)
    }
}
