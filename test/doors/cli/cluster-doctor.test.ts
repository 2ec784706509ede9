import { expect, test } from 'vitest'
import { clusterLines } from '../../../src/doors/cli/doctor/cluster.ts'
import type {
  ClickHouseFindings,
  ClusterFindings,
  PostgresFindings,
  SharedFindings,
} from '../../../src/engine/storage/recovery/cluster-inspector.ts'

// What `waymark doctor` says of several servers, from fixed facts. `npm run test:cluster` asks real ones.

const partition = { project: 1, lastSeq: 10, appliedSeq: 10, epoch: 3, holder: 'web-1 42 a', leaseSeconds: 4.2, waitingSeconds: null }
const shared: SharedFindings = {
  id: 'one',
  format: 1,
  knownFormat: 1,
  log: { bytes: 1024 ** 2, partitions: [partition] },
  names: { 1: 'Shop' },
  repeated: [],
  unfinished: [],
  aside: [],
}
const postgres: PostgresFindings = {
  version: '17.2',
  major: 17,
  settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
  connections: { most: 97, used: 24 },
  servers: 2,
  clockMs: 3,
  shared,
}
const clickhouse: ClickHouseFindings = {
  version: '26.1.1.1',
  clockMs: -2,
  knownBlocks: 100_000,
  leastKnownBlocks: 100_000,
  owner: 'one',
  tables: [{ table: 'events', parts: 4, mostParts: 4, rows: 10, bytes: 100 }],
  partsToDelay: 1000,
  disks: [{ name: 'default', free: 50, total: 100 }],
  replicas: [],
}
const key = Buffer.alloc(32, 1).toString('base64')
const findings: ClusterFindings = { postgres, clickhouse, connectionsOfServer: 12 }
const said = (changed: Partial<ClusterFindings>, keys: readonly string[] = [key]) =>
  clusterLines({ ...findings, ...changed }, keys).map(({ about, text, isProblem }) => `${isProblem ? '! ' : ''}${about}: ${text}`)

test('servers that lack nothing', () => {
  expect(said({})).toEqual([
    'PostgreSQL: version 17.2',
    'PostgreSQL: 97 connections, 24 in use; 2 servers may take 24',
    "PostgreSQL: its clock is 3 ms ahead of this host's",
    'Schema: format 1',
    'Log: 1.0 MiB in PostgreSQL',
    'Project 1: Shop: applied by web-1 42 a, lease for 4.2 s, epoch 3; everything is applied',
    'ClickHouse: version 26.1.1.1',
    'ClickHouse: it knows 100,000 inserts again',
    'ClickHouse: 4 parts in the fullest partition, of events',
    'ClickHouse: disk default: 50 bytes of 100 bytes free',
    "ClickHouse: its clock is 2 ms behind this host's",
    'Secrets: WAYMARK_SECRET_KEY is set here: it must be the same at every server',
  ])
})

const inLog = (changed: object, more: Partial<SharedFindings> = {}): Partial<ClusterFindings> => ({
  postgres: { ...postgres, shared: { ...shared, ...more, log: { bytes: 1, partitions: [{ ...partition, ...changed }] } } },
})
test.each<[string, Partial<ClusterFindings>, string]>([
  ['an old PostgreSQL', { postgres: { ...postgres, version: '12.1', major: 12 } }, 'version 12.1: Waymark supports 14'],
  ['a PostgreSQL that loses commits', { postgres: { ...postgres, settings: { ...postgres.settings, fsync: 'off' } } }, 'fsync is off'],
  ['too few connections', { postgres: { ...postgres, servers: 20 } }, '20 servers may take 240: raise max_connections'],
  ['another clock', { clickhouse: { ...clickhouse, clockMs: 9_000 } }, "its clock is 9,000 ms ahead of this host's: let both"],
  ['a newer schema', { postgres: { ...postgres, shared: { ...shared, format: 2 } } }, 'format 2, and this version'],
  [
    'nobody applies it',
    inLog({ appliedSeq: 7, leaseSeconds: -30, waitingSeconds: 40 }),
    'ended 30 s ago, epoch 3; 3 records wait, the oldest for 40 s',
  ],
  ['it is applied too slowly', inLog({ appliedSeq: 9, waitingSeconds: 300 }), '1 record waits, the oldest for 5 minutes'],
  ['inserts that are forgotten', { clickhouse: { ...clickhouse, knownBlocks: 0 } }, 'the deduplication window of events is 0'],
  [
    'many parts',
    { clickhouse: { ...clickhouse, tables: [{ ...clickhouse.tables[0]!, mostParts: 600 }] } },
    '600 parts in the fullest partition',
  ],
  [
    'a full disk',
    { clickhouse: { ...clickhouse, disks: [{ name: 'default', free: 5, total: 100 }] } },
    '5 bytes of 100 bytes free: merges',
  ],
  ['a database of somebody else', { clickhouse: { ...clickhouse, owner: 'two' } }, 'belongs to a data directory, or to another PostgreSQL'],
  ['an engine that is away', { clickhouse: { reason: 'It does not answer.' } }, 'It does not answer.'],
])('%s needs attention', (_, changed, text) => {
  const problems = said(changed).filter((line) => line.startsWith('! '))
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(text)
})

test('what is being repaired is said, and is no problem', () => {
  const lines = said(inLog({}, { repeated: [{ project: 1, blocks: 2 }], unfinished: [1] }))
  expect(lines.filter((line) => line.startsWith('! '))).toEqual([])
  expect(lines.join('\n')).toContain('2 blocks were begun by two servers within a day')
  expect(lines.join('\n')).toContain('a block was begun and not finished')
})

test.each([
  [[], 'WAYMARK_SECRET_KEY is not set here'],
  [['c2hvcnQ='], 'A secret key must be 32 random bytes'],
])('a key that is missing or wrong needs attention', (keys, text) => {
  expect(said({}, keys).filter((line) => line.startsWith('! '))).toEqual([expect.stringContaining(text)])
})
