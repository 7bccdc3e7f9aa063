//! `fencepost litmus run`: tests on the processor of this machine, beside what a model says of them.

use crate::args::RunArgs;
use crate::litmus::{self, Settings};
use crate::model::Choice;
use crate::{check, exit, input, print, progress};
use fencepost_chip::{Build, Limits, Refused, Seen};
use fencepost_ir::{Property, Quantifier, Value};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than this a model does not think about one test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A final state, as the chip and the model have it.
struct State {
    text: String,
    count: u64,
    is_allowed: bool,
    /// It satisfies the condition's proposition.
    satisfies: bool,
}

/// What came of one test.
struct Row {
    name: String,
    file: String,
    model: String,
    seen: Seen,
    states: Vec<State>,
    /// Why states that the model does not have may be allowed all the same.
    incomplete: Option<String>,
    quantifier: Quantifier,
}

/// Of all tests.
#[derive(Default)]
struct Summary {
    run: usize,
    refused: usize,
    /// Tests with a state that is forbidden.
    contradicted: usize,
    /// Tests that showed every state the model allows.
    complete: usize,
}

/// Runs the command.
pub fn run(options: &RunArgs) -> u8 {
    check::handle_interrupts();
    all(options).unwrap_or_else(|error| {
        print::err(&format!("{}\n", error.trim_end()));
        exit::BAD_INPUT
    })
}

fn all(options: &RunArgs) -> Result<u8, String> {
    let cores = cores(options)?;
    if cores.len() < 2 {
        return Err(format!("error: {}", Refused::OneCore));
    }
    let choice = options.model.as_deref().map(Choice::find).transpose()?;
    let mut files = Vec::new();
    for path in &options.paths {
        files.extend(input::files(path, input::LITMUS)?);
    }
    let folder = Folder::new(options.keep.clone())?;
    let limits = Limits { times: options.times, time: options.time, cores, seed: options.seed };
    let mut summary = Summary::default();
    for file in &files {
        if check::is_interrupted() {
            break;
        }
        match one(file, choice.as_ref(), &limits, &folder, options) {
            Ok(row) => {
                summary.run += 1;
                summary.contradicted += usize::from(row.is_contradicted());
                summary.complete += usize::from(row.states.iter().all(|state| state.count > 0));
                print::out(&if options.json { row.json(&limits) } else { row.text(&limits) });
            }
            Err(error) => {
                summary.refused += 1;
                print::err(&format!("{}\n", error.trim_end()));
            }
        }
    }
    if files.len() > 1 {
        print::err(&summary.text(files.len()));
    }
    Ok(match summary {
        Summary { contradicted: 1.., .. } => exit::DIFFERENT,
        Summary { refused: 1.., .. } => exit::BAD_INPUT,
        _ => exit::OK,
    })
}

/// One test: compiled, run, and answered by the model.
fn one(
    file: &str,
    choice: Option<&Choice>,
    limits: &Limits,
    folder: &Folder,
    options: &RunArgs,
) -> Result<Row, String> {
    let (test, source) = litmus::read(file).map_err(|trouble| trouble.error)?;
    let refused = |refused: Refused| format!("error: {}: {refused}", source.name);
    let text = fencepost_chip::program(&test, &source.text).map_err(refused)?;
    let how = Build { compiler: &options.cc, folder: &folder.path, name: &folder.name_of(&test.name) };
    let program = fencepost_chip::build(&text, &how).map_err(refused)?;
    let _line = progress::line(&test.name, options.json);
    let seen = fencepost_chip::run(&program, limits, &check::is_interrupted).map_err(refused)?;
    let own = match choice {
        Some(_) => None,
        None => Some(Choice::find(test.default_model())?),
    };
    let choice = choice.or(own.as_ref()).ok_or("error: there is no model")?;
    let outlive = Default::default();
    let settings = Settings { timeout: Some(PATIENCE), ..Settings::alone(&outlive) };
    let answered = litmus::answer(&test, &source, choice, &settings).map_err(|trouble| trouble.error)?;
    let Property::Final(condition) = &answered.program.property else {
        return Err(format!("error: {} has no final condition", source.name));
    };
    let outcome = &answered.outcome;
    let incomplete = match &outcome.stop_reason {
        Some(reason) => Some(format!("{} did not come to an end: {reason}", choice.name())),
        None if outcome.statistics.cut > 0 => Some(format!("{} followed loops only so far", choice.name())),
        None => None,
    };
    // By what is shown, since the condition may mention more than that.
    let mut states: BTreeMap<String, State> = BTreeMap::new();
    let mut add = |values: &[Value], count: u64, is_allowed: bool| {
        if condition.filter.as_ref().is_some_and(|filter| !filter.holds(values)) {
            return;
        }
        let text = litmus::show_state(&answered.program, values);
        let satisfies = condition.proposition.holds(values);
        let state = State { text: text.clone(), count: 0, is_allowed: false, satisfies };
        let state = states.entry(text).or_insert(state);
        state.count += count;
        state.is_allowed |= is_allowed;
    };
    answered.finals.iter().for_each(|values| add(values, 0, true));
    seen.states.iter().for_each(|(values, count)| add(values, *count, false));
    Ok(Row {
        name: test.name.clone(),
        file: file.to_owned(),
        model: choice.name().to_owned(),
        seen,
        states: states.into_values().collect(),
        incomplete,
        quantifier: answered.quantifier,
    })
}

