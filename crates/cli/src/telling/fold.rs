//! Steps that repeat, as one line: a loop that comes round with the same steps is told once, with how often it went on.

use fencepost_answer::Line;

/// The longest round that is looked for.
const LONGEST: usize = 12;

/// The steps with repetitions folded. Only what is the same in every word is left out.
pub fn fold(steps: Vec<Line>) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let Some((period, times)) =
            (1..=LONGEST).find_map(|period| Some((period, repeats(&steps[at..], period)?)))
        else {
            out.push(steps[at].clone());
            at += 1;
            continue;
        };
        out.extend_from_slice(&steps[at..at + period]);
        if let Some(last) = out.last_mut() {
            let what = if period == 1 { "this".to_string() } else { format!("these {period} steps") };
            let more = if times == 1 { "once more".to_string() } else { format!("{times} more times") };
            last.details.push(format!("({what} {more})"));
        }
        at += period * (times + 1);
    }
    out
}

/// How often the first steps come again right behind themselves, if they do. Two equal steps in a row are folded as well as
/// ten.
fn repeats(steps: &[Line], period: usize) -> Option<usize> {
    let (first, rest) = steps.split_at_checked(period)?;
    let same = |other: &[Line]| {
        first.iter().zip(other).all(|(a, b)| (a.thread, a.span, &a.action) == (b.thread, b.span, &b.action))
    };
    let times = rest.chunks_exact(period).take_while(|chunk| same(chunk)).count();
    (times > 0).then_some(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Line> {
        text.chars().map(|c| Line { action: c.to_string(), ..Line::default() }).collect()
    }

    fn shown(text: &str) -> String {
        let show = |step: &Line| step.action.clone() + &step.details.concat();
        fold(steps(text)).iter().map(show).collect()
    }

    #[test]
    fn rounds_are_told_once() {
        assert_eq!(shown("abc"), "abc");
        assert_eq!(shown("aaab"), "a(this 2 more times)b");
        assert_eq!(shown("xababababy"), "xab(these 2 steps 3 more times)y");
        assert_eq!(shown("aab"), "a(this once more)b");
    }
}
