//! Explores the explicit machine of an instance: `explore FILE MODEL PROCS [MAX_BUFFER]`.
use fencepost_param::*;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let model = model::Model::by_name(&args[1]).unwrap();
    let (ast, _) = parser::parse(&text);
    let (sys, _) = lower::lower(&ast, model != model::Model::Sc).unwrap();
    let mut m = machine::Machine::new(&sys, model, args[2].parse().unwrap());
    m.max_buffer = args.get(3).map_or(2, |b| b.parse().unwrap());
    let e = machine::explore(&m, 3_000_000, true, &mut || false);
    println!("states {} bad {:?} cut {}", e.states.len(), e.bad, e.cut);
    if let Some(b) = e.bad {
        for (s, _) in e.run_to(b).1 {
            match s {
                machine::Step::Fire { transition, args } => {
                    println!("  {} {:?}", sys.transitions[transition].name, args)
                }
                s => println!("  {s:?}"),
            }
        }
    }
}
