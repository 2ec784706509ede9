import fc from 'fast-check'
import { expect } from 'vitest'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import type { PersonChange } from '../../../src/events/ingestion/work.ts'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { GroupModel, type ModelGroup } from '../../reference/group-model.ts'
import { IdentityModel, type ModelChange, type ModelEvent } from '../../reference/identity-model.ts'
import type { World } from './harness.ts'

// Random commands, compared with the naive model of identities, for any event store.

export const uuid = (n: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', String(n))

export async function persons(world: World) {
  const rows = await world.rows(
    `SELECT uuid::VARCHAR AS uuid, properties, is_identified, version::INTEGER AS version, epoch_us(created_at)::DOUBLE AS created,
       (SELECT list(distinct_id ORDER BY distinct_id) FROM distinct_ids d WHERE d.person_no = p.person_no) AS ids FROM persons p WHERE has_record`,
  )
  return rows.map((row) => ({
    uuid: row.uuid as string,
    ids: row.ids as string[],
    isIdentified: row.is_identified as boolean,
    createdAt: row.created as number,
    version: row.version as number,
    properties: JSON.parse(row.properties as string) as Record<string, unknown>,
  }))
}

export const personOfEvents = async (world: World) =>
  Object.fromEntries(
    (
      await world.rows(
        `SELECT e.uuid::VARCHAR AS event, p.uuid::VARCHAR AS person FROM events e LEFT JOIN person_merges m ON m.merged = e.person_no
         JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no)`,
      )
    ).map((row) => [row.event as string, row.person as string]),
  )

const isOfGroup = (event: string) => event === '$groupidentify' || event === '$group_identify'
const groupProperties = ({ type, key, set }: ModelGroup) => ({ $group_type: type, $group_key: key, ...(set && { $group_set: set }) })
const byTypeAndKey = (a: { type: number; key: string }, b: { type: number; key: string }) => a.type - b.type || (a.key < b.key ? -1 : 1)

const groupsOf = async (world: World) =>
  (
    await world.rows(
      'SELECT group_type_index AS type, group_key AS key, version::INTEGER AS version, properties FROM groups ORDER BY group_type_index, group_key',
    )
  ).map((row) => ({ ...row, properties: JSON.parse(row.properties as string) as object }))

const keysOf = async (world: World) =>
  Object.fromEntries(
    (await world.rows('SELECT uuid::VARCHAR AS uuid, group_0, group_1, group_2, group_3, group_4 FROM events')).map(({ uuid, ...keys }) => [
      uuid as string,
      Object.values(keys),
    ]),
  )

interface CommandWorld extends World {
  /** The process dies at this number of store changes from here on. */
  killAt?(change: number): void
  died?(): Promise<void>
}

const dead = Symbol('dead')
/** What a process answers; if it dies of it, that. */
const untilDeath = <T>(world: CommandWorld, work: Promise<T>): Promise<T | typeof dead> =>
  world.died ? Promise.race([work, world.died().then((): typeof dead => dead)]) : work

/** Asserts that random commands give the persons and groups of the model. */
export async function assertModelHolds({
  open,
  numRuns,
  kills = false,
}: {
  readonly open: () => Promise<CommandWorld>
  readonly numRuns: number
  readonly kills?: boolean
}): Promise<void> {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'null')
  const groupType = fc.constantFrom('org', 'team', 'site', 'shop', 'club', 'deal')
  const values = fc.dictionary(fc.constantFrom('p', 'q'), fc.constantFrom(1, 2, 'x', null, false, 0, ''), { maxKeys: 2 })
  const event = fc.record(
    {
      event: fc.constantFrom('visit', '$identify', '$create_alias', '$merge_dangerously', '$groupidentify', '$group_identify'),
      distinct_id: id,
      n: fc.nat(60),
      minutes: fc.nat(100),
      other: id,
      isPersonless: fc.constantFrom(false, false, true),
      set: values,
      setOnce: values,
      unset: fc.subarray(['p', 'q']),
      group: fc.record({ type: groupType, key: fc.constantFrom('1', '2'), set: values }, { requiredKeys: ['type', 'key'] }),
      groups: fc.dictionary(groupType, fc.constantFrom('1', '2'), { maxKeys: 2 }),
    },
    { requiredKeys: ['event', 'distinct_id', 'n', 'minutes'] },
  )
  const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 3 })
  const change: fc.Arbitrary<ModelChange> = fc.oneof(
    fc.record({ change: fc.constant('write' as const), of: id, set: values, unset: fc.subarray(['p', 'q']) }),
    fc.record({ change: fc.constant('merge' as const), of: id, sources: ids }),
    fc.record({ change: fc.constant('split' as const), of: id, ids: fc.option(ids) }),
    fc.record({ change: fc.constant('delete' as const), of: id, withEvents: fc.boolean() }),
  )
  const step = fc.oneof(
    { weight: 4, arbitrary: change },
    { weight: 8, arbitrary: fc.array(event, { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom('restart', 'rebuild') },
    ...(kills ? [{ weight: 4, arbitrary: fc.nat(40) }] : []),
  )
  await assertGenerated(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const world = await open()
      const model = new IdentityModel()
      const groups = new GroupModel()
      const keysOfEvents: Record<string, string[]> = {}
      for (const one of steps) {
        if (typeof one === 'string') {
          await world[one as 'restart']()
          continue
        }
        if (typeof one === 'number') {
          world.killAt?.(one)
          continue
        }
        if ('change' in one) {
          const of = personUuid(1, model.nameOf(one.of) ?? 'nobody')
          const sent: PersonChange =
            one.change === 'merge'
              ? { change: 'merge', person: of, sources: one.sources.map((id) => personUuid(1, model.nameOf(id) ?? 'nobody')) }
              : { ...one, person: of }
          // What came before is stored, or the process has died of it: then nothing but this change can kill the next one, and it is in the log.
          if ((await untilDeath(world, world.pipeline.caughtUp())) === dead) await world.restart()
          const changing = world.pipeline.changePersons([sent])
          const answer = await untilDeath(world, changing)
          const expected = model.change(one, world.now.getTime() * 1000)
          if (answer !== dead) expect(answer).toEqual([expected])
          else {
            changing.catch(() => undefined)
            await world.restart()
          }
          continue
        }
        const batch = one.map(
          ({ n, minutes, ...more }): ModelEvent => ({
            ...more,
            uuid: uuid(n),
            time: Date.parse('2026-01-10T00:00:00Z') * 1000 + minutes * 60e6,
          }),
        )
        for (const [i, each] of batch.entries()) {
          if (!model.apply(each)) continue
          const { event, group, groups: keys } = one[i]!
          if (isOfGroup(event) && group) groups.identify(group)
          keysOfEvents[each.uuid] = groups.keysOf(keys ?? {})
        }
        await world.pipeline.ingest(
          batch.map(({ event, distinct_id, uuid, time, set, setOnce, unset, other, isPersonless }, i) => ({
            event,
            distinct_id,
            uuid,
            timestamp: new Date(time / 1000).toISOString(),
            properties: {
              ...(set && { $set: set }),
              ...(setOnce && { $set_once: setOnce }),
              ...(unset && { $unset: unset }),
              ...(other !== undefined && { [event === '$identify' ? '$anon_distinct_id' : 'alias']: other }),
              ...(isPersonless && { $process_person_profile: false }),
              ...(isOfGroup(event) && one[i]!.group && groupProperties(one[i]!.group!)),
              ...(one[i]!.groups && { $groups: one[i]!.groups }),
            },
          })),
        )
      }
      if (kills) await world.restart()
      const expected = model.persons().map(({ name, ...person }) => ({ uuid: personUuid(1, name), ...person }))
      const byUuid = (a: { uuid: string }, b: { uuid: string }) => (a.uuid < b.uuid ? -1 : 1)
      expect((await persons(world)).sort(byUuid)).toEqual(expected.sort(byUuid))
      expect(await personOfEvents(world)).toEqual(
        Object.fromEntries(Object.entries(model.ownersOfEvents()).map(([event, name]) => [event, personUuid(1, name)])),
      )
      expect(await groupsOf(world)).toEqual(groups.groups().sort(byTypeAndKey))
      const stored = model.ownersOfEvents()
      expect(await keysOf(world)).toEqual(Object.fromEntries(Object.entries(keysOfEvents).filter(([event]) => event in stored)))
      const warnings = new Map([...model.warnings, ...(groups.refused > 0 ? [['too_many_group_types', groups.refused] as const] : [])])
      const ofModel = world.pipeline.warnings().filter(({ type }) => type !== 'merge_without_alias' && type !== 'invalid_groups')
      expect(new Map(ofModel.map(({ type, count }) => [type as string, count]))).toEqual(warnings)
      await world.close()
    }),
    { numRuns },
  )
}
