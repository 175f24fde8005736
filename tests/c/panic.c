// Linked with a library built with the feature fault-injection: a policy that panics in evaluation is an error under its failurePolicy, and
// the process and its handles live on.
#include "celgate.h"

#include "common.h"

#define POLICY(name, failure_policy, inject)                                                                                       \
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{\"name\":\"" name     \
    "\",\"annotations\":{\"celgate.dev/inject\":\"" inject "\"}},\"spec\":{\"failurePolicy\":\"" failure_policy                        \
    "\",\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"example.com\"],\"apiVersions\":[\"v1\"],\"operations\":"           \
    "[\"CREATE\"],\"resources\":[\"widgets\"]}]},\"validations\":[{\"expression\":\"object.replicas <= 5\",\"message\":\"judged\"}]}}"

static const char binding_json[] =
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicyBinding\",\"metadata\":{\"name\":\"here\"},"
    "\"spec\":{\"policyName\":\"any\",\"validationActions\":[\"Deny\"]}}";

// The plan of one policy.
static struct celgate_plan *plan_of(const char *json) {
    uint8_t text[4096];
    size_t text_len = 0;
    struct celgate_policy *policy = NULL;
    struct celgate_binding *binding = NULL;
    struct celgate_engine *engine = NULL;
    struct celgate_plan *plan = NULL;
    CHECK(celgate_policy_new((const uint8_t *)json, strlen(json), &policy, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    CHECK(celgate_binding_new((const uint8_t *)binding_json, strlen(binding_json), &binding, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    struct celgate_hook hook = {policy, 0, 1, CELGATE_NONE, 0, 0, 0};
    const struct celgate_binding *bindings[] = {binding};
    CHECK(celgate_engine_new(&hook, 1, bindings, 1, NULL, 0, &engine, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    CHECK(celgate_plan_new(engine, (const uint8_t *)key_json, strlen(key_json), &plan, text, sizeof text, &text_len) == CELGATE_STATUS_OK);
    celgate_policy_free(policy);
    celgate_binding_free(binding);
    celgate_engine_free(engine);
    return plan;
}

// A decision in a report (docs/abi.md): kind, hook, binding, expression, action, evaluation, each a u32.
static void decision(const uint8_t *report, uint32_t action, uint32_t evaluation) {
    CHECK(report[0] == 1 && report[16] == action && report[20] == evaluation);
}

int main(void) {
    struct celgate_plan *fails = plan_of(POLICY("fails", "Fail", "panic"));
    struct celgate_plan *ignores = plan_of(POLICY("ignores", "Ignore", "panic"));
    struct celgate_plan *healthy = plan_of(POLICY("healthy", "Fail", ""));
    struct celgate_scratch *scratch = NULL;
    CHECK(celgate_scratch_new(&scratch) == CELGATE_STATUS_OK);
    uint8_t bytes[2048], out[4096];
    struct celgate_result result;
    size_t len = request(bytes, 6);
    for (int round = 0; round < 100; round++) {
        CHECK(celgate_plan_evaluate(fails, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
        CHECK(result.len > 24 && contains(out, result.len, "internal error: evaluation panicked"));
        decision(out, 1, 1);
        celgate_scratch_reset(scratch);
        CHECK(celgate_plan_evaluate(ignores, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
        CHECK(result.len > 24 && contains(out, result.len, "internal error: evaluation panicked"));
        decision(out, 0, 1);
        celgate_scratch_reset(scratch);
        CHECK(celgate_plan_evaluate(healthy, scratch, bytes, len, NULL, 0, NULL, 0, out, sizeof out, &result) == CELGATE_STATUS_OK);
        CHECK(contains(out, result.len, "judged"));
        decision(out, 1, 2);
        celgate_scratch_reset(scratch);
    }
    celgate_scratch_free(scratch);
    celgate_plan_free(fails);
    celgate_plan_free(ignores);
    celgate_plan_free(healthy);
    puts("1 passed, 0 failed");
    return 0;
}
