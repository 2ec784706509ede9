import { setTimeout } from 'node:timers/promises'
import { InternalError } from '../../errors/errors.ts'
import type { BackendHome, Backends } from '../backend/backend.ts'
import { openTransformFile } from '../storage/files/transform-file.ts'
import { createBlockLimit } from '../storage/log/compressing.ts'
import { FileLog, type LogSettings, logDefaults } from '../storage/log/file-log.ts'
import { closedPosition } from '../storage/log/position.ts'
import { memoryLimitOf, moreForLists } from '../storage/open-stores.ts'
import { filesOf, transformedIn } from '../storage/project-storage.ts'
import { isMemoryShort, isStoreLost, mostOpenProjects } from '../storage/stores.ts'
import { DoorTransform } from './door-transform.ts'
import { EngineChild } from './engine-child.ts'
import type { EngineNotifications, StartArgs } from './protocol.ts'
import { RemoteBackend } from './remote-backend.ts'
import { readError } from './wire-error.ts'

/** Memory that the engine's process may use beyond what the engine counts, before it is ended. */
const besideItsLimit = (memoryLimit: number) => memoryLimit / 2 + 1024 ** 3

/** How long queries wait for other projects to be opened again. */
const longestMs = 2_000

const doorTransform = async ({ transformations, settings }: BackendHome, folder: string): Promise<DoorTransform | null> =>
  transformations
    ? new DoorTransform({ projectId: settings().id, transformations, file: await openTransformFile(transformedIn(folder)) })
    : null

/** Projects whose logs belong to this process, and whose stores belong to an engine in another process. */
export class RemoteBackends implements Backends {
  private readonly start: StartArgs
  private readonly opened = new Map<number, RemoteBackend>()
  readonly engine: EngineChild
  private back: Promise<void> = Promise.resolve()

  constructor(start: StartArgs, onError: (error: unknown) => void) {
    this.start = start
    const memoryLimit = memoryLimitOf(start.memoryLimit)
    const backendOf = (project: number | null) => (project === null ? undefined : this.opened.get(project))
    this.engine = new EngineChild({
      start,
      mostBytes: memoryLimit + besideItsLimit(memoryLimit) + moreForLists(memoryLimit, start.listMemory),
      methods: {
        append: (args) => {
          const backend = backendOf(args.project)
          if (!backend) throw new InternalError(`The log of project ${args.project} is not open`)
          return backend.append(args)
        },
        transform: (args) => {
          const transform = this.transforms.get(args.project)
          if (!transform) throw new InternalError(`Project ${args.project} has no transformations`)
          return transform.transform(args)
        },
      },
      notifications: {
        applied: ({ project, seq }) => backendOf(project)?.applied(seq),
        taken: ({ project, seq }) => backendOf(project)?.taken(seq),
        problem: ({ project, error, isStuck }) => {
          const failure = readError(error)
          const backend = backendOf(project)
          if (backend) backend.met(failure, isStuck)
          else onError(failure)
        },
        recovery: ({ project, notice }) => this.notices.get(project)?.(notice),
      },
      onStart: () => {
        const opened = Promise.all([...this.opened.values()].map((backend) => backend.openAgain()))
        this.back = Promise.race([opened.then(() => undefined), setTimeout(longestMs, undefined, { ref: false })])
      },
      onEnd: () => {
        for (const backend of this.opened.values()) backend.engineEnded()
      },
      report: onError,
    })
  }

  private readonly transforms = new Map<number, DoorTransform>()
  private readonly compression = createBlockLimit()
  private readonly notices = new Map<number, (notice: EngineNotifications['recovery']['notice']) => void>()

  async open(home: Parameters<Backends['open']>[0]): Promise<RemoteBackend> {
    const { id } = home.settings()
    const { dataDir, storage } = this.start
    const files = filesOf(dataDir, id)
    const beforeDelete = async () => {
      await (await this.engine.channel()).call('makeDurable', { project: id })
    }
    // Only the engine reads the stores, so it reports what cannot be read.
    const settings: LogSettings = {
      ...logDefaults,
      ...storage.log,
      onDamage: 'refuse',
      positionFile: files.position,
      backedUpFile: files.backedUp,
      beforeDelete,
      compression: this.compression,
      report: home.onError,
    }
    this.notices.set(id, home.onRecovery)
    const transform = await doorTransform(home, files.folder)
    if (transform) this.transforms.set(id, transform)
    const backend = await RemoteBackend.open({
      home,
      transform,
      engine: this.engine,
      openLog: (found, appliedSeq) => FileLog.openRepaired(found, settings, appliedSeq),
      comeBack: () => this.back,
      onClose: () => {
        this.opened.delete(id)
        this.notices.delete(id)
        this.transforms.delete(id)
      },
    })
    this.opened.set(id, backend)
    return backend
  }

  async ready(): Promise<void> {
    await this.engine.channel()
  }

  async drop(id: number): Promise<void> {
    await (await this.engine.channel()).call('drop', { project: id })
  }

  async replace(id: number): Promise<void> {
    await (await this.engine.channel()).call('replace', { project: id })
  }

  get mostOpen(): number {
    return mostOpenProjects(memoryLimitOf(this.start.memoryLimit))
  }

  positionOf(id: number): number | null {
    return closedPosition(filesOf(this.start.dataDir, id).position)
  }

  get recentEnds(): number {
    return this.engine.recentEnds
  }

  readonly isOutOfMemory = isMemoryShort
  readonly isLost = isStoreLost

  load() {
    return this.engine.load
  }

  engineBytes(): Promise<number | null> {
    return this.engine.bytes()
  }

  get stillOpen(): readonly string[] {
    const { running } = this.engine.load
    return running > 0 ? [`${running} queries in the engine process`] : []
  }

  close(): Promise<void> {
    return this.engine.close()
  }
}
