import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { accessibilityFindings, openWeb, owner } from '../browser.ts'
import { pagePaths } from '../page-paths.ts'
import { brokenAddress, saysNothingIsHere } from './broken-addresses.ts'
import { type Control, controlsOf, elementOf, type Kind, valuesFor } from './controls.ts'
import { clickedNumber, countListed, type Listing, numberIn, relationOf } from './counted.ts'
import { difference, type Picture, pictureOf } from './picture.ts'
import { type Random, randomFrom } from './random.ts'

// A person who clicks at random through the demo project. After each step the page must be right: no error, the same after a step back and in another
// tab, as many people as the number said.

export interface WalkOptions {
  readonly seed: number
  readonly steps: number
  /** Where pictures of failures go. */
  readonly folder: string
  /** The walk ends after so many. */
  readonly mostFindings?: number
  readonly log?: (line: string) => void
}
export interface Finding {
  readonly seed: number
  readonly step: number
  readonly what: string
  readonly address: string
}
/** How often each thing was checked. */
export type Checks = Record<'step' | 'list' | 'back' | 'tab' | 'broken address' | 'accessibility', number>
export interface Walk {
  readonly findings: readonly Finding[]
  readonly steps: readonly string[]
  readonly checks: Checks
}

const longestWorkMs = 60_000
const actionMs = 8_000
const sizes = [
  { width: 1280, height: 900 },
  { width: 1280, height: 900 },
  { width: 390, height: 800 },
] as const

/** A step is one of these, as often as its weight says. */
const weights: Readonly<Record<Kind, number>> = {
  navigation: 8,
  link: 14,
  number: 16,
  point: 8,
  button: 26,
  select: 12,
  field: 12,
  summary: 4,
}
const ofHistory = [
  ['back', 9],
  ['forward', 3],
  ['reload', 3],
  ['key', 4],
  ['address', 9],
] as const
/** Where there are many numbers. */
const richPaths = pagePaths.filter((path) => /^(insights\/new|web|people$)/.test(path))
const keys = ['Escape', 'Control+k', 'g i', 'g d', 'g w', 'g p', 'g s', 'Tab', 'Enter', 'ArrowRight']

interface Watch {
  readonly complaints: string[]
  /** Requests without an answer, those that wait for something to happen left out. */
  pending: number
  /** Changes of what the server keeps. */
  writes: number
  /** Answers of 400 to 499 that the page must explain. */
  refused: string[]
  listing: Listing | null
}

function watch(page: Page): Watch {
  const seen: Watch = { complaints: [], pending: 0, writes: 0, refused: [], listing: null }
  page.on('pageerror', (error) => seen.complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    // The browser's own line about an answer; the answer itself is looked at.
    if (/^Failed to load resource: the server responded with a status of 4/.test(message.text())) return
    seen.complaints.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined))
  page.on('request', (request) => {
    seen.pending++
    const isQuery = /\/query\/$/.test(new URL(request.url()).pathname)
    if (request.method() !== 'GET' && !isQuery) seen.writes++
    if (!isQuery || request.method() !== 'POST') return
    const { query } = (request.postDataJSON() ?? {}) as { query?: Listing }
    // Beside the list its people are counted.
    if (query?.kind === 'ActorsQuery' && query.source && String(query.select) !== 'count()') seen.listing = query
  })
  page.on('requestfinished', () => seen.pending--)
  page.on('requestfailed', () => seen.pending--)
  page.on('response', (response) => {
    const line = `${response.request().method()} ${new URL(response.url()).pathname} is answered with ${response.status()}`
    if (response.status() >= 500) seen.complaints.push(line)
    else if (response.status() >= 400) seen.refused.push(line)
  })
  return seen
}

const isBusy = `[...document.querySelectorAll('.working, [aria-busy=true]')].some((one) => one.getBoundingClientRect().width > 0 && one.checkVisibility())`
const twoFrames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 20))))'

class Walker {
  readonly findings: Finding[] = []
  readonly steps: string[] = []
  readonly checks: Checks = { step: 0, list: 0, back: 0, tab: 0, 'broken address': 0, accessibility: 0 }
  private readonly page: Page
  private readonly seen: Watch
  private readonly url: string
  private readonly demo: number
  private readonly random: Random
  private readonly options: WalkOptions
  /** What the page shows is more than its address says: something was opened. */
  private isLocal = false
  private wasAsked = false
  /** By entry of the history, while nothing was changed. */
  private readonly pictures = new Map<string, Picture & { readonly writes: number }>()
  private last: Picture | null = null

  constructor(page: Page, url: string, demo: number, options: WalkOptions) {
    this.page = page
    this.seen = watch(page)
    this.url = url
    this.demo = demo
    this.options = options
    this.random = randomFrom(options.seed)
  }

