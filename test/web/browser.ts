import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { program } from '../harness/programs.ts'

// The web interface in a real browser, against a server in a process of its own.

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/lib/chromium/chromium']
const chromiumPath = [process.env.WAYMARK_CHROMIUM, ...places].find((path) => path !== undefined && existsSync(path)) ?? null

export const hasBrowser = chromiumPath !== null
if (!hasBrowser)
  console.warn(
    '\n  SKIPPED: the tests of the web interface. Install Chromium (Debian: apt-get install chromium) or name it in WAYMARK_CHROMIUM.\n',
  )

/** For what hangs. What is only slow because others have the cores goes on. */
const slowestMs = 120_000

export interface Facts {
  readonly url: string
  readonly setup_url: string
  readonly project_id: number
  readonly project_api_key: string
  readonly personal_api_key: string
}

export const owner = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' } as const

export interface Web {
  readonly facts: Facts
  /** With a project `Demo shop`, whose id is this, if the server was started with it. */
  readonly demo: number
  readonly browser: Browser
  readonly dataDir: string
  /** What pages complained of: errors, and what the content security policy refused. */
  readonly complaints: string[]
  /** A page in a context of its own, signed in as the owner. */
  signedIn(size?: { width: number; height: number }): Promise<Page>
  /** Signed-in pages begin with this session. */
  keep(session: Awaited<ReturnType<BrowserContext['storageState']>>): void
  /** A page that nobody has signed in on. */
  page(size?: { width: number; height: number }): Promise<Page>
  /** A call of the API with the owner's key. */
  api<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T>
  close(): Promise<void>
}

/** What the server tells a person who starts it. */
const factsOf = (server: ChildProcess, hasDemo: boolean): Promise<Facts & { readonly demo: number }> =>
  new Promise((resolve, reject) => {
    const said: string[] = []
    const told = (pattern: RegExp) => pattern.exec(said.join('\n'))?.[1] ?? ''
    createInterface({ input: server.stderr! }).on('line', (line) => said.push(line))
    createInterface({ input: server.stdout! }).on('line', (line) => {
      said.push(line)
      if (!line.startsWith('Import what you have')) return
      resolve({
        url: told(/^Waymark +(\S+)$/m),
        setup_url: told(/^Choose a password (\S+)$/m),
        project_id: Number(told(/projects\/(\d+)\/query/)),
        project_api_key: told(/^Project key +(\S+)$/m),
        personal_api_key: told(/^Personal key +(\S+)/m),
        demo: hasDemo ? Number(told(/^Demo project +(\d+)$/m)) : 0,
      })
    })
    server.once('exit', () => reject(new Error(`The server ended: ${said.join('\n')}`)))
  })

/** `args`: more options of `waymark serve`. */
export async function openWeb({ hasDemo = true, args = [] }: { hasDemo?: boolean; args?: readonly string[] } = {}): Promise<Web> {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-web-'))
  const options = ['--data', dataDir, '--port', '0', '--one-process', ...(hasDemo ? ['--demo'] : []), ...args]
  const server = spawn(process.execPath, [program('cli'), 'serve', ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const [{ demo, ...facts }, browser] = await Promise.all([
    factsOf(server, hasDemo),
    chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'], timeout: slowestMs }),
  ])
  const complaints: string[] = []
  const contexts: BrowserContext[] = []
  let state: Awaited<ReturnType<BrowserContext['storageState']>> | null = null

  const pageIn = async (context: BrowserContext): Promise<Page> => {
    contexts.push(context)
    context.setDefaultTimeout(slowestMs)
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
    })
    return page
  }
  const web: Web = {
    facts,
    demo,
    browser,
    dataDir,
    complaints,
    page: async (viewport = { width: 1280, height: 900 }) =>
      pageIn(await browser.newContext({ viewport, timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' })),
    async signedIn(viewport = { width: 1280, height: 900 }) {
      if (state === null) {
        const page = await web.page()
        await page.goto(facts.setup_url)
        await page.getByLabel('Your name').fill(owner.name)
        await page.getByLabel('E-mail address').fill(owner.email)
        await page.getByLabel('Password').fill(owner.password)
        await page.getByRole('button', { name: 'Begin' }).click()
        await page.getByRole('navigation', { name: 'Pages' }).waitFor()
        state = await page.context().storageState()
        await page.context().close()
      }
      return pageIn(await browser.newContext({ viewport, storageState: state, timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' }))
    },
    keep(session) {
      state = session
    },
    async api(method, path, body) {
      const response = await fetch(`${facts.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${facts.personal_api_key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return (response.status === 204 ? undefined : await response.json()) as never
    },
    async close() {
      for (const context of contexts) await context.close()
      await browser.close()
      server.kill()
      await ended
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  return web
}

const { resolve } = createRequire(import.meta.url)

/** Until nothing on the page is being computed. */
export async function settled(page: Page): Promise<void> {
  const busy = page.locator('[aria-busy="true"]')
  while ((await busy.count()) > 0) await busy.first().waitFor({ state: 'detached' })
}

/** The table below a chart. */
export async function openNumbers(page: Page): Promise<void> {
  await page.locator('.answer[aria-busy=false] details > summary', { hasText: /^Numbers$/ }).waitFor()
  const closed = page.locator('.answer details:not([open]) > summary', { hasText: /^Numbers$/ })
  if ((await closed.count()) > 0) await closed.click()
}

/** `label`: of the button that says which dates are shown. */
export const datesButton = (page: Page, label = 'Dates') => page.getByRole('button', { name: new RegExp(`^${label}: `) })

/** One of the ranges that are offered by name. */
export async function chooseDates(page: Page, range: string, label = 'Dates'): Promise<void> {
  await datesButton(page, label).click()
  await page.getByRole('option', { name: range, exact: true }).click()
}

/** What axe finds on the page, of serious and critical findings. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  // An answer that is being replaced is drawn weaker.
  await settled(page)
  await page.evaluate(await readFile(resolve('axe-core/axe.min.js'), 'utf8'))
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> }
    }
    return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes.slice(0, 3).map((node) => node.html) }))
  })
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, html }) => `${id}: ${html.join(' | ')}`)
}

/** A dialog has gone, and the page knows it: the browser hides it before it says so, and a click in between would be undone. */
/** Pages of somebody who is signed in. */
export const pagesShown = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).waitFor()

/** The menu of the person, at the foot of the navigation. */
export async function openUserMenu(page: Page): Promise<void> {
  await page.locator('.user-menu summary').click()
}
export async function signOut(page: Page): Promise<void> {
  await openUserMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
}

/** Forgets what the browser said of requests that were refused. */
export const forgetRefusals = ({ complaints }: Web): void => {
  complaints.splice(0, complaints.length, ...complaints.filter((one) => !/status of 4\d\d/.test(one)))
}

const execute = promisify(execFile)
/** A command beside the server. */
export const waymarkIn =
  ({ dataDir }: Web) =>
  async (...args: string[]) =>
    JSON.parse((await execute(process.execPath, [program('cli'), ...args, '--data', dataDir, '--json'])).stdout)

export const dialogClosed = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' })
