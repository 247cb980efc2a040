/* An event as a line of JSON: every field, cut where there is no room, every type by its name. */
#include "support/check.h"

#include <string.h>

#include <sprag/sprag_ode.h>

static const spragEvent example = {.type = SPRAG_EVENT_JAM,
                                   .time = 0.25,
                                   .step = 249,
                                   .contact = 7,
                                   .impulse = {1, -0.5, 1.0 / 3},
                                   .p = -0.5,
                                   .b = NAN,
                                   .paradox_class = 1,
                                   .variant = -1,
                                   .body_number = {5, -1}};

static void everyFieldIsThere(void **state)
{
    (void)state;
    char text[1024];
    const int body[2] = {3, -1};
    const size_t length = spragEventJson(&example, body, text, sizeof text);
    assert_int_equal(length, strlen(text));
    const char *const part[] = {
        "{\"type\":\"jam\"",       "\"time\":0.25",     "\"step\":249",
        "\"contact\":7",           "\"body\":[3,-1]",   "\"impulse\":[1,-0.5,0.33333333333333331]",
        "\"slip_before\":[0,0,0]", "\"p\":-0.5",        "\"b\":null",
        "\"separatrix\":0",        "\"anticipated\":0", "\"paradox_class\":1,\"variant\":-1}"};
    for (size_t k = 0; k < sizeof part / sizeof *part; ++k)
        if (strstr(text, part[k]) == NULL)
            fail_msg("%s lacks %s", text, part[k]);
    spragEventJson(&example, NULL, text, sizeof text);
    assert_non_null(strstr(text, "\"body\":[5,-1]"));
    assert_null(strstr(text, "reason"));
    spragEventJson(&(spragEvent){.type = SPRAG_EVENT_DECLINED, .reason = "why"}, NULL, text, sizeof text);
    assert_non_null(strstr(text, ",\"reason\":\"why\"}"));
}

static void aShortBufferIsCut(void **state)
{
    (void)state;
    char whole[1024], text[20];
    const size_t length = spragEventJson(&example, NULL, whole, sizeof whole);
    assert_int_equal(spragEventJson(&example, NULL, text, sizeof text), length);
    assert_int_equal(strlen(text), sizeof text - 1);
    assert_memory_equal(text, whole, sizeof text - 1);
    assert_int_equal(spragEventJson(&example, NULL, NULL, 0), length);
    assert_int_equal(spragEventJson(NULL, NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void everyTypeHasAName(void **state)
{
    (void)state;
    for (int k = 0; k < SPRAG_EVENT_TYPE_COUNT; ++k)
        for (int j = 0; j < k; ++j)
            assert_string_not_equal(spragEventName((spragEventType)k), spragEventName((spragEventType)j));
    assert_string_equal(spragEventName((spragEventType)-1), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyFieldIsThere),
        cmocka_unit_test(aShortBufferIsCut),
        cmocka_unit_test(everyTypeHasAName),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