  async run(): Promise<void> {
    await this.page.goto(`${this.url}/#/project/${this.demo}/insights`)
    await this.settle(this.page, this.seen)
    await this.remember()
    for (let step = 1; step <= this.options.steps; step++) {
      const before = this.findings.length
      await this.step(step).catch((error: Error) => this.found(step, `the step failed: ${error.message.split('\n')[0]}`))
      this.checks.step++
      if (this.findings.length === before) continue
      await mkdir(this.options.folder, { recursive: true })
      const name = join(this.options.folder, `seed-${this.options.seed}-step-${step}`)
      await this.page.screenshot({ path: `${name}.png` })
      await writeFile(`${name}.txt`, this.steps.join('\n'))
      if (this.findings.length >= (this.options.mostFindings ?? 8)) return
      await this.start()
    }
  }

  /** Somewhere safe, with nothing open. */
  private async start(): Promise<void> {
    await this.page.goto('about:blank').catch(() => undefined)
    await this.page.goto(`${this.url}/#/project/${this.demo}/insights`)
    await this.settle(this.page, this.seen)
    this.forget()
    await this.remember()
  }

  private forget(): void {
    this.seen.complaints.length = 0
    this.seen.refused.length = 0
    this.pictures.clear()
    this.isLocal = false
    this.last = null
  }

