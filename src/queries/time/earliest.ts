import type { Table } from 'apache-arrow'
import { alias, call, select, table } from '../../language/ast/build.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { doubles } from '../answers/vectors.ts'
import type { QueryRun } from '../kind.ts'
import { at } from '../scope.ts'
import { type DateRange, startsWithFirstEvent } from './dates.ts'

/** The time of the project's first event, read only if the range starts with it. Null: no events. */
export function* earliestFor(range: DateRange | null | undefined): QueryRun<Micros | null | undefined> {
  if (!startsWithFirstEvent(range)) return undefined
  const query = select({ columns: [alias(call('count'), 'n'), alias(call('min', at), 'first')], from: table('events') })
  const answer = (yield { kind: 'statement', query, label: 'time of the earliest event' }) as Table
  return doubles(answer, 'n')[0] === 0 ? null : doubles(answer, 'first')[0]!
}
