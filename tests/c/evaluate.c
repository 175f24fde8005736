// Compiles a policy, decides two requests with it and prints the reports; then hands the library malformed input. Exit code 0 when
// everything is as it must be. The request records are written cell by cell, as docs/record-format.md defines them.
#include "celgate.h"
#include "celgate.h" // must be safe to include twice

#include "common.h"
static const char policy_json[] =
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{\"name\":\"limit\"},"
    "\"spec\":{\"failurePolicy\":\"Fail\",\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"example.com\"],\"apiVersions\":[\"v1\"],"
    "\"operations\":[\"CREATE\"],\"resources\":[\"widgets\"]}]},"
    "\"validations\":[{\"expression\":\"object.replicas <= 5\",\"messageExpression\":\"'got ' + string(object.replicas)\"}]}}";
static const char binding_json[] =
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicyBinding\",\"metadata\":{\"name\":\"limit-here\"},"
    "\"spec\":{\"policyName\":\"limit\",\"validationActions\":[\"Deny\"]}}";
static const char webhook_json[] =
    "{\"name\":\"w.example.com\",\"namespaceSelector\":{},\"objectSelector\":{},\"matchPolicy\":\"Equivalent\",\"rules\":[{\"apiGroups\":[\"*\"],"
    "\"apiVersions\":[\"*\"],\"operations\":[\"*\"],\"resources\":[\"*\"]}]}";

int main(void) {
    CHECK(celgate_abi_version() == CELGATE_ABI_VERSION);
    uint8_t text[4096];
    size_t text_len = 0;

    struct celgate_policy *policy = NULL;
    struct celgate_binding *binding = NULL;
    CHECK(celgate_policy_new((const uint8_t *)policy_json, strlen(policy_json), &policy, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    CHECK(celgate_binding_new((const uint8_t *)binding_json, strlen(binding_json), &binding, text, sizeof text, &text_len) == CELGATE_STATUS_OK);

    struct celgate_hook hook = {policy, 0, 1, CELGATE_NONE, 0, 0, 0};
    const struct celgate_binding *bindings[] = {binding};
    struct celgate_engine *engine = NULL;
    CHECK(celgate_engine_new(&hook, 1, bindings, 1, NULL, 0, &engine, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    celgate_policy_free(policy);
    celgate_binding_free(binding);

    struct celgate_plan *plan = NULL;
    CHECK(celgate_plan_new(engine, (const uint8_t *)key_json, strlen(key_json), &plan, text, 1, &text_len) == CELGATE_STATUS_BUFFER_TOO_SMALL);
    CHECK(plan == NULL && text_len > 1);
    CHECK(celgate_plan_new(engine, (const uint8_t *)key_json, strlen(key_json), &plan, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    CHECK(contains(text, text_len, "\"empty\":false"));
    celgate_engine_free(engine);

    struct celgate_scratch *scratch = NULL;
    CHECK(celgate_scratch_new(&scratch) == CELGATE_STATUS_OK);
    uint8_t bytes[2048], out[4096];
    struct celgate_result result;

    // Allowed: nothing to report.
    size_t len = request(bytes, 5);
    CHECK(celgate_plan_evaluate(plan, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
    CHECK(result.len == 0 && result.evaluations == 1);
    celgate_scratch_reset(scratch);

    // Denied, first into a buffer that is too small: the report is parked, not evaluated again.
    len = request(bytes, 6);
    CHECK(celgate_plan_evaluate(plan, scratch, bytes, len, NULL, 0, NULL, 0, out, 4, &result) == CELGATE_STATUS_BUFFER_TOO_SMALL);
    CHECK(result.len > 4);
    size_t out_len = 0;
    CHECK(celgate_scratch_result(scratch, out, sizeof out, &out_len) == CELGATE_STATUS_OK);
    CHECK(out_len == result.len && contains(out, out_len, "got 6"));
    CHECK(celgate_scratch_result(scratch, out, sizeof out, &out_len) == CELGATE_STATUS_INVALID);
    celgate_scratch_reset(scratch);

    // Malformed input gives a status and a reason, and the handles stay usable.
    CHECK(celgate_plan_evaluate(plan, scratch, bytes, len - 1, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_INVALID);
    CHECK(result.len > 0);
    celgate_scratch_reset(scratch);
    CHECK(celgate_plan_evaluate(plan, scratch, NULL, 1, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_INVALID);
    CHECK(celgate_plan_evaluate(NULL, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_INVALID);
    struct celgate_policy *none = (struct celgate_policy *)1;
    CHECK(celgate_policy_new((const uint8_t *)"{", 1, &none, text, sizeof text, &text_len) == CELGATE_STATUS_INVALID);
    CHECK(none == NULL && text_len > 0);
    celgate_scratch_reset(scratch);
    CHECK(celgate_plan_evaluate(plan, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
    CHECK(contains(out, result.len, "got 6"));

    celgate_scratch_reset(scratch);
    celgate_plan_free(plan);
    celgate_plan_free(NULL);

    // A webhook that matches is to be called: one entry of four numbers.
    struct celgate_webhook *webhook = NULL;
    CHECK(celgate_webhook_new((const uint8_t *)webhook_json, strlen(webhook_json), &webhook, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    const struct celgate_webhook *webhooks[] = {webhook, NULL};
    CHECK(celgate_engine_of_webhooks(webhooks, 2, &engine, text, sizeof text, &text_len) == CELGATE_STATUS_INVALID);
    CHECK(engine == NULL && contains(text, text_len, "webhook 1 is NULL"));
    CHECK(celgate_engine_of_webhooks(webhooks, 1, &engine, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    celgate_webhook_free(webhook);
    celgate_webhook_free(NULL);
    CHECK(celgate_plan_new(engine, (const uint8_t *)key_json, strlen(key_json), &plan, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    CHECK(contains(text, text_len, "\"matches\":[{"));
    celgate_engine_free(engine);
    CHECK(celgate_plan_evaluate(plan, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
    CHECK(result.len == 16 && out[0] == 7);

    celgate_scratch_free(scratch);
    celgate_plan_free(plan);
    puts("1 passed, 0 failed");
    return 0;
}
