//! Bare expressions (`CELGATE_EXPRESSIONS`), for tools and tests.

use ::celgate_policy::Outcome;
use ::celgate_policy::expression::{Environment, Expression};

use crate::guard::guard;
use crate::raw::{self, Buffer};
use crate::scratch::celgate_scratch;
use crate::status::celgate_status;

/// The variables that bare expressions may name. Immutable; any thread.
pub struct celgate_environment(Environment);

/// A compiled expression. Immutable; any thread.
pub struct celgate_expression(Expression);

const _: () = {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<celgate_environment>();
    assert_shared::<celgate_expression>();
};

/// Makes an environment from JSON (docs/abi.md, "Expressions").
///
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_environment_free`, or `CELGATE_STATUS_INVALID` with a text.
///
/// # Safety
/// `json` points to `json_len` readable bytes; `environment_out` to one writable pointer; `text` to `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_environment_new(
    json: *const u8,
    json_len: usize,
    environment_out: *mut *mut celgate_environment,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (json, mut text) = unsafe {
            raw::give::<celgate_environment>(environment_out, None);
            (raw::bytes(json, json_len), Buffer::new(text, text_cap, text_len_out))
        };
        let made = json.ok_or_else(|| "json is NULL".to_owned()).and_then(Environment::from_json);
        // SAFETY: by this function's contract.
        unsafe { raw::finish(environment_out, &mut text, made.map(celgate_environment)) }
    })
}

/// Frees an environment; NULL is a no-op. Expressions made from it keep what they need.
///
/// # Safety
/// `environment` came from `celgate_environment_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_environment_free(environment: *mut celgate_environment) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(environment) };
        celgate_status::Ok
    });
}

/// Compiles an expression of any type.
///
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_expression_free`, with the expression's static type in `text`; or
/// `CELGATE_STATUS_INVALID` with upstream's text of what is wrong.
///
/// # Safety
/// `environment` is live; `source` points to `source_len` readable bytes; `expression_out` to one writable pointer; `text` to
/// `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_expression_new(
    environment: *const celgate_environment,
    source: *const u8,
    source_len: usize,
    expression_out: *mut *mut celgate_expression,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (environment, source, mut text) = unsafe {
            raw::give::<celgate_expression>(expression_out, None);
            (raw::handle(environment), raw::bytes(source, source_len), Buffer::new(text, text_cap, text_len_out))
        };
        let made = match (environment, source.map(std::str::from_utf8)) {
            (Some(environment), Some(Ok(source))) => environment.0.compile(source),
            (_, Some(Err(error))) => Err(format!("the expression is not UTF-8: {error}")),
            _ => Err("environment or source is NULL".to_owned()),
        };
        if let Ok(expression) = &made {
            text.write(expression.output_type().as_bytes());
        }
        // SAFETY: by this function's contract.
        unsafe { raw::finish(expression_out, &mut text, made.map(celgate_expression)) }
    })
}

/// Frees an expression; NULL is a no-op.
///
/// # Safety
/// `expression` came from `celgate_expression_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_expression_free(expression: *mut celgate_expression) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(expression) };
        celgate_status::Ok
    });
}

/// What an expression reads of `object` and `oldObject`, as JSON (docs/abi.md, "Projections").
///
/// Returns `CELGATE_STATUS_OK`, or `CELGATE_STATUS_BUFFER_TOO_SMALL` when `*text_len_out` bytes do not fit.
///
/// # Safety
/// `expression` is live; `text` points to `text_cap` writable bytes; `text_len_out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_expression_projections(
    expression: *const celgate_expression,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (expression, mut text) = unsafe { (raw::handle(expression), Buffer::new(text, text_cap, text_len_out)) };
        match expression {
            Some(expression) if text.write(expression.0.projections_json().as_bytes()) => celgate_status::Ok,
            Some(_) => celgate_status::BufferTooSmall,
            None => celgate_status::Invalid,
        }
    })
}

/// Evaluates an expression, or goes on with answers. `record` has one root for each declared variable.
///
/// Returns `CELGATE_STATUS_OK` with the result as a line of text (docs/abi.md, "Expressions"), `CELGATE_STATUS_NEEDS_INPUT` with
/// questions, `CELGATE_STATUS_INVALID` with a text, `CELGATE_STATUS_BUFFER_TOO_SMALL` when what belongs in `out` is parked in the
/// scratch, or `CELGATE_STATUS_PANIC`.
///
/// # Safety
/// `expression` is live; `scratch` is live and used by no other call; `record` and `answers` point to as many readable bytes as said;
/// `out` to `out_cap` writable bytes; `out_len_out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_expression_evaluate(
    expression: *const celgate_expression,
    scratch: *mut celgate_scratch,
    record: *const u8,
    record_len: usize,
    answers: *const u8,
    answers_len: usize,
    cost_limit: u64,
    out: *mut u8,
    out_cap: usize,
    out_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (expression, scratch, record, answers, mut out) = unsafe {
            (
                raw::handle(expression),
                raw::exclusive(scratch),
                raw::bytes(record, record_len),
                raw::bytes(answers, answers_len),
                Buffer::new(out, out_cap, out_len_out),
            )
        };
        let (Some(expression), Some(scratch), Some(record), Some(answers)) = (expression, scratch, record, answers)
        else {
            return celgate_status::Invalid;
        };
        let status = match expression.0.evaluate(&mut scratch.scratch, record, answers, cost_limit) {
            Ok(Outcome::Done) => celgate_status::Ok,
            Ok(Outcome::NeedsInput) => celgate_status::NeedsInput,
            Ok(Outcome::Yield) => celgate_status::Yield,
            Err(reason) => {
                out.write(reason.to_string().as_bytes());
                return celgate_status::Invalid;
            }
        };
        if out.write(scratch.scratch.output()) { status } else { scratch.park(status) }
    })
}

/// Plants one of the bugs that tests must find; 0 takes it out again. Returns how many there are: 1 to that number.
#[cfg(feature = "mutants")]
#[unsafe(no_mangle)]
pub extern "C" fn celgate_mutant(number: u32) -> u32 {
    ::celgate_policy::mutants::plant_expression(number)
}

/// The same for the bugs of policies and webhooks.
#[cfg(feature = "mutants")]
#[unsafe(no_mangle)]
pub extern "C" fn celgate_policy_mutant(number: u32) -> u32 {
    ::celgate_policy::mutants::plant_policy(number)
}

/// Which tests must find a bug of policies and webhooks: bit 0 is that of policies, bit 1 that of webhooks.
#[cfg(feature = "mutants")]
#[unsafe(no_mangle)]
pub extern "C" fn celgate_policy_mutant_shows(number: u32) -> u32 {
    let (policies, webhooks) = ::celgate_policy::mutants::shows_in(number);
    u32::from(policies) | u32::from(webhooks) << 1
}
