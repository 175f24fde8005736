//! Engine snapshots.

use std::sync::Arc;

use ::celgate_policy::{Engine, Hook};

use crate::guard::guard;
use crate::policy::{celgate_binding, celgate_policy};
use crate::raw::{self, Buffer};
use crate::status::celgate_status;
use crate::webhook::celgate_webhook;
use crate::{CELGATE_HOOK_NAMESPACED_PARAMS, CELGATE_NONE};

/// A snapshot of policies and bindings, or of webhooks. Immutable; any thread.
pub struct celgate_engine(pub(crate) Arc<Engine>);

/// One policy with its bindings, as an argument of `celgate_engine_new`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct celgate_hook {
    /// The policy; not NULL.
    pub policy: *const celgate_policy,
    /// Index of its first binding in the array of bindings.
    pub first_binding: u32,
    /// Number of its bindings.
    pub bindings: u32,
    /// Number of its param set, `CELGATE_NONE` when it has no paramKind.
    pub params: u32,
    /// Where its configuration error begins in `texts`.
    pub error_offset: u32,
    /// Bytes of its configuration error; 0 when there is none.
    pub error_len: u32,
    /// `CELGATE_HOOK_NAMESPACED_PARAMS` or 0.
    pub flags: u32,
}

/// Makes an engine of policies. Hooks are in the order in which decisions are made, bindings of one hook side by side and in that order too.
///
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_engine_free`, or `CELGATE_STATUS_INVALID` with a text when a handle
/// is NULL or a range lies outside its array.
///
/// # Safety
/// `hooks` points to `hooks_len` hooks with live policies, `bindings` to `bindings_len` live bindings, `texts` to `texts_len` bytes;
/// `engine_out` to one writable pointer; `text` to `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_engine_new(
    hooks: *const celgate_hook,
    hooks_len: usize,
    bindings: *const *const celgate_binding,
    bindings_len: usize,
    texts: *const u8,
    texts_len: usize,
    engine_out: *mut *mut celgate_engine,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (hooks, bindings, texts, mut text) = unsafe {
            raw::give::<celgate_engine>(engine_out, None);
            (
                raw::slice(hooks, hooks_len),
                raw::slice(bindings, bindings_len),
                raw::bytes(texts, texts_len),
                Buffer::new(text, text_cap, text_len_out),
            )
        };
        let made = match (hooks, bindings, texts) {
            // SAFETY: the handles in the arrays are live by this function's contract.
            (Some(hooks), Some(bindings), Some(texts)) => unsafe { engine(hooks, bindings, texts) },
            _ => Err("hooks, bindings or texts is NULL".to_owned()),
        };
        let made = made.map(|engine| celgate_engine(Arc::new(engine)));
        // SAFETY: by this function's contract.
        unsafe { raw::finish(engine_out, &mut text, made) }
    })
}

/// Makes an engine of webhooks, in the order in which upstream looks at them.
///
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_engine_free`, or `CELGATE_STATUS_INVALID` with a text when a handle
/// is NULL.
///
/// # Safety
/// `webhooks` points to `webhooks_len` live webhooks; `engine_out` to one writable pointer; `text` to `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_engine_of_webhooks(
    webhooks: *const *const celgate_webhook,
    webhooks_len: usize,
    engine_out: *mut *mut celgate_engine,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (webhooks, mut text) = unsafe {
            raw::give::<celgate_engine>(engine_out, None);
            (raw::slice(webhooks, webhooks_len), Buffer::new(text, text_cap, text_len_out))
        };
        let made = webhooks.ok_or_else(|| "webhooks is NULL".to_owned()).and_then(|webhooks| {
            let webhooks = webhooks.iter().enumerate().map(|(i, &webhook)| {
                // SAFETY: the handles in the array are live by this function's contract.
                let webhook = unsafe { raw::handle(webhook) };
                webhook.map(|webhook| Arc::clone(&webhook.0)).ok_or_else(|| format!("webhook {i} is NULL"))
            });
            Ok(celgate_engine(Arc::new(Engine::of_webhooks(webhooks.collect::<Result<_, _>>()?))))
        });
        // SAFETY: by this function's contract.
        unsafe { raw::finish(engine_out, &mut text, made) }
    })
}

/// Frees an engine; NULL is a no-op. Plans made from it keep what they need.
///
/// # Safety
/// `engine` came from `celgate_engine_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_engine_free(engine: *mut celgate_engine) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(engine) };
        celgate_status::Ok
    });
}

/// # Safety
/// The handles in the arrays are NULL or live.
unsafe fn engine(hooks: &[celgate_hook], bindings: &[*const celgate_binding], texts: &[u8]) -> Result<Engine, String> {
    let bindings = bindings
        .iter()
        .enumerate()
        .map(|(i, &binding)| {
            // SAFETY: by this function's contract.
            let binding = unsafe { raw::handle(binding) };
            binding.map(|binding| Arc::clone(&binding.0)).ok_or_else(|| format!("binding {i} is NULL"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let hooks = hooks
        .iter()
        .enumerate()
        .map(|(i, hook)| {
            // SAFETY: by this function's contract.
            let policy = unsafe { raw::handle(hook.policy) }.ok_or_else(|| format!("policy of hook {i} is NULL"))?;
            let end = hook.first_binding.checked_add(hook.bindings).filter(|&end| end as usize <= bindings.len());
            let end = end.ok_or_else(|| format!("bindings of hook {i} are outside the array"))?;
            Ok(Hook {
                policy: Arc::clone(&policy.0),
                bindings: hook.first_binding..end,
                params: (hook.params != CELGATE_NONE).then_some(hook.params),
                error: configuration_error(hook, texts).ok_or_else(|| format!("error of hook {i} is outside texts"))?,
                namespaced_params: hook.flags & CELGATE_HOOK_NAMESPACED_PARAMS != 0,
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Engine::new(hooks, bindings))
}

fn configuration_error(hook: &celgate_hook, texts: &[u8]) -> Option<Option<String>> {
    if hook.error_len == 0 {
        return Some(None);
    }
    let start = hook.error_offset as usize;
    let text = texts.get(start..start.checked_add(hook.error_len as usize)?)?;
    Some(Some(String::from_utf8_lossy(text).into_owned()))
}
