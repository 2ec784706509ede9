import { expect } from 'vitest'
import { random } from '../../../bench/random.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { EngineChoice } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// What a project keeps for some months only, and a property that is removed, on any engine.

const day = 86_400_000
const names = ['viewed', 'bought', 'ping']
const people = 24

export interface Sent {
  readonly uuid: string
  readonly event: string
  readonly at: number
  readonly person: number
}

/** The project's zone; midnights of it are not midnights of UTC. */
export const timezone = 'Europe/Berlin'
/** Half past midnight there, the day before in UTC. */
export const now = Date.UTC(2026, 2, 31, 22, 30)
/** The first moments that are kept then. */
export const months = {
  3: Date.UTC(2025, 11, 31, 23),
  12: Date.UTC(2025, 2, 31, 22),
  18: Date.UTC(2024, 8, 30, 22),
} as const

const uuidOf = (n: number) => `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`
export const idOf = (person: number) => `person-${person}`

/** Events of persons, over thirty months before `now`, some exactly at the boundaries. Those of low numbers ended long ago. */
export function drawEvents(seed: number, count = 240): Sent[] {
  const draw = random(seed)
  const begin = now - 900 * day
  const edges = Object.values(months).flatMap((edge) => [edge - 1, edge])
  return Array.from({ length: count }, (_, i) => {
    const person = Math.floor(draw() * people)
    const last = begin + ((person + 1) / people) * 890 * day
    const at = draw() < 0.1 ? edges[Math.floor(draw() * edges.length)]! : Math.floor(begin + draw() * (last - begin))
    return { uuid: uuidOf(i), event: names[Math.floor(draw() * names.length)]!, at, person }
  })
}

/** In the order of time, as if they had arrived then, some at a time. */
export async function send(project: LocalProject, events: readonly Sent[], clock: { now: number }): Promise<void> {
  const inOrder = [...events].sort((a, b) => a.at - b.at)
  for (let i = 0; i < inOrder.length; i += 4) {
    const some = inOrder.slice(i, i + 4)
    clock.now = Math.max(clock.now, some.at(-1)!.at)
    const batch = some.map(({ uuid, event, at, person }) => ({
      uuid,
      event,
      distinct_id: idOf(person),
      timestamp: new Date(at).toISOString(),
      properties: { $set: { seen: uuid } },
    }))
    await project.ingest({ batch, historical_migration: true })
  }
}

export const isKept = ({ event, at }: Sent): boolean => event === 'ping' || at >= (event === 'bought' ? months[3] : months[12])
export const retention = { events_months: 12, event_names: { bought: 3, ping: null }, persons_months: 18 } as const

const uuids = (events: readonly Sent[]) => events.map(({ uuid }) => uuid).sort()

/** The same by each road, and in exports. */
export async function mustBeThere(project: LocalProject, events: readonly Sent[], hasExports = true): Promise<void> {
  const sql = await project.query<[string]>({ kind: 'SqlLikeQuery', query: 'select toString(uuid) from events order by uuid limit 10000' })
  expect(sql.results.map(([uuid]) => uuid)).toEqual(uuids(events))
  for (const event of names) {
    const trend = await project.query({
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event }],
      dateRange: { date_from: '2023-01-01', date_to: '2026-12-31' },
      interval: 'year',
    })
    const counts = (trend.results as unknown as { count: number }[]).map(({ count }) => count)
    expect([event, counts]).toEqual([event, [events.filter((one) => one.event === event).length]])
  }
  const exported = {
    model: 'events',
    fields: [],
    where: null,
    tableAlias: null,
    filters: null,
    include: [],
    exclude: [],
    range: { by: 'arrival', after: 0, to: 1e9 },
  }
  if (hasExports) expect(await project.exportRows.measure(exported as never)).toMatchObject({ rows: events.length })
}

/** As the operator does it. */
export async function keep(waymark: LocalWaymark, project: LocalProject, data_retention: object | null): Promise<void> {
  const { projects } = waymark.accounts
  await projects.update(null, (await projects.byId(project.id))!, { data_retention })
}

export async function personIds(project: LocalProject): Promise<string[]> {
  const query = 'select distinct_id from person_distinct_ids order by distinct_id limit 1000'
  return (await project.query<[string]>({ kind: 'SqlLikeQuery', query })).results.map(([id]) => id)
}

/** That an open directory recovered from: there must be none. */
export const errors: unknown[] = []

/** `runsJobs`: removes by itself what is too old, at the start and at any minute. */
export const openWith = (clock: { now: number }, engine?: EngineChoice, dataDir = ':memory:', runsJobs = false): Promise<LocalWaymark> =>
  open({
    dataDir,
    clock: () => new Date(clock.now),
    ...(engine ? { engine } : {}),
    dataRetention: { runs: runsJobs },
    onError: (error) => void errors.push(error),
  })

/** Events, persons and groups with a property that they are to lose, or without it from the beginning. */
export async function sendWithSecrets(project: LocalProject, seed: number, secretsToo: boolean): Promise<void> {
  const draw = random(seed)
  const secret = () => ({ 'sec/ret~"': `s${Math.floor(draw() * 5)}` })
  for (let i = 0; i < 20; i++) {
    const isPast = draw() < 0.4
    const batch = Array.from({ length: 5 }, (_, k) => {
      const n = i * 5 + k
      const person = Math.floor(draw() * 12)
      const kind = draw()
      const own = secret()
      const set = secret()
      const once = secret()
      const group = secret()
      const flags = [draw(), draw(), draw(), draw()].map((one) => one < 0.5)
      const of = (flag: boolean, value: object) => (flag && secretsToo ? value : {})
      const properties =
        kind < 0.2
          ? { $group_type: 'company', $group_key: `c${person % 3}`, $group_set: { size: n, ...of(flags[3]!, group) } }
          : {
              price: n / 4,
              nothing: null,
              nested: { 'sec/ret~"': 'stays', list: [n] },
              ...of(flags[0]!, own),
              $set: { plan: `p${n}`, ...of(flags[1]!, set) },
              $set_once: { first: n, ...of(flags[2]!, once) },
              ...(kind < 0.3 ? { $anon_distinct_id: `anon-${person}` } : {}),
            }
      const event = kind < 0.2 ? '$groupidentify' : kind < 0.3 ? '$identify' : 'e'
      return {
        uuid: uuidOf(n),
        event,
        distinct_id: idOf(person),
        timestamp: new Date(now - Math.floor(draw() * 90) * day).toISOString(),
        properties,
      }
    })
    await project.ingest({ batch, historical_migration: isPast })
  }
}
export const secretName = 'sec/ret~"'

const tables = {
  events: 'select toString(uuid), toString(properties) from events order by uuid limit 10000',
  persons: 'select toString(id), toString(properties) from persons order by id limit 1000',
  groups: 'select key, toString(properties) from groups order by key limit 1000',
}
/** Contents without the order of keys. */
export async function contentsOf(project: LocalProject): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {}
  for (const [name, query] of Object.entries(tables)) {
    const { results } = await project.query<[string, string]>({ kind: 'SqlLikeQuery', query })
    contents[name] = results.map(([key, text]) => [key, JSON.parse(text)])
  }
  return contents
}
