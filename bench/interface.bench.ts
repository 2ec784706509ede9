import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import { open } from '../src/engine.ts'
import { makeEvents } from './events.ts'
import { machine, median, rounded } from './measure.ts'

// How long does it take from a click in the web interface until its chart is painted? The built server runs as `waymark serve` starts it, the browser is
// Chromium. Every click asks something new (another first day), so that no answer comes from the cache; first at rest, then while events arrive.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    runs: { type: 'string', default: '20' },
    /** Keeps the store there, and fills it up if it is there already. */
    directory: { type: 'string' },
  },
})
const count = Number(values.events)
const clicks = Number(values.runs)
const batchSize = 5000
const batchesAtOnce = 4
const owner = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const root = join(import.meta.dirname, '..')

const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, name: event, ...more })
const dateRange = { date_from: '2026-01-01', date_to: '2026-03-31' }
const trend = (more: object, ...series: object[]) => ({ kind: 'TrendsQuery', series, interval: 'day', dateRange, ...more })
const entity = (id: string) => ({ id, name: id, type: 'events' })
const questions: Readonly<Record<string, object>> = {
  'events per day': trend({}, node('$pageview')),
  'unique persons per day': trend({}, node('$pageview', { math: 'dau' })),
  'breakdown by browser': trend({ breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } }, node('$pageview')),
  'funnel of three steps': {
    kind: 'FunnelsQuery',
    series: [node('$pageview'), node('added to cart'), node('purchase')],
    dateRange,
    funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
  },
  'retention of 12 weeks': {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: {
      period: 'Week',
      totalIntervals: 12,
      retentionType: 'retention_recurring',
      targetEntity: entity('$pageview'),
      returningEntity: entity('$pageview'),
    },
  },
}

/** What is missing. */
async function fill(directory: string): Promise<void> {
  const waymark = await open({ dataDir: directory, durability: 'os' })
  const [known] = await waymark.projects()
  const projectId = known?.id ?? (await waymark.accounts.firstStart({})).project.id
  const project = await waymark.project(projectId)
  const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' } as never)
  let sent = (results as unknown as number[][])[0]![0]!
  const send = async () => {
    while (sent < count) {
      const from = sent
      sent += batchSize
      await project.ingest({
        batch: makeEvents(Math.min(batchSize, count - from), Math.ceil(count / 50), 1 + Math.floor(from / batchSize)),
      })
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, send))
  await waymark.close()
}

interface Facts {
  readonly setupUrl: string
  readonly url: string
  readonly project: number
}
const factsOf = (server: ChildProcess): Promise<Facts> =>
  new Promise((resolve, reject) => {
    let said = ''
    const told = (pattern: RegExp) => pattern.exec(said)?.[1] ?? ''
    const hear = (line: string) => {
      said += `${line}\n`
      if (line.startsWith('Import what you have'))
        resolve({
          url: told(/^Waymark +(\S+)$/m),
          setupUrl: told(/^Choose a password (\S+)$/m),
          project: Number(told(/projects\/(\d+)\/query/)),
        })
    }
    for (const stream of [server.stdout!, server.stderr!]) createInterface({ input: stream }).on('line', hear)
    server.once('exit', () => reject(new Error(`The server ended: ${said}`)))
  })

