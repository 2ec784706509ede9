import { WaymarkError } from './errors/errors.ts'
import { closeProject, firstOpened, type LocalProject, newProject, OpenLimit, openFailure, type ProjectHome } from './project.ts'

/** A project that was requested and failed to open. */
export interface ProjectFailure {
  readonly project: number
  readonly what: 'cannot be opened' | 'does not apply its events to its store'
  readonly error: unknown
}

const closedAtOnce = 2

/**
 * The projects of a directory, each with one object. Their stores are open while they are used: a directory may have many more projects than fit into
 * memory.
 */
export class OpenProjects {
  private readonly known = new Map<number, Promise<LocalProject>>()
  private readonly made = new Map<number, LocalProject>()
  private readonly closing = new AbortController()
  private readonly home: ProjectHome
  private readonly limit: OpenLimit

  constructor(home: ProjectHome) {
    this.home = { ...home, signal: this.closing.signal }
    this.limit = new OpenLimit(home.backends.mostOpen)
  }

  /** Opens it if it was never open in this process, so that what is wrong with it is found now. */
  async get(id: number): Promise<LocalProject> {
    const project = await this.find(id)
    await project[firstOpened]()
    return project
  }

  /** Its first use opens it. */
  find(id: number): Promise<LocalProject> {
    const known = this.known.get(id)
    if (known) return known
    const making = this.make(id)
    this.known.set(id, making)
    making.then(
      (project) => this.made.set(id, project),
      () => this.known.delete(id),
    )
    return making
  }

  /** Projects that are open. */
  get ready(): readonly LocalProject[] {
    return [...this.made.values()].filter(({ isOpen }) => isOpen)
  }

  /** The failures. Projects that failed to open are retried here, because there may be no other request. */
  get failures(): readonly ProjectFailure[] {
    const all = [...this.made.values()]
    const unopened = all.filter((project) => project[openFailure] !== null)
    const failures = unopened.map((project) => ({ project: project.id, what: 'cannot be opened', error: project[openFailure] }) as const)
    for (const project of unopened) project[firstOpened]().catch(() => undefined)
    return [
      ...failures,
      ...all
        .filter(({ failure }) => failure !== null)
        .map(({ id, failure }) => ({ project: id, what: 'does not apply its events to its store', error: failure }) as const),
    ]
  }

  /** Projects that are not closed yet. */
  get names(): readonly string[] {
    return this.ready.map(({ id, lag }) => `project ${id} (${lag} records not applied)`)
  }

  async remove(id: number): Promise<void> {
    const project = await this.known.get(id)?.catch(() => null)
    this.known.delete(id)
    this.made.delete(id)
    await project?.[closeProject]()
    await this.home.backends.drop(id)
  }

  async close(): Promise<void> {
    this.closing.abort()
    const projects = (await Promise.allSettled(this.known.values())).flatMap((made) => (made.status === 'fulfilled' ? [made.value] : []))
    const failures: unknown[] = []
    // Each writes a checkpoint, and all of them at a time would need more than the memory of the engine.
    const closeRest = async (): Promise<void> => {
      for (let next = projects.pop(); next; next = projects.pop())
        await next[closeProject]().catch((error: unknown) => void failures.push(error))
    }
    await Promise.all(Array.from({ length: closedAtOnce }, closeRest))
    if (failures.length > 0) throw failures[0]
  }

  private async make(id: number): Promise<LocalProject> {
    const record = Number.isInteger(id) ? await this.home.record(id) : undefined
    if (!record) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
    return newProject(this.home, record, this.limit)
  }
}
