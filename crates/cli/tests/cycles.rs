//! Tests that are made from the cycles of the shared tests have the same final states as these. Without the shared files the
//! test is absent.
//!
//! `FENCEPOST_FULL=1` takes all of them, and without it every tenth.

use fencepost::Litmus;
use fencepost_cycle::{Cycle, Dialect, Observe, parse, write};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A final state: what each thread's registers and the locations hold, whatever they are called.
type State = (Vec<Vec<String>>, Vec<String>);

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            found.push(path);
        }
    }
}

/// What the line `Cycle=` says, which may go on behind line ends.
fn cycle_of(text: &str) -> Option<&str> {
    let at = text.find("\nCycle=")? + "\nCycle=".len();
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    Some(text[at..end].trim())
}

fn dialect_of(text: &str) -> Option<(Dialect, &'static str)> {
    let word = text.split_whitespace().next()?;
    Some(match word {
        "PPC" => (Dialect::Ppc, "power"),
        "X86" => (Dialect::X86, "tso"),
        "X86_64" => (Dialect::X86_64, "tso"),
        "AArch64" => (Dialect::AArch64, "armv8"),
        "ARM" => (Dialect::Arm, "arm"),
        "RISCV" => (Dialect::RiscV, "rvwmo"),
        "C" if text.contains("_ONCE") || text.contains("smp_") || text.contains("rcu_") => {
            (Dialect::Kernel, "lkmm")
        }
        "C" => (Dialect::C, "rc11"),
        _ => return None,
    })
}

/// Final states as names and values.
type Named = BTreeSet<Vec<(String, String)>>;

