//! SARIF logs are what the schema of SARIF 2.1.0 says. The schema is not ours to ship: it is taken from the sources of the
//! registry package `serde-sarif`, which is fetched when the test runs. Where it cannot be had, the test says so.

mod support;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use support::fencepost;

/// Lets cargo fetch the package, for at most a minute.
fn fetch() -> Option<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sarif");
    std::fs::create_dir_all(folder.join("src")).ok()?;
    std::fs::write(folder.join("src/lib.rs"), "").ok()?;
    let manifest = "[package]\nname = \"sarif-schema\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
        [dependencies]\nserde-sarif = \"=0.7.0\"\n[workspace]\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).ok()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("fetch").current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    for _ in 0..3000 {
        if let Some(status) = child.try_wait().ok()? {
            return status.success().then_some(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// The schema, if the package is there or can be had.
fn schema() -> Option<Value> {
    static SCHEMA: OnceLock<Option<Value>> = OnceLock::new();
    SCHEMA.get_or_init(|| kept().or_else(|| fetch().and_then(|()| kept()))).clone()
}

/// The schema from the sources that cargo keeps.
fn kept() -> Option<Value> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let indices = std::fs::read_dir(home.join("registry/src")).ok()?;
    let packages = indices.flatten().filter_map(|index| std::fs::read_dir(index.path()).ok()).flatten();
    let mut folders = packages.flatten().map(|package| package.path());
    let folder = folders.find(|folder| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("serde-sarif-"))
    })?;
    let text = std::fs::read_to_string(folder.join("src/schema.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// What is wrong with a value by the keywords of JSON Schema that this schema uses. `pattern` and `format` are not looked at.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(keywords) = schema.as_object() else { return Ok(()) };
    for (keyword, wanted) in keywords {
        let fine = match keyword.as_str() {
            "$ref" => {
                let name =
                    wanted.as_str().and_then(|r| r.strip_prefix("#/definitions/")).expect("a definition");
                check(root, &root["definitions"][name], value, at)?;
                true
            }
            "type" => match wanted.as_str().expect("a type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                other => panic!("the validator does not know the type {other}"),
            },
            "enum" => wanted.as_array().expect("values").contains(value),
            "anyOf" | "oneOf" => {
                let fits = |schema: &&Value| check(root, schema, value, at).is_ok();
                let count = wanted.as_array().expect("schemas").iter().filter(fits).count();
                if keyword == "oneOf" { count == 1 } else { count > 0 }
            }
            "required" => {
                let names = wanted.as_array().expect("names").iter();
                !value.is_object() || names.flat_map(Value::as_str).all(|name| value.get(name).is_some())
            }
            "minimum" => value.as_f64().is_none_or(|n| n >= wanted.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_none_or(|n| n <= wanted.as_f64().expect("a number")),
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().expect("one"))
            }
            "uniqueItems" => value.as_array().is_none_or(|items| {
                (0..items.len()).all(|i| wanted != &Value::Bool(true) || !items[..i].contains(&items[i]))
            }),
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{at}[{i}]"))?;
                }
                true
            }
            "properties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        check(root, schema, field, &format!("{at}.{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" if *wanted == Value::Bool(false) => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                value.as_object().is_none_or(|fields| fields.keys().all(known))
            }
            "additionalProperties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(name).is_none() {
                        check(root, wanted, field, &format!("{at}.{name}"))?;
                    }
                }
                true
            }
            "$schema" | "$id" | "title" | "description" | "definitions" | "default" | "pattern"
            | "format" => true,
            other => panic!("the validator does not know {other}"),
        };
        if !fine {
            return Err(format!("{at}: {value} is against {keyword} {wanted}"));
        }
    }
    Ok(())
}

#[test]
fn sarif_is_what_its_schema_says() {
    let Some(schema) = schema() else {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ =
            writeln!(std::io::stderr(), "absent: serde-sarif, which has the schema; SARIF was not validated");
        return;
    };
    let corpus = |name: &str| format!("crates/c/corpus/{name}.c");
    let runs: [&[&str]; 5] = [
        &[&corpus("litmus_mp_rlx"), "-m", "armv8,sc"],
        &[&corpus("finding_leak"), &corpus("treiber_aba"), "-m", "rc11"],
        &[&corpus("sync_cond_lost"), "-m", "tso", "--engine", "states"],
        &["crates/cli/tests/data/count_up.c", "--unroll", "2"],
        &["crates/cli/tests/data/broken.litmus", "no such file.c"],
    ];
    for arguments in runs {
        let output =
            fencepost(&["check", "-j1", "--format", "sarif"]).args(arguments).output().expect("it runs");
        let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(!log["runs"].as_array().expect("runs").is_empty(), "{arguments:?}");
        check(&schema, &schema, &log, "log").unwrap_or_else(|wrong| panic!("{arguments:?}: {wrong}"));
    }
}

/// The validator sees what is wrong.
#[test]
fn what_is_no_sarif_is_refused() {
    let Some(schema) = schema() else { return };
    let refused = |text: &str| {
        let value = serde_json::from_str(text).expect("JSON");
        check(&schema, &schema, &value, "log").is_err()
    };
    assert!(refused("{\"version\": \"2.1.0\"}"), "runs are missing");
    assert!(refused("{\"version\": \"2.1.0\", \"runs\": [{}]}"), "a run has a tool");
    assert!(refused("{\"version\": \"2.1.0\", \"runs\": [], \"more\": 1}"), "nothing else stands there");
}
