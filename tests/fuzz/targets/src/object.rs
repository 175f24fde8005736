//! Reading the JSON of policies and bindings, of every version.

use celgate_policy::api::read::{binding, policy, show};
use serde_json::{Value, json};

/// Any text is read or refused in the same way each time; what was read is a v1 object that reads the same and that strict decoding takes.
pub fn run(data: &[u8]) {
    let shown = show(data);
    assert_eq!(shown, show(data), "not the same again");
    // Policies and bindings that do not say what they are.
    let _ = (policy(data), binding(data));
    let Ok(shown) = shown else { return };
    let shown: Value = serde_json::from_slice(&shown).expect("what is shown is JSON");
    let kind = if shown["object"]["spec"].get("failurePolicy").is_some() { "" } else { "Binding" };
    let mut object = shown["object"].clone();
    object["apiVersion"] = json!("admissionregistration.k8s.io/v1");
    object["kind"] = json!(format!("ValidatingAdmissionPolicy{kind}"));
    let again = show(object.to_string().as_bytes()).expect("what is shown can be read");
    let again: Value = serde_json::from_slice(&again).expect("what is shown is JSON");
    assert_eq!(again, json!({"object": shown["object"], "strict": []}));
}
