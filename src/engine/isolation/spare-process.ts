import type { ChildProcess } from 'node:child_process'

/** How long a process is kept loaded after an engine has ended, since it may end again: loading is most of its start. */
const keptMs = 60_000

/** A loaded process that waits to become the engine. */
export class SpareProcess {
  private child: ChildProcess | null = null
  private timer: NodeJS.Timeout | undefined
  private readonly launch: () => ChildProcess
  private readonly forget = () => {
    this.child = null
  }

  constructor(launch: () => ChildProcess) {
    this.launch = launch
  }

  make(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.drop(), keptMs)
    this.timer.unref()
    if (this.child) return
    const child = this.launch()
    child.on('exit', this.forget)
    child.on('error', this.forget)
    child.unref()
    child.channel?.unref()
    this.child = child
  }

  /** Null if no process is kept. */
  take(): ChildProcess | null {
    const { child } = this
    this.child = null
    if (!child?.connected) return null
    child.off('exit', this.forget)
    child.off('error', this.forget)
    child.ref()
    child.channel?.ref()
    return child
  }

  drop(): void {
    clearTimeout(this.timer)
    const { child } = this
    child?.off('exit', this.forget)
    child?.kill('SIGKILL')
    this.child = null
  }
}
