import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { withClusterSource } from '../../src/engine/storage/moving/cluster-source.ts'
import { connectToPostgres, type Postgres } from '../../src/engine/storage/postgres/client.ts'
import { type Check, Failed, mustEqual } from './checks.ts'
import { type Cluster, personalKey, programOf, projectKey, Server } from './parts.ts'
import { counting, installed, sending, startListener, until } from './plugins.ts'

// A directory is moved into databases of its own: nothing is lost, nothing is there twice, and every question has the answer that it had before.

const key = personalKey
const project = '/api/projects/1'
const secretKey = Buffer.alloc(32, 7).toString('base64')

/** Databases that nobody has used, and a directory with a server. */
class Place {
  readonly dataDir: string
  readonly postgresUrl: string
  readonly clickhouseUrl: string
  constructor(
    readonly cluster: Cluster,
    readonly name: string,
  ) {
    this.dataDir = join(cluster.folder, name)
    this.postgresUrl = cluster.postgresUrl.replace(/\/postgres$/, `/${name}`)
    this.clickhouseUrl = cluster.clickhouse.address.replace(/\/waymark(?=\?|$)/, `/${name}`)
  }

  static async make(cluster: Cluster, name: string): Promise<Place> {
    await cluster.postgres.sql.run(`CREATE DATABASE ${name}`)
    return new Place(cluster, name)
  }

  get where(): readonly string[] {
    return ['--clickhouse', this.clickhouseUrl, '--postgres', this.postgresUrl]
  }

  private server(args: readonly string[]): Server {
    return new Server(this.name, ['--private-plugin-requests', ...args], {
      WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: personalKey,
      WAYMARK_BOOTSTRAP_PROJECT_API_KEY: projectKey,
      WAYMARK_SECRET_KEY: secretKey,
    })
  }
  ofDirectory = () => this.server(['--data', this.dataDir])
  ofCluster = () => this.server([...this.where, '--data', `${this.dataDir}-files`])
  /** The directory that a cluster is moved into. */
  get backDir(): string {
    return `${this.dataDir}-back`
  }
  ofBack = () => this.server(['--data', this.backDir])

  /** Begins the command. */
  move(more: readonly string[] = [], key = secretKey, isBack = false): ChildProcess {
    const [from, to] = isBack ? ['clickhouse+postgres', this.backDir] : [this.dataDir, 'clickhouse+postgres']
    const args = [programOf('waymark'), 'move', '--from', from, '--to', to, ...this.where, ...more]
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, WAYMARK_SECRET_KEY: key } })
  }

  async moved(
    more: readonly string[] = [],
    key = secretKey,
    isBack = false,
    meanwhile: () => Promise<void> = async () => undefined,
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
    const child = this.move(more, key, isBack)
    let [out, err] = ['', '']
    child.stdout!.on('data', (bytes: Buffer) => (out += bytes.toString()))
    child.stderr!.on('data', (bytes: Buffer) => (err += bytes.toString()))
    const closed = once(child, 'close')
    await meanwhile()
    const [code] = (await closed) as [number | null]
    return { code, out, err }
  }

  private async inPostgres<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
    const postgres = await connectToPostgres({ url: this.postgresUrl })
    try {
      return await work(postgres)
    } finally {
      await postgres.close()
    }
  }

  /** As at the end of a move, which copied the logs up to these positions. */
  markedAt(positions: ReadonlyMap<number, number>): Promise<void> {
    const { origin, username, password } = new URL(this.clickhouseUrl)
    const clickhouse = { url: origin, database: this.name, username, password: decodeURIComponent(password) }
    return withClusterSource({ clickhouse, postgres: this.postgresUrl }, null, (source) => source.mark('/nowhere', positions))
  }

  /** A server that has not noticed the move can add nothing. */
  logIsClosed(): Promise<void> {
    return this.inPostgres(async (postgres) => {
      const failure = await postgres
        .run(
          "INSERT INTO waymark.cluster_log (project, first_seq, last_seq, append_id, batch) VALUES (1, 9999999, 9999999, gen_random_uuid(), '')",
        )
        .catch((error: Error) => error.message)
      mustEqual(/violates check constraint "moved"/.test(String(failure)), true, String(failure))
    })
  }

  /** What the refusal of a server says. */
  undo(refusal: string): Promise<void> {
    const statements = /execute in PostgreSQL: (.*DROP CONSTRAINT moved)/.exec(refusal)?.[1]?.split('; ') ?? []
    mustEqual(statements.length, 2, refusal)
    return this.inPostgres(async (postgres) => {
      for (const statement of statements) await postgres.run(statement)
    })
  }

  async saltOf(day: string): Promise<string | undefined> {
    const [row] = await this.inPostgres((postgres) =>
      postgres.rows<{ salt: Buffer }>('SELECT salt FROM waymark.cluster_salts WHERE day = $1', [Number(day)]),
    )
    return row?.salt.toString('base64')
  }

  /** Without `FINAL` or `DISTINCT`: all uuids that are stored, one for each row. */
  async uuids(): Promise<readonly string[]> {
    const rows = await this.cluster.clickhouse.rows<[string]>('SELECT toString(uuid) FROM events WHERE project_id = 1', this.name)
    return rows.map(([uuid]) => uuid)
  }
}

