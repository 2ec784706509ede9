import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { program } from '../../harness/programs.ts'
import { type SmtpServer, startSmtp } from '../../harness/smtp-server.ts'

// A process that checks alerts every hour and sends mails every day is killed again and again, at its receivers and elsewhere. Every due check is done once, every
// notice arrives, and what arrives twice has the same id.

const folder = mkdtempSync(join(tmpdir(), 'waymark-notification-kills-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

interface Received {
  readonly id: string
  /** What it is about, and when that was due. */
  readonly about: string
}
type Where = 'before the answer' | 'after the answer' | 'elsewhere'

const hours = 30
/** The kill comes at the nth request from then on, or at the nth hour. */
const kills: readonly (readonly [where: Where, n: number])[] = [
  ['before the answer', 1],
  ['after the answer', 1],
  ['elsewhere', 2],
  ['after the answer', 4],
  ['before the answer', 5],
  ['elsewhere', 3],
  ['after the answer', 8],
  ['before the answer', 9],
  ['after the answer', 10],
]

test('no due check is lost, and none is sent twice', async () => {
  const received: Received[] = []
  const mails: Received[] = []
  let kill: () => void = () => undefined
  let left = 0
  let where: Where = 'elsewhere'
  /** Whether the answer is to be given. */
  const arrives = (): boolean => {
    if (where === 'elsewhere' || left === 0 || --left > 0) return true
    if (where === 'after the answer') {
      setImmediate(kill)
      return true
    }
    kill()
    return false
  }
  const attempts = new Map<string, number>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    const { data } = JSON.parse(text)
    const id = String(request.headers['webhook-id'])
    const attempt = (attempts.get(id) ?? 0) + 1
    attempts.set(id, attempt)
    // Some receivers fail at first.
    if (attempt === 1 && id.endsWith('3')) return void response.writeHead(503).end()
    if (!arrives()) return
    received.push({ id, about: `${data.alert.id} ${data.due_at}` })
    response.end()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const smtp: SmtpServer = await startSmtp()
  smtp.answer = ({ to, text }) => {
    if (!arrives()) return 'close'
    const id = /^Message-ID: (\S+)$/im.exec(text)![1]!
    mails.push({ id, about: to.join() })
    return '250 ok'
  }
  closing.push(
    () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
    () => smtp.close(),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  /** Runs from an hour to the last one. Returns the hour that it reached, and what it found at the end. */
  const run = (from: number, killAtHour: number | null) =>
    new Promise<{ hour: number; end: string | null }>((resolve, reject) => {
      const args = [program('notification-kills'), folder, url, smtp.url, String(from), String(hours)]
      const child = spawn(process.execPath, ['--max-old-space-size=300', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
      kill = () => child.kill('SIGKILL')
      let [out, err, hour] = ['', '', from]
      child.stdout.on('data', (text) => {
        out += text
        hour = Math.max(hour, ...[...out.matchAll(/^hour (\d+)$/gm)].map(([, n]) => Number(n)))
        if (killAtHour !== null && hour >= killAtHour) kill()
      })
      child.stderr.on('data', (text) => (err += text))
      child.on('error', reject)
      child.on('close', (code, signal) => {
        if (signal !== 'SIGKILL' && code !== 0) return reject(new Error(`the child ended with ${code ?? signal}: ${err}`))
        resolve({ hour, end: out.split('\n').find((line) => line.startsWith('{')) ?? null })
      })
    })

  let hour = 0
  for (const [at, n] of kills) {
    where = at
    left = n
    const ended = await run(hour, at === 'elsewhere' ? hour + n : null)
    expect(ended.end, `killed ${at}`).toBeNull()
    hour = ended.hour
  }
  expect(hour, 'there is something left to do').toBeLessThan(hours)
  where = 'elsewhere'
  const { end } = await run(hour, null)
  const { checks, deliveries } = JSON.parse(end!) as { checks: string[]; deliveries: { id: string; status: string }[] }

  // Three alerts, at the beginning and at each hour.
  expect(new Set(checks).size, 'each due time is checked once').toBe(checks.length)
  const ofAlert = (id: string) => checks.filter((one) => one.startsWith(id)).sort()
  const alerts = [...new Set(checks.map((one) => one.split(' ')[0]!))]
  expect(alerts).toHaveLength(3)
  for (const id of alerts) expect(ofAlert(id).length, `checks of ${id}`).toBe(hours + 1)

  expect(deliveries.filter(({ status }) => status !== 'delivered')).toEqual([])
  const byId = new Map(received.map(({ id, about }) => [id, about]))
  expect([...byId.values()].sort(), 'each check is told, under one id').toEqual([...checks].sort())
  const mailIds = new Map(mails.map(({ id, about }) => [id, about]))
  expect([...mailIds.values()].sort(), 'a mail a day to each').toEqual(['a@else.test', 'b@else.test'])
  const known = new Set(deliveries.map(({ id }) => id))
  for (const id of byId.keys()) expect(known.has(id)).toBe(true)
  // Only what was killed between the answer and the note comes again.
  expect(received.length + mails.length - byId.size - mailIds.size).toBeLessThanOrEqual(
    kills.filter(([at]) => at !== 'before the answer').length * 6,
  )
})
