import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { loadTracing, traced } from '../../../src/lib/flow/tracing.ts'

// Spans, as the SDK of OpenTelemetry exports them.

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
let waymark: LocalWaymark
const clock = { now: new Date('2026-03-02T10:00:00Z') }
let isOffBefore = false
beforeAll(async () => {
  await traced('before', {}, async (note) => note({ a: 1 }))
  isOffBefore = exporter.getFinishedSpans().length === 0
  provider.register()
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => clock.now })
})
afterAll(async () => {
  await waymark.close()
  await provider.shutdown()
})

const spans = () =>
  exporter.getFinishedSpans().map(({ name, attributes, status, parentSpanContext }) => ({
    name,
    attributes,
    status: status.code,
    hasParent: parentSpanContext !== undefined,
  }))

test('nothing is measured before the package is looked for', () => {
  expect(isOffBefore).toBe(true)
})

test('captures, transactions, queries and jobs are spans without values', async () => {
  const secret = 'ada@shop.test'
  const project = await waymark.createProject({ name: 'Shop' })
  const about = { 'waymark.project': project.id }
  await project.ingest({
    batch: [
      { event: 'view', distinct_id: secret },
      { event: 'view', distinct_id: secret },
    ],
  })
  await project.query({ kind: 'SqlLikeQuery', query: `select event from events where distinct_id = '${secret}'` })
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select nothing from events' })).rejects.toThrow()
  clock.now = new Date(clock.now.getTime() + 3_600_000)
  await waymark.watching.runner.tick()
  await waymark.watching.runner.settled()
  const found = spans()
  const query = { 'waymark.query.kind': 'SqlLikeQuery', 'waymark.query.form': 'answer' }
  for (const span of [
    { name: 'waymark.capture', attributes: { ...about, 'waymark.events': 2 }, status: 0, hasParent: false },
    { name: 'waymark.apply', attributes: { 'waymark.store': expect.any(String) }, status: 0, hasParent: expect.any(Boolean) },
    { name: 'waymark.query', attributes: { ...about, ...query, 'waymark.query.rows': 2 }, status: 0, hasParent: false },
    {
      name: 'waymark.query',
      attributes: { ...about, ...query, 'error.type': expect.stringMatching(/^unknown-/) },
      status: 2,
      hasParent: false,
    },
    {
      name: 'waymark.job',
      attributes: { 'waymark.job.kind': 'watch', 'waymark.project': 0, 'waymark.job.failures': 0 },
      status: 0,
      hasParent: expect.any(Boolean),
    },
  ])
    expect(found).toContainEqual(span)
  expect(JSON.stringify(found)).not.toContain(secret)
})

test('they belong to the span of the application', async () => {
  await loadTracing()
  const project = (await waymark.projects())[0]!
  await provider.getTracer('app').startActiveSpan('request', async (span) => {
    await (await waymark.project(project.id)).ingest({ batch: [{ event: 'view', distinct_id: 'u' }] })
    span.end()
  })
  expect(
    spans()
      .filter(({ name }) => name === 'waymark.capture')
      .at(-1),
  ).toMatchObject({ hasParent: true })
})
