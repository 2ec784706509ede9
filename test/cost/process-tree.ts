import { childrenOf, forgetPeak, mainThreadMs, peakMb, processMs, residentMb } from './processes.ts'

/** A server and the processes that it starts, as one: what they take together. */
export class ProcessTree {
  readonly pid: number
  /** Milliseconds of each process that was seen, also of those that have ended. */
  private readonly used = new Map<number, number>()
  private lastChildren: readonly number[] = []
  /** Children that have ended since the last `forget`. */
  ended = 0

  constructor(pid: number) {
    this.pid = pid
  }

  private look(): readonly number[] {
    const children = childrenOf(this.pid)
    this.ended += this.lastChildren.filter((one) => !children.includes(one)).length
    this.lastChildren = children
    return [this.pid, ...children]
  }

  /** Processor time of all threads of all of them. */
  ms(): number {
    for (const pid of this.look()) this.used.set(pid, Math.max(this.used.get(pid) ?? 0, processMs(pid)))
    let sum = 0
    for (const ms of this.used.values()) sum += ms
    return sum
  }

  /** Of the thread that takes requests. */
  mainThreadMs(): number {
    return mainThreadMs(this.pid)
  }

  residentMb(): number {
    return this.look().reduce((sum, pid) => sum + residentMb(pid), 0)
  }

  /** The peak of one of them since the last `forget`, beside what the others take now. */
  peakMb(): number {
    const pids = this.look()
    const now = pids.map(residentMb)
    const sum = now.reduce((a, b) => a + b, 0)
    return Math.max(...pids.map((pid, i) => sum - now[i]! + peakMb(pid)))
  }

  forget(): void {
    for (const pid of this.look()) forgetPeak(pid)
    this.ended = 0
  }
}
