//! Prints a program of the small language, also with stores that wait, as sequential C: `sequential FILE.fp [AGE]`.
use fencepost_reduce::sequential::{Contexts, Options};
use fencepost_reduce::{Bound, print_sequential};

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().ok_or("a file")?).map_err(|e| e.to_string())?;
    let program = fencepost_lang::parse(&text).map_err(|e| format!("{e:?}"))?;
    let age = args.next().map(|age| age.parse().map_err(|_| "a number")).transpose()?;
    let stores = age.map(Bound::Age);
    let options = Options { contexts: Contexts::PerThread(3), unroll: 2, owners: false, stores };
    print!("{}", print_sequential(&program, &options).map_err(|e| e.what)?.text);
    Ok(())
}
