//! Machine against encoding of the promising semantics on the family of small programs: `promising_family [FIRST] [STEP] [K] [P] [random]`.

#[path = "../tests/support/promising.rs"]
mod support;

fn main() {
    let number = |n: usize| std::env::args().nth(n).and_then(|a| a.parse::<usize>().ok());
    let (first, step, most) = (number(1).unwrap_or(0), number(2).unwrap_or(1), number(3).unwrap_or(4) as u16);
    let promises = number(4).map(|n| n as u16);
    // Larger programs, by their seeds.
    let random = std::env::args().any(|argument| argument == "random");
    let programs: Box<dyn Iterator<Item = String>> = match random {
        true => Box::new((0..5000).map(support::random)),
        false => Box::new(support::family()),
    };
    let (mut count, mut differences, mut unconfirmed) = (0, 0, 0);
    for text in programs.skip(first).step_by(step.max(1)) {
        count += 1;
        match support::agrees(&text, most, promises) {
            Ok(excluded) => unconfirmed += excluded,
            Err(difference) => {
                differences += 1;
                println!("{difference}\n");
            }
        }
    }
    println!("{count} programs, K = 0..={most}: {differences} differ; {unconfirmed} runs were not confirmed");
    std::process::exit(i32::from(differences > 0));
}
