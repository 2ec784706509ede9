import { setTimeout as pause } from 'node:timers/promises'
import type { SharedCancels } from '../../storage/postgres/cancels.ts'
import type { Postgres } from '../../storage/postgres/client.ts'
import { listen, type News } from '../../storage/postgres/news.ts'
import type { Lease, PartitionState, Partitions } from '../../storage/postgres/partitions.ts'
import type { PluginChanges } from '../../storage/postgres/plugin-changes.ts'

// What one of several servers does for all its projects together: it takes leases and renews them, listens to the others, and looks where it has heard nothing.

/** A lease that is not renewed for so long belongs to the next server that wants it. */
const leaseMs = 6_000
const lookMs = 1_000
/** Leases are renewed, and projects that nobody applies are looked for, at every second look. */
const renewEvery = 2
const trimEvery = 60

/** A project that this server has open. */
export interface Followed {
  readonly project: number
  /** How far the log and its application are. */
  see(state: Pick<PartitionState, 'lastSeq' | 'appliedSeq'>): void
  /** A query at another server waits for this record. */
  wanted(seq: number): void
  /** This server applies the project from now on. */
  hold(lease: Lease): void
  /** Another server does. Resolves when this one has ended. */
  lose(): Promise<void>
  /** Removes what the log need not keep any more. */
  trim(): Promise<void>
}

interface Parts {
  readonly postgres: Postgres
  readonly partitions: Partitions
  readonly plugins: PluginChanges
  readonly cancels: Pick<SharedCancels, 'heard'>
  /** As leases name this server. */
  readonly holder: string
  report(error: unknown): void
  /** Opens projects with records that nobody applies. */
  adopt(projects: readonly number[]): void
}

interface Held {
  lease: Lease | null
  /** By this clock, the lease may belong to another server after this moment. */
  until: number
  taking: Promise<void> | null
}

export class SharedNode {
  private readonly parts: Parts
  private readonly followed = new Map<Followed, Held>()
  private readonly ending = new AbortController()
  private endListening: () => Promise<void> = async () => undefined
  private looking: Promise<void> = Promise.resolve()
  private looks = 0
  /** The last look failed. */
  private isOut = false
  /** Why plugins could not be read. */
  private pluginProblem = ''
  private readonly trimming = new Set<Followed>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Listens and looks from now on. */
  begin(): void {
    this.endListening = listen(this.parts.postgres, (news) => this.hear(news), this.parts.report)
    this.looking = this.lookOn()
  }

  enter(one: Followed): void {
    this.followed.set(one, { lease: null, until: 0, taking: null })
    void this.take(one)
  }

  /** The project is closed here: the next server applies it. */
  async leave(one: Followed): Promise<void> {
    const held = this.followed.get(one)
    await held?.taking
    this.followed.delete(one)
    if (held?.lease) await this.parts.partitions.giveBack(held.lease).catch(this.parts.report)
  }

  isHeld(one: Followed): boolean {
    return this.followed.get(one)?.lease != null
  }

  /** A check in the database says so. */
  hasLost(one: Followed): void {
    const held = this.followed.get(one)
    if (!held?.lease) return
    held.lease = null
    held.taking = one
      .lose()
      .catch(this.parts.report)
      .finally(() => {
        held.taking = null
      })
  }

  /** Lets the server know that applies the project. */
  want(project: number, seq: number): void {
    this.parts.partitions.want(project, seq).catch(() => undefined) // it is said again
  }

  /** Resolves when this server uses the plugins of the project as they are now. */
  usePlugins(project: number, signal: AbortSignal): Promise<void> {
    return this.parts.plugins.begin(project, signal)
  }

  async state(project: number): Promise<PartitionState> {
    const [state] = await this.parts.partitions.look([project])
    return state!
  }

  async close(): Promise<void> {
    this.ending.abort()
    await this.endListening()
    await this.looking
  }

