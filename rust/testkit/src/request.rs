//! Request records from the parts of a request.

use serde_json::{Value, json};

use crate::record::{Root, encode};

/// A request before it becomes a record; the defaults are a Pod created in namespace `default`.
#[derive(Debug, Clone)]
pub struct Request {
    /// Root 0, without kind and resource.
    pub attributes: Value,
    /// Root 1.
    pub namespace: Root,
    /// Root 2.
    pub labels: Root,
    /// Root 3.
    pub old_labels: Root,
    /// Root 4.
    pub namespace_labels: Root,
    /// object and oldObject in each version of the plan.
    pub versions: Vec<(Root, Root)>,
}

impl Request {
    /// A CREATE of this object (typed, as built-in kinds are) in namespace `default`; labels come from its metadata.
    pub fn create(object: Value) -> Request {
        let labels = object.pointer("/metadata/labels").cloned().unwrap_or_else(|| json!({}));
        let name = object.pointer("/metadata/name").cloned().unwrap_or_else(|| json!(""));
        let mut attributes = json!({
            "uid": "",
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "alice", "groups": ["devs"]},
            "object": null,
            "oldObject": null,
            "dryRun": false,
            "options": null,
        });
        if name != json!("") {
            attributes["name"] = name;
        }
        Request {
            attributes,
            namespace: Root::Typed(
                json!({"metadata": {"name": "default", "labels": {"env": "test"}}, "spec": {}, "status": {}}),
            ),
            labels: Root::Plain(labels),
            old_labels: Root::Plain(Value::Null),
            namespace_labels: Root::Plain(json!({"env": "test"})),
            versions: vec![(Root::Typed(object), Root::Plain(Value::Null))],
        }
    }

    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut roots = vec![
            Root::Typed(self.attributes.clone()),
            self.namespace.clone(),
            self.labels.clone(),
            self.old_labels.clone(),
            self.namespace_labels.clone(),
        ];
        for (object, old) in &self.versions {
            roots.push(object.clone());
            roots.push(old.clone());
        }
        encode(&roots)
    }
}
