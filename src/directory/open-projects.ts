import { WaymarkError } from '../errors/errors.ts'
import { closeProject, openProject, type Project, type ProjectHome } from '../project.ts'

/** A project that was requested and failed to open. */
export interface ProjectFailure {
  readonly project: number
  readonly what: 'cannot be opened' | 'does not write its events into its store'
  readonly error: unknown
}

interface FailedOpening {
  readonly error: unknown
  /** The earliest time of the next attempt, by `performance.now()`. */
  readonly until: number
}

// Opening a damaged project reads all of it before it fails: repeated requests must not block the server with that.
const pauses = { timesAsLong: 10, shortestMs: 1_000, longestMs: 60_000 } as const

/** The open projects. Each is opened once, at its first request. */
export class OpenProjects {
  private readonly opened = new Map<number, Promise<Project>>()
  /** Projects that have finished opening. */
  readonly ready = new Set<Project>()
  private readonly failed = new Map<number, FailedOpening>()
  private readonly closing = new AbortController()
  private readonly home: ProjectHome

  constructor(home: ProjectHome) {
    this.home = { ...home, signal: this.closing.signal }
  }

  get(id: number): Promise<Project> {
    const known = this.opened.get(id)
    if (known) return known
    const failed = this.failed.get(id)
    if (failed && performance.now() < failed.until) return Promise.reject(failed.error)
    const began = performance.now()
    const opening = this.open(id)
    this.opened.set(id, opening)
    opening.then(
      (project) => {
        this.ready.add(project)
        this.failed.delete(id)
      },
      (error: unknown) => {
        this.opened.delete(id)
        this.noteFailure(id, error, performance.now() - began)
      },
    )
    return opening
  }

  /** The failures. Projects that failed to open are retried here, because there may be no other request. */
  get failures(): readonly ProjectFailure[] {
    for (const id of this.failed.keys()) this.get(id).catch(() => undefined)
    return [
      ...[...this.failed].map(([project, { error }]) => ({ project, what: 'cannot be opened', error }) as const),
      ...[...this.ready]
        .filter(({ failure }) => failure !== null)
        .map(({ id, failure }) => ({ project: id, what: 'does not write its events into its store', error: failure }) as const),
    ]
  }

  /** Projects that are not closed yet. */
  get names(): readonly string[] {
    return [...this.opened.keys()].map((id) => {
      const project = [...this.ready].find((one) => one.id === id)
      return `project ${id} (${project ? `${project.lag} records not in the store` : 'being opened'})`
    })
  }

  async remove(id: number): Promise<void> {
    const project = this.opened.get(id)
    this.opened.delete(id)
    this.failed.delete(id)
    const open = await project?.catch(() => null)
    if (open) this.ready.delete(open)
    await open?.[closeProject]()
    await this.home.backends.drop(id)
  }

  async close(): Promise<void> {
    this.closing.abort()
    const projects = await Promise.allSettled(this.opened.values())
    const closed = projects
      .flatMap((project) => (project.status === 'fulfilled' ? [project.value] : []))
      .map(async (project) => {
        await project[closeProject]()
        this.opened.delete(project.id)
      })
    const failed = (await Promise.allSettled(closed)).find(({ status }) => status === 'rejected')
    if (failed) throw (failed as PromiseRejectedResult).reason
  }

  private async open(id: number): Promise<Project> {
    const record = Number.isInteger(id) ? await this.home.record(id) : undefined
    if (!record) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
    return openProject(this.home, record)
  }

  private noteFailure(id: number, error: unknown, tookMs: number): void {
    if (this.closing.signal.aborted) return
    if (error instanceof WaymarkError && error.code === 'not-found') {
      this.failed.delete(id)
      return
    }
    const pause = Math.min(pauses.longestMs, Math.max(pauses.shortestMs, pauses.timesAsLong * tookMs))
    this.failed.set(id, { error, until: performance.now() + pause })
    this.home.onError(error)
  }
}
