import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ErrorCode } from '../errors/codes.ts'
import { WaymarkError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from '../storage/directory-identity.ts'
import { isAlive, isOfThisBoot, type ProcessIdentity, thisProcess } from '../storage/process-identity.ts'
import type { DirectoryCommandName, Input, Outcome } from './directory-commands.ts'

// While a server owns a directory, this file contains its address, the secret for local commands, and the directory and process that it
// belongs to: in a copy of the directory the file is invalid.

interface Address {
  readonly url: string
  readonly secret: string
}
interface Announcement extends Address {
  readonly directory: DirectoryIdentity
  readonly process: ProcessIdentity
}

const fileOf = (dataDir: string) => join(dataDir, 'server.json')

export const newSecret = (): string => randomBytes(32).toString('base64url')

export async function announce(dataDir: string, address: Address): Promise<() => Promise<void>> {
  const file = fileOf(dataDir)
  const announcement: Announcement = { ...address, directory: await directoryIdentity(dataDir), process: thisProcess() }
  await rm(file, { force: true })
  await writeFile(file, JSON.stringify(announcement), { mode: 0o600, flag: 'wx' })
  return () => rm(file, { force: true })
}

/** The server that owns the directory, or null if none answers. */
export async function runningServer(dataDir: string): Promise<RunningServer | null> {
  try {
    const { url, secret, directory, process: owner } = JSON.parse(await readFile(fileOf(dataDir), 'utf8')) as Announcement
    if (!isSameDirectory(directory, await directoryIdentity(dataDir))) return null
    if (isOfThisBoot(owner) && !isAlive(owner)) return null
    const alive = await fetch(`${url}/_livez`, { signal: AbortSignal.timeout(2000) })
    return alive.ok ? new RunningServer(url, secret) : null
  } catch {
    return null
  }
}
export class RunningServer {
  constructor(
    readonly url: string,
    private readonly secret: string,
  ) {}

  async do<N extends DirectoryCommandName>(name: N, input: Input<N>): Promise<Outcome<N>> {
    const response = await fetch(`${this.url}/_local/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }).catch((cause: unknown) => {
      throw new WaymarkError('command-failed', { message: `Lost the connection to the server at ${this.url}.` }, { cause })
    })
    const answer = (await response.json()) as { code?: ErrorCode; data?: never; span?: Span; source?: string; detail?: string }
    if (response.ok) return answer as Outcome<N>
    if (answer.code && answer.data) throw new WaymarkError(answer.code, answer.data, answer)
    throw new WaymarkError('command-failed', { message: answer.detail ?? `The server at ${this.url} answered ${response.status}.` })
  }
}
