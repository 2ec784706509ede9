import { resolve } from 'node:path'
import type { LocalWaymark, OpenOptions } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { Waymark } from '../../waymark.ts'
import type { allCalls } from './calls.ts'
import { ConnectedWaymark } from './connected-waymark.ts'
import { callAnywhere } from './guest-calls.ts'
import { Membership } from './membership.ts'
import { openOwnerDoor } from './owner-door.ts'
import { type ServerCalls, serverCallsOf } from './server-calls.ts'

export interface Opened {
  readonly waymark: Waymark
  /** What `waymark serve` asks when it starts. */
  readonly server: ServerCalls
  /** What this process has open; null: another one has. */
  local(): LocalWaymark | null
}

/** Called when this process has the directory; the answer is called before it leaves. */
export type OnOwner = (waymark: LocalWaymark) => Promise<() => Promise<void>>

const warn = (error: unknown) => process.emitWarning(error instanceof Error ? error : String(error), 'WaymarkWarning')
const noHook: OnOwner = async () => async () => undefined

/** Opens a directory in this process, or, with `connect`, works in it wherever it is open. */
export async function openAnywhere(options: OpenOptions, onOwner: OnOwner = noHook): Promise<Opened> {
  return options?.connect === true ? joined(options, onOwner) : alone(options, onOwner)
}

async function alone(options: OpenOptions, onOwner: OnOwner): Promise<Opened> {
  const { open } = await import('../../engine.ts')
  const waymark = await open(options)
  try {
    if (waymark.dataDir !== ':memory:' && options.engine?.postgres === undefined) await openOwnerDoor(waymark, options.onError ?? warn)
    waymark.beforeRefusing(await onOwner(waymark))
    return { waymark, server: serverCallsOf(waymark), local: () => waymark }
  } catch (error) {
    await waymark.close()
    throw error
  }
}

async function joined(options: OpenOptions, onOwner: OnOwner): Promise<Opened> {
  const { checkOpenOptions, open } = await import('../../engine.ts')
  checkOpenOptions(options)
  const { dataDir } = options
  if (dataDir === undefined || dataDir === ':memory:') {
    const message = 'connect needs a data directory: no other process can reach an in-memory store'
    throw new WaymarkError('validation-failed', { message, attr: 'connect' })
  }
  const report = options.onError ?? warn
  const membership = await Membership.join({ dataDir: resolve(dataDir), open: () => open(options), report, onOwner })
  const call = <T>(method: keyof typeof allCalls.server, given: unknown): Promise<T> => {
    const here = async (waymark: LocalWaymark) => (serverCallsOf(waymark)[method] as (given: unknown) => Promise<T>)(given)
    return callAnywhere<T>(membership, { target: { of: 'server' }, method, args: [given], here })
  }
  const server: ServerCalls = {
    firstStart: (keys) => call('firstStart', keys),
    allowFirstOwner: (secret) => call('allowFirstOwner', secret),
  }
  return { waymark: new ConnectedWaymark(membership, resolve(dataDir), options.clock), server, local: () => membership.local }
}
