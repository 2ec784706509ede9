import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// What the kernel knows of a process. Processor time and not the clock: others may have the cores meanwhile.

const nanosOf = (path: string): number => {
  try {
    return Number(readFileSync(path, 'utf8').split(' ', 1)[0])
  } catch {
    return 0 // the thread has ended
  }
}

/** Milliseconds of the thread that runs the event loop. */
export const mainThreadMs = (pid: number): number => nanosOf(`/proc/${pid}/task/${pid}/schedstat`) / 1e6

/** Milliseconds of all threads. */
export function processMs(pid: number): number {
  let nanos = 0
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) nanos += nanosOf(`/proc/${pid}/task/${thread}/schedstat`)
  } catch {}
  return nanos / 1e6
}

/** Processes that its main thread has started and that live. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

const statusOf = (pid: number, field: 'VmHWM' | 'VmRSS'): number => {
  try {
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
export const residentMb = (pid: number): number => statusOf(pid, 'VmRSS')
/** The peak since the last `forgetPeak`. */
export const peakMb = (pid: number): number => statusOf(pid, 'VmHWM')
export const forgetPeak = (pid: number): void => {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {}
}

/** Bytes that the files of a folder take. */
export function bytesOn(folder: string): number {
  let bytes = 0
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  } catch {}
  return bytes
}
