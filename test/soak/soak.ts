import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startSmtp } from '../harness/smtp-server.ts'
import { diskOf, sampleOf } from './measure.ts'
import { makeRecords, startReceiver } from './records.ts'
import { Server } from './server.ts'
import { medianOf, p95Of, type Slice, type Verdict, verdictsOf } from './verdicts.ts'
import { Workload } from './workload.ts'

export interface SoakOptions {
  readonly minutes: number
  /** Between two kills, in the first half of the run. */
  readonly killMinutes: number
  /** Events that are there before it begins. */
  readonly filled: number
  readonly memory: string
  readonly seed: number
  /** Keeps the folder, with the log of the server. */
  readonly keeps: boolean
  readonly log: (line: string) => void
}

export interface SoakResult {
  readonly slices: readonly Slice[]
  readonly verdicts: readonly Verdict[]
  readonly counts: Readonly<Record<string, number>>
  /** What is wrong, whatever the length of the run. */
  readonly wrong: readonly string[]
}

const sampleMs = 2_000
const day = 86_400_000

const header =
  'minute | events  | kills | processes | memory MB | descriptors | threads | disk/event | rest MB | backups MB | capture p50/p95 ms | query p50/p95 ms'
function rowOf({ at, events, kills, samples, disk, backups, captures, queries }: Slice): string {
  const middle = (of: (sample: (typeof samples)[number]) => number) => Math.round(medianOf(samples.map(of)))
  const asked = [...queries.values()].flat()
  const times = (all: readonly number[]) => `${medianOf(all).toFixed(1)} / ${p95Of(all).toFixed(1)}`
  return [
    at.toFixed(1).padStart(6),
    String(events).padStart(7),
    String(kills).padStart(5),
    String(middle((one) => one.processes)).padStart(9),
    String(middle((one) => one.memory)).padStart(9),
    String(middle((one) => one.descriptors)).padStart(11),
    String(middle((one) => one.threads)).padStart(7),
    (disk.events / events).toFixed(0).padStart(10),
    (disk.rest / 1e6).toFixed(1).padStart(7),
    (backups / 1e6).toFixed(0).padStart(10),
    times(captures).padStart(18),
    times(asked).padStart(16),
  ].join(' | ')
}

/** Events of the last twenty days, before anything is measured. */
async function fill(server: Server, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, count - sent) }, (_, i) => ({
      event: ['$pageview', '$autocapture', 'signup', 'purchase'][(sent + i) % 4],
      distinct_id: `user-${((sent + i) * 7919) % 4_000}`,
      timestamp: new Date(Date.now() - (((sent + i) * 104_729) % (20 * day))).toISOString(),
      properties: {
        filled: true,
        plan: i % 2 ? 'pro' : 'free',
        amount: i % 100,
        $pathname: `/${i % 50}`,
        $session_id: `s${(sent + i) % 9_000}`,
      },
    }))
    await server.api('POST', '/batch/', { api_key: server.token, historical_migration: true, batch })
  }
}

const uuidsOf = (text: string): string[] => text.split('\n').slice(1).filter(Boolean)

/** Every acknowledged event must be there exactly once, and nothing else; captured ones have passed the plugin. */
async function check(server: Server, workload: Workload, filled: number): Promise<readonly string[]> {
  const wrong: string[] = []
  const rows = async (query: string) =>
    (
      await server.api('POST', `/api/projects/${server.projectId}/query/`, {
        query: { kind: 'SqlLikeQuery', query },
        refresh: 'force_blocking',
      })
    ).results
  const query = {
    kind: 'SqlLikeQuery',
    query: "select uuid from events where properties.filled is null and event in ('$pageview', '$autocapture', 'signup', 'purchase')",
  }
  const { status, text } = await server.call('POST', `/api/projects/${server.projectId}/query/export/`, { query, format: 'csv' })
  const stored = uuidsOf(text).map((line) => line.replaceAll('"', '').trim())
  if (status !== 200) wrong.push(`the list of stored events: ${status} ${text.slice(0, 300)}`)
  const different = new Set(stored)
  const { acknowledged } = workload.counts
  const lost = [...acknowledged].filter((uuid) => !different.has(uuid))
  const unknown = [...different].filter((uuid) => !acknowledged.has(uuid))
  if (lost.length > 0) wrong.push(`${lost.length} acknowledged events are not stored, such as ${lost[0]}`)
  if (stored.length !== different.size) wrong.push(`${stored.length - different.size} events are stored twice`)
  if (unknown.length > 0) wrong.push(`${unknown.length} events are stored that were never acknowledged, such as ${unknown[0]}`)
  const [[others]] = await rows('select count() from events where properties.filled is not null')
  if (others !== filled) wrong.push(`${others} of the ${filled} events from before are stored`)
  const [[without]] = await rows('select count() from events where properties.filled is null and properties.greeting is null')
  if (without > 0) wrong.push(`${without} events have not passed the plugin`)
  return wrong
}

