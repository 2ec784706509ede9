import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as api from '@aws-sdk/client-s3'
import { open } from '../../src/engine.ts'
import { startS3, whyNoS3 } from '../harness/s3-server.ts'
import { startReceiver } from '../service/exports/receiver.ts'
import { type Check, Failed, mustEqual } from './checks.ts'
import { type Cluster, engineOf, personalKey, type Server } from './parts.ts'
import { capture, countOf } from './together.ts'

// Batch exports with several servers: one of them works on a run, another one goes on when it is killed, and each row is exported once.

const key = personalKey
const path = '/api/projects/1/batch_exports'
const hour = 3_600_000
const yesterday = (): number => Math.floor(Date.now() / (24 * hour) - 1) * 24 * hour

async function until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Failed(`${what}: not within ${seconds} s`)
    await pause(50)
  }
}

const linesOf = (text: string): string[] => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).uuid as string]))

/** The uuids in the files that manifests list. No other file may be there. */
function exportedIn(folder: string): string[] {
  const names = readdirSync(folder)
  const manifests = names.filter((name) => name.endsWith('.manifest.json'))
  const listed = manifests.flatMap((name) =>
    (JSON.parse(readFileSync(join(folder, name), 'utf8')).files as { name: string }[]).map((file) => file.name),
  )
  mustEqual([...names].sort(), [...manifests, ...listed].sort(), 'files in the folder')
  return listed.flatMap((name) => linesOf(readFileSync(join(folder, name), 'utf8')))
}

async function inBucket(client: api.S3Client, bucket: string): Promise<string[]> {
  const { Contents = [] } = await client.send(new api.ListObjectsV2Command({ Bucket: bucket }))
  const uuids: string[] = []
  for (const { Key } of Contents) {
    const { Body } = await client.send(new api.GetObjectCommand({ Bucket: bucket, Key: Key! }))
    uuids.push(...linesOf(await Body!.transformToString()))
  }
  return uuids
}

const once = (found: readonly string[], sent: readonly string[], what: string) => {
  mustEqual(new Set(found).size, found.length, `${what}: none comes twice`)
  mustEqual([...found].sort(), [...sent].sort(), what)
}

async function created(server: Server, body: object): Promise<string> {
  const { status, body: made } = await server.call('POST', `${path}/`, { key, body: { interval: 'day', ...body } })
  mustEqual(status, 201, JSON.stringify(made))
  return made.id
}

async function backfilled(server: Server, id: string): Promise<void> {
  const [start_at, end_at] = [yesterday(), yesterday() + 24 * hour].map((time) => new Date(time).toISOString())
  const { status, body } = await server.call('POST', `${path}/${id}/backfill/`, { key, body: { start_at, end_at } })
  mustEqual(status, 200, JSON.stringify(body))
}

const runAt = async (server: Server, id: string) => {
  const { status, body } = await server.call('GET', `${path}/${id}/runs/`, { key })
  mustEqual(status, 200, JSON.stringify(body))
  return body.results[0] as { id: string; status: string; records_completed: number } | undefined
}

async function sendYesterday(server: Server, event: string, count: number): Promise<string[]> {
  const uuids = Array.from({ length: count }, () => randomUUID())
  for (let from = 0; from < count; from += 2_000) {
    const batch = uuids.slice(from, from + 2_000).map((uuid, i) => ({
      uuid,
      event,
      distinct_id: `d${i % 50}`,
      timestamp: new Date(yesterday() + hour + from + i).toISOString(),
      properties: { n: from + i },
    }))
    mustEqual((await capture(server, batch)).status, 200, 'captured')
  }
  return uuids
}

async function killedInARun(cluster: Cluster, [a, b]: readonly [Server, Server]): Promise<void> {
  const sent = await sendYesterday(a, 'exported', 40_000)
  await countOf(b, 'exported')
  const id = await created(a, {
    name: 'files',
    destination: { type: 'LocalFiles', config: { prefix: 'killed', max_file_size_mb: 0.01, include_events: ['exported'] } },
  })
  await backfilled(a, id)
  await until('the first files', async () => {
    const run = await runAt(b, id)
    if (run?.status === 'Completed') throw new Failed('the run was over before its server was killed')
    return run?.status === 'Running' && run.records_completed > 0
  })
  await a.kill()
  mustEqual((await runAt(b, id))!.status, 'Running', 'nobody else works on it while the lease lasts')
  // What two minutes do.
  await cluster.postgres.sql.run("UPDATE waymark.leases SET until = until - interval '121 seconds' WHERE kind = 'export run'")
  await until('the other server goes on', async () => (await runAt(b, id))!.status === 'Completed', 120)
  const [row] = await cluster.postgres.sql.rows<{ attempt: number }>(
    `SELECT attempt FROM waymark.batch_export_runs WHERE batch_export_id = '${id}'`,
  )
  mustEqual(Number(row!.attempt), 2, 'attempts')
  once(exportedIn(join(cluster.exportFolder, 'killed')), sent, 'events in the files')
  await a.start()
  mustEqual((await runAt(a, id))!.status, 'Completed', 'at the server that was killed')
}

