#[path = "../tests/common/generate.rs"]
mod generate;
use fencepost_param::*;
use model::Model;
fn main() {
    let mut args = std::env::args().skip(1);
    let from: u64 = args.next().unwrap().parse().unwrap();
    let count: u64 = args.next().unwrap().parse().unwrap();
    let mut stats = [0; 3];
    let mut diff = 0;
    for seed in from..from + count {
        let procs = 2 + seed % 2;
        let text = generate::fixed(seed, procs, if procs == 2 { 4 } else { 3 });
        let (ast, errs) = parser::parse(&text);
        assert!(errs.is_empty(), "{text} {errs:?}");
        for model in Model::ALL {
            for weak in [false, true] {
                if !weak && model != Model::Sc { continue; }
                let (sys, _) = lower::lower(&ast, weak).unwrap_or_else(|e| panic!("{text} {e:?}"));
                let m = machine::Machine::new(&sys, model, procs as u8);
                let ex = machine::explore(&m, 2_000_000, true, &mut || false);
                assert!(!ex.cut || ex.bad.is_some(), "cut\n{text}");
                let mut s = backward::Search::new(pre::Context::new(&sys, model.memory()));
                let mut control = backward::Control { stop: &mut |n| (n > 300000).then_some(outcome::StopReason::Nodes(n)), progress: &mut |_| (), approximate: &mut |_, _| None };
                let end = s.run(&mut control);
                let got = match end { backward::End::Reached(_) => 1, backward::End::Fixpoint => 0, backward::End::Stopped(_) => 2 };
                stats[got] += 1;
                if got != usize::from(ex.bad.is_some()) {
                    diff += 1;
                    if diff < 4 { println!("DIFF seed {seed} {model:?} weak {weak}: engine {got} machine {}\n{text}", ex.bad.is_some());
                    if let Some(b) = ex.bad { println!("{:?}", ex.run_to(b).1.iter().map(|s| &s.0).collect::<Vec<_>>()); } 
                    if let backward::End::Reached(mut id) = end {
        while let Some(o) = &s.nodes[id].origin { println!("  {} {:?}", sys.transitions[o.transition].name, o.args); id = o.parent; }
    }}
                }
            }
        }
    }
    println!("safe {} unsafe {} unknown {} differences {diff}", stats[0], stats[1], stats[2]);
}