impl State {
    fn is_forbidden(&self) -> bool {
        self.count > 0 && !self.is_allowed
    }

    fn words(&self, is_complete: bool) -> &'static str {
        match (self.count > 0, self.is_allowed) {
            (true, true) => "seen and allowed",
            (false, _) => "allowed, not seen",
            (true, false) if is_complete => "seen and forbidden",
            (true, false) => "seen, not found by the model",
        }
    }
}

impl Row {
    /// The chip showed what the model forbids.
    fn is_contradicted(&self) -> bool {
        self.incomplete.is_none() && self.states.iter().any(State::is_forbidden)
    }

    fn satisfying(&self) -> u64 {
        self.states.iter().filter(|state| state.satisfies).map(|state| state.count).sum()
    }

    fn text(&self, limits: &Limits) -> String {
        let seconds = self.seen.time.as_secs_f64();
        let mut out = format!(
            "{}: {} runs in {seconds:.2} s on {} cores, against {}\n",
            self.name,
            self.seen.runs,
            limits.cores.len(),
            self.model
        );
        let width = self.states.iter().map(|state| state.count.to_string().len()).max().unwrap_or(1);
        let shown = self.states.iter().map(|state| state.text.len()).max().unwrap_or(0);
        for state in &self.states {
            let mark = if state.satisfies { '*' } else { ' ' };
            let (count, text, words) = (state.count, &state.text, state.words(self.incomplete.is_none()));
            out += &format!("  {count:>width$} {mark} {text:shown$}  {words}\n");
        }
        let satisfying = self.satisfying();
        let of_runs = match (self.quantifier, satisfying) {
            (Quantifier::Exists | Quantifier::NotExists, 0) => "no run satisfied the condition".to_owned(),
            (Quantifier::Exists | Quantifier::NotExists, n) => {
                format!("the condition (*) was satisfied by {n} runs")
            }
            (Quantifier::ForAll, n) if n == self.seen.runs => "all runs satisfied the condition".to_owned(),
            (Quantifier::ForAll, n) => {
                format!("the condition (*) was not satisfied by {} runs", self.seen.runs - n)
            }
        };
        out += &format!("  {of_runs}\n");
        if let Some(why) = &self.incomplete {
            out += &format!("  what was seen besides its states may be allowed: {why}\n");
        } else if self.is_contradicted() {
            out += &format!("  this machine does what {} forbids\n", self.model);
        }
        out
    }

    fn json(&self, limits: &Limits) -> String {
        let states: Vec<_> = self
            .states
            .iter()
            .map(|state| {
                json!({
                    "state": state.text, "count": state.count, "allowed": state.is_allowed, "satisfies": state.satisfies,
                })
            })
            .collect();
        let row = json!({
            "name": self.name, "file": self.file, "model": self.model, "machine": fencepost_chip::here(), "runs": self.seen.runs,
            "seconds": self.seen.time.as_secs_f64(), "cores": limits.cores, "states": states,
            "complete": self.incomplete.is_none(), "contradicted": self.is_contradicted(),
        });
        format!("{row}\n")
    }
}

impl Summary {
    fn text(&self, all: usize) -> String {
        let Summary { run, refused, contradicted, complete } = self;
        let mut out =
            format!("{run} of {all} tests run: {contradicted} with a state that the model forbids, ");
        out += &format!("{complete} with every state that it allows");
        if *refused > 0 {
            out += &format!("; {refused} could not be run");
        }
        out + "\n"
    }
}

/// The cores that this process may use, or those that were named.
fn cores(options: &RunArgs) -> Result<Vec<usize>, String> {
    let mine = allowed_cores();
    let Some(named) = &options.cores else { return Ok(mine) };
    match named.iter().find(|core| !mine.contains(core)) {
        Some(core) => {
            let mine: Vec<String> = mine.iter().map(usize::to_string).collect();
            Err(format!("error: core {core} is not for this process\n  it may use {}", mine.join(", ")))
        }
        None => Ok(named.clone()),
    }
}

fn allowed_cores() -> Vec<usize> {
    let all = || (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(|list| ranges(list.trim())).unwrap_or_else(all)
}

/// `0-3,8`.
fn ranges(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?);
    }
    Some(cores)
}

/// Where programs are made; it goes away if it is ours.
struct Folder {
    path: PathBuf,
    is_ours: bool,
}

impl Folder {
    fn new(named: Option<PathBuf>) -> Result<Folder, String> {
        let is_ours = named.is_none();
        let path =
            named.unwrap_or_else(|| std::env::temp_dir().join(format!("fencepost-{}", std::process::id())));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("error: cannot make the folder {}: {error}", path.display()))?;
        // A program is started by its whole path.
        let path = path.canonicalize().unwrap_or(path);
        Ok(Folder { path, is_ours })
    }

    /// The name of a test without what file names cannot have.
    fn name_of(&self, test: &str) -> String {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_') { c } else { '_' };
        format!("{}.run", test.chars().map(plain).take(80).collect::<String>())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn lists_of_cores() {
        assert_eq!(ranges("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(ranges("5"), Some(vec![5]));
        assert_eq!(ranges(""), None);
    }
}
