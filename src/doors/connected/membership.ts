import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { readLastOwner } from '../../engine/storage/locks/lock.ts'
import type { LocalWaymark } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { openOwnerDoor } from './owner-door.ts'
import { OwnerLink } from './owner-link.ts'

// One of the processes that work on a data directory. One of them owns it, the others are its guests; when the owner leaves, one of the guests takes over.

export type Role = { readonly is: 'owner'; readonly waymark: LocalWaymark } | { readonly is: 'guest'; readonly link: OwnerLink }

export interface MembershipOptions {
  readonly dataDir: string
  /** Opens the directory in this process. */
  open(): Promise<LocalWaymark>
  report(error: unknown): void
  /** Called when this process has the directory; the answer is called before it leaves. */
  readonly onOwner: (waymark: LocalWaymark) => Promise<() => Promise<void>>
}

/** Between two looks for an owner. */
const lookMs = 25
/** How long calls wait for an owner: a command may have the directory, and opening one may have to read its logs. */
const ownerPatienceMs = 60_000
/** A directory that cannot be opened is tried again. */
const retryMs = 1_000
/** How long a guest that leaves waits for what it has asked. */
const leaveMs = 20_000

const isLocked = (error: unknown): error is WaymarkError<'directory-locked'> =>
  error instanceof WaymarkError && error.code === 'directory-locked'

const slowOwner = (dataDir: string, pid: number) =>
  new WaymarkError('command-failed', {
    message: `Process ${pid} has ${dataDir} open, and does not answer. It is waited for: if it is stopped (SIGSTOP, a debugger), let it run or end it.`,
  })

export class Membership {
  private readonly options: MembershipOptions
  private seeking: Promise<Role>
  private role: Role | null = null
  private owned: LocalWaymark | null = null
  private readonly closing = new AbortController()

  private constructor(options: MembershipOptions) {
    this.options = options
    this.seeking = this.seek(true)
  }

  /** Resolves when this process has the directory, or is a guest of its owner. */
  static async join(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options)
    await membership.seeking
    return membership
  }

  /** The role of this process; while there is no owner it waits for one. */
  async current(): Promise<Role> {
    if (this.closing.signal.aborted) throw new WaymarkError('closed', {})
    if (this.role) return this.role
    const { dataDir } = this.options
    const stop = new AbortController()
    const late = wait(ownerPatienceMs, undefined, { signal: stop.signal }).then(() => {
      throw new WaymarkError('directory-opening', { dataDir })
    })
    try {
      return await Promise.race([this.seeking, late])
    } finally {
      late.catch(() => undefined)
      stop.abort()
    }
  }

  /** What this process has open; null: it is a guest. */
  get local(): LocalWaymark | null {
    return this.owned
  }

  /** Looks for an owner, or becomes it. The first time, what keeps the directory from being opened is the answer. */
  private async seek(isFirst: boolean): Promise<Role> {
    const began = performance.now()
    const { dataDir, report } = this.options
    for (;;) {
      this.closing.signal.throwIfAborted()
      const link = await OwnerLink.connect(dataDir, (pid) => report(slowOwner(dataDir, pid)))
      try {
        this.role = link ? this.follow(link) : await this.takeOver()
        return this.role
      } catch (error) {
        if (isFirst && (!isLocked(error) || performance.now() - began > ownerPatienceMs)) throw error
        if (!isLocked(error)) report(error)
        await wait(isLocked(error) ? lookMs : retryMs, undefined, { signal: this.closing.signal })
      }
    }
  }

  private follow(link: OwnerLink): Role {
    void link.left.then(() => {
      this.role = null
      if (this.closing.signal.aborted) return
      this.seeking = this.seek(false)
      this.seeking.catch(() => undefined) // it only ends by closing
    })
    return { is: 'guest', link }
  }

  private async takeOver(): Promise<Role> {
    const { dataDir, open, report, onOwner } = this.options
    await mustBeFree(dataDir)
    const waymark = await open()
    this.owned = waymark
    try {
      await openOwnerDoor(waymark, report)
      waymark.beforeRefusing(await onOwner(waymark))
      return { is: 'owner', waymark }
    } catch (error) {
      await this.leave()
      throw error
    }
  }

  private async leave(): Promise<void> {
    const { owned } = this
    this.owned = null
    await owned?.close()
  }

  /** Gives the directory to one of the others, when what they have asked is answered. */
  async close(): Promise<void> {
    const { role } = this
    this.closing.abort(new WaymarkError('closed', {})) // further calls are refused
    if (role?.is === 'guest') {
      await turn() // calls that were made before are sent
      await role.link.idle(leaveMs)
      role.link.close()
    }
    await this.seeking.catch(() => undefined) // it may be about to become the owner
    await this.leave()
  }
}

/** Before the engine is loaded, which a guest does not need. */
async function mustBeFree(dataDir: string): Promise<void> {
  await readLastOwner(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error // it is made when it is opened
  })
}