/** Files of the batch export have each event once, and only acknowledged ones. */
function checkExports(folder: string, acknowledged: ReadonlySet<string>): { readonly wrong: readonly string[]; readonly exported: number } {
  const seen = new Set<string>()
  const wrong: string[] = []
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.jsonl')) continue
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
      const { uuid, properties } = JSON.parse(line) as { uuid: string; properties: { filled?: boolean } | string }
      const isFilled = JSON.stringify(properties).includes('filled')
      if (seen.has(uuid)) wrong.push(`${uuid} was exported twice`)
      else if (!isFilled && !acknowledged.has(uuid)) wrong.push(`${uuid} was exported and never acknowledged`)
      seen.add(uuid)
    }
  }
  return { wrong: wrong.slice(0, 5), exported: seen.size }
}

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { minutes, killMinutes, filled, log } = options
  const folder = mkdtempSync(join(tmpdir(), 'waymark-soak-'))
  const [data, backups, exports_] = ['data', 'backups', 'exports'].map((name) => join(folder, name)) as [string, string, string]
  for (const one of [backups, exports_]) mkdirSync(one)
  const [mail, receiver] = [await startSmtp(), await startReceiver()]
  const unlimited = ['--concurrent-queries', '--queries-per-user', '--api-limit', '--events-per-day'].flatMap((name) => [name, '0'])
  const args = ['--data', data, '--memory', options.memory, '--smtp', mail.url, '--private-plugin-requests', '--export-folder', exports_]
  const copies = ['--backup', backups, '--backup-every', '1m', '--backup-keep', '15m', '--backup-verify', '10m']
  const server = await Server.start([...args, ...copies, ...unlimited], join(folder, 'server.log'))
  log(`seed ${options.seed}; everything is in ${folder}`)
  try {
    await fill(server, filled)
    const records = await makeRecords(server, receiver.url)
    const workload = new Workload(server, records, folder, options.seed)
    const sliceMs = Math.min(60_000, (minutes * 60_000) / 12)
    const slices: Slice[] = []
    let samples: Slice['samples'][number][] = []
    const watch = setInterval(() => {
      const sample = server.isUp ? sampleOf(server.pid) : null
      if (sample) samples.push(sample)
    }, sampleMs)
    const begun = performance.now()
    workload.start()
    log(header)
    let [kills, nextKill] = [0, killMinutes * 60_000]
    let killing: Promise<void> = Promise.resolve()
    for (let n = 1; n * sliceMs <= minutes * 60_000; n++) {
      let killed = 0
      for (const end = n * sliceMs; performance.now() - begun < end; ) {
        const now = performance.now() - begun
        // A kill resets memory, descriptors and threads, so the second half has none: what leaks has that long to show.
        if (now >= nextKill && now < minutes * 30_000) {
          nextKill += killMinutes * 60_000
          killed++
          killing = server.kill()
          await killing
        }
        await setTimeout(Math.min(200, Math.max(0, end - (performance.now() - begun))))
      }
      kills += killed
      const slice: Slice = {
        at: (n * sliceMs) / 60_000,
        samples,
        disk: diskOf(data),
        backups: diskOf(backups).rest,
        events: filled + workload.counts.acknowledged.size,
        ...workload.take(),
        kills: killed,
      }
      samples = []
      slices.push(slice)
      log(rowOf(slice))
    }
    await workload.stop()
    clearInterval(watch)
    await server.kill()
    const { counts } = workload
    const wrong = [...counts.failures, ...(await check(server, workload, filled))]
    const exported = checkExports(exports_, counts.acknowledged)
    const runs = (await server.api('GET', `/api/projects/${server.projectId}/batch_exports/${records.exported}/runs/`)).results as {
      status: string
    }[]
    const failed = runs.filter(({ status }) => status.startsWith('Failed'))
    if (failed.length > 0) wrong.push(`${failed.length} runs of the export failed`)
    if (mail.mails.length === 0) wrong.push('no mail was sent')
    if (receiver.ids.size === 0) wrong.push('no webhook was sent')
    const metrics = (await server.call('GET', '/metrics')).text
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1] ?? Number.NaN)
    if (!(metric('waymark_backup_timestamp_seconds') > 0)) wrong.push('there is no backup')
    const code = await server.stop()
    if (code !== 0) wrong.push(`the server ended with ${code}`)
    return {
      slices,
      verdicts: verdictsOf(slices),
      counts: {
        acknowledged: counts.acknowledged.size,
        imported: counts.imported,
        downloads: counts.downloads,
        later: counts.later,
        exported: exported.exported,
        exportRuns: runs.length,
        mails: mail.mails.length,
        webhooks: receiver.ids.size,
        kills: kills + 1,
      },
      wrong: [...wrong, ...exported.wrong],
    }
  } finally {
    await server.stop().catch(() => undefined)
    await mail.close()
    receiver.close()
    if (!options.keeps) rmSync(folder, { recursive: true, force: true })
  }
}