async function mustCall(server: Server, method: string, path: string, body?: unknown) {
  const answer = await server.call(method, path, { key, ...(body === undefined ? {} : { body }) })
  if (answer.status >= 300) throw new Failed(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const send = (server: Server, batch: readonly object[]) => server.call('POST', '/batch/', { body: { api_key: projectKey, batch } })
const day = (n: number, hour = 10) => new Date(Date.UTC(2026, 8, 1 + n, hour)).toISOString()

/** Events of forty days with merges, groups, late events, duplicates, removed persons; and what people keep. */
async function fill(server: Server): Promise<void> {
  const first = Array.from({ length: 6000 }, (_, i) => ({
    uuid: randomUUID(),
    event: ['visit', 'sign up', 'buy'][i % 7 === 0 ? 2 : i % 3 === 0 ? 1 : 0],
    distinct_id: i % 4 === 0 ? `anon-${i % 300}` : `user-${i % 200}`,
    timestamp: day((i * 7) % 40, i % 24),
    properties: {
      plan: ['free', 'pro', null, 'naïve "x"\n\\'][i % 4],
      price: i / 8,
      $groups: i % 5 === 0 ? { company: `c${i % 9}` } : {},
      n: `${i % 11}`,
    },
  }))
  for (let from = 0; from < first.length; from += 500) mustEqual((await send(server, first.slice(from, from + 500))).status, 200, 'sent')
  await send(server, first.slice(0, 200)) // again
  const merges = Array.from({ length: 60 }, (_, i) => ({
    uuid: randomUUID(),
    event: '$identify',
    distinct_id: `user-${i}`,
    timestamp: day(i % 40),
    properties: { $anon_distinct_id: `anon-${4 * i}`, $set: { plan: i % 2 ? 'pro' : 'free', seats: i } },
  }))
  await send(server, merges)
  await send(server, [
    { uuid: randomUUID(), event: '$create_alias', distinct_id: 'user-1', properties: { alias: 'user-100' } },
    { uuid: randomUUID(), event: '$merge_dangerously', distinct_id: 'user-2', properties: { alias: 'user-3' } },
    { event: '$groupidentify', distinct_id: 'user-1', properties: { $group_type: 'company', $group_key: 'c1', $group_set: { size: 7 } } },
  ])
  for (const id of ['user-40', 'user-41']) {
    const { results } = await mustCall(server, 'GET', `${project}/persons/?distinct_id=${id}`)
    await mustCall(server, 'DELETE', `${project}/persons/${results[0].uuid}/?delete_events=true`)
  }
  await mustCall(server, 'POST', `${project}/actions/`, { name: 'bought', steps: [{ event: 'buy' }] })
  const pros = { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } }
  await mustCall(server, 'POST', `${project}/cohorts/`, { name: 'pros', filters: pros })
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'buy' }],
    dateRange: { date_from: '2026-09-01', date_to: '2026-10-10' },
  }
  await mustCall(server, 'POST', `${project}/insights/`, { name: 'sales', query: { kind: 'InsightVizNode', source: query } })
  await mustCall(server, 'POST', `${project}/annotations/`, { content: 'launch', date_marker: day(3), scope: 'project' })
  const destination = {
    type: 'S3',
    config: { bucket_name: 'b', region: 'r', prefix: 'p', aws_access_key_id: 'a', aws_secret_access_key: 's' },
  }
  await mustCall(server, 'POST', `${project}/batch_exports/`, { name: 'sealed', interval: 'hour', paused: true, destination })
  await mustCall(server, 'PATCH', `${project}/`, { name: 'Shop', timezone: 'Europe/Berlin' })
}

