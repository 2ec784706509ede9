import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileMedium, memoryMedium, mergedBlocks, openFile, Run, type RunRange } from './run.ts'
import { sortRecords } from './words.ts'

// Runs of one size are merged into one of the next size, so that a look-up searches few of them: about twelve at a hundred million.

export const firstRunRecords = 262_144
const fanOut = 8
const largestRun = firstRunRecords * fanOut ** 2 * 2

const fileName = ({ from, to }: RunRange): string => `${from}-${to}.uuids`

function* inBlocks(records: Uint32Array): Generator<Uint32Array> {
  for (let at = 0; at < records.length; at += 16_384) yield records.subarray(at, at + 16_384)
}

/** Sorted runs of uuids over the beginning of the log, without gaps. */
export class UuidRuns {
  private readonly folder: string | null
  private readonly store: number
  private runs: Run[]
  private merging: Promise<void> | null = null
  private isClosed = false

  private constructor(folder: string | null, store: number, runs: Run[]) {
    this.folder = folder
    this.store = store
    this.runs = runs
  }

  /** Opens runs that are complete, of this store and contiguous up to `appliedSeq`; removes the rest. */
  static open(folder: string | null, store: number, appliedSeq: number): UuidRuns {
    if (folder === null) return new UuidRuns(null, store, [])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = readdirSync(folder).flatMap((name): { name: string; run: Run | null }[] => {
      const run = name.endsWith('.uuids') ? Run.open(openFile(join(folder, name)), store) : null
      return [{ name, run }]
    })
    // Among overlapping runs the longest is the result of a merge whose sources were not removed yet.
    const whole = found.flatMap(({ run }) => run ?? []).sort((a, b) => a.range.from - b.range.from || b.range.to - a.range.to)
    const runs: Run[] = []
    for (const run of whole) if (run.range.from === (runs.at(-1)?.range.to ?? 0) + 1 && run.range.to <= appliedSeq) runs.push(run)
    for (const { name, run } of found) {
      if (run && runs.includes(run)) continue
      run?.close()
      rmSync(join(folder, name), { force: true, recursive: true })
    }
    return new UuidRuns(folder, store, runs)
  }

  get toSeq(): number {
    return this.runs.at(-1)?.range.to ?? 0
  }

  get count(): number {
    return this.runs.reduce((n, run) => n + run.count, 0)
  }

  /** Bytes kept in memory, if the runs are files. */
  get memory(): number {
    return this.runs.reduce((n, run) => n + run.memory, 0)
  }

  has(key: Uint32Array, at: number): boolean {
    for (let i = this.runs.length - 1; i >= 0; i--) if (this.runs[i]!.has(key, at)) return true
    return false
  }

  /** Whether the next process finds them. */
  get areKept(): boolean {
    return this.folder !== null
  }

  /** Adds the uuids of the next range of the log. Without `merges`, the next process merges them. */
  async add(range: RunRange, records: Uint32Array, { merges = true } = {}): Promise<void> {
    this.runs.push(await Run.write(this.medium(range), range, records.length / 4, this.store, inBlocks(sortRecords(records))))
    if (merges) this.merge()
  }

  /** Merges what there is too much of, in the background. What cannot be read is found by the look-up that needs it. */
  merge(): void {
    this.merging ??= this.mergeAll()
      .catch(() => undefined)
      .finally(() => {
        this.merging = null
      })
  }

  private medium(range: RunRange) {
    return this.folder === null ? memoryMedium() : fileMedium(join(this.folder, fileName(range)))
  }

  private async mergeAll(): Promise<void> {
    for (let runs = this.mergeable(); runs && !this.isClosed; runs = this.mergeable()) {
      const range = { from: runs[0]!.range.from, to: runs.at(-1)!.range.to }
      const count = runs.reduce((n, run) => n + run.count, 0)
      const merged = await Run.write(this.medium(range), range, count, this.store, mergedBlocks(runs))
      const index = this.runs.indexOf(runs[0]!)
      this.runs.splice(index, runs.length, merged)
      for (const run of runs) run.remove()
    }
  }

  /** The last `fanOut` runs of one size. */
  private mergeable(): Run[] | null {
    const levels = this.runs.map(({ count }) => Math.round(Math.log(Math.max(count, firstRunRecords) / firstRunRecords) / Math.log(fanOut)))
    for (let i = this.runs.length - fanOut; i >= 0; i--) {
      const part = this.runs.slice(i, i + fanOut)
      if (part.some((_, k) => levels[i + k] !== levels[i])) continue
      return part.reduce((n, run) => n + run.count, 0) <= largestRun ? part : null
    }
    return null
  }

  /** Resolves when no merge is running. */
  async settled(): Promise<void> {
    await this.merging
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.merging
    for (const run of this.runs) run.close()
  }

  /** Drops everything, because some of it cannot be read. */
  async clear(): Promise<void> {
    await this.merging
    for (const run of this.runs.splice(0)) run.remove()
  }
}
