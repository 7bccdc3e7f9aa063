//! Machine against reduction of the promising semantics on the family of small programs: `promising_family [FIRST] [STEP] [K]`.

#[path = "../tests/support/promising.rs"]
mod support;

fn main() {
    let number =
        |n: usize, default: usize| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, step, most) = (number(1, 0), number(2, 1), number(3, 4) as u16);
    let (mut programs, mut differences) = (0, 0);
    for text in support::family().skip(first).step_by(step.max(1)) {
        programs += 1;
        if let Err(difference) = support::agrees(&text, most) {
            differences += 1;
            println!("{difference}\n");
        }
    }
    println!("{programs} programs, K = 0..={most}, with and without promises: {differences} differ");
    std::process::exit(i32::from(differences > 0));
}