const dates = { date_from: '2026-09-01', date_to: '2026-10-10' }
const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, ...more })
const questions: readonly object[] = [
  {
    kind: 'SqlLikeQuery',
    query: 'select event, count(), count(distinct person_id), count(distinct distinct_id) from events group by event order by event',
  },
  {
    kind: 'SqlLikeQuery',
    query: 'select toDate(timestamp), event, count(), sum(toFloat(properties.price)) from events group by 1, 2 order by 1, 2',
  },
  { kind: 'SqlLikeQuery', query: 'select person.properties.plan, count() from events group by 1 order by 1' },
  {
    kind: 'SqlLikeQuery',
    query: 'select uuid, event, distinct_id, person_id, timestamp, properties.plan from events order by toString(uuid) limit 2000',
  },
  { kind: 'SqlLikeQuery', query: 'select id, properties.plan, properties.seats from persons order by toString(id) limit 1000' },
  { kind: 'SqlLikeQuery', query: 'select count() from persons where id in cohort 1' },
  { kind: 'TrendsQuery', series: [node('buy', { math: 'dau' }), node('visit')], interval: 'week', dateRange: dates },
  {
    kind: 'TrendsQuery',
    series: [{ kind: 'ActionsNode', id: 1 }],
    interval: 'day',
    dateRange: dates,
    breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' },
  },
  { kind: 'FunnelsQuery', series: [node('visit'), node('sign up'), node('buy')], dateRange: dates },
  {
    kind: 'RetentionQuery',
    retentionFilter: {
      targetEntity: { id: 'visit', type: 'events' },
      returningEntity: { id: 'buy', type: 'events' },
      period: 'Week',
      totalIntervals: 5,
    },
    dateRange: dates,
  },
]
const resources = [
  'actions/',
  'batch_exports/',
  'cohorts/',
  'annotations/',
  'persons/?limit=50',
  'groups/?group_type_index=0',
  'property_definitions/',
  'event_definitions/',
  '',
]

/** What times and servers have put into answers does not count. */
const ownFields: ReadonlySet<string> = new Set([
  'last_refresh',
  'next',
  'cache_target_age',
  'next_allowed_client_refresh',
  'is_cached',
  'timings',
  'query_status',
  'last_calculation',
  'result',
  'last_used_at',
])
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (ownFields.has(name) ? [] : [[name, plain(one)]])))
      : value

async function answers(server: Server): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const query of questions) {
    const body = await mustCall(server, 'POST', `${project}/query/`, { query, refresh: 'force_blocking' })
    found.set(JSON.stringify(query), JSON.stringify(plain(body.results)))
  }
  for (const path of resources) found.set(path, JSON.stringify(plain(await mustCall(server, 'GET', `${project}/${path}`))))
  // What is in an insight besides its record is its kept answer.
  const insights = (await mustCall(server, 'GET', `${project}/insights/`)).results as readonly Record<string, unknown>[]
  const records = insights.map(({ id, short_id, name, query, created_at, created_by }) => ({
    id,
    short_id,
    name,
    query,
    created_at,
    created_by,
  }))
  found.set('insights', JSON.stringify(records))
  for (const path of ['/api/organizations/@current/members/', '/api/users/@me/'])
    found.set(path, JSON.stringify(plain(await mustCall(server, 'GET', path))))
  return found
}

/** Where two texts begin to differ. */
function differing(a: string, b: string): readonly [string, string] {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 200)
  return [around(a), around(b)]
}

function mustBeAlike(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
  for (const [question, answer] of before) {
    const other = after.get(question) ?? ''
    if (other === answer) continue
    const [here, there] = differing(answer, other)
    throw new Failed(`${question}\n        before …${here}\n        after  …${there}`)
  }
}

function mustBeOnce(uuids: readonly string[], sent: ReadonlySet<string>): void {
  const times = new Map<string, number>()
  for (const uuid of uuids) times.set(uuid, (times.get(uuid) ?? 0) + 1)
  const twice = [...times].filter(([, n]) => n > 1)
  const lost = [...sent].filter((uuid) => !times.has(uuid))
  mustEqual([twice.length, lost.length], [0, 0], `twice and lost, of ${sent.size} that were acknowledged`)
}

/** Sends events to whoever takes them, and again until they are acknowledged, as clients do. */
class Load {
  readonly acknowledged = new Set<string>()
  readonly refusals = new Map<string, number>()
  private isEnded = false
  private running: Promise<void>
  server: Server

