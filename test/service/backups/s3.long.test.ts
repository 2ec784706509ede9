import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { copiesIn } from '../../../src/service/backups/backups.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import { program } from '../../harness/programs.ts'
import { startS3, whyNoS3 } from '../../harness/s3-server.ts'

// Backups in a real server with the API of S3 (moto), whose process is killed at each of its requests.

const missing = whyNoS3()
if (missing) console.log(`SKIPPED  backups in S3: ${missing}`)

let s3: Awaited<ReturnType<typeof startS3>>
let root: string
beforeAll(async () => {
  if (missing) return
  s3 = await startS3()
  process.env.AWS_ACCESS_KEY_ID = 'test'
  process.env.AWS_SECRET_ACCESS_KEY = 'test'
  root = await mkdtemp(join(tmpdir(), 'waymark-s3-'))
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({ endpoint: s3.url, region: 'us-east-1', forcePathStyle: true })
  for (const Bucket of ['kills', 'shared']) await client.send(new CreateBucketCommand({ Bucket }))
  client.destroy()
})
afterAll(async () => {
  await s3?.stop()
  if (root) await rm(root, { recursive: true, force: true })
})

/** Passes requests on, and calls `at` at the nth one: before it is passed on, or when its answer is there but not given. */
async function proxyTo(
  url: string,
  n: number,
  when: 'before' | 'after',
  at: () => void,
): Promise<Server & { readonly url: string; readonly count: number }> {
  let count = 0
  const server = createServer((incoming, outgoing) => {
    const isIt = ++count === n
    if (isIt && when === 'before') return at()
    const { method, headers } = incoming
    const passed = request(new URL(incoming.url!, url), { method, headers: { ...headers, host: headers.host } }, (answer) => {
      if (isIt) {
        answer.resume()
        answer.on('end', at)
        return
      }
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.defineProperties(server, {
    url: { get: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    count: { get: () => count },
  }) as Server & { url: string; count: number }
}

async function runChild(
  args: readonly string[],
  started: (child: ChildProcess) => void = () => undefined,
): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [program('backup-kills'), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: process.env })
  started(child)
  let out = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (text) => {
      out += text
    })
  const [code] = await once(child, 'exit')
  return { code, out }
}

const total = async (waymark: LocalWaymark) =>
  (
    (await (await waymark.project('Shop')).query({ kind: 'SqlLikeQuery', query: 'select count(), sum(properties.n) from events' }))
      .results as unknown[][]
  )[0]

describe.skipIf(missing !== null)('backups in S3', () => {
  test('a process that is killed at any of its requests leaves a place whose copies are whole, and the next backup goes on', async () => {
    const dataDir = join(root, 'data')
    let sent = 0
    const backUp = async (endpoint: string, started?: (child: ChildProcess) => void) => {
      const ended = await runChild([dataDir, `s3://kills/shop?endpoint=${endpoint}`, String(sent)], started)
      sent += 10
      return ended
    }
    expect(await backUp(s3.url)).toMatchObject({ code: 0 })
    let last = 1
    for (let n = 1, isOver = false; !isOver; n++)
      for (const when of ['before', 'after'] as const) {
        let child: ChildProcess | null = null
        const proxy = await proxyTo(s3.url, n, when, () => child!.kill('SIGKILL'))
        const { code } = await backUp(proxy.url, (one) => {
          child = one
        })
        isOver = proxy.count < n
        proxy.closeAllConnections()
        proxy.close()
        expect(code).toBe(isOver ? 0 : null)
        // What is there can be restored, and is as it was when a copy was complete.
        const copies = await copiesIn(`s3://kills/shop?endpoint=${s3.url}`)
        expect(copies.map(({ number }) => number)).toEqual(copies.map((_, i) => i + 1))
        last = copies.length
      }
    const ended = await backUp(s3.url)
    expect(ended).toMatchObject({ code: 0 })
    expect((await copiesIn(`s3://kills/shop?endpoint=${s3.url}`)).length).toBe(last + 1)
    for (const copy of [1, Math.ceil(last / 2), last + 1]) {
      const target = join(root, `r${copy}`)
      await restore(`s3://kills/shop?endpoint=${s3.url}`, target, { copy })
      const waymark = await open({ dataDir: target, onRecovery: () => undefined })
      const [count, sum] = (await total(waymark))!
      expect(Number(count) % 10).toBe(0)
      expect(sum).toBe((Number(count) * (Number(count) - 1)) / 2)
      if (copy === last + 1) expect(count).toBe(sent)
      await waymark.close()
    }
  }, 600_000)

  test('of two servers with one place at the same time, only one writes', async () => {
    const [one, two] = [join(root, 'one'), join(root, 'two')]
    const place = `s3://shared/place?endpoint=${s3.url}`
    const first = await open({ dataDir: one })
    await (await first.createProject({ name: 'Shop' })).ingest({ batch: [{ event: 'e', distinct_id: 'u', properties: { n: 1 } }] })
    await first.backup(place)
    await cp(one, two, { recursive: true })
    const second = await open({ dataDir: two, onRecovery: () => undefined })
    try {
      await expect(second.backup(place)).rejects.toThrow(/must not share a place/)
      // Both believe that the place is theirs: at the same time, one of them is refused.
      const results = await Promise.allSettled([first.backup(place), second.backup(place, { takeOver: true })])
      const kept = results.filter(({ status }) => status === 'fulfilled').length
      expect(kept).toBeGreaterThanOrEqual(1)
      const copies = await copiesIn(place)
      expect(copies.map(({ number }) => number)).toEqual(Array.from({ length: kept + 1 }, (_, i) => i + 1))
      for (const { number } of copies) {
        const target = join(root, `shared-${number}`)
        await restore(place, target, { copy: number })
        const waymark = await open({ dataDir: target, onRecovery: () => undefined })
        expect(await total(waymark)).toEqual([1, 1])
        await waymark.close()
      }
    } finally {
      await first.close()
      await second.close()
    }
  })
})
