import type { ChildProcess } from 'node:child_process'

/** An engine that has ended once may end again: for so long the process of the next one is kept loaded, which is most of its start. */
const keptMs = 60_000

/** A process that is loaded, and waits to become the engine. */
export class SpareProcess {
  private child: ChildProcess | null = null
  private timer: NodeJS.Timeout | undefined
  private readonly launch: () => ChildProcess

  constructor(launch: () => ChildProcess) {
    this.launch = launch
  }

  make(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.drop(), keptMs)
    this.timer.unref()
    if (this.child) return
    const child = this.launch()
    const forget = () => {
      if (this.child === child) this.child = null
    }
    child.once('exit', forget)
    child.once('error', forget)
    child.unref()
    child.channel?.unref()
    this.child = child
  }

  /** Null where there is none. */
  take(): ChildProcess | null {
    const { child } = this
    this.child = null
    if (!child?.connected) return null
    child.removeAllListeners()
    child.ref()
    child.channel?.ref()
    return child
  }

  drop(): void {
    clearTimeout(this.timer)
    this.child?.kill('SIGKILL')
    this.child = null
  }
}