  /** `restMs`: between batches. */
  constructor(
    server: Server,
    private readonly restMs = 0,
  ) {
    this.server = server
    this.running = this.send()
  }

  private async send(): Promise<void> {
    for (let n = 0; !this.isEnded; n++) {
      const batch = Array.from({ length: 20 }, (_, i) => ({
        uuid: randomUUID(),
        event: i % 5 ? 'load' : '$identify',
        distinct_id: `load-${(n + i) % 50}`,
        properties: i % 5 ? { n } : { $anon_distinct_id: `ghost-${(n * 20 + i) % 400}`, $set: { n } },
      }))
      for (;;) {
        const status = await send(this.server, batch).then(
          (answer) => (answer.status === 503 ? String(answer.body?.code) : String(answer.status)),
          () => 'no connection',
        )
        if (status === '200') break
        this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1)
        await pause(50)
      }
      for (const { uuid } of batch) this.acknowledged.add(uuid)
      if (this.restMs > 0) await pause(this.restMs)
    }
  }

  async end(): Promise<void> {
    this.isEnded = true
    await this.running
  }
}

const loads: Load[] = []
const servers: Server[] = []
const loadOn = (server: Server, restMs = 0) => {
  const load = new Load(server, restMs)
  loads.push(load)
  return load
}
const started = async (server: Server) => {
  servers.push(server)
  await server.start()
  return server
}

async function atRest(cluster: Cluster, check: Check): Promise<void> {
  const place = await Place.make(cluster, 'resting')
  await check('a directory at rest answers everything as before once it was moved, and refuses to be opened', async () => {
    const directory = await started(place.ofDirectory())
    await fill(directory)
    const before = await answers(directory)
    const { results } = await mustCall(directory, 'POST', `${project}/query/`, {
      query: { kind: 'SqlLikeQuery', query: 'select uuid from events order by toString(uuid) limit 50' },
    })
    await directory.stop()
    const dry = await place.moved(['--dry-run', '--json'])
    mustEqual([dry.code, JSON.parse(dry.out).can_move], [0, true], `${dry.out}${dry.err}`)
    const sealed = await place.moved([], Buffer.alloc(32, 8).toString('base64'))
    mustEqual([sealed.code, /which WAYMARK_SECRET_KEY does not have/.test(sealed.err)], [1, true], sealed.err)
    const early = await place
      .ofCluster()
      .start()
      .then(
        () => 'it started',
        (error: Error) => error.message,
      )
    mustEqual(/copies the data directory/.test(early), true, early)
    const { code, out, err } = await place.moved(['--json'])
    mustEqual(code, 0, err)
    const server = await started(place.ofCluster())
    mustBeAlike(before, await answers(server))
    // What was seen before the move is a duplicate after it.
    const again = (results as string[][]).map(([uuid]) => ({ uuid, event: 'again', distinct_id: 'user-1' }))
    await send(server, again)
    const [[count]] = (
      await mustCall(server, 'POST', `${project}/query/`, {
        query: { kind: 'SqlLikeQuery', query: "select count() from events where event = 'again'" },
        refresh: 'force_blocking',
      })
    ).results
    mustEqual(count, 0, 'duplicates')
    const events = await place.uuids()
    mustBeOnce(events, new Set((results as string[][]).map(([uuid]) => uuid!)))
    mustEqual(JSON.parse(out).projects[0].events, events.length, 'the events of the summary')
    await server.stop()
    const refused = await place
      .ofDirectory()
      .start()
      .then(
        () => 'it started',
        (error: Error) => error.message,
      )
    mustEqual(/was moved to ClickHouse at/.test(refused), true, refused)
    const second = await place.moved()
    mustEqual([second.code, /was moved|has rows/.test(second.err)], [1, true], second.err)
  })
}

