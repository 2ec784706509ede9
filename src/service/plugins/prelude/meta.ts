import { Buffer } from 'buffer/'
import { call, jsonOf, settings } from './host.ts'

// The second argument of a plugin's functions: its config, storage, cache and jobs.

type Calls = Record<string, (...args: readonly unknown[]) => Promise<unknown>>

const read =
  (place: 'storage' | 'cache') =>
  async (key: unknown, fallback?: unknown): Promise<unknown> => {
    const { isFound, value } = await call<{ isFound: boolean; value: unknown }>(place, 'get', String(key))
    return isFound ? value : fallback
  }
const cacheCalls: Calls = Object.fromEntries(
  ['set', 'incr', 'expire', 'lpush', 'lrange', 'llen', 'lrem', 'lpop'].map((name) => [
    name,
    (...args: readonly unknown[]) => call('cache', name, ...args),
  ]),
)

export const meta = {
  config: settings.config,
  attachments: Object.fromEntries(
    Object.entries(settings.attachments).map(([key, { contents, ...rest }]) => [
      key,
      { ...rest, contents: Buffer.from(contents, 'base64') },
    ]),
  ),
  global: {},
  storage: {
    get: read('storage'),
    set: (key: unknown, value: unknown) => call('storage', 'set', String(key), value === undefined ? null : (jsonOf(value) ?? null)),
    del: (key: unknown) => call('storage', 'set', String(key), null),
  },
  cache: { ...cacheCalls, get: read('cache') },
  geoip: { locate: (ip: unknown) => call('locate', String(ip)) },
  jobs: {} as Record<string, ReturnType<typeof jobOf>>,
  utils: {
    cursor: {
      init: (key: unknown, value: unknown = 0) => call('storage', 'cursor', String(key), Number(value), true),
      increment: (key: unknown, by: unknown = 1) => call('storage', 'cursor', String(key), Number(by), false),
    },
  },
}

const units: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1e3,
  minute: 6e4,
  hour: 36e5,
  day: 864e5,
  week: 6048e5,
  month: 2592e6,
  quarter: 7776e6,
  year: 31536e6,
}
export const jobOf =
  (name: string) =>
  (payload: unknown = {}) => ({
    runNow: () => call('job', name, payload, 0, null),
    runIn(count: unknown, unit: unknown) {
      const ms = units[String(unit).replace(/s$/, '')]
      if (ms === undefined) throw new Error(`Unknown unit of time: ${unit}`)
      return call('job', name, payload, Number(count) * ms, null)
    },
    runAt: (date: string | number | Date) => call('job', name, payload, 0, new Date(date).toISOString()),
  })
