//! The examples for clusters are YAML, name commands that exist, and have no password in them.

use std::path::Path;
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

fn read(name: &str) -> Yaml {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster").join(name);
    let text = std::fs::read_to_string(path).expect("it is there");
    let mut documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(documents.len(), 1, "{name}");
    documents.remove(0)
}

fn words(yaml: &Yaml) -> Vec<String> {
    let list = yaml.as_vec().expect("a list of words");
    list.iter().map(|word| word.as_str().expect("a word").to_string()).collect()
}

/// A command line that the binary takes: with `--help` behind it, it says how it is used.
fn assert_is_known(words: &[String]) {
    assert_eq!(words[0], "fencepost");
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(&words[1..])
        .arg("--help")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{words:?}");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for option in words.iter().filter(|word| word.starts_with("--")) {
        assert!(help.contains(option.as_str()), "{option}");
    }
}

#[test]
fn the_compose_file_starts_a_server_and_workers() {
    let compose = read("compose.yaml");
    let services = &compose["services"];
    assert!(words(&services["nats"]["command"]).contains(&"-js".to_string()));
    assert_is_known(&words(&services["worker"]["command"]));
    assert_eq!(services["worker"]["depends_on"][0].as_str(), Some("nats"));
    let volume = services["nats"]["volumes"][0].as_str().and_then(|volume| volume.split(':').next());
    assert!(!compose["volumes"][volume.expect("a volume")].is_badvalue());
    let password = services["worker"]["environment"]["NATS_PASSWORD"].as_str().expect("a variable");
    assert!(password.starts_with("${"), "{password}");
}

#[test]
fn the_kubernetes_manifest_is_a_deployment_of_workers() {
    let manifest = read("kubernetes.yaml");
    assert_eq!(manifest["apiVersion"].as_str(), Some("apps/v1"));
    assert_eq!(manifest["kind"].as_str(), Some("Deployment"));
    let spec = &manifest["spec"];
    let labels = &spec["template"]["metadata"]["labels"];
    assert_eq!(&spec["selector"]["matchLabels"], labels);
    let container = &spec["template"]["spec"]["containers"][0];
    assert_is_known(&words(&container["command"]));
    let env = container["env"].as_vec().expect("variables");
    assert!(env.iter().all(|variable| !variable["valueFrom"]["secretKeyRef"].is_badvalue()));
}
