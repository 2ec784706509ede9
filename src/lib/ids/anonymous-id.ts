/** A UUID, or the id that browser clients make up: five parts of letters and digits. */
const anonymous = /^([a-z0-9]+-){4}[a-z0-9]+$/i

/** Made up by a client for somebody it does not know, and so no name to show. */
const isAnonymousId = (distinctId: string): boolean => anonymous.test(distinctId)

/** Ids that an application gave come first. */
export const namesFirst = (distinctIds: readonly string[]): string[] =>
  [...distinctIds].sort((a, b) => Number(isAnonymousId(a)) - Number(isAnonymousId(b)) || (a < b ? -1 : a > b ? 1 : 0))
