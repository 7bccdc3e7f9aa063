//! Machine against encoding of the promising semantics on the family of small programs: `promising_family [FIRST] [STEP] [K] [P]`.

#[path = "../tests/support/promising.rs"]
mod support;

fn main() {
    let number = |n: usize| std::env::args().nth(n).and_then(|a| a.parse::<usize>().ok());
    let (first, step, most) = (number(1).unwrap_or(0), number(2).unwrap_or(1), number(3).unwrap_or(4) as u16);
    let promises = number(4).map(|n| n as u16);
    let (mut programs, mut differences, mut unconfirmed) = (0, 0, 0);
    for text in support::family().skip(first).step_by(step.max(1)) {
        programs += 1;
        match support::agrees(&text, most, promises) {
            Ok(excluded) => unconfirmed += excluded,
            Err(difference) => {
                differences += 1;
                println!("{difference}\n");
            }
        }
    }
    println!(
        "{programs} programs, K = 0..={most}: {differences} differ; {unconfirmed} runs were not confirmed"
    );
    std::process::exit(i32::from(differences > 0));
}
