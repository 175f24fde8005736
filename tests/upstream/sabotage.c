/* An engine that admits everything, to see that upstream's suite notices. Linked with
 * -Wl,--wrap=celgate_plan_evaluate, so that the rest of the library is the real one. */
#include "celgate.h"

celgate_status __wrap_celgate_plan_evaluate(const celgate_plan *plan, celgate_scratch *scratch,
	const uint8_t *request, size_t request_len, const celgate_params *const *params, size_t params_len,
	const uint8_t *answers, size_t answers_len, uint8_t *out, size_t out_cap, celgate_result *result_out);

celgate_status __wrap_celgate_plan_evaluate(const celgate_plan *plan, celgate_scratch *scratch,
	const uint8_t *request, size_t request_len, const celgate_params *const *params, size_t params_len,
	const uint8_t *answers, size_t answers_len, uint8_t *out, size_t out_cap, celgate_result *result_out)
{
	(void)plan, (void)scratch, (void)request, (void)request_len, (void)params, (void)params_len;
	(void)answers, (void)answers_len, (void)out, (void)out_cap;
	/* An empty report: allowed, nothing to tell. */
	result_out->len = 0;
	result_out->evaluations = 0;
	return CELGATE_STATUS_OK;
}
