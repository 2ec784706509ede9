import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, even if its id is reused after a restart. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, as the system reports it. */
  readonly started: string | null
  readonly boot: string | null
  readonly host: string
}

const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

interface Running {
  readonly started: string | null
  /** A zombie: it has ended, but its parent has not read its status. */
  readonly isZombie: boolean
}

/** What the system reports about a process; null if it does not. */
const look = (pid: number): Running | null => {
  const stat = readOrNull(`/proc/${pid}/stat`)
  if (stat !== null) {
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // from field 3 on; the name before may hold spaces
    return { started: fields[19] ?? null, isZombie: /^[ZX]/.test(fields[0] ?? '') }
  }
  if (process.platform === 'linux' || process.platform === 'win32') return null
  const said = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? ''
  const [state = '', ...started] = said.split(/ +/)
  return state === '' ? null : { started: started.join(' ') || null, isZombie: state.startsWith('Z') }
}

const bootId = () => readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? null

const answersSignals = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: look(process.pid)?.started ?? null,
  boot: bootId(),
  host: hostname(),
})

/** It was started since the last boot of the machine, here or in another container. */
export const isSinceBoot = ({ boot }: Pick<ProcessIdentity, 'boot'>): boolean => boot === bootId()

/** It was started on this machine since the last boot. */
export const isOfThisBoot = ({ host, boot }: ProcessIdentity): boolean => host === hostname() && isSinceBoot({ boot })

export const isAlive = (one: ProcessIdentity): boolean => {
  if (!isOfThisBoot(one) || !answersSignals(one.pid)) return false
  const running = look(one.pid)
  if (running === null) return true
  return !running.isZombie && (running.started === null || one.started === null || running.started === one.started)
}
