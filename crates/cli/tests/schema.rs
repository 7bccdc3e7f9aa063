//! All JSON that the tool prints is what the schema that ships with it says: answers of every engine and verdict, litmus
//! tests, proofs, failures. The validator knows the keywords that the schema uses, and no others.

mod support;

use serde_json::Value;
use support::fencepost;

fn schema() -> Value {
    let output = fencepost(&["schema"]).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What is wrong with a value, and where.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let object = schema.as_object().expect("a schema is an object");
    for (keyword, wanted) in object {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "properties" | "additionalProperties" => {}
            "$ref" => {
                let name = wanted.as_str().and_then(|r| r.strip_prefix("#/$defs/")).expect("a definition");
                check(root, &root["$defs"][name], value, at)?;
            }
            "anyOf" => {
                let tries = wanted.as_array().expect("schemas").iter().map(|s| check(root, s, value, at));
                let errors: Vec<String> = tries.filter_map(Result::err).collect();
                if errors.len() == wanted.as_array().map_or(0, Vec::len) {
                    return Err(errors.join("\n"));
                }
            }
            "const" if value == wanted => {}
            "enum" if wanted.as_array().expect("values").contains(value) => {}
            "type" if types(wanted).iter().any(|name| is(name, value)) => {}
            "required" => {
                for name in wanted.as_array().expect("names") {
                    if value.get(name.as_str().expect("a name")).is_none() {
                        return Err(format!("{at}: {name} is missing"));
                    }
                }
            }
            "items" => {
                for (i, item) in value.as_array().expect("checked").iter().enumerate() {
                    check(root, wanted, item, &format!("{at}[{i}]"))?;
                }
            }
            "const" | "enum" | "type" => return Err(format!("{at}: {value} is not {keyword} {wanted}")),
            other => panic!("the validator does not know {other}"),
        }
    }
    if let (Some(properties), Some(fields)) = (schema.get("properties"), value.as_object()) {
        for (name, field) in fields {
            let Some(schema) = properties.get(name) else {
                return Err(format!("{at}: {name} is not expected"));
            };
            check(root, schema, field, &format!("{at}.{name}"))?;
        }
    }
    Ok(())
}

fn types(wanted: &Value) -> Vec<&str> {
    match wanted {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        other => panic!("the validator does not know the type {other}"),
    }
}

#[test]
fn everything_that_is_printed_is_as_the_schema_says() {
    let schema = schema();
    let corpus = "crates/c/corpus";
    let commands: &[(&[&str], &str)] = &[
        (&["check", "crates/c/corpus/litmus_corr.c"], "safe"),
        (
            &["check", "-m", "power", "crates/c/corpus/finding_race.c", "crates/c/corpus/litmus_mp_rlx.c"],
            "unsafe",
        ),
        (&["check", "crates/c/corpus/finding_deadlock.c", "crates/c/corpus/finding_leak.c"], "unsafe"),
        (&["check", "--unroll", "3", "crates/cli/tests/data/count_up.c"], "unknown"),
        (
            &[
                "check",
                "-m",
                "sc",
                "--engine",
                "explore",
                "--timeout",
                "0",
                "crates/c/corpus/burns_3_fenced.c",
            ],
            "unknown",
        ),
        (&["check", "crates/cli/tests/data/deep_recursion.c"], "unknown"),
        (&["check", "-m", "tso", "crates/lang/corpus/dekker.fp"], "unsafe"),
        (&["check", "-m", "tso", "--engine", "reduce", "crates/lang/corpus/dekker_fenced.fp"], "safe"),
        (&["check", "-m", "tso", "--rounds", "1", "crates/lang/corpus/dekker.fp"], "safe"),
        (&["check", "no/such/file.c"], "error"),
        (&["check", "crates/cli/tests/data/broken.litmus"], "error"),
        (&["litmus", "examples", "crates/cli/tests/data/race.litmus"], "Sometimes"),
        (&["litmus", "crates/cli/tests/data/broken.litmus"], "error"),
        (&["prove", "crates/param/corpus/litmus_sb.cub"], "unsafe"),
        (&["prove", "-m", "sc", "crates/param/corpus/litmus_sb.cub"], "safe"),
        (&["prove", "--max-nodes", "3", "crates/param/corpus/german.cub"], "unknown"),
        (&["prove", "examples/sb.litmus"], "error"),
    ];
    for (arguments, expected) in commands {
        let output = fencepost(arguments).args(["--json", "-j1"]).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.contains(expected), "{arguments:?}: {text}");
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("an object per line");
            if let Err(why) = check(&schema, &schema, &value, "") {
                panic!("{arguments:?} in {corpus}: {why}\n{line}");
            }
        }
    }
}

/// The validator notices: a field that is missing, one that is not expected, one of another type.
#[test]
fn what_is_not_as_the_schema_says_is_noticed() {
    let schema = schema();
    let output =
        fencepost(&["check", "--json", "-j1", "crates/c/corpus/finding_race.c"]).output().expect("it runs");
    let good: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let wrong = |change: fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        check(&schema, &schema, &value, "").is_err()
    };
    assert!(!wrong(|_| {}));
    assert!(wrong(|value| value["version"] = 2.into()));
    assert!(wrong(|value| value["verdict"] = "maybe".into()));
    assert!(wrong(|value| value["more"] = 1.into()));
    assert!(wrong(|value| value["findings"][0]["locations"][0]["line"] = "7".into()));
    assert!(wrong(|value| drop(value.as_object_mut().expect("an object").remove("bounds"))));
}
