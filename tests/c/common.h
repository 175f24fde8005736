// What the C programs share: checks, a request record written cell by cell (docs/record-format.md), and the key of its plan.
#ifndef CELGATE_TESTS_COMMON_H
#define CELGATE_TESTS_COMMON_H

#include <stdint.h>
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

static const char key_json[] =
    "{\"resource\":{\"group\":\"example.com\",\"version\":\"v1\",\"resource\":\"widgets\"},\"subresource\":\"\",\"operation\":\"CREATE\","
    "\"namespaced\":false,\"kind\":{\"group\":\"example.com\",\"version\":\"v1\",\"kind\":\"Widget\"},\"equivalents\":[]}";

static int contains(const uint8_t *bytes, size_t len, const char *text) {
    for (size_t i = 0; i + strlen(text) <= len; i++)
        if (memcmp(bytes + i, text, strlen(text)) == 0) return 1;
    return 0;
}

#endif
