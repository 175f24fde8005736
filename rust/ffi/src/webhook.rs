//! Handles of compiled webhooks.

use std::sync::Arc;

use ::celgate_policy::Webhook;

use crate::guard::guard;
use crate::raw;
use crate::status::celgate_status;

/// A compiled ValidatingWebhook. Immutable; any thread.
pub struct celgate_webhook(pub(crate) Arc<Webhook>);

/// Compiles a webhook from the JSON of a v1 ValidatingWebhook, an entry of a ValidatingWebhookConfiguration, with the API's defaults applied.
///
/// Match conditions and selectors that do not compile are not an error here: they become errors where upstream reports them.
/// Returns as `celgate_policy_new`.
///
/// # Safety
/// As `celgate_policy_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_webhook_new(
    json: *const u8,
    json_len: usize,
    webhook_out: *mut *mut celgate_webhook,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    let read = |json: &[u8]| Ok(celgate_webhook(Arc::new(Webhook::from_json(json)?)));
    // SAFETY: by this function's contract.
    guard(|| unsafe { raw::from_json(json, json_len, webhook_out, text, text_cap, text_len_out, read) })
}

/// Frees a webhook; NULL is a no-op. Engines made from it keep what they need.
///
/// # Safety
/// `webhook` came from `celgate_webhook_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_webhook_free(webhook: *mut celgate_webhook) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(webhook) };
        celgate_status::Ok
    });
}