/** A store that is kept has its owner already. */
async function signIn(page: Page, { setupUrl, url }: Facts): Promise<void> {
  await page.goto(setupUrl || url)
  await page.getByLabel('E-mail address').waitFor()
  if (setupUrl) await page.getByLabel('Your name').fill(owner.name)
  await page.getByLabel('E-mail address').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: setupUrl ? 'Begin' : 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

interface Timed {
  /** From the click to the paint. */
  readonly ms: number
  /** Of that from the request to the last byte of the answer. */
  readonly requestMs: number
}

/** In the page: chooses another first day, and waits until the chart of its answer is painted. */
const clickInPage = `day => new Promise((done, failed) => {
  const answer = document.querySelector('.answer')
  const field = document.querySelector('input[aria-label="First day"]')
  performance.clearResourceTimings()
  let wasBusy = false
  const observer = new MutationObserver(() => {
    const isBusy = answer.getAttribute('aria-busy') === 'true'
    wasBusy ||= isBusy
    if (!wasBusy || isBusy) return
    observer.disconnect()
    if (answer.querySelector('[role=alert]')) return failed(new Error(answer.textContent))
    // After the frame that has the change.
    requestAnimationFrame(() => setTimeout(() => {
      const ms = performance.now() - begun
      const request = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/query/'))
      done({ ms, requestMs: request ? request.responseEnd - request.startTime : 0 })
    }))
  })
  observer.observe(answer, { attributes: true, childList: true, subtree: true, characterData: true })
  const begun = performance.now()
  field.value = day
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
})`
const clickAndPaint = (page: Page, day: string): Promise<Timed> => page.evaluate(`(${clickInPage})(${JSON.stringify(day)})`)

/** In the page: statements answer while the lists of a query are loaded, which is not what is measured. */
const listsLoaded = `async ([project, query]) => {
  for (;;) {
    const body = JSON.stringify({ query: { ...query, explain: true }, refresh: 'force_blocking' })
    const response = await fetch('api/projects/' + project + '/query/', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { explain = [], detail } = await response.json()
    if (!response.ok) throw new Error(detail)
    if (!explain.some(({ reason }) => reason?.endsWith('being loaded'))) return explain.map(({ reason }) => reason ?? '')
    await new Promise((done) => setTimeout(done, 250))
  }
}`

const arrivingPerSecond = 1000
const batchesPerSecond = 10

/** Sends events over HTTP until it is called. */
function feed(url: string, token: string): () => Promise<void> {
  let isOver = false
  const work = async () => {
    for (let seed = 1_000_000; !isOver; seed++) {
      const begun = performance.now()
      const batch = makeEvents(arrivingPerSecond / batchesPerSecond, Math.ceil(count / 50), seed)
      const response = await fetch(`${url}/batch/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: token, batch }),
      })
      if (!response.ok) throw new Error(`Events were refused: ${response.status} ${await response.text()}`)
      await setTimeout(Math.max(0, 1000 / batchesPerSecond - (performance.now() - begun)))
    }
  }
  const working = work()
  return () => {
    isOver = true
    return working
  }
}

const dayAfter = (days: number) => new Date(Date.UTC(2026, 0, 2 + days)).toISOString().slice(0, 10)

if (!executablePath) throw new Error('This bench needs Chromium (Debian: apt-get install chromium).')
const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'waymark-bench-'))
const isKept = values.directory !== undefined
mkdirSync(directory, { recursive: true })
await fill(directory)
const server = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve', '--data', directory, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'pipe'],
})
const ended = new Promise((resolve) => server.once('exit', resolve))
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const facts = await factsOf(server)
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } })
  await signIn(page, facts)
  const loads: number[] = []
  const kept = await page.context().storageState()
  for (let i = 0; i < clicks; i++) {
    const visit = await (await browser.newContext({ storageState: kept })).newPage() // with an empty cache
    const begun = performance.now()
    await visit.goto(`${facts.url}/#/project/${facts.project}/live`)
    await visit.getByRole('heading', { name: 'Live' }).waitFor()
    loads.push(performance.now() - begun)
    await visit.context().close()
  }
  console.log(
    JSON.stringify({
      bench: 'interface',
      question: 'first load',
      median_ms: rounded(median(loads)),
      most_ms: rounded(Math.max(...loads)),
      ...machine(),
    }),
  )
  const token = (await page.evaluate(
    `fetch('api/projects/${facts.project}/').then(response => response.json()).then(project => project.api_token)`,
  )) as string
  for (const condition of ['at rest', 'while events arrive'] as const) {
    const stop = condition === 'at rest' ? null : feed(facts.url, token)
    for (const [question, query] of Object.entries(questions)) {
      await page.goto(`${facts.url}/#/project/${facts.project}/insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`)
      await page.locator('.answer[aria-busy=false] .result').waitFor()
      await page.getByRole('button', { name: /^Dates: / }).click()
      await page.getByLabel('First day', { exact: true }).waitFor()
      await page.evaluate(`(${listsLoaded})(${JSON.stringify([facts.project, query])})`)
      const timed: Timed[] = []
      // The first ones load code.
      for (let i = -3; i < clicks; i++) {
        const one = await clickAndPaint(page, dayAfter(i + 3))
        if (i >= 0) timed.push(one)
      }
      const sorted = timed.map(({ ms }) => ms).sort((a, b) => a - b)
      console.log(
        JSON.stringify({
          bench: 'interface',
          question,
          condition,
          events: count,
          median_ms: rounded(median(sorted)),
          p95_ms: rounded(sorted[Math.ceil(sorted.length * 0.95) - 1]!),
          request_median_ms: rounded(median(timed.map(({ requestMs }) => requestMs))),
          clicks: sorted.length,
          ...machine(),
        }),
      )
      await page.keyboard.press('Escape')
    }
    await stop?.()
  }
} finally {
  await browser.close()
  server.kill('SIGTERM')
  await ended
  if (!isKept) rmSync(directory, { recursive: true, force: true })
}
