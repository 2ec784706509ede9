import { parseArgs } from 'node:util'
import { hasClickHouse, howToInstallClickHouse } from '../clickhouse/chdb.ts'
import { whyNoPostgres } from '../harness/postgres.ts'
import { type Counts, createChecks } from './checks.ts'
import { conformanceCases } from './conformance.ts'
import { conversations } from './conversations.ts'
import { exportChecks } from './exports.ts'
import { faultChecks, faultRounds, stopLoads } from './faults.ts'
import { fencingChecks } from './fencing.ts'
import { moveChecks } from './move.ts'
import { operationChecks } from './operations.ts'
import { buildPrograms, startCluster } from './parts.ts'
import { pluginChecks } from './plugins.ts'
import { printRates } from './rates.ts'
import { togetherChecks } from './together.ts'

// npm run test:cluster -- [--rounds N] [--seed N] [--only PART] [--shards]: several servers on one PostgreSQL and one ClickHouse. The parts are fencing, move, together, operations, plugins, exports,
// faults, rounds, conversations (with what `npm run build` has built) and conformance; and rates, which is made only when it is named. `--shards`: the events are on two shards.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string' },
    only: { type: 'string' },
    shards: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const isWanted = (part: string) => (values.only === undefined ? part !== 'rates' : values.only === part)
const counts: Counts = { passed: 0, failed: 0 }
const check = createChecks(counts)
const missing = whyNoPostgres() ?? (hasClickHouse ? null : `ClickHouse is not installed. ${howToInstallClickHouse}`)

if (missing) console.log(`SKIPPED: ${missing}`)
else {
  console.log(`seed ${seed}`)
  await buildPrograms()
  const cluster = await startCluster([], values.shards)
  try {
    if (isWanted('fencing')) await fencingChecks(cluster, check)
    if (isWanted('conversations')) await conversations(cluster, counts)
    if (isWanted('move')) await moveChecks(cluster, seed, check)
    if (['together', 'operations', 'plugins', 'exports', 'faults', 'rounds', 'rates'].some(isWanted)) {
      const [a, b] = [cluster.server('a'), cluster.server('b')] as const
      await Promise.all([a.start(), b.start()])
      if (isWanted('together')) await togetherChecks(cluster, [a, b], check)
      if (isWanted('operations')) await operationChecks(cluster, [a, b], check)
      if (isWanted('plugins')) await pluginChecks(cluster, [a, b], check)
      if (isWanted('exports')) await exportChecks(cluster, [a, b], check)
      if (isWanted('faults')) await faultChecks(cluster, [a, b], check)
      if (isWanted('rates')) await printRates(cluster, [a, b])
      const c = cluster.server('c')
      if (isWanted('rounds')) {
        await c.start()
        await faultRounds(cluster, [a, b, c], Number(values.rounds), seed, check)
      }
    }
  } finally {
    await stopLoads()
    await cluster.close()
  }
  if (isWanted('conformance')) conformanceCases(counts)
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 ? 0 : 1
