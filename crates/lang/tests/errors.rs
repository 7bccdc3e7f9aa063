//! The whole message for each kind of mistake.

use fencepost_diag::SourceFile;

fn message(text: &str) -> String {
    let error = fencepost_lang::parse(text).expect_err(text);
    error.render(&SourceFile::new("bad.fp", text))
}

#[test]
fn messages() {
    let bad = [
        "",
        "shared x\nprocess P { x := 1; }",
        "shared x;\nprocess P { x = 1; }",
        "shared x;\nprocess P { y := 1; }",
        "shared x;\nprocess P { reg r; r := x + z; }",
        "process P { fence mfense; }",
        "process P { goto nowhere; }",
        "process P { L: skip; L: skip; }",
        "process P { reg r; reg r; }",
        "shared x;\nprocess P { reg x; }",
        "process P { call f(1); }",
        "procedure f(a) { return a; }\nprocess P { call f(1, 2); }",
        "shared a[2];\nprocess P { a[2] := 1; }",
        "shared a[0];\nprocess P { skip; }",
        "process P { reg r; r := nondet(3, 1); }",
        "process P { reg r; r := load.w99(0); }",
        "process P { if (1) { skip; ",
        "process P { skip; } /* no end",
        "shared x = 99999999999999999999;\nprocess P { skip; }",
        "shared x;\nprocess P { reg r; r := x; }\nexists P.s == 1;",
        "process if { skip; }",
        "procedure f() { skip; }",
        "process P { assert(1, 2); }",
        "process P { skip; } process P { skip; }",
        "process P { $ }",
    ];
    let shown: Vec<String> = bad.iter().map(|text| message(text)).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("(", ")"), ("!", ""), ("{", "}"), ("if (1) ", "")] {
        let deep = open.repeat(50_000);
        let text = match open {
            "{" | "if (1) " => format!("process P {{ {deep} skip; {} }}", close.repeat(50_000)),
            _ => format!("process P {{ reg r; r := {deep}1{}; }}", close.repeat(50_000)),
        };
        assert!(fencepost_lang::parse(&text).is_err());
    }
}
