import type { Table } from 'apache-arrow'
import type { ListSource } from '../../../core/lists/ports.ts'
import type { Statement, Statements } from '../../execution/ports.ts'
import { identifier } from './instance.ts'

const columns = (...names: string[]): Statement['columns'] => names.map((name) => ({ name, typeName: '' }))
const integers = (part: Table, name: string) => part.getChild(name)!.toArray() as Int32Array
const doubles = (part: Table, name: string) => part.getChild(name)!.toArray() as Float64Array

/** So many records are compared, and the others counted. */
const lastRecords = 100_000

/** Reads the events of a store for the lists of the core. */
export function listSource(database: string, { run, runInParts }: Pick<Statements, 'run' | 'runInParts'>): ListSource {
  const at = `${identifier(database)}.main`
  const marks = `(SELECT concat(count(*), ' ', bit_xor(hash(merged, survivor))) FROM ${at}.person_merges) AS mark,
    coalesce((SELECT value::DOUBLE FROM ${at}.meta WHERE key = 'changed_events_seq'), 0) AS changed`
  const marksOf = (table: Table) => ({
    mergesMark: String(table.getChild('mark')!.get(0)),
    changedSeq: doubles(table, 'changed')[0]!,
  })
  return {
    async counts() {
      const sql = `SELECT person_no AS person, count(*)::INTEGER AS events FROM ${at}.events GROUP BY person_no`
      const table = await run({ sql, params: [], columns: columns('person', 'events') })
      return { person: integers(table, 'person'), events: integers(table, 'events') }
    },
    async state() {
      const sql = `SELECT ${marks}, coalesce(max(log_seq), 0)::DOUBLE AS seq, count(*)::DOUBLE AS events FROM ${at}.events`
      const table = await run({ sql, params: [], columns: columns('mark', 'changed', 'seq', 'events') })
      return { ...marksOf(table), seq: doubles(table, 'seq')[0]!, events: doubles(table, 'events')[0]! }
    },
    marks: async () => marksOf(await run({ sql: `SELECT ${marks}`, params: [], columns: columns('mark', 'changed') })),
    async events(after, last, take) {
      const sql = `SELECT person_no AS person, epoch_us(timestamp)::DOUBLE AS time, event_id AS event, log_seq::DOUBLE AS seq
        FROM ${at}.events WHERE log_seq > ${after} AND log_seq <= ${last}`
      await runInParts({ sql, params: [], columns: columns('person', 'time', 'event', 'seq') }, (part) =>
        take({ person: integers(part, 'person'), time: doubles(part, 'time'), event: integers(part, 'event'), seq: doubles(part, 'seq') }),
      )
    },
    async fingerprint(seq) {
      // Records that were lost and written again are the last ones before a crash.
      const sql = `SELECT concat(count(*), ' ', bit_xor(hash(log_seq, event_id, person_no, timestamp)) FILTER (WHERE log_seq > ${seq - lastRecords})) AS mark
        FROM ${at}.events WHERE log_seq <= ${seq}`
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
