//! Machine against reduction of the promising semantics on the family of small programs: `promising_family [FIRST] [STEP] [K] [random]`.

#[path = "../tests/support/promising.rs"]
mod support;

fn main() {
    let number =
        |n: usize, default: usize| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, step, most) = (number(1, 0), number(2, 1), number(3, 4) as u16);
    // Larger programs, by their seeds.
    let random = std::env::args().any(|argument| argument == "random");
    let programs: Box<dyn Iterator<Item = String>> = match random {
        true => Box::new((0..5000).map(support::random)),
        false => Box::new(support::family()),
    };
    let (mut count, mut differences) = (0, 0);
    for text in programs.skip(first).step_by(step.max(1)) {
        count += 1;
        if let Err(difference) = support::agrees(&text, most) {
            differences += 1;
            println!("{difference}\n");
        }
    }
    println!("{count} programs, K = 0..={most}, with and without promises: {differences} differ");
    std::process::exit(i32::from(differences > 0));
}
