//! The checks, one function for all validations of a policy.

use std::sync::LazyLock;

use celgate_cel::regex::Regex;
use celgate_cel::value::Value;

use super::quantity::Quantity;
use super::read::{Check, Error, Read, all, and, follow, or};

fn is_true(value: Option<Value<'_>>) -> bool {
    matches!(value, Some(Value::Bool(true)))
}

fn kind(object: Value<'_>) -> Result<&str, Error> {
    // What is no string is no kind that anybody looks for.
    Ok(object.get("kind")?.text().unwrap_or_default())
}

fn is_template(kind: &str) -> bool {
    matches!(kind, "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job")
}

/// The spec of the Pods that an object is or makes.
fn pod_spec(object: Value<'_>) -> Result<Option<Value<'_>>, Error> {
    let spec = match kind(object)? {
        "Pod" => return object.get("spec").map(Some),
        kind if is_template(kind) => object.get("spec")?,
        "CronJob" => object.get("spec")?.get("jobTemplate")?.get("spec")?,
        _ => return Ok(None),
    };
    spec.get("template")?.get("spec").map(Some)
}

/// Workloads are not in the namespace `default`.
pub(super) fn namespace(object: Value<'_>, _: Value<'_>) -> Check {
    let elsewhere = || {
        let namespace = object.get("metadata")?.find("namespace")?;
        Ok(namespace.is_some_and(|namespace| !matches!(namespace, Value::String("default"))))
    };
    match kind(object) {
        Ok(kind) if kind == "Pod" || kind == "CronJob" || is_template(kind) => elsewhere(),
        Ok(_) => Ok(true),
        Err(error) => or(Err(error), elsewhere),
    }
}

/// Containers have limits of memory and CPU.
pub(super) fn limits(object: Value<'_>, _: Value<'_>) -> Check {
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    all(spec.get("containers")?.elements()?, |container| {
        let Some(limits) = follow(container, ["resources", "limits"])? else { return Ok(false) };
        Ok(limits.find("memory")?.is_some() && limits.find("cpu")?.is_some())
    })
}

/// Volumes are of types that are allowed.
pub(super) fn volume_types(object: Value<'_>, _: Value<'_>) -> Check {
    let Some(volumes) = object.get("spec")?.find("volumes")? else { return Ok(true) };
    all(volumes.elements()?, |volume| {
        let Ok(mut fields) = volume.entries() else { return Ok(false) };
        Ok(fields.any(|(name, _)| {
            matches!(
                name,
                "configMap"
                    | "csi"
                    | "downwardAPI"
                    | "emptyDir"
                    | "ephemeral"
                    | "persistentVolumeClaim"
                    | "projected"
                    | "secret"
            )
        }))
    })
}

/// Containers have a seccomp profile, or none of their own where the Pod has one; Windows has none.
pub(super) fn seccomp(object: Value<'_>, _: Value<'_>) -> Check {
    const TYPE: [&str; 3] = ["securityContext", "seccompProfile", "type"];
    let is_allowed = |kind| matches!(kind, Value::String("RuntimeDefault" | "Localhost"));
    let spec = object.get("spec")?;
    let windows = match follow(spec, ["os", "name"])? {
        Some(name) => name.text().map(|name| name.eq_ignore_ascii_case("windows")),
        None => Ok(false),
    };
    or(windows, || {
        let pods = follow(spec, TYPE)?;
        if pods.is_some_and(|kind| !is_allowed(kind)) {
            return Ok(false);
        }
        all(spec.get("containers")?.elements()?, |container| {
            Ok(follow(container, TYPE)?.map_or(pods.is_some(), is_allowed))
        })
    })
}

/// Volumes of the node are mounted for reading only.
pub(super) fn host_paths(object: Value<'_>, _: Value<'_>) -> Check {
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    let Some(volumes) = spec.find("volumes")? else { return Ok(true) };
    all(volumes.elements()?, |volume| {
        if volume.find("hostPath")?.is_none() {
            return Ok(true);
        }
        let name = volume.get("name").and_then(Read::text);
        all(spec.get("containers")?.elements()?, |container| {
            let Some(mounts) = container.find("volumeMounts")? else { return Ok(true) };
            all(mounts.elements()?, |mount| {
                let other = mount.get("name").and_then(Read::text).and_then(|mount| Ok(mount != name?));
                or(other, || Ok(is_true(mount.find("readOnly")?)))
            })
        })
    })
}

/// Containers of all sorts are not privileged, nor do they ask for the capabilities that amount to it.
pub(super) fn privileged(object: Value<'_>, _: Value<'_>) -> Check {
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    let others = |name| spec.find(name)?.map(Read::elements).transpose();
    let (init, ephemeral) = (others("initContainers")?, others("ephemeralContainers")?);
    let containers = spec.get("containers")?.elements()?;
    all(containers.chain(init.into_iter().flatten()).chain(ephemeral.into_iter().flatten()), |container| {
        let Some(context) = container.find("securityContext")? else { return Ok(true) };
        if is_true(context.find("privileged")?) {
            return Ok(false);
        }
        let Some(added) = follow(context, ["capabilities", "add"])? else { return Ok(true) };
        all(added.elements()?, |capability| {
            let name = capability.text()?;
            Ok(!name.eq_ignore_ascii_case("SYS_ADMIN") && !name.eq_ignore_ascii_case("ALL"))
        })
    })
}

/// Images come from no registry that the params distrust.
pub(super) fn registries(object: Value<'_>, params: Value<'_>) -> Check {
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    let untrusted = params.get("settings").and_then(|settings| settings.get("untrustedRegistries"));
    all(spec.get("containers")?.elements()?, |container| {
        let image = container.get("image").and_then(Read::text);
        // Images without a registry are Docker Hub's.
        let is_hubs = || {
            let Some((host, _)) = image?.split_once('/') else { return Ok(true) };
            Ok(!host.contains(['.', ':']) && host != "localhost"
                || matches!(host, "docker.io" | "index.docker.io" | "registry-1.docker.io"))
        };
        all(untrusted?.elements()?, |registry| {
            let registry = registry.text()?;
            let name = registry.strip_suffix('/').unwrap_or(registry);
            if matches!(name, "docker.io" | "index.docker.io" | "registry-1.docker.io") && is_hubs()? {
                return Ok(false);
            }
            Ok(!image?.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
        })
    })
}

/// Memory that containers request and are limited to is in the params' range.
pub(super) fn memory(object: Value<'_>, params: Value<'_>) -> Check {
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    let settings = params.get("settings");
    let bound = |name| Quantity::of(settings?.get(name)?);
    let bounds = |least, most| (bound(least), bound(most));
    let requests = bounds("memoryRequestMin", "memoryRequestMax");
    let limits = bounds("memoryLimitMin", "memoryLimitMax");
    all(spec.get("containers")?.elements()?, |container| {
        let Some(resources) = container.find("resources")? else { return Ok(false) };
        let within = |which, (least, most): (Result<_, Error>, Result<_, Error>)| {
            let Some(memory) = follow(resources, [which, "memory"])? else { return Ok(false) };
            let memory = Quantity::of(memory)?;
            and(least.map(|least| least <= memory), || Ok(memory <= most?))
        };
        and(within("requests", requests), || within("limits", limits))
    })
}

/// Images are pulled always, unless they have a tag that is a version.
pub(super) fn tags(object: Value<'_>, _: Value<'_>) -> Check {
    #[allow(clippy::unwrap_used, reason = "a constant pattern")]
    static TAGS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r":[\w][\w.-]{0,127}(\/)?").unwrap());
    let is_word = |tag: &str| (2..=128).contains(&tag.len()) && tag.bytes().skip(1).all(|b| b.is_ascii_alphabetic());
    let Some(spec) = pod_spec(object)? else { return Ok(true) };
    all(spec.get("containers")?.elements()?, |container| {
        if let Some(Value::String("Always")) = container.find("imagePullPolicy")? {
            return Ok(true);
        }
        let mut tagged = false;
        for found in TAGS.find_all(container.get("image")?.text()?) {
            if is_word(found) {
                return Ok(false);
            }
            tagged |= !found.ends_with('/');
        }
        Ok(tagged)
    })
}

