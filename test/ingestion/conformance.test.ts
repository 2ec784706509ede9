import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openWorld, type World } from './harness.ts'

// Runs every `ingestion_*` conformance case that lies beside the repository. Knows no case by name.

const folder = resolve(import.meta.dirname, '../../../shared/conformance/api')
const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^ingestion_.*\.json$/.test(file)) : []

type Json = Record<string, unknown>
interface Case {
  name: string
  now?: string
  given?: { persons?: Json[]; groups?: Json[]; project?: { anonymize_ips?: boolean } }
  events: Json[]
  expect: Json
}

const asIs = new Set(['merge_performed', 'persons_created_by_merge_step', 'pipeline_error'])

async function givePerson(world: World, person: Json): Promise<void> {
  await world.pipeline.importPersons([person])
}

async function state(world: World) {
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
    persons: persons.map((row) => ({
      id: row.id as string,
      uuid: row.id as string,
      properties: JSON.parse(row.properties as string) as Json,
      is_identified: row.is_identified,
      version: row.version,
      created_at: new Date(row.created as number).toISOString(),
      distinct_ids: row.ids as string[],
    })),
    events: events.map((row) => ({
      event: row.name as string,
      distinct_id: row.distinct_id as string,
      uuid: row.uuid,
      timestamp: new Date(row.at as number).toISOString(),
      properties: JSON.parse(row.properties as string) as Json,
      elements_chain: row.elements_chain,
      person_id: row.person_id as string,
      person_mode: row.mode,
      person_properties: JSON.parse((row.person_properties as string | null) ?? '{}') as Json,
      ...Object.fromEntries((row.groups as string[]).map((key, i) => [`$group_${i}`, key])),
    })),
  }
}

const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], value)

const normalTime = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value

function checkEvent(event: Json | undefined, wanted: Json): void {
  expect(event).toBeDefined()
  for (const [pointer, value] of Object.entries(wanted)) {
    if (pointer === 'absent') for (const path of value as string[]) expect(at(event, path), path).toBeUndefined()
    else expect(normalTime(at(event, pointer)), pointer).toEqual(normalTime(value))
  }
}

function fits(person: Json, wanted: Json): boolean {
  return Object.entries(wanted).every(([field, value]) => {
    const [a, b] = [person[field], value].map((one) => (field === 'distinct_ids' ? [...(one as string[])].sort() : normalTime(one)))
    try {
      expect(a).toEqual(b)
      return true
    } catch {
      return false
    }
  })
}

async function check(world: World, wanted: Json): Promise<void> {
  const { persons, events } = await state(world)
  for (const [what, value] of Object.entries(wanted)) {
    if (what === 'persons') {
      const left = [...persons]
      for (const one of value as Json[]) {
        const place = left.findIndex((person) => fits(person, one))
        expect(place, `${JSON.stringify(one)} among ${JSON.stringify(left)}`).toBeGreaterThanOrEqual(0)
        left.splice(place, 1)
      }
      expect(left, 'no other persons').toEqual([])
    } else if (what === 'persons_count') expect(persons).toHaveLength(value as number)
    else if (what === 'events_count') expect(events).toHaveLength(value as number)
    else if (what === 'events') for (const [i, event] of (value as Json[]).entries()) checkEvent(events[i], event)
    else if (what === 'last_event') checkEvent(events.at(-1), value as Json)
    else if (what === 'warnings') {
      const found = world.pipeline.warnings().flatMap(({ type, samples }) => samples.map(({ details }) => ({ type, details })))
      expect(found).toHaveLength((value as Json[]).length)
      for (const warning of value as Json[]) expect(found).toContainEqual(expect.objectContaining(warning))
    } else if (what === 'groups') {
      const groups = await world.rows(
        'SELECT group_type, group_type_index, group_key, version::INTEGER AS version, properties FROM groups JOIN group_types USING (group_type_index)',
      )
      const shown = groups.map((group) => ({ ...group, properties: JSON.parse(group.properties as string) as Json }))
      for (const group of value as Json[])
        expect(
          shown.some((one) => fits(one, group)),
          JSON.stringify({ group, shown }),
        ).toBe(true)
    } else if (what === 'events_by_person') {
      const found = persons.map((person) => [
        [...person.distinct_ids].sort(),
        events.filter((event) => event.person_id === person.id).map((event) => event.event),
      ])
      const sorted = (value as [string[], string[]][]).map(([ids, names]) => [[...ids].sort(), names])
      expect(found).toHaveLength(sorted.length)
      for (const one of sorted) expect(found).toContainEqual(one)
    } else if (what === 'distinct_person_ids_over_events') expect(new Set(events.map((event) => event.person_id)).size).toBe(value)
    else if (what === 'merge_performed' && value === false) {
      expect(await world.rows('SELECT * FROM merge_journal')).toEqual([])
      for (const person of persons) expect(person.distinct_ids).toHaveLength(1)
    } else if (!asIs.has(what)) throw new Error(`The runner does not know the expectation ${what}`)
  }
}

for (const file of files) {
  const { suite, cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { suite: string; cases: Case[] }
  describe(suite, () => {
    test.each(cases)('$name', async (c) => {
      const world = await openWorld({ now: c.now ?? '2024-01-01T00:00:00Z' })
      world.anonymizeIps = c.given?.project?.anonymize_ips ?? false
      for (const person of c.given?.persons ?? []) await givePerson(world, person)
      if (c.given?.groups?.length) await world.pipeline.importGroups(c.given.groups)
      for (const event of c.events) {
        if (event.$given_now) await givePerson(world, event.$given_now as Json)
        else if (event.$check) await check(world, event.$check as Json)
        else {
          const { client_ip, sent_at, now, ...one } = event
          if (now) world.now = new Date(now as string)
          await world.pipeline.ingest({ batch: [one], sent_at }, { ip: (client_ip as string | null | undefined) ?? null })
        }
      }
      await check(world, c.expect)
      await world.close()
    })
  })
}

test.skipIf(files.length > 0)('the conformance cases are not beside this repository', () => {})
