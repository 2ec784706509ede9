// Memory of calls of the server that plugins wait for: what they send, and what others answer. Each call has its own limits; these are for all of them together.

const mebibyte = 1024 ** 2
/** Bytes of what plugins send, and of what they receive. */
const callMemory = { ofProject: 32 * mebibyte, ofServer: 256 * mebibyte }

/** Takes memory, which the call has until it ends. Resolves when there is some. */
export type Hold = (bytes: number) => Promise<void>

interface Waiting {
  readonly project: number
  readonly bytes: number
  start(): void
}

class Used {
  private readonly ofProjects = new Map<number, number>()
  private inAll = 0
  private readonly most: typeof callMemory

  constructor(most: typeof callMemory) {
    this.most = most
  }

  /** One call alone always fits into what a project has. */
  hasRoom(project: number, bytes: number): boolean {
    return (this.ofProjects.get(project) ?? 0) + bytes <= this.most.ofProject && this.inAll + bytes <= this.most.ofServer
  }

  add(project: number, bytes: number): void {
    const now = (this.ofProjects.get(project) ?? 0) + bytes
    this.inAll += bytes
    if (now > 0) this.ofProjects.set(project, now)
    else this.ofProjects.delete(project)
  }
}

export class CallMemory {
  private readonly sent: Used
  private readonly received: Used
  private readonly waiting = new Set<Waiting>()

  constructor(most = callMemory) {
    this.sent = new Used(most)
    this.received = new Used(most)
  }

  /** A call with arguments of so many bytes. They are here already, so a call without room is refused. */
  async sending<T>(project: number, bytes: number, work: () => Promise<T> | T): Promise<T> {
    if (!this.sent.hasRoom(project, bytes)) throw new Error('Calls with too many bytes are waiting for an answer')
    this.sent.add(project, bytes)
    try {
      return await work()
    } finally {
      this.sent.add(project, -bytes)
    }
  }

  /** A call whose answer comes from outside: what is not read yet can wait there. */
  async receiving<T>(project: number, signal: AbortSignal, work: (hold: Hold) => Promise<T>): Promise<T> {
    let held = 0
    const hold: Hold = async (bytes) => {
      await this.room(project, bytes, signal)
      held += bytes
    }
    try {
      return await work(hold)
    } finally {
      this.received.add(project, -held)
      this.startWaiting()
    }
  }

  private async room(project: number, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.received.hasRoom(project, bytes)) return this.received.add(project, bytes)
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.waiting.delete(one)
        reject(signal.reason)
      }
      const start = () => {
        signal.removeEventListener('abort', leave)
        this.waiting.delete(one)
        this.received.add(project, bytes)
        resolve()
      }
      const one: Waiting = { project, bytes, start }
      this.waiting.add(one)
      signal.addEventListener('abort', leave)
    })
  }

  private startWaiting(): void {
    for (const one of this.waiting) if (this.received.hasRoom(one.project, one.bytes)) one.start()
  }
}
