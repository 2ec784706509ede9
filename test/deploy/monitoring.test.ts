import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { clusterMetrics } from '../../src/doors/http/server/cluster-metrics.ts'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { metricText } from '../../src/doors/http/server/metric-text.ts'
import { type ClusterFigures, type LocalWaymark, open } from '../../src/engine.ts'
import { Histogram } from '../../src/lib/numbers/histogram.ts'

// The dashboard, the alert rules and the table of docs/operations.md against what a server says at /metrics.

const root = join(import.meta.dirname, '../..')
const file = (name: string) => readFileSync(join(root, name), 'utf8')

interface Family {
  readonly type: string
  readonly help: string
  /** The names of its samples, each with the labels that it has. */
  readonly samples: Map<string, Set<string>>
}

/** As Prometheus reads it: anything that it would not read throws. */
function read(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let help: [string, string] | null = null
  let current: [string, Family] | null = null
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') help = [name!, rest!]
    else if (kind === 'TYPE') {
      expect(help?.[0], line).toBe(name)
      expect(['counter', 'gauge', 'histogram'], line).toContain(rest)
      expect(families.has(name!), `${name} comes twice`).toBe(false)
      current = [name!, { type: rest!, help: help![1], samples: new Map() }]
      families.set(...current)
    } else {
      const [, sample, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      expect(sample, line).toBeDefined()
      expect(Number.isNaN(Number(value!.replace('+Inf', 'Infinity'))), line).toBe(false)
      const [family, { type, samples }] = current!
      const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => family + end) : [family]
      expect(names, line).toContain(sample)
      expect(seen.has(`${sample} ${labels}`), line).toBe(false)
      seen.add(`${sample} ${labels}`)
      const known = samples.get(sample!) ?? new Set()
      for (const [, label] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label!)
      samples.set(sample!, known)
    }
  }
  return families
}

const partition = { project: 1, lastSeq: 12, appliedSeq: 10, epoch: 3, holder: 'this one', leaseSeconds: 4, waitingSeconds: 7 }
/** As one of several servers sees it; `npm run test:cluster` asks real ones. */
const sharedByServers: ClusterFigures = {
  accounts: { part: 'postgres', isReachable: true, seconds: 0.01, reason: null },
  store: { part: 'clickhouse', isReachable: false, seconds: 3, reason: 'engine-unreachable' },
  holder: 'this one',
  log: {
    bytes: 8192,
    partitions: [
      partition,
      { ...partition, project: 2, appliedSeq: 12, waitingSeconds: null, holder: 'another' },
      { ...partition, project: 3, leaseSeconds: -1 },
    ],
  },
  blocks: { seconds: new Histogram([1]), events: new Histogram([1]), bytes: new Histogram([1]) },
  tables: [{ table: 'events', parts: 5, mostParts: 5, rows: 12, bytes: 4096 }],
  replicas: [{ table: 'events', delaySeconds: 2 }],
}
const clusterText = (figures: ClusterFigures) => `${clusterMetrics(figures).map(metricText).join('\n')}\n`

const folder = mkdtempSync(join(tmpdir(), 'waymark-monitoring-'))
let waymark: LocalWaymark
let families: ReadonlyMap<string, Family>
let samples: ReadonlyMap<string, ReadonlySet<string>>
beforeAll(async () => {
  waymark = await open({
    dataDir: join(folder, 'data'),
    threads: 1,
    isolate: true,
    backups: { to: join(folder, 'copies') },
    slowQueries: { seconds: 1e-9 },
  })
  const handler = createHandler(waymark)
  const project = await waymark.createProject({ name: 'Shop' })
  const post = (path: string, body: object) =>
    handler(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const batch = [{ event: 'view', distinct_id: 'u' }]
  expect((await post('/batch/', { api_key: project.token, batch })).status).toBe(200)
  expect((await post('/batch/', { api_key: 'unknown', batch })).status).toBe(401)
  await project.ingest({
    batch: [{ event: 'old', distinct_id: 'u', timestamp: '2020-01-01T00:00:00Z' }],
    historical_migration: true,
  } as never)
  await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'view' }] })
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select nothing from events' })).rejects.toThrow()
  await waymark.accounts.context.store.write((tables) =>
    tables.leases.insert({ id: 'a', project_id: 1, kind: 'alert', owner: null, until: new Date(Date.now() + 60_000), failures: 1 }),
  )
  const response = await handler(new Request('http://localhost/metrics'))
  families = read(`${await response.text()}${clusterText(sharedByServers)}`)
  samples = new Map([...families.values()].flatMap((family) => [...family.samples]))
})
afterAll(async () => {
  await waymark.close()
  rmSync(folder, { recursive: true, force: true })
})

test('every metric has samples and a sentence', () => {
  for (const [name, { help, samples: its }] of families) {
    expect(its.size, name).toBeGreaterThan(0)
    expect(help, name).toMatch(/^\w.*\.$/)
  }
})