async function underLoad(cluster: Cluster, check: Check, kills: number, name: string, random: () => number): Promise<void> {
  const place = await Place.make(cluster, name)
  await check(
    `a directory moves while its server takes events${kills ? `, and the move is killed ${kills} times` : ''}: each is there once`,
    async () => {
      const directory = await started(place.ofDirectory())
      await fill(directory)
      const load = loadOn(directory)
      for (let i = 0; i < kills; i++) {
        const child = place.move()
        const closed = once(child, 'close')
        await Promise.race([pause(500 + random() * 25_000), closed])
        if (child.exitCode !== null) break // it was faster
        child.kill('SIGKILL')
        await closed
      }
      const mark = await place.moved(['--json'])
      const wasOver = kills > 0 && /was moved to ClickHouse/.test(mark.err) // the last one was killed after its last step
      if (mark.code !== 0 && !wasOver) throw new Failed(`${mark.err}\n${directory.said()}`)
      const server = await started(place.ofCluster())
      load.server = server
      await pause(1_000)
      await load.end()
      await mustCall(server, 'POST', `${project}/query/`, {
        query: { kind: 'SqlLikeQuery', query: 'select count() from events' },
        refresh: 'force_blocking',
      })
      mustBeOnce(await place.uuids(), load.acknowledged)
      const { pause_seconds, seconds, projects } = wasOver ? { pause_seconds: 0, seconds: 0, projects: [] } : JSON.parse(mark.out)
      if (kills === 0) mustEqual(projects[0].copied_again, false, 'the log was enough')
      const refusals = [...load.refusals].map(([what, n]) => `${n} × ${what}`).join(', ')
      console.log(
        `      ${load.acknowledged.size} acknowledged; the move ${seconds.toFixed(1)} s, its pause ${pause_seconds.toFixed(1)} s; refused: ${refusals}`,
      )
      await server.stop()
      await directory.stop()
    },
  )
}

const refusalOf = (server: Server) =>
  server.start().then(
    () => 'it started',
    (error: Error) => error.message,
  )

/** After `atRest`: what was moved there comes back. */
async function backAtRest(cluster: Cluster, check: Check): Promise<void> {
  const place = new Place(cluster, 'resting')
  await check(
    'and back: the directory answers everything as the cluster did, takes events, and servers of the cluster do not start',
    async () => {
      const server = await started(place.ofCluster())
      await send(server, [
        {
          uuid: randomUUID(),
          event: '$identify',
          distinct_id: 'user-70',
          properties: { $anon_distinct_id: 'anon-280', $set: { plan: 'late' } },
        },
        { uuid: randomUUID(), event: 'in the cluster', distinct_id: 'user-71', properties: { price: 9 } },
      ])
      const before = await answers(server)
      const { results } = await mustCall(server, 'POST', `${project}/query/`, {
        query: { kind: 'SqlLikeQuery', query: 'select uuid from events order by toString(uuid) limit 50' },
      })
      await server.stop()
      const dry = await place.moved(['--dry-run', '--json'], secretKey, true)
      mustEqual([dry.code, JSON.parse(dry.out).can_move, JSON.parse(dry.out).servers], [0, true, 0], `${dry.out}${dry.err}`)
      const sealed = await place.moved([], Buffer.alloc(32, 8).toString('base64'), true)
      mustEqual([sealed.code, /which WAYMARK_SECRET_KEY does not have/.test(sealed.err)], [1, true], sealed.err)
      const late = await place.markedAt(new Map([[1, 1]])).catch((error: Error) => error.message)
      mustEqual(/got records while it was being copied/.test(String(late)), true, String(late))
      const { code, out, err } = await place.moved(['--json'], secretKey, true)
      mustEqual(code, 0, err)
      const directory = await started(place.ofBack())
      mustBeAlike(before, await answers(directory))
      const today = String(Math.floor(Date.now() / 86_400_000))
      const salts = JSON.parse(readFileSync(join(place.backDir, 'cookieless/salts.json'), 'utf8'))
      mustEqual(salts[today], await place.saltOf(today), 'the salt of visitors without cookies')
      await send(
        directory,
        (results as string[][]).map(([uuid]) => ({ uuid, event: 'again', distinct_id: 'user-1' })),
      )
      await send(directory, [{ uuid: randomUUID(), event: 'back', distinct_id: 'user-71' }])
      const counted = await mustCall(directory, 'POST', `${project}/query/`, {
        query: { kind: 'SqlLikeQuery', query: "select countIf(event = 'again'), countIf(event = 'back'), count() from events" },
        refresh: 'force_blocking',
      })
      mustEqual(counted.results, [[0, 1, JSON.parse(out).projects[0].events + 1]], 'duplicates, new events, all')
      await directory.stop()
      const refused = await refusalOf(place.ofCluster())
      mustEqual(/was moved to the directory/.test(refused), true, refused)
      const second = await place.moved([], secretKey, true)
      mustEqual([second.code, /was moved to the directory/.test(second.err)], [1, true], second.err)
      await place.logIsClosed()
      await place.undo(refused)
      const again = await started(place.ofCluster())
      mustBeAlike(before, await answers(again))
      mustEqual(
        (await send(again, [{ uuid: randomUUID(), event: 'after all', distinct_id: 'user-71' }])).status,
        200,
        'events are taken again',
      )
      await again.stop()
    },
  )
}

