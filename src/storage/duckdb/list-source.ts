import type { RecordBatch, Table } from 'apache-arrow'
import type { EventBatch, ListSource } from '../../core/ports.ts'
import type { Statement, Statements } from '../../execution/ports.ts'
import { identifier } from './instance.ts'

const columns = (...names: string[]): Statement['columns'] => names.map((name) => ({ name, typeName: '' }))
const integers = (part: Table | RecordBatch, name: string) => part.getChild(name)!.toArray() as Int32Array
const doubles = (part: Table | RecordBatch, name: string) => part.getChild(name)!.toArray() as Float64Array

/** Reads the events of a store for the lists of the core. */
export function listSource(database: string, { run, stream }: Pick<Statements, 'run' | 'stream'>): ListSource {
  const at = `${identifier(database)}.main`
  return {
    async counts() {
      const sql = `SELECT person_no AS person, count(*)::INTEGER AS events FROM ${at}.events GROUP BY person_no`
      const table = await run({ sql, params: [], columns: columns('person', 'events') })
      return { person: integers(table, 'person'), events: integers(table, 'events') }
    },
    async eventsAfter(seq, take) {
      let last = seq
      const sql = `SELECT person_no AS person, epoch_us(timestamp)::DOUBLE AS time, event_id AS event, log_seq::DOUBLE AS seq
        FROM ${at}.events WHERE log_seq > ${seq}`
      for await (const part of stream({ sql, params: [], columns: columns('person', 'time', 'event', 'seq') })) {
        const batch: EventBatch = { person: integers(part, 'person'), time: doubles(part, 'time'), event: integers(part, 'event') }
        for (const one of doubles(part, 'seq')) if (one > last) last = one
        take(batch)
      }
      return last
    },
    async mergesMark() {
      const sql = `SELECT concat(count(*), ' ', bit_xor(hash(merged, survivor))) AS mark FROM ${at}.person_merges`
      return String((await run({ sql, params: [], columns: columns('mark') })).getChild('mark')!.get(0))
    },
    async merges() {
      const sql = `SELECT merged, survivor FROM ${at}.person_merges`
      const table = await run({ sql, params: [], columns: columns('merged', 'survivor') })
      const survivor = integers(table, 'survivor')
      return new Map(Array.from(integers(table, 'merged'), (merged, i) => [merged, survivor[i]!]))
    },
  }
}