test('numbers are those of what was done', async () => {
  const text = await (await createHandler(waymark)(new Request('http://localhost/metrics'))).text()
  const value = (sample: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.split(' ')
        .at(-1),
    )
  expect(value('waymark_events_accepted_total{of="now"}')).toBe(1)
  expect(value('waymark_events_accepted_total{of="past"}')).toBe(1)
  expect(value('waymark_query_seconds_count{kind="TrendsQuery"}')).toBe(1)
  expect(value('waymark_queries_total{outcome="failed"}')).toBe(1)
  expect(value('waymark_slow_queries_total')).toBe(2)
  expect(value('waymark_jobs{kind="alert",state="resting"}')).toBe(1)
  expect(value('waymark_memory_bytes{part="engine"}')).toBeGreaterThan(10e6)
  expect(value('waymark_disk_free_bytes')).toBeGreaterThan(0)
  expect(value('waymark_problems{watch="silence"}')).toBe(0)
})

test('leases and lags of several servers are told apart', () => {
  const lines = clusterText(sharedByServers).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'waymark_cluster_reachable{part="clickhouse"} 0',
      'waymark_cluster_lag_records{project="1"} 2',
      'waymark_cluster_lag_records{project="2"} 0',
      'waymark_cluster_oldest_record_seconds{project="1"} 7',
      'waymark_cluster_lease_held{project="1"} 1',
      'waymark_cluster_lease_held{project="2"} 0',
      'waymark_cluster_lease_held{project="3"} 0',
      'waymark_cluster_unapplied_projects 1',
    ]),
  )
  expect(clusterText({ ...sharedByServers, log: null })).not.toContain('lease')
})

/** Names of metrics in an expression, each with the labels that it is asked for. */
const askedIn = (expression: string): readonly (readonly [name: string, labels: readonly string[]])[] =>
  [...expression.matchAll(/\b(waymark_\w+)(?:\{([^}]*)\})?/g)].map(([, name, labels = '']) => [
    name!,
    [...labels.matchAll(/(\w+)\s*=~?/g)].map(([, label]) => label!),
  ])
const groupedBy = (expression: string): readonly string[] =>
  [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(',').map((label) => label.trim()))
/** Added by Prometheus. */
const ofScrapes = new Set(['instance', 'job'])

function mustExist(expression: string, shown: readonly string[]): void {
  const asked = askedIn(expression)
  expect(asked, expression).not.toEqual([])
  for (const [name, labels] of asked) {
    expect([...samples.keys()], expression).toContain(name)
    const known = samples.get(name)!
    for (const label of [...labels, ...groupedBy(expression)].filter((one) => !ofScrapes.has(one)))
      expect([...known], `${label} of ${name}`).toContain(label)
  }
  for (const label of shown.filter((one) => !ofScrapes.has(one)))
    expect(
      asked.some(([name]) => samples.get(name)!.has(label)),
      `${label} in ${expression}`,
    ).toBe(true)
}

describe('the dashboard', () => {
  interface Panel {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }
  const { panels } = JSON.parse(file('deploy/grafana-dashboard.json')) as { readonly panels: readonly Panel[] }

  test('asks for metrics and labels that exist', () => {
    for (const { targets = [] } of panels)
      for (const { expr, legendFormat } of targets)
        mustExist(
          expr,
          [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!),
        )
  })

  test('shows every metric', () => {
    const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => askedIn(expr).map(([name]) => name))))
    const isShown = ([name, { type }]: [string, Family]) => shown.has(type === 'histogram' ? `${name}_bucket` : name)
    expect([...families].filter((one) => !isShown(one)).map(([name]) => name)).toEqual([])
  })

  test('has panels that do not cover each other', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const places = new Set<string>()
    for (const { title, gridPos } of panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(x < 24 && !places.has(`${x} ${y}`), title).toBe(true)
          places.add(`${x} ${y}`)
        }
  })
})

describe('the alert rules', () => {
  interface Rule {
    readonly alert: string
    readonly expr: string
    readonly labels: { readonly severity: string }
    readonly annotations: { readonly summary: string }
  }
  const { groups } = parse(file('deploy/alerts.yaml')) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  test.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks for metrics that exist', (_, { expr, labels, annotations }) => {
    mustExist(
      expr,
      [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
    )
    expect(['page', 'warn']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/\.$/)
  })

  test('each has a place in the docs that says what to do, and no other has', () => {
    const told = [...file('docs/operations.md').matchAll(/^\| `(Waymark\w+)` \|/gm)].map(([, name]) => name!)
    expect(told).toEqual(rules.map(({ alert }) => alert))
  })
})

test('the docs list the metrics that exist', () => {
  const rows = [...file('docs/operations.md').matchAll(/^\| `(waymark_\w+)` \| (\w+) \| (.*) \|$/gm)]
  const told = rows.map(([, name, type, labels]) => ({ name, type, labels }))
  const labelsOf = ({ samples: its }: Family) =>
    [...new Set([...its.values()].flatMap((labels) => [...labels]))].filter((label) => label !== 'le').map((label) => `\`${label}\``)
  const found = [...families].map(([name, family]) => ({
    name,
    type: family.type,
    labels: expect.stringContaining(labelsOf(family).join(', ')),
  }))
  expect(told).toEqual(found)
  for (const [, name, , text] of rows) expect(text, name).toContain(families.get(name!)!.help)
})