async function cancelledElsewhere(cluster: Cluster, [a, b]: readonly [Server, Server]): Promise<void> {
  const receiver = await startReceiver()
  try {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    receiver.answer = async () => held.then(() => 200)
    await sendYesterday(a, 'cancelled', 100)
    await countOf(b, 'cancelled')
    const id = await created(a, {
      name: 'requests',
      destination: { type: 'HTTP', config: { url: receiver.url, token: 'secret', include_events: ['cancelled'] } },
    })
    mustEqual((await b.call('PATCH', `${path}/${id}/`, { key, body: { paused: true } })).status, 200, 'paused at the other')
    mustEqual((await a.call('GET', `${path}/${id}/`, { key })).body.paused, true, 'paused')
    await backfilled(a, id)
    await until('it is running', async () => (await runAt(b, id))?.status === 'Running')
    const { id: run } = (await runAt(b, id))!
    const { status, body } = await b.call('POST', `${path}/${id}/runs/${run}/cancel/`, { key })
    mustEqual(status, 200, JSON.stringify(body))
    release()
    await until('nobody works on it', async () => {
      const leases = await cluster.postgres.sql.rows("SELECT id FROM waymark.leases WHERE kind = 'export run' AND owner IS NOT NULL")
      return leases.length === 0
    })
    for (const server of [a, b]) mustEqual((await runAt(server, id))!.status, 'Cancelled', `status at ${server.name}`)
    mustEqual(receiver.runs, [], 'what was published')
    const again = await b.call('POST', `${path}/${id}/runs/${run}/retry/`, { key })
    mustEqual(again.status, 200, JSON.stringify(again.body))
    await until('retried at the other server', async () => (await runAt(a, id))!.status === 'Completed')
    mustEqual(
      receiver.runs.map(({ rows }) => rows.length),
      [100],
      'rows of the run',
    )
  } finally {
    await receiver.close()
  }
}

/** Two servers with a clock that is moved, so that intervals pass. */
async function intervals(cluster: Cluster): Promise<void> {
  const clock = { now: (Math.floor(Date.now() / hour) + 1) * hour + 600_000 }
  const s3 = whyNoS3() ? null : await startS3()
  if (!s3) console.log(`      without S3: ${whyNoS3()}`)
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  const client = s3 && new api.S3Client({ region: 'us-east-1', endpoint: s3.url, credentials, forcePathStyle: true })
  await client?.send(new api.CreateBucketCommand({ Bucket: 'rows' }))
  const reports: unknown[] = []
  const server = () =>
    open({
      engine: engineOf(cluster),
      clock: () => new Date(clock.now),
      exports: { folder: cluster.exportFolder, secretKeys: [Buffer.alloc(32, 7).toString('base64')] },
      notifications: { runs: false },
      onError: (error) => reports.push(error),
    })
  const both = [await server(), await server()] as const
  try {
    const [{ accounts, exports }] = both
    const made = await both[0].createProject({ name: 'Intervals' })
    const projects = [made, await both[1].project(made.id)] as const
    const record = (await accounts.projects.byId(made.id))!
    const { user, organization } = await accounts.firstStart({ makesKey: false })
    const by = { user, membership: (await accounts.organizations.membership(organization.id, user))! }
    const destinations = [
      { type: 'LocalFiles', config: { prefix: 'intervals' } },
      ...(s3
        ? [
            {
              type: 'S3',
              config: {
                bucket_name: 'rows',
                region: 'us-east-1',
                prefix: 'p',
                endpoint_url: s3.url,
                aws_access_key_id: credentials.accessKeyId,
                aws_secret_access_key: credentials.secretAccessKey,
              },
            },
          ]
        : []),
    ]
    for (const destination of destinations)
      await exports.service.create(by, record, { name: destination.type, interval: 'hour', destination })
    const sent: string[] = []
    const send = async (n: number) => {
      const batch = Array.from({ length: 5 }, (_, i) => ({ uuid: randomUUID(), event: 'kept', distinct_id: `d${i}` }))
      await projects[n % 2]!.ingest({ batch })
      sent.push(...batch.map(({ uuid }) => uuid))
    }
    const { read } = accounts.context.store
    const wake = () => both.map((one) => one.exports.scheduler.wake())
    const cutAfter = async (time: number) =>
      (await read.batch_exports.find({ project_id: made.id })).every(({ cut_at }) => cut_at.getTime() >= time) &&
      (await read.batch_export_runs.find({ project_id: made.id })).every(({ status }) => status === 'Completed')
    for (let round = 0; round < 4; round++) {
      const sending = Promise.all(Array.from({ length: 12 }, (_, n) => send(n)))
      if (round % 2) await sending
      clock.now += hour
      wake()
      const rest = Promise.all(Array.from({ length: 12 }, (_, n) => send(n)))
      await until(`interval ${round}`, () => cutAfter(Math.floor(clock.now / hour) * hour))
      await Promise.all([sending, rest])
    }
    clock.now += hour
    wake()
    await until('the last interval', () => cutAfter(Math.floor(clock.now / hour) * hour))
    mustEqual(reports.map(String), [], 'errors')
    once(exportedIn(join(cluster.exportFolder, 'intervals')), sent, 'events in the files')
    if (client) once(await inBucket(client, 'rows'), sent, 'events in the bucket')
    for (const one of await read.batch_exports.find({ project_id: made.id })) await exports.service.remove(by, one)
  } finally {
    for (const one of both) await one.close()
    client?.destroy()
    await s3?.stop()
  }
}

export async function exportChecks(cluster: Cluster, servers: readonly [Server, Server], check: Check): Promise<void> {
  await check('a run whose server is killed is executed by the other one: each event is in the files once', () =>
    killedInARun(cluster, servers),
  )
  await check('a run is cancelled and retried, and an export paused, at whichever server', () => cancelledElsewhere(cluster, servers))
  for (const server of servers) await server.stop()
  await check('intervals of a log that two servers write: each event is in one of them', () => intervals(cluster))
  for (const server of servers) await server.start()
}
