import { shown } from './globals.ts'
import { done, join, jsonOf, now, parse, settings, slice, stringify, waiting } from './host.ts'
import { jobOf, meta } from './meta.ts'
import { RetryError, runFile } from './modules.ts'
import { type ReceivedRequest, requestOf } from './received-request.ts'

// Finds what a plugin can do, runs its functions, and reports their results.

const names = [
  'setupPlugin',
  'teardownPlugin',
  'processEvent',
  'processEventBatch',
  'onEvent',
  'composeWebhook',
  'onRequest',
  'getSettings',
  'runEveryMinute',
  'runEveryHour',
  'runEveryDay',
  'jobs',
] as const
/** Code at the end of the main file: functions without an export are found too. */
const tail = `\n;${['exports', ...names].map((name) => `__found.${name} = typeof ${name} === 'undefined' ? undefined : ${name};`).join('')}`

type Work = (...args: readonly unknown[]) => unknown
const methods: Record<string, Work> = {}
const jobs: Record<string, Work> = {}
const isHolder = (one: unknown): one is Readonly<Record<string, unknown>> =>
  one !== null && (typeof one === 'object' || typeof one === 'function')

/** Runs the code of the plugin, and returns its capabilities as JSON. */
export const start = (): string => {
  const { module, found } = runFile(settings.main, tail)
  const places = [found.exports, module.exports]
    .flatMap((one) => [(one as { default?: unknown } | null | undefined)?.default, one])
    .filter(isHolder)
  const isExported = names.some((name) => places.some((one) => one[name] !== undefined))
  const take = (name: string) => (isExported ? places.find((one) => one[name] !== undefined)?.[name] : found[name])
  for (const name of names) {
    const value = take(name)
    if (typeof value === 'function') methods[name] = value as Work
  }
  const given = take('jobs')
  if (given !== null && typeof given === 'object')
    for (const [name, work] of Object.entries(given)) if (typeof work === 'function') jobs[name] = work
  for (const name of Object.keys(jobs)) meta.jobs[name] = jobOf(name)
  const batch = methods.processEventBatch
  if (batch) methods.processEvent ??= async (event, ofPlugin) => ((await batch([event], ofPlugin)) as readonly unknown[] | undefined)?.[0]
  const has = (list: readonly string[]) => list.filter((name) => methods[name] !== undefined)
  return stringify({
    methods: has(['setupPlugin', 'teardownPlugin', 'processEvent', 'onEvent', 'composeWebhook', 'onRequest', 'getSettings']),
    scheduled_tasks: has(['runEveryMinute', 'runEveryHour', 'runEveryDay']),
    jobs: Object.keys(jobs),
  })
}

const longestError = 4_000
const told = (error: unknown): string => {
  const short = (value: unknown) => slice(String(value), 0, longestError)
  try {
    if (error === null || typeof error !== 'object') return `threw ${short(error)}`
    const { name, message } = error as Partial<Error>
    return message === undefined ? `threw ${short(shown(error))}` : `${name ? `${short(name)}: ` : ''}${short(message)}`
  } catch {
    return 'threw a value without a message'
  }
}

const outOfMemory = 'InternalError: out of memory'
const kinds = { error: 0, value: 1, retry: 2 } as const
/** Results while a list of events runs, a line each. Null: each is reported at once. */
let lines: string[] | null = null
let current = 0
const report = (id: number, kind: number, text: string): void => {
  if (lines === null) done(id, kind, text)
  // A limit ended it: it has no result.
  else if (kind !== kinds.error || text !== 'InternalError: interrupted')
    lines[lines.length] = `${id} ${kind} ${kind === kinds.value ? text : stringify(text)}`
}
const succeed = (id: number, value: unknown): void => {
  try {
    report(id, kinds.value, value === undefined || value === null ? '' : (jsonOf(value) ?? ''))
  } catch (error) {
    fail(id, error)
  }
}
const fail = (id: number, error: unknown): void => {
  try {
    const isRetry = error instanceof RetryError || (error as Partial<Error> | null | undefined)?.name === 'RetryError'
    report(id, isRetry ? kinds.retry : kinds.error, told(error))
  } catch {
    // Without memory for this, the call would never end.
    done(id, kinds.error, outOfMemory)
  }
}

const resultOf = (method: string, value: unknown): unknown => {
  if (method.startsWith('job:')) {
    const work = jobs[method.slice(4)]
    if (!work) throw new Error(`The plugin has no job "${method.slice(4)}"`)
    return work(value, meta)
  }
  const work = methods[method]
  if (work === undefined) return undefined
  if (value === undefined) return work(meta)
  const event = value as { timestamp?: string | Date }
  if (method === 'onRequest') return work(requestOf(value as ReceivedRequest), meta)
  if (method === 'composeWebhook' && event.timestamp) event.timestamp = new Date(event.timestamp)
  return work(value, meta)
}
const runWith = (id: number, method: string, value: unknown): void => {
  try {
    const result = resultOf(method, value)
    if (result !== null && typeof result === 'object' && typeof (result as PromiseLike<unknown>).then === 'function')
      Promise.resolve(result).then(
        (awaited) => succeed(id, awaited),
        (error: unknown) => fail(id, error),
      )
    else succeed(id, result)
  } catch (error) {
    fail(id, error)
  }
}

export const run = (id: number, method: string, json: string): void => {
  try {
    runWith(id, method, json === '' ? undefined : parse(json))
  } catch (error) {
    fail(id, error)
  }
}

/** Runs events of a list until some time has passed or calls of the server are waiting, and returns how many. */
export const runMany = (firstId: number, method: string, json: string, ms: number, calls: number): number => {
  const list: readonly unknown[] = parse(json)
  lines = []
  const end = now() + ms
  let begun = 0
  for (; begun < list.length && (begun === 0 || (now() < end && waiting.size < calls)); begun++) {
    current = firstId + begun
    runWith(current, method, list[begun])
  }
  current = 0
  return begun
}

/** The call that ran when a limit was exceeded, and the results of those that ended. */
export const flush = (): string => {
  const text = current + (lines === null ? '' : `\n${join(lines, '\n')}`)
  lines = null
  return text
}

/** The answer of a call of the server. */
export const settle = (id: number, isOk: boolean, json: string): void => {
  const [resolve, reject] = waiting.get(id) ?? []
  waiting.delete(id)
  if (isOk) resolve?.(json === '' ? undefined : parse(json))
  else reject?.(new Error(json))
}