/// Selectors match the labels of the template that they are for.
pub(super) fn selectors(object: Value<'_>, _: Value<'_>) -> Check {
    let workload = || of_spec(object.get("spec")?, selects);
    let cron_job = || of_spec(object.get("spec")?.get("jobTemplate")?.get("spec")?, selects);
    let controller = || of_spec(object.get("spec")?, has_all);
    match kind(object) {
        Ok(kind) if is_template(kind) => workload(),
        Ok("CronJob") => cron_job(),
        Ok("ReplicationController") => controller(),
        Ok(_) => Ok(true),
        // It could be any of them.
        Err(error) => and(or(Err(error), workload), || and(or(Err(error), cron_job), || or(Err(error), controller))),
    }
}

fn of_spec<'a>(spec: Value<'a>, check: impl FnOnce(Value<'a>, Labels<'a>) -> Check) -> Check {
    let Some(selector) = spec.find("selector")? else { return Ok(true) };
    check(selector, follow(spec, ["template", "metadata", "labels"]))
}

type Labels<'a> = Result<Option<Value<'a>>, Error>;

/// The label of a name; labels that are null can have none.
fn label<'a>(labels: Labels<'a>, name: &str) -> Labels<'a> {
    match labels? {
        None => Ok(None),
        Some(Value::Null) => Err(Error),
        Some(labels) => labels.find(name),
    }
}

fn same(a: Value<'_>, b: Value<'_>) -> bool {
    matches!((a, b), (Value::String(a), Value::String(b)) if a == b)
}

/// Whether labels have all of these.
fn has_all<'a>(wanted: Value<'a>, labels: Labels<'a>) -> Check {
    all(wanted.entries()?, |(name, value)| Ok(label(labels, name)?.is_some_and(|label| same(label, value))))
}

fn selects<'a>(selector: Value<'a>, labels: Labels<'a>) -> Check {
    let matched = || selector.find("matchLabels")?.map_or(Ok(true), |wanted| has_all(wanted, labels));
    and(matched(), || {
        let Some(expressions) = selector.find("matchExpressions")? else { return Ok(true) };
        all(expressions.elements()?, |expression| {
            let label = || label(labels, expression.get("key")?.text()?);
            let is_among = |label| -> Check {
                let Some(values) = expression.find("values")? else { return Ok(false) };
                Ok(values.elements()?.any(|value| same(value, label)))
            };
            match expression.get("operator")?.text().unwrap_or_default() {
                "In" => label()?.map_or(Ok(false), is_among),
                "NotIn" => label()?.map_or(Ok(true), |label| is_among(label).map(|is| !is)),
                "Exists" => Ok(label()?.is_some()),
                "DoesNotExist" => Ok(label()?.is_none()),
                _ => Ok(false),
            }
        })
    })
}
