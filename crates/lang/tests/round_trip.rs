//! Printing and parsing are inverse (spans apart), and mutated text never panics.

use fencepost_ir::{Program, Span};
use proptest::prelude::*;
use std::path::PathBuf;

fn corpus() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("corpus").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).expect("readable")).collect()
}

fn without_spans(mut program: Program) -> Program {
    program.objects.iter_mut().for_each(|object| object.span = Span::default());
    for function in &mut program.functions {
        function.spans.iter_mut().for_each(|span| *span = Span::default());
    }
    program
}

fn round_trips(text: &str) {
    let program = fencepost_lang::parse(text).expect("parses");
    let printed = fencepost_lang::print(&program).expect("printable");
    let again = fencepost_lang::parse(&printed).unwrap_or_else(|e| panic!("{}\n{printed}", e.message));
    assert_eq!(without_spans(again), without_spans(program), "{printed}");
}

#[test]
fn the_corpus_round_trips() {
    assert!(corpus().len() >= 14);
    corpus().iter().for_each(|text| round_trips(text));
}

/// One of everything.
const EVERYTHING: &str = r#"
program "everything \"quoted\"";
shared x = -1, y: w64 = &x, a[3] = {1, ?, -3}, b[2]: w8 = 7, m;

procedure f(p, q) {
  reg t;
  t := p * (q - 1) / 2 % 3 << 1 >> 1 | p & q ^ ~p;
  if (t <= 1 || !(p == q) && t != 2) { return t; } else return;
}

process P {
  reg r, s := 3, t;
top:
  x := 1; r := x; a[s - 1] := r; r := a[0] + a[r]; [&a[1]] := 2; r := [y];
  r := -s; r := s ? 1 : r; r := nondet(-1, 5); r := *;
  r := cas(x, 0, 1); r := swap(a[1], 2); r := fetch_add(x, r);
  store.w64.rel(&y, 5); r := load.w64.zero.acq(&y); r := load.w8.zero(&b[1]);
  cmpxchg.acq.rel.rlx.weak(r, s, &x, 1, 2); cmpxchg(_, s, &x, 1, 2);
  r := rmw.maxs.rlx.rel(&x, 3); rmw.add(&x, 1);
  r := ltu(r, s); r := add.w64.zero(r, s); r := zext.w8(r);
  fence; fence sync; fence lwsync; fence dmb.sy; fence c11.acqrel;
  r := call f(1, r); call f(r, 2); t := spawn f(1, 2); spawn f(3, 4); join t; r := join t;
  lock(m); unlock(m);
  atomic { x := 1; }
  atomic_begin; atomic_end;
  while (x < 3) { skip; if (x == 2) goto top; }
  while (r);
  branch r, top, bottom;
  assume(r != 0); assert(r, "message"); assert r == 1;
bottom:
}

process Q { reg r; r := call [0](1, 2); cut; }

observe x, P.r;
exists x == 1 && (P.r != a[2] || !(Q.r <= -1)) => y == &x;
filter x > 0;
"#;

#[test]
fn everything_round_trips() {
    round_trips(EVERYTHING);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_text_does_not_panic(at in any::<[prop::sample::Index; 2]>(), how in 0..3, file in any::<prop::sample::Index>()) {
        let mut texts = corpus();
        texts.push(EVERYTHING.to_owned());
        let text = &texts[file.index(texts.len())];
        let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        let (a, b) = (places[at[0].index(places.len())], places[at[1].index(places.len())]);
        let (a, b) = (a.min(b), a.max(b));
        let middle = match how { 0 => String::new(), 1 => text[a..b].repeat(2), _ => "x".into() };
        let mutated = format!("{}{middle}{}", &text[..a], &text[b..]);
        if let Ok(program) = fencepost_lang::parse(&mutated) {
            let printed = fencepost_lang::print(&program).expect("printable");
            prop_assert!(fencepost_lang::parse(&printed).is_ok(), "{}", printed);
        }
    }
}