/// The final states, and whether the condition is satisfied by some execution.
fn states(text: &str, model: &str) -> Result<(Named, bool), String> {
    let outcome = Litmus::new("test", text).model(model).timeout(Duration::from_secs(10)).run();
    let outcome = outcome.map_err(|error| error.to_string())?;
    let observed = outcome.observed.filter(|_| outcome.stop_reason.is_none()).ok_or("no answer")?;
    let state = |text: &String| {
        let pairs = text.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    Ok((observed.states.iter().map(state).collect(), observed.satisfying > 0))
}

/// The registers of each thread in the order of their numbers, which is that of the program in both; threads in every order.
fn seen(states: &Named, order: &[usize]) -> BTreeSet<State> {
    states
        .iter()
        .map(|state| {
            let mut threads: BTreeMap<usize, BTreeMap<(usize, String), String>> = BTreeMap::new();
            let mut locations = Vec::new();
            for (name, value) in state {
                match name.split_once(':') {
                    Some((thread, register)) => {
                        let digits: String = register.chars().filter(char::is_ascii_digit).collect();
                        let key = (digits.parse().unwrap_or(0), register.to_owned());
                        let thread = order[thread.parse::<usize>().expect("a number")];
                        threads.entry(thread).or_default().insert(key, value.clone());
                    }
                    None => locations.push(value.clone()),
                }
            }
            locations.sort();
            let registers = |thread: &usize| {
                threads.get(thread).map(|all| all.values().cloned().collect()).unwrap_or_default()
            };
            ((0..order.len()).collect::<Vec<_>>().iter().map(registers).collect(), locations)
        })
        .collect()
}

/// Whether both show as many registers and locations, with as many different values.
fn comparable(one: &Named, other: &Named) -> bool {
    let shape = |states: &Named| {
        let registers =
            |state: &Vec<(String, String)>| state.iter().filter(|(name, _)| name.contains(':')).count();
        (states.first().map_or(0, Vec::len), states.first().map_or(0, registers))
    };
    shape(one) == shape(other)
}

/// Values with each byte from 1 to 4 given another number.
fn renumbered(states: &Named, numbers: &[usize]) -> Named {
    let value = |text: &String| {
        let Ok(value) = text.parse::<u64>() else { return text.clone() };
        let byte =
            |byte: u8| if (1..=4).contains(&byte) { numbers[usize::from(byte) - 1] as u8 + 1 } else { byte };
        u64::from_le_bytes(value.to_le_bytes().map(byte)).to_string()
    };
    states
        .iter()
        .map(|state| state.iter().map(|(name, text)| (name.clone(), value(text))).collect())
        .collect()
}

/// Whether a test was left as its cycle made it: some list states instead of asking for one, some have locks around accesses,
/// and some of the kernel's compute what their cycle has a branch for.
fn is_of_the_cycle(text: &str) -> bool {
    let condition = text.rfind("exists").map_or("", |at| &text[at..]);
    let branch = text.contains("Ctrl") && text.starts_with("C ") && !text.contains("if (");
    !condition.is_empty()
        && !condition.contains("not")
        && !condition.contains("\\/")
        && !text.contains("spin_lock")
        && !branch
}

/// Where sizes are mixed one cycle has several outcomes: a test for one of them has loads that its cycle does not name.
fn asks_more(cycle: &Cycle, text: &str, ours: &str) -> bool {
    let loads = |text: &str| text.matches("LDR").count();
    cycle.accesses.iter().any(|access| access.note.size.is_some()) && loads(text) > loads(ours)
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let smaller = permutations(n - 1);
    let put = |at: usize| {
        smaller.iter().map(move |rest| {
            let mut all = rest.clone();
            all.insert(at, n - 1);
            all
        })
    };
    (0..n).flat_map(put).collect()
}

#[test]
fn tests_of_a_cycle_have_the_final_states_of_those_that_name_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let mut all = Vec::new();
    files(&root.join("litmus"), &mut all);
    files(&root.join("litmus-more"), &mut all);
    if all.is_empty() {
        println!("absent: there are no shared litmus tests");
        return;
    }
    all.sort();
    let step = if std::env::var_os("FENCEPOST_FULL").is_some() { 1 } else { 25 };
    let (mut made, mut compared, mut equal, mut alike, mut other) = (0, 0, 0, 0, 0);
    let mut refused = BTreeMap::<String, usize>::new();
    let mut different = Vec::new();
    for path in all.iter().step_by(step) {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let (Some(cycle), Some((dialect, model))) = (cycle_of(&text), dialect_of(&text)) else { continue };
        let cycle = match parse(cycle, dialect) {
            Ok(cycle) => cycle,
            Err(error) => {
                *refused.entry(format!("{dialect:?}: {}", error.message)).or_default() += 1;
                continue;
            }
        };
        made += 1;
        let Ok((theirs, allowed)) = states(&text, model) else { continue };
        // Some show all that is read and written.
        let shown = |states: &Named| states.first().map_or(0, Vec::len);
        let both = [Observe::Cycle, Observe::Everything].map(|observe| {
            let ours = write(&cycle, None, observe)?;
            Some((states(&ours, model), ours))
        });
        let [Some(few), Some(many)] = both else { continue };
        compared += 1;
        let fits = few.0.as_ref().is_ok_and(|few| shown(&few.0) == shown(&theirs));
        let (answer, ours) = if fits { few } else { many };
        let Ok((answer, ours_allowed)) = answer else {
            different.push(format!("{}: {answer:?}\n{ours}", path.display()));
            continue;
        };
        let identity: Vec<usize> = (0..cycle.threads).collect();
        let wanted = seen(&theirs, &(0..16).collect::<Vec<_>>()[..16]);
        let pad = |mut order: Vec<usize>| {
            order.extend(order.len()..16);
            order
        };
        let orders = if cycle.threads <= 6 { permutations(cycle.threads) } else { vec![identity] };
        let equals = |numbers: &[usize]| {
            let ours = renumbered(&answer, numbers);
            orders.iter().any(|order| seen(&ours, &pad(order.clone())) == wanted)
        };
        // Where the accesses of a location go round the cycle, writes may be numbered from any of them.
        if permutations(4).into_iter().any(|numbers| equals(&numbers)) {
            equal += 1;
        } else if !is_of_the_cycle(&text) || asks_more(&cycle, &text, &ours) {
            other += 1;
        } else if ours_allowed == allowed && !comparable(&answer, &theirs) {
            // Others read locations once more to see the order of writes.
            alike += 1;
        } else {
            different.push(format!("{}\n{theirs:?}\n{answer:?}\n{ours}", path.display()));
        }
    }
    println!(
        "{made} made, {compared} compared, {equal} with equal states, {alike} that show other things and have the \
            same answer, {other} that were changed or ask something else, {} different",
        different.len()
    );
    refused.iter().for_each(|(why, n)| println!("{n:6} {why}"));
    for text in different.iter().take(std::env::var("SHOW").map_or(5, |n| n.parse().unwrap_or(5))) {
        println!("{text}\n");
    }
    // Of all: four of mixed sizes that ask for one of several outcomes, and thirteen for ARM around detours whose numbers are
    // others.
    let known = if step == 1 { 17 } else { 0 };
    assert!(different.len() <= known, "{} tests differ", different.len());
}
