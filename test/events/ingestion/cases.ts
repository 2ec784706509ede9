import { isObject } from '../../../src/lib/is-object.ts'
import { at, fits, show } from '../../conformance/matchers.mjs'
import { openWorld, type World, type WorldStore } from './harness.ts'

// Ingestion cases in the format of the conformance suites: payloads go through a real pipeline into a real store, whose contents
// are compared with the expectations.

type Json = Record<string, unknown>
export interface IngestionCase {
  readonly name: string
  /** Of receipt. */
  readonly now?: string
  /** Of processing, where that is another step. Here it is not, and the time of receipt is expected in its place. */
  readonly clock?: string
  readonly given?: {
    readonly persons?: readonly Json[]
    readonly groups?: readonly Json[]
    readonly project?: { readonly anonymize_ips?: boolean }
  }
  readonly events: readonly Json[]
  readonly expect: Json
}

interface State {
  readonly world: World
  readonly persons: readonly (Json & { readonly id: string; readonly distinct_ids: readonly string[] })[]
  readonly events: readonly (Json & { readonly event: string; readonly person_id: string })[]
}

async function stateOf(world: World): Promise<State> {
  const persons = await world.rows(
    `SELECT p.uuid::VARCHAR AS id, p.properties, p.is_identified, p.version::INTEGER AS version, epoch_ms(p.created_at)::DOUBLE AS created,
       list(d.distinct_id) AS ids FROM persons p JOIN distinct_ids d USING (person_no) WHERE has_record GROUP BY ALL`,
  )
  const events = await world.rows(
    `SELECT n.name, e.distinct_id, e.uuid::VARCHAR AS uuid, epoch_ms(e.timestamp)::DOUBLE AS at, e.properties, e.elements_chain, p.uuid::VARCHAR AS person_id,
       CASE e.person_mode WHEN 0 THEN 'full' WHEN 1 THEN 'propertyless' ELSE 'force_upgrade' END AS mode,
       (SELECT max_by(v.properties, v.log_seq) FROM person_versions v WHERE v.person_no = e.person_no AND v.log_seq <= e.log_seq) AS person_properties,
       [group_0, group_1, group_2, group_3, group_4] AS groups
     FROM events e JOIN event_names n USING (event_id) LEFT JOIN person_merges m ON m.merged = e.person_no
     JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no) ORDER BY log_seq`,
  )
  return {
    world,
    persons: persons.map((row) => ({
      id: row.id as string,
      uuid: row.id,
      properties: JSON.parse(row.properties as string),
      is_identified: row.is_identified,
      version: row.version,
      created_at: new Date(row.created as number).toISOString(),
      distinct_ids: row.ids as string[],
    })),
    events: events.map((row) => ({
      event: row.name as string,
      distinct_id: row.distinct_id,
      uuid: row.uuid,
      timestamp: new Date(row.at as number).toISOString(),
      properties: JSON.parse(row.properties as string),
      elements_chain: row.elements_chain,
      person_id: row.person_id as string,
      person_mode: row.mode,
      person_properties: JSON.parse((row.person_properties as string | null) ?? '{}'),
      ...Object.fromEntries((row.groups as string[]).map((key, i) => [`$group_${i}`, key])),
    })),
  }
}

const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value)
/** Different notations of the same time are equal. */
const agrees = (want: unknown, got: unknown) => fits(want, got) || (isTime(want) && isTime(got) && Date.parse(want) === Date.parse(got))

/** With a time in place of another one. */
function withTime(value: unknown, time: string, other: string): unknown {
  if (isTime(value)) return Date.parse(value) === Date.parse(time) ? other : value
  if (Array.isArray(value)) return value.map((one) => withTime(one, time, other))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTime(one, time, other)])) : value
}

function eventProblems(event: Json | undefined, wanted: Json): string[] {
  if (event === undefined) return [`no event where ${show(wanted)} was expected`]
  return Object.entries(wanted).flatMap(([pointer, value]) => {
    if (pointer === 'absent') return (value as string[]).filter((path) => at(event, path) !== undefined).map((path) => `${path} is there`)
    const got = at(event, pointer)
    return agrees(value, got) ? [] : [`${pointer}: want ${show(value)}, got ${show(got)}`]
  })
}

const inOrder = (value: unknown) => (Array.isArray(value) ? [...(value as string[])].sort() : value)
const isLike = (row: Json, wanted: Json) =>
  Object.entries(wanted).every(([field, value]) =>
    field === 'distinct_ids' ? fits(inOrder(value), inOrder(row[field])) : agrees(value, row[field]),
  )

