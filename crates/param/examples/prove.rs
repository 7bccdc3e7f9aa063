use fencepost_param::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap();
    let m = args.next().unwrap_or("tso".into());
    let text = std::fs::read_to_string(&file).unwrap();
    let (ast, errs) = parser::parse(&text);
    let sf = fencepost_diag::SourceFile::new(file, text);
    for e in &errs { println!("{}", e.render(&sf)); }
    let model = model::Model::by_name(&m).unwrap();
    let (sys, warn) = match lower::lower(&ast, model != model::Model::Sc || std::env::var("EV").is_ok()) {
        Ok(x) => x,
        Err(es) => { for e in &es { println!("{}", e.render(&sf)); } return; }
    };
    for e in &warn { println!("{}", e.render(&sf)); }
    let ctx = pre::Context::new(&sys, model.memory());
    let mut s = backward::Search::new(ctx);
    let t = std::time::Instant::now();
    let mut control = backward::Control { stop: &mut |n| (n > 300000).then_some(outcome::StopReason::Nodes(n)), progress: &mut |p| if std::env::var("V").is_ok() { eprintln!("{p:?}") }, approximate: &mut |_, _| None };
    let end = s.run(&mut control);
    println!("{:?} nodes {} made {} visited {} time {:?}", end, s.processed, s.nodes.len(), s.fixpoint().len(), t.elapsed());
    if let backward::End::Reached(mut id) = end {
        while let Some(o) = &s.nodes[id].origin { println!("  {} {:?}", sys.transitions[o.transition].name, o.args); id = o.parent; }
    }
}
