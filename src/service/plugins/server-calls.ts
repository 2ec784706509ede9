import { isObject } from '../../lib/is-object.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { otherLimits } from '../../limits/limits.ts'
import type { CallMemory } from './call-memory.ts'
import type { PluginCache } from './memory-cache.ts'
import type { JsonObject, OutboundRequest, OutboundResponse, PluginConfig, PluginPorts } from './ports.ts'

// What a plugin asks of the server and awaits. Arguments come from untrusted code. Which project and plugin ask is known here, not read from them.

export type ServerCall = (config: PluginConfig, name: string, json: string) => Promise<string>

const fetchMs = 10_000
const longestKey = 400
const longestDelayMs = 366 * 86_400_000

const bad = (message: string) => new Error(message)
const textOf = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw bad(`${what} must be a string`)
  return value
}
const keyOf = (value: unknown): string => {
  const key = textOf(value, 'The key')
  if (key.length > longestKey) throw bad(`The key has more than ${longestKey} characters`)
  return key
}
const numberOf = (value: unknown, what: string): number => {
  const number = Number(value)
  if (!Number.isFinite(number)) throw bad(`${what} must be a number`)
  return number
}
const jsonOf = (value: unknown) => JSON.stringify(value) ?? 'null'

export const storageScope = ({ projectId, id }: PluginConfig) => `${projectId}/${id}`
const cacheScope = ({ projectId, plugin }: PluginConfig) => `${projectId}/${plugin.id}`

function requestOf(value: unknown): OutboundRequest {
  if (!isObject(value)) throw bad('fetch needs a URL')
  const { url, method, headers, body } = value
  const given = isObject(body) ? body : null
  return {
    url: textOf(url, 'The URL'),
    method: textOf(method, 'The method'),
    headers: Object.fromEntries(Object.entries(isObject(headers) ? headers : {}).map(([name, text]) => [name, String(text)])),
    body: !given ? null : typeof given.base64 === 'string' ? Buffer.from(given.base64, 'base64') : Buffer.from(String(given.text ?? '')),
  }
}

/** Control characters are valid UTF-8, but six characters each in JSON. */
const isBinary = (text: string) => text.includes('\ufffd') || /[\0-\x08\x0e-\x1f]/.test(text)

const responseOf = ({ url, status, statusText, headers, body }: OutboundResponse) => {
  const text = Buffer.from(body).toString('utf8')
  const content = isBinary(text) ? { base64: Buffer.from(body).toString('base64') } : { text }
  return jsonOf({ url, status, statusText, headers, ...content })
}

/** Refuses what is more than one config may keep. */
const mustFit = async (ports: PluginPorts, scope: string, key: string, before: string | null, json: string): Promise<void> => {
  const { keys, characters } = await ports.storage.size(scope)
  const [mostKeys, mostCharacters] = [otherLimits.storageKeys.number, otherLimits.storageBytes.number]
  if (before === null && keys >= mostKeys)
    throw new Error(`The storage has ${keys} keys, and the limit is ${mostKeys}. Remove some with del().`)
  const after = characters + json.length - (before?.length ?? -key.length)
  if (after > mostCharacters && json.length > (before?.length ?? 0))
    throw new Error(`The storage has ${characters} characters, and the limit is ${mostCharacters}. Remove keys with del(), or store less.`)
}
const keep = async (ports: PluginPorts, scope: string, key: string, json: string): Promise<void> => {
  await mustFit(ports, scope, key, await ports.storage.get(scope, key), json)
  await ports.storage.set(scope, key, json)
}
/** Another server may change the same key. */
const change = async (ports: PluginPorts, scope: string, key: string, next: (before: string | null) => string): Promise<string> => {
  for (;;) {
    const before = await ports.storage.get(scope, key)
    const json = next(before)
    await mustFit(ports, scope, key, before, json)
    if (await ports.storage.replace(scope, key, before, json)) return json
  }
}

