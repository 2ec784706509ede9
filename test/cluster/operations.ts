import { setTimeout as pause } from 'node:timers/promises'
import { type Check, Failed, mustEqual } from './checks.ts'
import { type Cluster, command, type Server } from './parts.ts'
import { capture, countOf, eventOf } from './together.ts'

// What operators look at: metrics and readiness of each server.

/** The samples of a server, by their names with labels. */
async function metricsOf(server: Server): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${server.url}/metrics`, { signal: AbortSignal.timeout(9_000) }) // a scraper waits for ten seconds
  if (response.status !== 200) throw new Failed(`/metrics answered ${response.status}`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

/** Until it answers so: engines need a moment to start, and looks are remembered for a second. */
async function readyAs(server: Server, status: number, ofCheck: (checks: Record<string, { isOk: boolean }>) => boolean): Promise<void> {
  const until = performance.now() + 30_000
  for (;;) {
    const answer = await server.call('GET', '/_readyz')
    if (answer.status === status && ofCheck(answer.body.checks)) return
    if (performance.now() > until) throw new Failed(`/_readyz answered ${answer.status} ${JSON.stringify(answer.body)}`)
    await pause(200)
  }
}

export async function operationChecks(cluster: Cluster, [a, b]: readonly [Server, Server], check: Check): Promise<void> {
  await check('metrics name the server that applies the project, its lag and what it writes', async () => {
    await capture(a, [eventOf('measured', 'm')])
    mustEqual(await countOf(b, 'measured'), [[1, 1]], 'count')
    await pause(1_000) // metrics are made once a second
    const [ofA, ofB] = await Promise.all([metricsOf(a), metricsOf(b)])
    const held = 'waymark_cluster_lease_held{project="1"}'
    mustEqual(ofA.get(held)! + ofB.get(held)!, 1, 'one server applies it')
    const holder = ofA.get(held) === 1 ? ofA : ofB
    mustEqual(holder.get('waymark_cluster_insert_events_count')! > 0, true, 'inserts')
    mustEqual(holder.get('waymark_cluster_insert_bytes_sum')! > 100, true, 'bytes of inserts')
    for (const one of [ofA, ofB]) {
      mustEqual(one.get('waymark_cluster_lag_records{project="1"}'), 0, 'lag')
      mustEqual(one.get('waymark_cluster_oldest_record_seconds{project="1"}'), 0, 'age')
      mustEqual(one.get('waymark_cluster_reachable{part="postgres"}'), 1, 'PostgreSQL')
      mustEqual(one.get('waymark_cluster_reachable{part="clickhouse"}'), 1, 'ClickHouse')
      mustEqual(one.get('waymark_cluster_table_parts{table="events"}')! > 0, true, 'parts')
      mustEqual(one.get('waymark_cluster_log_bytes')! > 0, true, 'bytes of the log')
    }
  })

  await check('doctor finds both engines, who applies what, and changes nothing', async () => {
    const found = command(cluster, ['doctor', '--json'], { WAYMARK_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') })
    const { postgres, clickhouse, problems } = JSON.parse(found.out)
    mustEqual([postgres.servers, postgres.settings.fsync, postgres.shared.unfinished], [2, 'off', []], found.out)
    const [partition] = postgres.shared.log.partitions
    mustEqual([partition.lastSeq - partition.appliedSeq, partition.leaseSeconds > 0], [0, true], 'the lease of the project')
    mustEqual([clickhouse.owner === postgres.shared.id, clickhouse.knownBlocks], [true, 100_000], 'the database')
    mustEqual([problems.length, /fsync is off/.test(problems[0])], [1, true], 'PostgreSQL of a test, and nothing else')
    const unset = command(cluster, ['doctor'], { WAYMARK_SECRET_KEY: '' })
    mustEqual([unset.status === 0, /WAYMARK_SECRET_KEY is not set/.test(unset.out)], [false, true], unset.out)
  })

  await check('without ClickHouse servers are not ready, and say so; what waits has an age', async () => {
    await cluster.clickhouse.kill()
    await readyAs(a, 503, ({ postgres, clickhouse }) => postgres!.isOk && !clickhouse!.isOk)
    mustEqual((await a.call('GET', '/_readyz?exclude=clickhouse&exclude=projects_failed')).status, 200, 'without that check')
    mustEqual((await capture(a, [eventOf('waits', 'w')])).status, 200, 'a capture')
    await pause(1_000)
    const metrics = await metricsOf(a)
    mustEqual(metrics.get('waymark_cluster_reachable{part="clickhouse"}'), 0, 'ClickHouse')
    mustEqual(metrics.get('waymark_cluster_lag_records{project="1"}'), 1, 'lag')
    mustEqual(metrics.get('waymark_cluster_oldest_record_seconds{project="1"}')! > 0.5, true, 'age')
    const found = command(cluster, ['doctor'])
    mustEqual([found.status === 0, /1 record waits/.test(found.out), /cannot be used/.test(found.out)], [false, true, true], found.out)
    await cluster.clickhouse.start()
    await readyAs(a, 200, () => true)
    mustEqual(await countOf(b, 'waits'), [[1, 1]], 'applied afterwards')
  })

  await check('without PostgreSQL servers are not ready, and metrics are answered', async () => {
    await cluster.postgres.kill()
    await readyAs(b, 503, ({ postgres, clickhouse }) => !postgres!.isOk && clickhouse!.isOk)
    await pause(1_000)
    const metrics = await metricsOf(b)
    mustEqual(metrics.get('waymark_cluster_reachable{part="postgres"}'), 0, 'PostgreSQL')
    mustEqual(metrics.get('waymark_ready'), 0, 'ready')
    mustEqual(metrics.has('waymark_cluster_lag_records{project="1"}'), false, 'what cannot be read is left out')
    await cluster.postgres.startAgain()
    await readyAs(b, 200, () => true)
  })
}
