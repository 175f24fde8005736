//! Reads policies and bindings of any version of the API: finds out the version, decodes, and applies that version's defaults. Webhooks are
//! read as they are.
//!
//! As the apiserver does it: `SimpleMetaFactory.Interpret` and the serializer's `Decode` of apimachinery, then the defaults of Kubernetes'
//! `pkg/apis/admissionregistration/{v1,v1beta1,v1alpha1}`, whose conversions change nothing. Where the API only refuses what is not one of
//! few values (failurePolicy, matchPolicy, scope) when it validates, reading refuses it, with the same words.

use serde::Serialize;

use super::decode::{Decode, Decoder, Fields, Mismatch, decode, fields, values};
use super::json::Cursor;
use super::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhook};

const GROUP: &str = "admissionregistration.k8s.io";
const POLICY: &str = "ValidatingAdmissionPolicy";
const BINDING: &str = "ValidatingAdmissionPolicyBinding";

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V1Beta1,
    V1Alpha1,
}

impl Version {
    fn new(name: &str) -> Option<Version> {
        match name {
            "v1" => Some(Version::V1),
            "v1beta1" => Some(Version::V1Beta1),
            "v1alpha1" => Some(Version::V1Alpha1),
            _ => None,
        }
    }
}

/// Reads a policy, which is one of v1 if its JSON does not say. Unknown fields are ignored, and of duplicate ones the last wins.
pub fn policy(json: &[u8]) -> Result<ValidatingAdmissionPolicy, String> {
    let json = checked(json)?;
    Ok(object::<ValidatingAdmissionPolicy>(&json, Identity::of(&json, Some(POLICY))?)?.0)
}

/// Reads a binding, as [`policy`] does.
pub fn binding(json: &[u8]) -> Result<ValidatingAdmissionPolicyBinding, String> {
    let json = checked(json)?;
    Ok(object::<ValidatingAdmissionPolicyBinding>(&json, Identity::of(&json, Some(BINDING))?)?.0)
}

/// Reads an entry of a v1 ValidatingWebhookConfiguration.
pub fn webhook(json: &[u8]) -> Result<ValidatingWebhook, String> {
    let json = Cursor::new(json)?;
    Ok(decode(json.clone()).map_err(|error| named("ValidatingWebhook", json, |Name { name }| name, &error))?.0)
}

/// An error about an object, which is told by its name if it has one.
fn named<T: Decode>(kind: &str, json: Cursor<'_>, name: impl FnOnce(T) -> String, error: &str) -> String {
    match decode::<T>(json).map(|(object, _)| name(object)) {
        Ok(name) if !name.is_empty() => format!("{kind} {}: {error}", celgate_k8s::gotext::quote(&name)),
        _ => format!("{kind}: {error}"),
    }
}

/// What was read from an object's JSON.
#[derive(Serialize)]
struct Shown<T> {
    /// The object as v1 with its defaults, as far as it matters.
    object: T,
    /// What strict decoding refuses: unknown and duplicate fields.
    strict: Vec<String>,
}

/// Reads a policy or binding that says which of them it is, and shows as JSON what was read (docs/abi.md, "Objects").
pub fn show(json: &[u8]) -> Result<Vec<u8>, String> {
    let json = checked(json)?;
    let identity = Identity::of(&json, None)?;
    if identity.kind == BINDING {
        let (object, strict) = object::<ValidatingAdmissionPolicyBinding>(&json, identity)?;
        return serde_json::to_vec(&Shown { object, strict }).map_err(|error| error.to_string());
    }
    let (object, strict) = object::<ValidatingAdmissionPolicy>(&json, identity)?;
    serde_json::to_vec(&Shown { object, strict }).map_err(|error| error.to_string())
}

/// Reads a part of an object.
#[cfg(test)]
pub(crate) fn part<T: Decode>(json: &str) -> Result<T, String> {
    Ok(decode(Cursor::new(json.as_bytes())?)?.0)
}

/// A policy or binding.
trait Object: Decode {
    const KIND: &'static str;

    /// Applies the defaults that not all versions have.
    fn default_as(&mut self, version: Version);
}

impl Object for ValidatingAdmissionPolicy {
    const KIND: &'static str = POLICY;