const cached = (cache: PluginCache, config: PluginConfig, [what, given, ...rest]: readonly unknown[]): string => {
  const scope = cacheScope(config)
  const key = keyOf(given)
  switch (what) {
    case 'get': {
      const json = cache.get(scope, key)
      return json === null ? '{"isFound":false}' : `{"isFound":true,"value":${json}}`
    }
    case 'set':
      cache.set(scope, key, jsonOf(rest[0]), rest[1] === null || rest[1] === undefined ? null : numberOf(rest[1], 'The time to live'))
      return ''
    case 'incr':
      return String(cache.incr(scope, key))
    case 'expire':
      return String(cache.expire(scope, key, numberOf(rest[0], 'The time to live')))
    case 'lpush':
      return String(cache.lpush(scope, key, (Array.isArray(rest[0]) ? rest[0] : [rest[0]]).map(jsonOf)))
    case 'lrange':
      return `[${cache.lrange(scope, key, numberOf(rest[0], 'The start'), numberOf(rest[1], 'The end')).join()}]`
    case 'llen':
      return String(cache.llen(scope, key))
    case 'lrem':
      return String(cache.lrem(scope, key, numberOf(rest[0], 'The count'), jsonOf(rest[1])))
    case 'lpop':
      return `[${cache.lpop(scope, key, numberOf(rest[0] ?? 1, 'The count')).join()}]`
    default:
      throw bad(`Unknown cache operation "${excerpt(String(what), 40)}"`)
  }
}

export function createServerCalls(ports: PluginPorts, cache: PluginCache, memory: CallMemory): ServerCall {
  /** Counters are read and written in one piece. */
  const counting = new Map<string, Promise<unknown>>()
  const inOrder = async <T>(scope: string, work: () => Promise<T>): Promise<T> => {
    const before = counting.get(scope) ?? Promise.resolve()
    const next = before.then(work, work)
    const settled = next.catch(() => undefined)
    counting.set(scope, settled)
    void settled.then(() => counting.get(scope) === settled && counting.delete(scope))
    return next
  }

  const storage = async (config: PluginConfig, [what, given, value, isInit]: readonly unknown[]): Promise<string> => {
    const scope = storageScope(config)
    const key = keyOf(given)
    if (what === 'get') {
      const json = await ports.storage.get(scope, key)
      return json === null ? '{"isFound":false}' : `{"isFound":true,"value":${json}}`
    }
    if (what === 'cursor')
      return inOrder(scope, () =>
        change(ports, scope, key, (found) =>
          String(
            isInit !== true
              ? numberOf(found ?? 0, 'The cursor') + numberOf(value, 'The step')
              : found === null
                ? numberOf(value, 'The cursor')
                : Number(found),
          ),
        ),
      )
    if (value === null) await ports.storage.set(scope, key, null)
    else await inOrder(scope, () => keep(ports, scope, key, jsonOf(JSON.parse(textOf(value, 'The value')))))
    return ''
  }

  const calls: Readonly<Record<string, (config: PluginConfig, args: readonly unknown[]) => Promise<string> | string>> = {
    async fetch({ projectId }, [request]) {
      const signal = AbortSignal.timeout(fetchMs)
      return memory.receiving(projectId, signal, async (hold) => responseOf(await ports.outbound(requestOf(request), signal, hold)))
    },
    async api({ projectId }, [request]) {
      if (!ports.api) throw bad('The API of this server cannot be called from plugins')
      const asked = requestOf(request)
      if (/^[a-z][a-z0-9+.-]*:|^[\\/]{2}/i.test(asked.url)) throw bad('The API takes a path, such as /api/projects/')
      return responseOf(await ports.api(projectId, { ...asked, url: asked.url.startsWith('/') ? asked.url : `/${asked.url}` }))
    },
    storage,
    cache: (config, args) => cached(cache, config, args),
    locate: async (_, [ip]) => jsonOf(await ports.locate(textOf(ip, 'The address'))),
    async capture(config, [given]) {
      const { event, distinct_id, timestamp, properties } = given as JsonObject
      await ports.capture(config.projectId, {
        event: textOf(event, 'The name of the event'),
        distinct_id: typeof distinct_id === 'string' ? distinct_id : (config.plugin.name ?? `plugin-id-${config.plugin.id}`),
        timestamp: typeof timestamp === 'string' ? timestamp : null,
        properties: isObject(properties) ? properties : {},
      })
      return ''
    },
    async job(config, [name, payload, delay, at]) {
      const ms = Math.min(longestDelayMs, Math.max(0, numberOf(delay, 'The time')))
      const time = at === null ? new Date(ports.clock().getTime() + ms) : new Date(textOf(at, 'The time'))
      await ports.jobs.add({
        projectId: config.projectId,
        configId: config.id,
        name: textOf(name, 'The job'),
        payload,
        at: time.toISOString(),
      })
      return ''
    },
  }

  return async (config, name, json) => {
    if (!Object.hasOwn(calls, name)) throw bad(`Unknown call "${excerpt(name, 40)}"`)
    return memory.sending(config.projectId, json.length, () => calls[name]!(config, JSON.parse(json) as unknown[]))
  }
}
