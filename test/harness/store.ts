import type { DuckDBValue } from '@duckdb/node-api'
import { projectDatabase } from '../../src/engine/storage/duckdb/instance.ts'
import type { TestProject } from './duckdb.ts'

// Rows straight into a project's store, for tests of what queries make of them.

export interface StoreEvent {
  readonly event: string
  readonly person: number
  /** Microseconds. */
  readonly at: number
  readonly distinctId?: string
  readonly session?: string
  readonly groups?: readonly string[]
  readonly properties?: Readonly<Record<string, unknown>>
}
export interface StorePerson {
  readonly person: number
  readonly properties?: Readonly<Record<string, unknown>>
  readonly distinctIds?: readonly string[]
  readonly hasRecord?: boolean
  readonly createdAt?: number
}
export interface StoreContent {
  /** Empty the store first. */
  readonly isFresh?: boolean
  readonly events?: readonly StoreEvent[]
  readonly persons?: readonly StorePerson[]
  readonly merges?: readonly (readonly [merged: number, survivor: number])[]
  readonly groups?: readonly { readonly index: number; readonly key: string; readonly properties?: Readonly<Record<string, unknown>> }[]
  readonly cohorts?: Readonly<Record<number, readonly number[]>>
  readonly actions?: readonly { readonly id: number; readonly definition: string }[]
  readonly propertyTypes?: readonly { readonly scope: string; readonly name: string; readonly type: string }[]
}

export const personUuid = (person: number): string => `00000000-0000-4000-8000-${String(person).padStart(12, '0')}`

const time = (micros: number) => `make_timestamp(${micros})`
const filled = [
  'events',
  'event_names',
  'persons',
  'distinct_ids',
  'person_merges',
  'groups',
  'actions',
  'cohorts',
  'cohort_members',
  'property_keys',
]
const chunk = 200

/** A row of values with `?` for each parameter. */
type Row = readonly [text: string, parameters: readonly DuckDBValue[]]

export async function fillStore(project: TestProject, content: StoreContent): Promise<void> {
  const database = `"${projectDatabase(project.settings.id)}".main`
  await project.instance.use(async (connection) => {
    const insert = async (table: string, columns: string, rows: readonly Row[]) => {
      for (let i = 0; i < rows.length; i += chunk) {
        const part = rows.slice(i, i + chunk)
        let n = 0
        const values = part.map(([text]) => `(${text.replace(/\?/g, () => `$${++n}`)})`).join(', ')
        await connection.run(
          `INSERT INTO ${database}.${table} (${columns}) VALUES ${values}`,
          part.flatMap(([, params]) => params),
        )
      }
    }
    if (content.isFresh) for (const name of filled) await connection.run(`DELETE FROM ${database}.${name}`)
    const names = [...new Set(content.events?.map((e) => e.event))]
    await insert(
      'event_names',
      'event_id, name, count',
      names.map((name, i) => [`${i + 1}, ?, 1`, [name]]),
    )
    await insert(
      'events',
      'uuid, event_id, timestamp, person_no, distinct_id, session_id, group_0, group_1, created_at, log_seq, person_mode, properties',
      (content.events ?? []).map((e, i) => [
        `uuid(), ${names.indexOf(e.event) + 1}, ${time(e.at)}, ${e.person}, ?, ?, ?, ?, ${time(e.at)}, ${i + 1}, 0, ?`,
        [e.distinctId ?? `d${e.person}`, e.session ?? '', e.groups?.[0] ?? '', e.groups?.[1] ?? '', JSON.stringify(e.properties ?? {})],
      ]),
    )
    const numbers = new Set([...(content.persons ?? []).map((p) => p.person), ...(content.events ?? []).map((e) => e.person)])
    const persons = [...numbers].map((person) => content.persons?.find((p) => p.person === person) ?? { person })
    await insert(
      'persons',
      'person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties',
      persons.map((p: StorePerson) => [
        `${p.person}, '${personUuid(p.person)}', ${p.hasRecord ?? true}, ${time(p.createdAt ?? 0)}, false, 1, ${time(0)}, ?`,
        [JSON.stringify(p.properties ?? {})],
      ]),
    )
    await insert(
      'distinct_ids',
      'distinct_id, person_no, added_seq',
      persons.flatMap((p: StorePerson) => (p.distinctIds ?? [`d${p.person}`]).map((id): Row => [`?, ${p.person}, 1`, [id]])),
    )
    await insert(
      'person_merges',
      'merged, survivor',
      (content.merges ?? []).map(([merged, survivor]) => [`${merged}, ${survivor}`, []]),
    )
    await insert(
      'groups',
      'group_type_index, group_key, created_at, updated_at, version, properties',
      (content.groups ?? []).map((g) => [`${g.index}, ?, ${time(0)}, ${time(0)}, 1, ?`, [g.key, JSON.stringify(g.properties ?? {})]]),
    )
    await insert(
      'actions',
      'id, definition',
      (content.actions ?? []).map(({ id, definition }) => [`${id}, ?`, [definition]]),
    )
    const members = Object.entries(content.cohorts ?? {})
    await insert(
      'cohorts',
      'id, definition',
      members.map(([id]) => [`${id}, ?`, [JSON.stringify({ name: `cohort ${id}`, is_static: true })]]),
    )
    await insert(
      'cohort_members',
      'cohort_id, person_no',
      members.flatMap(([id, people]) => people.map((person): Row => [`${id}, ${person}`, []])),
    )
    await insert(
      'property_keys',
      'scope, name, property_type, slots, ready_slots, count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string',
      (content.propertyTypes ?? []).map((p) => [`?, ?, ?, '', '', 0, 0, 0, 0, 0, 0`, [p.scope, p.name, p.type]]),
    )
  })
}
