/** Credentials of every server that the fuzzer starts. */
export const keys = { project: 'phc_cost', personal: 'phx_cost_fuzzer_of_the_first_owner_0123456' } as const