    fn default_as(&mut self, _: Version) {}
}

impl Object for ValidatingAdmissionPolicyBinding {
    const KIND: &'static str = BINDING;

    fn default_as(&mut self, version: Version) {
        if version == Version::V1Alpha1
            && let Some(param_ref) = &mut self.spec.param_ref
        {
            param_ref.parameter_not_found_action.get_or_insert_with(|| "Deny".to_owned());
        }
    }
}

fn object<T: Object>(json: &Cursor<'_>, identity: Identity) -> Result<(T, Vec<String>), String> {
    let Identity { version, kind } = identity;
    if kind != T::KIND {
        return Err(format!("expected a {}, got a {kind}", T::KIND));
    }
    let (mut object, strict) = decode::<T>(json.clone())
        .map_err(|error| named(T::KIND, json.clone(), |Named { metadata }| metadata.name, &error))?;
    object.default_as(version);
    Ok((object, strict))
}

/// A text that is JSON; finding out what it is of is the first that is tried.
fn checked(json: &[u8]) -> Result<Cursor<'_>, String> {
    Cursor::new(json).map_err(no_identity)
}

fn no_identity(error: String) -> String {
    format!("couldn't get version/kind; json parse error: {error}")
}

/// Which object a JSON text says that it is.
struct Identity {
    version: Version,
    kind: String,
}

impl Identity {
    /// With a kind to assume, version and kind may be missing, as where a decoder has a default.
    fn of(json: &Cursor<'_>, assumed: Option<&str>) -> Result<Identity, String> {
        let (TypeMeta { api_version, mut kind }, _) = decode::<TypeMeta>(json.clone()).map_err(no_identity)?;
        let (mut group, mut version) = group_version(&api_version)?;
        if let Some(assumed) = assumed {
            if kind.is_empty() {
                kind = assumed.to_owned();
            }
            if version.is_empty() && (group.is_empty() || group == GROUP) {
                (group, version) = (GROUP, "v1");
            }
        }
        let missing =
            |field: &str| format!("Object '{field}' is missing in '{}'", String::from_utf8_lossy(json.text()));
        if kind.is_empty() {
            return Err(missing("Kind"));
        }
        if version.is_empty() {
            return Err(missing("apiVersion"));
        }
        match Version::new(version) {
            Some(version) if group == GROUP && (kind == POLICY || kind == BINDING) => Ok(Identity { version, kind }),
            _ => Err(format!(
                "no kind {} is registered for version {}",
                celgate_k8s::gotext::quote(&kind),
                celgate_k8s::gotext::quote(&api_version)
            )),
        }
    }
}

/// `schema.ParseGroupVersion` of apimachinery.
fn group_version(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('/') {
        _ if text == "/" => Ok(("", "")),
        None => Ok(("", text)),
        Some((group, version)) if !version.contains('/') => Ok((group, version)),
        Some(_) => Err(format!("unexpected GroupVersion string: {text}")),
    }
}

/// Version and kind. They alone are found with upper and lower case mixed, since they alone are read by Go's own decoder.
#[derive(Default)]
struct TypeMeta {
    api_version: String,
    kind: String,
}

impl Fields for TypeMeta {
    const NAMES: &'static [&'static str] = &["apiVersion", "kind"];

    fn find(key: &str) -> Option<usize> {
        // Letters beyond ASCII that Go's folding of names takes for ASCII ones.
        let key: String = key
            .chars()
            .map(|c| {
                if c == '\u{17f}' {
                    's'
                } else if c == '\u{212a}' {
                    'k'
                } else {
                    c
                }
            })
            .collect();
        Self::NAMES.iter().position(|name| name.eq_ignore_ascii_case(&key))
    }

    fn decode_field(&mut self, name: &str, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        match name {
            "apiVersion" => self.api_version.decode(decoder),
            _ => self.kind.decode(decoder),
        }
    }
}

/// An object's name, for errors about the object.
#[derive(Default)]
struct Named {
    metadata: Name,
}

#[derive(Default)]
struct Name {
    name: String,
}

fields! {
    Named { "metadata" => metadata }
    Name { "name" => name }
}

values! { TypeMeta, Named, Name }

#[cfg(test)]
mod tests;
