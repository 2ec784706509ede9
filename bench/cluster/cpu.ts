import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

// CPU time of the processes of a cluster, from the system's own counts (Linux).

export type Part = 'servers' | 'PostgreSQL' | 'ClickHouse'
export type CpuSeconds = Readonly<Record<Part, number>>

let ticksPerSecond: number | null = null

/** Fields of a process after its name, which may have spaces and brackets. Null: it has ended. */
function statOf(pid: string): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

const partOf = (command: string): Part | null => {
  if (/waymark\.mjs serve/.test(command)) return 'servers'
  if (/clickhouse-process/.test(command)) return 'ClickHouse'
  return /postgres/.test(command) ? 'PostgreSQL' : null
}

/** Of all processes below this one, up to now; null where the system does not say. With the time of processes that have ended, as far as their parents have it. */
export function cpuOfParts(): CpuSeconds | null {
  if (!existsSync('/proc/self/stat')) return null
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK']).toString())
  const found = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        const stat = statOf(pid)
        return stat ? [[pid, stat] as const] : []
      }),
  )
  const isOurs = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined && at !== '0'; at = found.get(at)?.[1])
      if (at === String(process.pid)) return true
    return false
  }
  const seconds = { servers: 0, PostgreSQL: 0, ClickHouse: 0 }
  for (const [pid, stat] of found) {
    const part = isOurs(pid) ? partOf(commandOf(pid)) : null
    if (part) seconds[part] += (Number(stat[11]) + Number(stat[12]) + Number(stat[13]) + Number(stat[14])) / ticksPerSecond
  }
  return seconds
}

/** Microseconds of each part for one event. */
export const cpuOfEvent = (before: CpuSeconds | null, after: CpuSeconds | null, events: number): Record<Part, number> | null => {
  if (!before || !after) return null
  const of = (part: Part) => Math.round(((after[part] - before[part]) * 1e6) / events)
  return { servers: of('servers'), PostgreSQL: of('PostgreSQL'), ClickHouse: of('ClickHouse') }
}
