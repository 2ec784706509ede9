import type { Query } from '../lib/api.ts'

/** Somebody whose last event is not older is here. */
export const onlineMinutes = 5

/** How many people are here, with how many events. */
export const online: Query = {
  kind: 'HogQLQuery',
  query: `select uniq(person_id), count() from events where timestamp > now() - interval ${onlineMinutes} minute and timestamp <= now() + interval 1 minute`,
}
