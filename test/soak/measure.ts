import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** All processes of a server at one moment. */
export interface Sample {
  readonly processes: number
  /** Megabytes of resident memory. */
  readonly memory: number
  readonly descriptors: number
  readonly threads: number
}

function tree(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
    return [pid, ...children.flatMap(tree)]
  } catch {
    return [] // it has ended
  }
}

/** Null if the server has ended. */
export function sampleOf(pid: number): Sample | null {
  const sum = { processes: 0, memory: 0, descriptors: 0, threads: 0 }
  for (const one of tree(pid))
    try {
      const status = readFileSync(`/proc/${one}/status`, 'utf8')
      sum.descriptors += readdirSync(`/proc/${one}/fd`).length
      sum.memory += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
      sum.threads += Number(/Threads:\s+(\d+)/.exec(status)?.[1] ?? 0)
      sum.processes++
    } catch {
      // it has ended
    }
  return sum.processes === 0 ? null : { ...sum, memory: Math.round(sum.memory) }
}

/** What the server was started with and what it has started: those outlive a killed server for a moment. */
export const processesOf = tree

export interface Disk {
  /** Bytes of stores and logs, with what is derived from them. */
  readonly events: number
  /** Bytes of the data directory beside them. */
  readonly rest: number
  readonly files: number
}

const belongsToEvents = /^projects\/\d+\/(?:store\.duckdb|log\/|log\.position|uuids\/|ids\/|core\/|transformed\.jsonl)/

/** Bytes as the disk has them, in blocks: a file may have holes. */
export function diskOf(folder: string): Disk {
  const found = { events: 0, rest: 0, files: 0 }
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    try {
      const about = statSync(join(folder, name))
      if (!about.isFile()) continue
      found.files++
      found[belongsToEvents.test(name) ? 'events' : 'rest'] += about.blocks * 512
    } catch {
      // it has been removed
    }
  return found
}
