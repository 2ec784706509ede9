import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadCommand, readValues } from '../../src/doors/cli/command.ts'
import { commands } from '../../src/doors/cli/commands.ts'
import { closeMs, graceMs } from '../../src/doors/cli/stopping.ts'
import { textOf } from './dockerfile.ts'

// What docs/cluster.md offers for several servers, against the program that they start.

// biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
type Free = any

const serve = await loadCommand(commands.find(({ name }) => name === 'serve')!)
const files = ['deploy/cluster-compose.yaml', 'deploy/cluster-kubernetes.yaml']
const longestStop = Number(serve.options['drain-seconds']!.default!) + (closeMs + graceMs) / 1000

test.each(files)('%s names no variable that the server does not have, and is named by the page', (path) => {
  const text = textOf(path)
  const known = [...Object.keys(serve.options).map((name) => `WAYMARK_${name.toUpperCase().replaceAll('-', '_')}`), 'WAYMARK_SECRET_KEY']
  const named = [...new Set([...text.matchAll(/\bWAYMARK_\w+/g)].map(([name]) => name))]
  expect(named.filter((name) => !known.includes(name))).toEqual([])
  expect(named).toEqual(expect.arrayContaining(['WAYMARK_POSTGRES', 'WAYMARK_CLICKHOUSE', 'WAYMARK_SECRET_KEY']))
  expect(textOf('docs/cluster.md')).toContain(`(../${path})`)
})

test('compose: servers wait for both engines, find them by their names, and have time to stop', () => {
  const { services, volumes } = parse(textOf(files[0]!)) as Free
  const { waymark, ...engines } = services
  expect(Object.keys(waymark.depends_on)).toEqual(Object.keys(engines))
  for (const [name, { condition }] of Object.entries<Free>(waymark.depends_on)) {
    expect(condition).toBe('service_healthy')
    expect(engines[name].healthcheck.test.length).toBeGreaterThan(1)
    for (const volume of engines[name].volumes) expect(Object.keys(volumes)).toContain(volume.split(':')[0])
  }
  const filled = (text: string) => new URL(text.replaceAll(/\$\{\w+:\?\}/g, 'secret'))
  expect(filled(waymark.environment.WAYMARK_POSTGRES).hostname).toBe('postgres')
  expect(filled(waymark.environment.WAYMARK_CLICKHOUSE).hostname).toBe('clickhouse')
  expect(Number.parseInt(waymark.stop_grace_period, 10)).toBeGreaterThan(longestStop)
  expect(waymark.init).toBe(true)
})

test('Kubernetes: a deployment without a volume that lasts, whose probes the server has', () => {
  const documents = parseAllDocuments(textOf(files[1]!)).map((one) => one.toJS() as Free)
  expect(documents.map(({ kind }) => kind)).toEqual(['Service', 'PodDisruptionBudget', 'Deployment'])
  const [service, budget, { spec }] = documents
  const { labels } = spec.template.metadata
  expect(service.spec.selector).toEqual(labels)
  expect(budget.spec.selector.matchLabels).toEqual(labels)
  expect(spec.replicas).toBeGreaterThan(budget.spec.minAvailable)
  const pod = spec.template.spec
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longestStop)
  for (const volume of pod.volumes) expect(volume.emptyDir).toEqual({})
  const [container] = pod.containers
  const [command, ...args] = container.args
  expect(command).toBe('serve')
  const values = readValues(serve, args, {})
  expect([values.text('port'), values.text('data')]).toEqual(['8000', '/data'])
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(['/_livez', '/_readyz']).toContain(container[probe].httpGet.path)
})
