import { appendFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { PluginLogEntry, PluginLogFilter, PluginLogs } from './host-ports.ts'
import type { LogLines } from './ports.ts'

// The log lines of plugins: a file of JSON lines per config, in the order of writing. It is written in the background, without fsync. A file that is full becomes the older of
// two, and the one before it is removed.

const fullBytes = 512 * 1024
const linesInMemory = 1_000
/** Lines that wait for a database which does not answer, of all configs and of one. */
const mostWaiting = 10_000
const mostOfConfig = 500
const linesAtOnce = 500
const [firstRestMs, longestRestMs] = [500, 30_000]

export interface KeptLogs extends PluginLogs {
  add(entry: PluginLogEntry): void
  /** Removes the lines of other configs. */
  keep(configIds: ReadonlySet<number>): Promise<void>
  close(): Promise<void>
}

const fits = ({ timestamp, message, type }: PluginLogEntry, { after, before, search, types }: PluginLogFilter): boolean =>
  (after === null || timestamp >= after) &&
  (before === null || timestamp <= before) &&
  (types.length === 0 || types.includes(type)) &&
  message.toLowerCase().includes(search.toLowerCase())

const newestFirst = (entries: readonly PluginLogEntry[], filter: PluginLogFilter) =>
  entries.filter((entry) => fits(entry, filter)).toReversed()

export function logsInMemory(): KeptLogs {
  const lines = new Map<number, PluginLogEntry[]>()
  return {
    add(entry) {
      const known = lines.get(entry.plugin_config_id) ?? []
      known.push(entry)
      if (known.length > linesInMemory) known.shift()
      lines.set(entry.plugin_config_id, known)
    },
    find: async (configId, filter) => newestFirst(lines.get(configId) ?? [], filter),
    async keep(configIds) {
      for (const id of lines.keys()) if (!configIds.has(id)) lines.delete(id)
    },
    close: async () => undefined,
  }
}

const entryFrom = (text: string): PluginLogEntry[] => {
  try {
    const entry = JSON.parse(text) as PluginLogEntry
    return [{ ...entry, timestamp: new Date(entry.timestamp) }]
  } catch {
    return [] // the process ended while it was written
  }
}

type Line = readonly [config: number, line: string]

/** Written in the background, too: lines of many are one statement. What cannot be written waits, up to a bound for each config. */
export function logsInLines(lines: LogLines, report: (error: unknown) => void): KeptLogs {
  let waiting: Line[] = []
  const counts = new Map<number, number>()
  let group: Promise<void> | null = null
  let writing: Promise<void> | null = null
  const closing = new AbortController()

  const writeGroup = async () => {
    const some = waiting.splice(0, linesAtOnce)
    try {
      await lines.add(some)
    } catch (error) {
      waiting = [...some, ...waiting]
      throw error
    }
    for (const [config] of some) counts.set(config, counts.get(config)! - 1)
  }
  const writeAll = async () => {
    let failures = 0
    while (waiting.length > 0) {
      group = writeGroup()
      try {
        await group
        failures = 0
      } catch (error) {
        if (failures++ === 0) report(error)
        if (closing.signal.aborted) break
        await pause(Math.min(longestRestMs, firstRestMs * 2 ** failures), undefined, { ref: false, signal: closing.signal }).catch(
          () => undefined,
        )
      }
    }
    group = null
    writing = null
    if (waiting.length === 0) counts.clear()
  }
  return {
    add(entry) {
      const config = entry.plugin_config_id
      const known = counts.get(config) ?? 0
      if (known >= mostOfConfig || waiting.length >= mostWaiting) return
      counts.set(config, known + 1)
      waiting.push([config, JSON.stringify(entry)])
      writing ??= writeAll()
    },
    async find(configId, filter) {
      // What was written before the call is mostly in the group that is being written, or in the next one.
      for (let i = 0; i < 2 && group; i++) await (group as Promise<void>).catch(() => undefined)
      const entries = (await lines.of(configId)).flatMap(entryFrom)
      // Each server writes several at a time.
      return newestFirst(
        entries.toSorted((a, b) => a.timestamp.getTime() - b.timestamp.getTime()),
        filter,
      )
    },
    keep: async () => undefined, // swept with what else plugins leave
    async close() {
      closing.abort()
      await writing
    },
  }
}

export function logsIn(folder: string, report: (error: unknown) => void): KeptLogs {
  const waiting = new Map<number, PluginLogEntry[]>()
  let writing: Promise<void> | null = null
  const fileOf = (configId: number) => join(folder, `${configId}.jsonl`)
  const olderOf = (configId: number) => join(folder, `${configId}.older.jsonl`)

  const writeAll = async () => {
    while (waiting.size > 0) {
      const [[configId, entries]] = [...waiting] as [[number, PluginLogEntry[]]]
      waiting.delete(configId)
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const size = (await stat(fileOf(configId)).catch(() => null))?.size ?? 0
        if (size > fullBytes) await rename(fileOf(configId), olderOf(configId))
        // The line break first: an earlier process may not have finished its last line.
        await appendFile(fileOf(configId), `\n${text}`, { mode: 0o600 })
      } catch (error) {
        report(error)
      }
    }
    writing = null
  }
  const read = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).split('\n').flatMap(entryFrom)

  return {
    add(entry) {
      const known = waiting.get(entry.plugin_config_id) ?? []
      known.push(entry)
      waiting.set(entry.plugin_config_id, known)
      writing ??= writeAll()
    },
    async find(configId, filter) {
      await writing
      return newestFirst([...(await read(olderOf(configId))), ...(await read(fileOf(configId)))], filter)
    },
    async keep(configIds) {
      for (const name of await readdir(folder).catch(() => [])) {
        const id = Number(/^(\d+)\./.exec(name)?.[1])
        if (!configIds.has(id)) await rm(join(folder, name), { force: true })
      }
    },
    async close() {
      await writing
    },
  }
}
