// Compiles a policy, decides two requests with it and prints the reports; then hands the library malformed input. Exit code 0 when
// everything is as it must be. The request records are written cell by cell, as docs/record-format.md defines them.
#include "celgate.h"
#include "celgate.h" // must be safe to include twice

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

enum { NULL_CELL = 1, INT_CELL = 3, STRING_CELL = 6, MAP_CELL = 8 };

struct record {
    uint8_t cells[64 * 16];
    uint32_t count;
    char heap[256];
    uint32_t heap_len;
};

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void cell(struct record *r, uint32_t index, uint8_t tag, uint32_t len, uint64_t payload) {
    uint8_t *at = r->cells + 16 * index;
    memset(at, 0, 16);
    at[0] = tag;
    put32(at + 4, len);
    put32(at + 8, (uint32_t)payload);
    put32(at + 12, (uint32_t)(payload >> 32));
    if (index >= r->count) r->count = index + 1;
}

static void string(struct record *r, uint32_t index, const char *text) {
    cell(r, index, STRING_CELL, (uint32_t)strlen(text), r->heap_len);
    memcpy(r->heap + r->heap_len, text, strlen(text));
    r->heap_len += (uint32_t)strlen(text);
}

// A request to create an object {"replicas": n}: seven roots, of which only `object` (root 5) and `request` (root 0) are there.
static size_t request(uint8_t *out, int64_t replicas) {
    struct record r = {0};
    cell(&r, 0, MAP_CELL, 0, 7);
    cell(&r, 1, NULL_CELL, 0, 0);
    cell(&r, 2, NULL_CELL, 0, 0);
    cell(&r, 3, NULL_CELL, 0, 0);
    cell(&r, 4, NULL_CELL, 0, 0);
    cell(&r, 5, MAP_CELL, 1, 7);
    cell(&r, 6, NULL_CELL, 0, 0);
    string(&r, 7, "replicas");
    cell(&r, 8, INT_CELL, 0, (uint64_t)replicas);
    memcpy(out, "CGR1", 4);
    put32(out + 4, r.count);
    put32(out + 8, r.heap_len);
    put32(out + 12, 7);
    memcpy(out + 16, r.cells, 16 * (size_t)r.count);
    memcpy(out + 16 + 16 * (size_t)r.count, r.heap, r.heap_len);
    return 16 + 16 * (size_t)r.count + r.heap_len;
}

static const char policy_json[] =
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{\"name\":\"limit\"},"
    "\"spec\":{\"failurePolicy\":\"Fail\",\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"example.com\"],\"apiVersions\":[\"v1\"],"
    "\"operations\":[\"CREATE\"],\"resources\":[\"widgets\"]}]},"
    "\"validations\":[{\"expression\":\"object.replicas <= 5\",\"messageExpression\":\"'got ' + string(object.replicas)\"}]}}";
static const char binding_json[] =
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicyBinding\",\"metadata\":{\"name\":\"limit-here\"},"
    "\"spec\":{\"policyName\":\"limit\",\"validationActions\":[\"Deny\"]}}";
static const char key_json[] =
    "{\"resource\":{\"group\":\"example.com\",\"version\":\"v1\",\"resource\":\"widgets\"},\"subresource\":\"\",\"operation\":\"CREATE\","
    "\"namespaced\":false,\"kind\":{\"group\":\"example.com\",\"version\":\"v1\",\"kind\":\"Widget\"},\"equivalents\":[]}";

static int contains(const uint8_t *bytes, size_t len, const char *text) {
    for (size_t i = 0; i + strlen(text) <= len; i++)
        if (memcmp(bytes + i, text, strlen(text)) == 0) return 1;
    return 0;
}

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

    celgate_scratch_free(scratch);
    celgate_plan_free(plan);
    celgate_plan_free(NULL);
    puts("1 passed, 0 failed");
    return 0;
}