/** Matches each of `wanted` with a different row. Returns those without a match, and the remaining rows. */
function paired<T>(wanted: readonly Json[], rows: readonly T[], isPair: (row: T, one: Json) => boolean) {
  const left = [...rows]
  const missing = wanted.filter((one) => {
    const place = left.findIndex((row) => isPair(row, one))
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
  return { missing, left }
}

const count = (what: string, want: unknown, got: number) => (fits(want, got) ? [] : [`${what}: want ${show(want)}, got ${got}`])
const list = (value: unknown) => value as readonly Json[]

/** Checks each kind of expectation against the state. Returns the differences. */
const checks: Readonly<Record<string, (value: unknown, state: State) => string[] | Promise<string[]>>> = {
  persons: (value, { persons }) => {
    const { missing, left } = paired(list(value), persons, isLike)
    if (missing.length === 0 && left.length === 0) return []
    return [`persons: want ${show(missing)}, got ${show(left)}`]
  },
  persons_count: (value, { persons }) => count('persons', value, persons.length),
  events_count: (value, { events }) => count('events', value, events.length),
  events: (value, { events }) => list(value).flatMap((wanted, i) => eventProblems(events[i], wanted).map((one) => `event ${i} ${one}`)),
  last_event: (value, { events }) => eventProblems(events.at(-1), value as Json).map((one) => `last event ${one}`),
  warnings: (value, { world }) => {
    const found = world.pipeline.warnings().flatMap(({ type, samples }) => samples.map(({ details }) => ({ type, details })))
    const { missing, left } = paired(list(value), found, (row, one) =>
      Object.entries(one).every(([field, wanted]) =>
        field === 'details' ? isLike(row.details as Json, wanted as Json) : fits(wanted, at(row, `/${field}`)),
      ),
    )
    return missing.length + left.length === 0 ? [] : [`warnings: want ${show(missing)}, got ${show(left)}`]
  },
  groups: async (value, { world }) => {
    const rows = await world.rows(
      'SELECT group_type, group_type_index, group_key, version::INTEGER AS version, properties FROM groups JOIN group_types USING (group_type_index)',
    )
    const groups = rows.map((group) => ({ ...group, properties: JSON.parse(group.properties as string) }))
    const { missing } = paired(list(value), groups, isLike)
    return missing.length === 0 ? [] : [`groups: want ${show(missing)}, got ${show(groups)}`]
  },
  events_by_person: (value, { persons, events }) => {
    const pair = (ids: readonly string[], names: readonly string[]) => JSON.stringify([[...ids].sort(), names])
    const found = persons.map(({ id, distinct_ids }) =>
      pair(
        distinct_ids,
        events.filter((event) => event.person_id === id).map(({ event }) => event),
      ),
    )
    const wanted = (value as [string[], string[]][]).map(([ids, names]) => pair(ids, names))
    return fits([...wanted].sort(), [...found].sort()) ? [] : [`events by person: want ${wanted}, got ${found}`]
  },
  distinct_person_ids_over_events: (value, { events }) =>
    count('persons over events', value, new Set(events.map(({ person_id }) => person_id)).size),
  merge_performed: async (value, { world, persons }) => {
    const hasMerged =
      (await world.rows('SELECT * FROM merge_journal')).length > 0 || persons.some(({ distinct_ids }) => distinct_ids.length > 1)
    return hasMerged === value ? [] : [`merge performed: want ${value}, got ${hasMerged}`]
  },
  // Of a single step of a pipeline that is cut otherwise here.
  persons_created_by_merge_step: () => [],
  pipeline_error: () => [],
}

async function problemsIn(world: World, wanted: Json): Promise<string[]> {
  const state = await stateOf(world)
  const problems: string[] = []
  for (const [what, value] of Object.entries(wanted)) {
    const check = checks[what]
    problems.push(...(check ? await check(value, state) : [`there is no check of ${what}`]))
  }
  return problems
}

/** Runs one case in its own world. Returns the differences. */
export async function runIngestionCase(test: IngestionCase, store?: WorldStore): Promise<string[]> {
  const { clock, now = clock ?? '2024-01-01T00:00:00Z', given, events } = test
  const expect = clock === undefined ? test.expect : (withTime(test.expect, clock, now) as Json)
  const world = await openWorld({ now, store })
  try {
    world.anonymizeIps = given?.project?.anonymize_ips ?? false
    if (given?.persons?.length) for (const person of given.persons) await world.pipeline.importPersons([person])
    if (given?.groups?.length) await world.pipeline.importGroups(given.groups)
    const problems: string[] = []
    for (const event of events) {
      if (event.$given_now) await world.pipeline.importPersons([event.$given_now])
      else if (event.$check) problems.push(...(await problemsIn(world, event.$check as Json)))
      else {
        const { client_ip, sent_at, now: received, ...one } = event
        if (received) world.now = new Date(received as string)
        await world.pipeline.ingest({ batch: [one], sent_at }, { ip: (client_ip as string | null | undefined) ?? null })
      }
    }
    return [...problems, ...(await problemsIn(world, expect))]
  } finally {
    await world.close()
  }
}