async function backUnderLoad(cluster: Cluster, check: Check, random: () => number): Promise<void> {
  const place = await Place.make(cluster, 'homeward')
  await check(
    'a cluster moves into a directory: most while its server takes events, killed three times, the rest when it was stopped',
    async () => {
      const server = await started(place.ofCluster())
      await fill(server)
      const load = loadOn(server)
      for (let i = 0; i < 3; i++) {
        const child = place.move([], secretKey, true)
        const closed = once(child, 'close')
        await pause(1_000 + random() * 6_000)
        child.kill('SIGKILL')
        await closed
      }
      const moved = await place.moved(['--json'], secretKey, true, async () => {
        await pause(6_000)
        await server.stop()
      })
      mustEqual(moved.code, 0, moved.err)
      const directory = await started(place.ofBack())
      load.server = directory
      await pause(1_000)
      await load.end()
      const ask = async (query: string) =>
        (await mustCall(directory, 'POST', `${project}/query/`, { query: { kind: 'SqlLikeQuery', query }, refresh: 'force_blocking' }))
          .results
      const [[all, once_]] = (await ask('select count(), count(distinct uuid) from events')) as [[number, number]]
      mustEqual(all, once_, 'each uuid once')
      const uuids = [...load.acknowledged]
      let found = 0
      for (let from = 0; from < uuids.length; from += 2_000) {
        const some = uuids.slice(from, from + 2_000).map((uuid) => `'${uuid}'`)
        found += ((await ask(`select count() from events where toString(uuid) in (${some.join(', ')})`)) as [[number]])[0][0]
      }
      mustEqual(found, uuids.length, 'of those that were acknowledged')
      const { pause_seconds, seconds, projects } = JSON.parse(moved.out)
      console.log(
        `      ${uuids.length} acknowledged, ${projects[0].events} moved in ${seconds.toFixed(1)} s, ${pause_seconds.toFixed(1)} s of it without a server`,
      )
      await directory.stop()
    },
  )
}

async function withPlugins(cluster: Cluster, check: Check): Promise<void> {
  const place = await Place.make(cluster, 'plugged')
  await check('plugins, what they keep, and what they were not sent yet move with a directory that takes events, and back', async () => {
    const listener = await startListener()
    try {
      const directory = await started(place.ofDirectory())
      await installed(directory, 'counter', counting)
      await installed(directory, 'sender', sending, { url: listener.url, event: 'load' })
      const load = loadOn(directory, 50) // plugins see a few hundred events a second
      await pause(1_000)
      const there = await place.moved(['--json'])
      mustEqual(there.code, 0, there.err)
      const server = await started(place.ofCluster())
      load.server = server
      await pause(1_500)
      const back = await place.moved(['--json'], secretKey, true, async () => {
        await pause(4_000)
        await server.stop()
      })
      mustEqual(back.code, 0, back.err)
      const home = await started(place.ofBack())
      load.server = home
      await pause(1_000)
      await load.end()
      const query = "select count(), count(distinct uuid), count(distinct properties.n), countIf(event = 'load') from events"
      const { results } = await mustCall(home, 'POST', `${project}/query/`, {
        query: { kind: 'SqlLikeQuery', query },
        refresh: 'force_blocking',
      })
      const [[all, uuids, numbers, sent]] = results as [[number, number, number, number]]
      mustEqual([uuids, numbers], [all, all], 'each event once, with a number of its own')
      const seen = () => new Set(listener.bodies).size
      await until(`${sent} events are delivered`, () => seen() === sent, 60).catch((error: Failed) => {
        throw new Failed(`${error.message}: ${seen()}`)
      })
      console.log(`      ${all} events; ${listener.bodies.length} deliveries of ${sent}`)
      await home.stop()
      await directory.stop()
    } finally {
      await listener.close()
    }
  })
}

export async function moveChecks(cluster: Cluster, seed: number, check: Check): Promise<void> {
  let state = seed || 1
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  try {
    await atRest(cluster, check)
    await backAtRest(cluster, check)
    await backUnderLoad(cluster, check, random)
    await withPlugins(cluster, check)
    await underLoad(cluster, check, 0, 'moving', random)
    await underLoad(cluster, check, 10, 'killed', random)
  } finally {
    for (const load of loads) void load.end()
    for (const server of servers) await server.kill().catch(() => undefined)
  }
}
