import { readTime } from '../../../service/accounts/fields.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import type { Visit } from '../resource.ts'

const hour = 3_600_000
const units: Readonly<Record<string, number>> = { h: hour, d: 24 * hour, w: 7 * 24 * hour, m: 30 * 24 * hour, y: 365 * 24 * hour }

/** A query parameter with a time: `-7d`, or ISO 8601. Null: not given. */
const moment = (visit: Pick<Visit, 'query' | 'app'>, name: string): Date | null => {
  const given = visit.query.get(name)
  if (given === null || given === '') return null
  const relative = /^-(\d{1,6})([hdwmy])$/.exec(given)
  if (relative) return new Date(visit.app.clock().getTime() - Number(relative[1]) * units[relative[2]!]!)
  const read = readTime(given)
  if (!read)
    throw invalid(`${name} must be a time in ISO 8601, or relative as in -7d. Input ${given} is not a valid ISO formatted datetime.`, name)
  return read
}

/** Both ends of a range, null where it is open. */
export const range = (visit: Pick<Visit, 'query' | 'app'>, first: string, last: string): readonly [from: Date | null, to: Date | null] => {
  const [from, to] = [moment(visit, first), moment(visit, last)]
  if (from && to && from > to) throw invalid(`${first} must not be later than ${last}.`, first)
  return [from, to]
}
