import { join } from 'node:path'
import { random } from '../../bench/random.ts'
import { releaseLocked } from '../../src/engine/storage/files/locked-files.ts'
import { findDamages, inspectLog } from '../../src/engine/storage/log/findings.ts'
import { filesOf } from '../../src/engine/storage/project-storage.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { restore } from '../../src/service/backups/restore-directory.ts'
import { pick } from './actors/actor.ts'
import type { Model } from './model.ts'
import { Sessions } from './sessions.ts'
import { closeStores, type Machine } from './world/builtins.ts'
import { Files } from './world/files.ts'
import { realFs as real } from './world/real-fs.ts'

// A machine with one process of Waymark on it, which may end at any call, and with it the machine.

export type Ending = 'kill' | 'power cut'
export const damages = ['removed', 'cut', 'changed'] as const
export type Damage = (typeof damages)[number]

/** Bytes for lists of events. Undefined: as many as usual, so that all are in memory. */
const listMemories = [undefined, 50_000, 65_536, 100_000]
/** Folders that the engine makes again, whatever happens to them. */
const madeAgain = ['core', 'ids', 'uuids']

/** What no run may say. */
const badNotices = ['records-lost', 'log-damaged', 'store-rebuilt', 'store-rolled-back']

export class World {
  readonly machine: Machine
  readonly root: string
  readonly files: Files
  /** Of the data directory; another one after a backup was restored. */
  private number = 1
  private made: { readonly waymark: LocalWaymark; readonly project: LocalProject } | null = null
  /** Those that were begun, with what they must hold, and their numbers once they are made. */
  readonly copies: { readonly model: Model; number: number | null }[] = []
  /** What was reported that must never be. */
  readonly complaints: string[] = []

  readonly sessions = new Sessions()
  /** What a run has reached, and how often. */
  readonly met: Record<string, number> = {}
  /** Bytes for lists of events; few: they lie in files. */
  private readonly listMemory: number | undefined

  constructor(machine: Machine, root: string, seed: number) {
    this.machine = machine
    this.root = root
    this.listMemory = pick(random(seed ^ 0x11575), listMemories)
    real.rmSync(root, { recursive: true, force: true })
    real.mkdirSync(root, { recursive: true })
    this.files = new Files(root)
    machine.files = this.files
  }

  get dataDir(): string {
    return join(this.root, `data-${this.number}`)
  }

  /** Where its copies are. */
  get place(): string {
    return join(this.root, `place-${this.number}`)
  }

  get isOpen(): boolean {
    return this.made !== null
  }

  /** Lists have little memory. */
  get hasFewLists(): boolean {
    return this.listMemory !== undefined
  }

  get project(): LocalProject {
    return this.made!.project
  }

  get waymark(): LocalWaymark {
    return this.made!.waymark
  }

  meets(what: string): void {
    this.met[what] = (this.met[what] ?? 0) + 1
  }

  /** Where batch exports go. */
  get exportFolder(): string {
    return join(this.root, 'exports')
  }

  /** Goes on until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    return (await this.machine.schedule.until(promise))!.value
  }

  /** Opens the directory. `most`: false if it is not open after so many calls. */
  async open(most?: number): Promise<boolean> {
    const opening = (async () => {
      const waymark = await open(this.options())
      const project = (await waymark.projects()).length > 0 ? await waymark.project(1) : await waymark.createProject()
      return { waymark, project }
    })()
    ;(globalThis as { checkedPages?: Set<string> }).checkedPages?.clear()
    const opened = await this.machine.schedule.until(opening, most)
    if (opened) this.made = opened.value
    return opened !== null
  }

  async close(): Promise<void> {
    await this.machine.schedule.until(this.waymark.close())
    this.made = null
  }

  /** Nothing of the process goes on. What is on its disk afterwards is what the next one finds. */
  async end(ending: Ending, draw: () => number): Promise<void> {
    await this.forgetProcess()
    this.made = null
    const after = `${this.root}.after`
    if (ending === 'kill') this.files.afterKill(this.root, after)
    else this.files.afterPowerCut(this.root, after, draw)
    this.files.ended(ending)
    const before = `${this.root}.before`
    real.renameSync(this.root, before)
    real.renameSync(after, this.root)
    closeStores()
    real.rmSync(before, { recursive: true, force: true })
    if (ending === 'power cut') this.forgetOwner()
  }