  private async step(step: number): Promise<void> {
    if (!this.page.url().startsWith(this.url)) await this.start()
    if (await this.page.getByRole('heading', { name: 'Sign in' }).isVisible()) await this.signIn()
    const controls = await controlsOf(this.page)
    const isInDialog = this.last?.hasDialog === true
    const kinds = new Map<Kind, Control[]>()
    for (const one of controls) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one])
    type Choice = Kind | (typeof ofHistory)[number][0]
    const choices: (readonly [Choice, number])[] = [
      ...[...kinds.keys()].map((kind) => [kind, weights[kind]] as const),
      ...(isInDialog ? ([['key', 10]] as const) : ofHistory),
    ]
    const choice = this.random.weighted(choices)
    const entry = await this.entry()
    const { wasAsked } = this
    const { writes } = this.seen
    this.seen.listing = null
    if (choice === 'back' || choice === 'forward') await this.move(step, choice)
    else if (choice === 'reload') {
      this.note(step, 'reload')
      this.isLocal = false
      await this.page.reload()
    } else if (choice === 'address') {
      const path = this.random.pick(this.random.chance(0.5) ? richPaths : pagePaths)
      this.note(step, `go to ${path}`)
      await this.page.evaluate(`location.hash = '#/project/${this.demo}/${path}'`)
    } else if (choice === 'key') await this.press(step, isInDialog)
    else await this.use(step, this.random.pick(kinds.get(choice)!))
    await this.settle(this.page, this.seen)
    // What was changed is said beside it.
    if (this.seen.writes !== writes) this.isLocal = true
    const now = await this.entry()
    // The question about what is not saved stays over the former page.
    const isAsked = await this.page.getByRole('heading', { name: 'Leave without saving?' }).isVisible()
    if (now.path !== entry.path && !isAsked && !wasAsked) this.isLocal = false
    this.wasAsked = isAsked
    await this.check(step)
  }

  private note(step: number, text: string): void {
    const line = `${step}. ${text}`
    this.steps.push(line)
    this.options.log?.(`seed ${this.options.seed}, ${line}`)
  }

  private found(step: number, what: string): void {
    this.findings.push({ seed: this.options.seed, step, what, address: this.page.url() })
    this.options.log?.(`seed ${this.options.seed}, step ${step} FOUND: ${what} (${this.page.url()})`)
  }

  /** The entry of the history that is shown. */
  private entry(): Promise<{ key: string; path: string; index: number; keys: string[] }> {
    return this.page.evaluate(`({
      key: navigation.currentEntry.key,
      index: navigation.currentEntry.index,
      keys: navigation.entries().map(({ key, url }) => url.startsWith(location.origin) ? key : ''),
      path: location.hash.split('?')[0],
    })`)
  }

  private async move(step: number, way: 'back' | 'forward'): Promise<void> {
    const { index, path, keys: entries } = await this.entry()
    const target = entries[way === 'back' ? index - 1 : index + 1]
    if (!target) return this.note(step, `${way}: there is nothing`)
    this.note(step, way)
    await (way === 'back' ? this.page.goBack({ waitUntil: 'commit' }) : this.page.goForward({ waitUntil: 'commit' }))
    await this.settle(this.page, this.seen)
    const known = this.pictures.get(target)
    // On the same page what was opened stays open.
    const isSamePath = (await this.entry()).path === path && this.isLocal
    const picture = await pictureOf(this.page)
    if (!known || known.writes !== this.seen.writes || picture.hasDialog || picture.address !== known.address || isSamePath) return
    this.checks.back++
    if (picture.text !== known.text) this.found(step, `${way} shows another page than before: ${difference(known.text, picture.text)}`)
  }

  private async press(step: number, isInDialog: boolean): Promise<void> {
    const chosen = isInDialog && this.random.chance(0.7) ? 'Escape' : this.random.pick(keys)
    this.note(step, `press ${chosen}`)
    this.isLocal ||= !/^g /.test(chosen)
    // In a field, a letter is a letter.
    await this.page.evaluate(
      'document.activeElement?.matches("input, textarea, select, [contenteditable]") && document.activeElement.blur()',
    )
    for (const key of chosen.split(' ')) await this.page.keyboard.press(key)
  }

  private async use(step: number, control: Control): Promise<void> {
    const element = await elementOf(this.page, control)
    const what = `${control.kind} “${control.name}”`
    if (control.isLocal) this.isLocal = true
    if (control.kind === 'select') {
      const value = this.random.pick(control.options)
      this.note(step, `choose ${JSON.stringify(value)} in ${what}`)
      await element.selectOption(value, { timeout: actionMs })
      return
    }
    if (control.kind === 'field' && !/^(checkbox|radio|submit|button)$/.test(control.type)) return this.type(step, control, what)
    await element.scrollIntoViewIfNeeded({ timeout: actionMs })
    const at = await this.page.evaluate<{ x: number; y: number } | null>(`(() => {
      const one = globalThis.walked[${control.index}]
      const { left, top, width, height } = one.getBoundingClientRect()
      const at = { x: left + width / 2, y: top + height / 2 }
      const hit = document.elementFromPoint(at.x, at.y)
      return hit && (one.contains(hit) || [...(one.labels ?? [])].some((label) => label.contains(hit))) ? at : null
    })()`)
    if (!at) return this.note(step, `${what} is covered`)
    if (control.type === 'slider') return this.point(step, element, what)
    const number = await this.page.evaluate<string | null>(`${clickedNumber}(globalThis.walked[${control.index}])`)
    this.note(step, `click ${what}`)
    // The browser keeps the theme.
    if (['System', 'Light', 'Dark'].includes(control.name)) this.seen.writes++
    await this.page.mouse.click(at.x, at.y)
    if (control.kind === 'number' || control.kind === 'point') await this.listed(step, number, what)
  }

  private async type(step: number, control: Control, what: string): Promise<void> {
    const value = this.random.pick(valuesFor(control))
    const end = this.random.chance(0.75) ? 'Enter' : 'Tab'
    this.note(step, `type ${JSON.stringify(value)} into ${what}, ${end}`)
    const element = await elementOf(this.page, control)
    if (control.type === 'code') {
      this.isLocal = true
      await element.click({ timeout: actionMs })
      await this.page.keyboard.press('Control+a')
      await this.page.keyboard.insertText(value)
      if (end === 'Enter') await this.page.keyboard.press('Control+Enter')
    } else {
      const isOfForm = await this.page.evaluate<boolean>(`globalThis.walked[${control.index}].matches('form *, dialog *, textarea')`)
      if (isOfForm) this.isLocal = true
      await element.fill(value, { timeout: actionMs })
      if (control.tag !== 'textarea') await element.press(end, { timeout: actionMs })
    }
    // Typing pauses are waited for before a search begins.
    await this.page.waitForTimeout(300)
  }

  /** The chart by keys: some intervals on, then the people of its first series. */
  private async point(step: number, element: Awaited<ReturnType<typeof elementOf>>, what: string): Promise<void> {
    const times = 1 + this.random.below(20)
    this.note(step, `${times} intervals on in ${what}, Enter`)
    await element.focus()
    for (let i = 0; i < times; i++) await this.page.keyboard.press('ArrowRight')
    const number = await this.page.evaluate<string | null>(
      `document.activeElement.querySelector('.tip tbody tr td.number')?.innerText.trim() ?? null`,
    )
    await this.page.keyboard.press('Enter')
    await this.listed(step, number, what)
  }

  /** The list that a number has opened has as many people. */
  private async listed(step: number, text: string | null, what: string): Promise<void> {
    await this.settle(this.page, this.seen)
    const { listing } = this.seen
    const number = numberIn(text)
    const relation = listing && relationOf(listing)
    if (!listing || number === null || !relation) return
    const project = Number(/#\/project\/(\d+)/.exec(this.page.url())?.[1])
    const { rows, different } = await countListed(this.page, project, listing)
    this.checks.list++
    const isRight = relation === 'equal' ? rows === number : rows <= number && (rows > 0 || number === 0)
    if (!isRight) this.found(step, `${what} says ${number}, its list has ${rows} people: ${JSON.stringify(listing)}`)
    if (different !== rows) this.found(step, `the list of ${what} has ${rows} rows of ${different} people`)
    const shown = await this.page.locator('dialog[open] .people > :is(tr, li)').count()
    if (shown !== Math.min(50, rows)) this.found(step, `the list of ${what} shows ${shown} of ${rows}`)
  }

  private async check(step: number): Promise<void> {
    const { complaints, refused } = this.seen
    for (const one of complaints.splice(0)) this.found(step, one)
    const picture = await pictureOf(this.page)
    if (picture.text.includes('This page failed')) this.found(step, picture.text.slice(picture.text.indexOf('This page failed'), 300))
    if (refused.length > 0) {
      const explained = this.page.locator('[role=alert], .field-error, .empty, .cm-lintRange, .warning')
      if ((await explained.count()) === 0) this.found(step, `${refused.join(', ')}, and the page says nothing`)
      refused.length = 0
    }
    this.last = picture
    if (!this.isLocal && !picture.hasDialog && step % 2 === 0) await this.inOtherTab(step)
    if (step % 11 === 0) await this.nowhere(step)
    if (step % 12 === 0) {
      this.checks.accessibility++
      for (const one of await accessibilityFindings(this.page)) this.found(step, `axe: ${one}`)
    }
    await this.remember()
  }

  private async remember(): Promise<void> {
    const picture = await pictureOf(this.page)
    this.last = picture
    const { key } = await this.entry()
    if (!this.isLocal && !picture.hasDialog) this.pictures.set(key, { ...picture, writes: this.seen.writes })
    // What was opened there is closed after a step back; another address is another picture.
    else if (this.pictures.get(key)?.address !== picture.address) this.pictures.delete(key)
  }

  private async tab<T>(address: string, work: (page: Page, seen: Watch) => Promise<T>): Promise<T> {
    const page = await this.page.context().newPage()
    page.setDefaultTimeout(longestWorkMs)
    const seen = watch(page)
    try {
      await page.goto(this.url + address)
      await this.settle(page, seen)
      return await work(page, seen)
    } finally {
      await page.close()
    }
  }

  /** The address opens what is shown. */
  private async inOtherTab(step: number): Promise<void> {
    const look = async () => {
      const here = await pictureOf(this.page)
      const there = await this.tab(`/${here.address}`, (page) => pictureOf(page))
      return [here, there] as const
    }
    this.checks.tab++
    let [here, there] = await look()
    // What the server has finished meanwhile, such as a count, is shown by the page that was opened later.
    if (here.text !== there.text) {
      await this.page.reload()
      await this.settle(this.page, this.seen)
      const before = here
      ;[here, there] = await look()
      if (here.text === there.text && before.text !== here.text)
        this.found(step, `another tab shows something else: ${difference(before.text, there.text)}`)
    }
    if (here.text !== there.text) this.found(step, `an address has two pages: ${difference(here.text, there.text)}`)
    if (here.address !== there.address) this.found(step, `${here.address} leads to ${there.address} in another tab`)
  }

  /** An address near this one that does not exist says so. */
  private async nowhere(step: number): Promise<void> {
    const broken = brokenAddress((await pictureOf(this.page)).address.replace(/^#\/?/, ''), this.random)
    this.checks['broken address']++
    await this.tab(`/#/${broken}`, async (page, seen) => {
      if (!(await page.evaluate<boolean>(saysNothingIsHere))) {
        const { text, address } = await pictureOf(page)
        this.found(step, `#/${broken} does not exist, and shows ${address}: ${JSON.stringify(text.slice(0, 160))}`)
      }
      for (const one of seen.complaints) this.found(step, `#/${broken}: ${one}`)
    })
  }

  private async signIn(): Promise<void> {
    this.note(0, 'sign in')
    await this.page.getByLabel('E-mail address').fill(owner.email)
    await this.page.getByLabel('Password').fill(owner.password)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
    await this.settle(this.page, this.seen)
    this.forget()
  }

  /** Nothing is asked, and nothing is being computed. */
  private async settle(page: Page, seen: Watch): Promise<void> {
    const end = Date.now() + longestWorkMs
    for (let quiet = 0; quiet < 2; ) {
      await page.evaluate(twoFrames)
      quiet = seen.pending <= 0 && !(await page.evaluate<boolean>(isBusy)) ? quiet + 1 : 0
      if (Date.now() > end) throw new Error(`the page still works after ${longestWorkMs / 1000} s: ${seen.pending} requests`)
    }
  }
}

/** One seed, on a server of its own. */
export async function walk(options: WalkOptions): Promise<Walk> {
  const web = await openWeb()
  try {
    const page = await web.signedIn(sizes[options.seed % sizes.length])
    const walker = new Walker(page, web.facts.url, web.demo, options)
    await walker.run()
    const { findings, steps, checks } = walker
    return { findings, steps, checks }
  } finally {
    await web.close()
  }
}
