import { type ChildProcess, fork } from 'node:child_process'
import { type Budget, watch } from './budgets.ts'
import type { CallInput, Figures } from './probe.ts'
import { forgetPeak, peakMb, processMs, residentMb } from './processes.ts'
import type { Called } from './worker.ts'

// Functions of ours in a process of their own: far cheaper than requests, and ended in the same way when they do not end.

export interface Calls {
  measure(input: CallInput, size: number, budget: Budget): Promise<Figures>
  renew(): Promise<void>
  close(): void
  readonly starts: number
}

const lookEveryMs = 10
const grownMb = 400

export function startCalls(script: string): Calls {
  let child: ChildProcess | null = null
  let idleMb = 0
  let starts = 0
  const stop = () => {
    child?.kill('SIGKILL')
    child = null
  }
  const ready = async (): Promise<ChildProcess> => {
    if (child && residentMb(child.pid!) < idleMb + grownMb) return child
    stop()
    starts++
    const made = fork(script, {
      serialization: 'advanced',
      execArgv: ['--max-old-space-size=1800'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const orphaned = () => made.kill('SIGKILL')
    process.once('exit', orphaned)
    made.once('exit', () => process.off('exit', orphaned))
    await new Promise<void>((resolve, reject) => {
      made.once('message', () => resolve())
      made.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)))
    })
    idleMb = residentMb(made.pid!)
    child = made
    return made
  }
  const measure = async (input: CallInput, size: number): Promise<Figures> => {
    const made = await ready()
    const pid = made.pid!
    forgetPeak(pid)
    const [mbBefore, cpuBefore, begun] = [residentMb(pid), processMs(pid), performance.now()]
    let end: string | null = null
    let peak = mbBefore
    let cpu = 0
    const kill = (why: string) => {
      end ??= why
      made.kill('SIGKILL')
    }
    const look = setInterval(() => {
      if (end !== null) return
      const now = residentMb(pid)
      peak = Math.max(peak, now)
      cpu = Math.max(cpu, processMs(pid) - cpuBefore)
      if (now > watch.residentMb) kill(`ended at ${Math.round(now)} MB of resident memory`)
      if (cpu > watch.cpuSeconds * 1000) kill(`ended after ${watch.cpuSeconds} s of processor time`)
      if (performance.now() - begun > watch.wallSeconds * 1000) kill(`ended after ${watch.wallSeconds} s`)
    }, lookEveryMs)
    const called = await new Promise<Called | null>((resolve) => {
      const over = (answer: Called | null) => {
        made.off('message', onMessage)
        made.off('exit', onExit)
        resolve(answer)
      }
      const onMessage = (answer: Called) => over(answer)
      const onExit = (code: number | null, signal: string | null) => {
        end ??= `the process ended with ${signal ?? code}`
        over(null)
      }
      made.on('message', onMessage)
      made.on('exit', onExit)
      made.send({ call: input.call, given: input.given })
    })
    clearInterval(look)
    if (called === null) stop()
    const ms = called?.cpuMs ?? cpu
    return {
      size,
      bytes: input.bytes,
      cpuMs: Math.round(ms * 10) / 10,
      wallMs: Math.round(performance.now() - begun),
      holdMs: Math.round(ms * 10) / 10,
      othersMs: 0,
      residentMb: Math.round(Math.max(peak, called ? peakMb(pid) : 0) - mbBefore),
      diskBytes: 0,
      answerBytes: 0,
      status: called?.refusal === null ? 200 : 400,
      end,
    }
  }
  return {
    measure,
    renew: async () => {
      stop()
      await ready()
    },
    close: stop,
    get starts() {
      return starts
    },
  }
}