  /** Harms one of the files that are made again, while no process is there. `file`, `at`: which, and where in it, in [0, 1). */
  damage({ how, file, at }: { readonly how: Damage; readonly file: number; readonly at: number }): void {
    const project = join(this.dataDir, 'projects/1')
    const all = madeAgain.flatMap((folder) => filesUnder(join(project, folder))).sort()
    const path = all[Math.floor(file * all.length)]
    if (!path) return
    this.meets(`damaged ${path.slice(project.length + 1).replaceAll(/[-0-9a-f]{36}|\d+/g, '…')}`)
    if (how === 'removed') {
      this.files.remove(path)
      return
    }
    const size = real.statSync(path).size
    const fd = this.files.open(path, 'r+')
    const place = Math.floor(at * size)
    if (how === 'cut') this.files.truncate(fd, place)
    else if (size > 0) {
      const byte = Buffer.alloc(1)
      this.files.read(fd, byte, 0, 1, place)
      this.files.write(fd, Buffer.of(byte[0]! ^ 0x55), place)
    }
    this.files.close(fd)
  }

  /** Reads all that the process left of the log: what is damaged there was acknowledged, applied or not. */
  async readLog(): Promise<void> {
    const { log } = filesOf(this.dataDir, 1)
    const looked = await this.machine.schedule.until(inspectLog(log).then((found) => findDamages(found, 1)))
    for (const damage of looked!.value) this.complaints.push(`damaged log: ${JSON.stringify(damage)}`)
  }

  /** Restores the last copy to another directory, which is the one that is opened from now on. Returns its number. */
  async restore(): Promise<number> {
    const { dataDir, place, machine } = this
    this.number++
    const restored = await machine.schedule.until(restore(place, this.dataDir))
    for (const folder of [dataDir, place]) this.files.remove(folder, { recursive: true, force: true })
    return restored!.value.copy
  }

  /** Removes everything. The process must have ended. */
  async remove(): Promise<void> {
    await this.forgetProcess()
    closeStores()
    this.files.ended('power cut')
    this.machine.files = null
    real.rmSync(this.root, { recursive: true, force: true })
  }

  /** What the process held outside of its own objects. */
  private async forgetProcess(): Promise<void> {
    const { schedule } = this.machine
    for (const name of ['control.duckdb', 'projects/1/store.duckdb']) releaseLocked(join(this.dataDir, name)).catch(() => undefined)
    await schedule.settle()
    schedule.drop()
  }

  /** The machine has started again since. */
  private forgetOwner(): void {
    const path = join(this.dataDir, 'waymark.lock')
    const text = real.existsSync(path) ? real.readFileSync(path, 'utf8') : ''
    if (!text.startsWith('{') || !text.includes('}')) return
    real.writeFileSync(path, `${JSON.stringify({ ...(JSON.parse(text) as object), boot: 'before' })}\n`)
  }

  private options(): OpenOptions {
    const { schedule } = this.machine
    return {
      dataDir: this.dataDir,
      clock: () => new Date(),
      threads: 1,
      memoryLimit: '256MB',
      ...(this.listMemory !== undefined && { listMemory: this.listMemory }),
      minFreeBytes: 0,
      logRetention: { bytes: 20_000 },
      exports: { folder: this.exportFolder },
      plugins: { runs: false },
      notifications: { runs: false },
      insights: { refreshes: false },
      onError: (error) => schedule.trace(`error: ${error instanceof Error ? error.message : String(error)}`),
      onRecovery: (notice) => {
        schedule.trace(`recovery: ${notice.kind}`)
        if (badNotices.includes(notice.kind)) this.complaints.push(`recovery: ${JSON.stringify(notice)}`)
      },
    }
  }
}

function filesUnder(folder: string): string[] {
  if (!real.existsSync(folder)) return []
  return real.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesUnder(path) : [path]
  })
}