  private hear(news: News | null): void {
    if (news === null) return void this.look().catch(() => undefined)
    if (news.kind === 'plugins') return void this.lookForPlugins()
    if (news.kind === 'cancelled' || news.kind === 'withdrawn') return void this.parts.cancels.heard(news)
    for (const [one] of this.followed) {
      if (one.project !== news.project) continue
      if (news.kind === 'grown') one.see({ lastSeq: news.seq, appliedSeq: 0 })
      else if (news.kind === 'applied') one.see({ lastSeq: news.seq, appliedSeq: news.seq })
      else if (news.kind === 'wanted') one.wanted(news.seq)
      else void this.take(one)
    }
  }

  /** Reading plugins takes its time, and leases must not wait for it. */
  private lookForPlugins(): void {
    this.parts.plugins.look().then(
      () => {
        this.pluginProblem = ''
      },
      (error: unknown) => {
        if (!this.isOut && String(error) !== this.pluginProblem) this.parts.report(error)
        this.pluginProblem = String(error)
      },
    )
  }

  private take(one: Followed): Promise<void> {
    const held = this.followed.get(one)
    if (!held || held.lease || held.taking || this.ending.signal.aborted) return held?.taking ?? Promise.resolve()
    const work = async () => {
      const asked = performance.now()
      const lease = await this.parts.partitions.take(one.project, this.parts.holder, leaseMs)
      if (!lease) return
      held.lease = lease
      held.until = asked + leaseMs
      one.hold(lease)
    }
    held.taking = work()
      .catch(this.parts.report)
      .finally(() => {
        held.taking = null
      })
    return held.taking
  }

  private async lookOn(): Promise<void> {
    const { signal } = this.ending
    const watch = setInterval(() => this.endOverdue(), lookMs / 2)
    watch.unref()
    while (!signal.aborted) {
      await pause(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) break
      await this.look().then(
        () => {
          this.isOut = false
        },
        (error: unknown) => {
          if (!this.isOut) this.parts.report(error) // once, however long PostgreSQL is away
          this.isOut = true
        },
      )
    }
    clearInterval(watch)
  }

  /** Without PostgreSQL no lease can be renewed, and after its end another server may take it. */
  private endOverdue(): void {
    const now = performance.now()
    for (const [one, { lease, until }] of this.followed) if (lease && now > until) this.hasLost(one)
  }

  private async look(): Promise<void> {
    const { partitions, adopt } = this.parts
    const round = this.looks++
    if (round % renewEvery === 0) await this.renew()
    this.lookForPlugins()
    const states = new Map(
      (await partitions.look([...this.followed.keys()].map(({ project }) => project))).map((state) => [state.project, state]),
    )
    for (const [one, { lease }] of this.followed) {
      const state = states.get(one.project)
      if (!state) continue
      one.see(state)
      if (!lease && state.isFree) void this.take(one)
      else if (lease && round % trimEvery === 0) this.trim(one)
    }
    if (round % renewEvery !== 0) return
    const known = new Set([...this.followed.keys()].map(({ project }) => project))
    const orphans = (await partitions.orphans()).filter((project) => !known.has(project))
    if (orphans.length > 0) adopt(orphans)
  }

  /** It may take long, and leases do not wait for it. */
  private trim(one: Followed): void {
    if (this.trimming.has(one)) return
    this.trimming.add(one)
    one
      .trim()
      .catch(this.parts.report)
      .finally(() => this.trimming.delete(one))
  }

  private async renew(): Promise<void> {
    const asked = performance.now()
    const holding = [...this.followed].flatMap(([one, held]) => (held.lease ? [{ one, held, lease: held.lease }] : []))
    if (holding.length === 0) return
    const kept = new Set(
      await this.parts.partitions.renew(
        holding.map(({ lease }) => lease),
        leaseMs,
      ),
    )
    for (const { one, held, lease } of holding) {
      if (held.lease !== lease) continue
      if (kept.has(lease)) held.until = asked + leaseMs
      else this.hasLost(one)
    }
  }
}
