import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openSaltFile } from '../../engine/storage/files/salt-file.ts'
import { writeSecretKeys } from '../../engine/storage/files/secret-key-file.ts'
import { syncFolder } from '../../engine/storage/files/sync-folder.ts'
import { type Instance, openInstance } from '../../engine/storage/instance.ts'
import { forgetOwner } from '../../engine/storage/locks/lock.ts'
import { type ClusterSource, withClusterSource } from '../../engine/storage/moving/cluster-source.ts'
import { compareStores } from '../../engine/storage/moving/compare.ts'
import { openStoreBack } from '../../engine/storage/moving/copy-back.ts'
import { addressOf } from '../../engine/storage/moving/databases.ts'
import type { EngineChoice } from '../../engine/storage/open-stores.ts'
import { readStorage } from '../../engine/storage/postgres/plugin-storage.ts'
import { readSalts } from '../../engine/storage/postgres/salts.ts'
import { accountsFile } from '../directory/control.ts'
import { prepareSharedAccounts } from '../directory/shared-control.ts'
import { storageIn, writeStorageFile } from '../plugins/file-storage.ts'
import { copyAccountsBack } from './accounts-back.ts'
import { keyIdOf } from './copy-accounts.ts'
import { copying, failed, type MovedProjectSummary, type MoveParts, mustBeEqual } from './parts.ts'

// Moves what the databases of a cluster have into a new data directory. Most events are copied while servers take others; the rest when no server runs any more. The
// directory gets its name at the end: until then it is a folder beside it, with which the next attempt goes on.

export interface MovedBackSummary {
  readonly from: string
  readonly to: string
  readonly projects: readonly MovedProjectSummary[]
  readonly account_rows: number
  /** How long no server ran, from when the last one had stopped. */
  readonly pause_seconds: number
  readonly seconds: number
}

interface Parts extends MoveParts {
  /** Resolves after a while, or rejects when the command is stopped. */
  pause(): Promise<void>
}

interface Named {
  readonly id: number
  readonly name: string
}

const workFolder = (dataDir: string) => `${dataDir}.moving`
const readyFile = 'ready'

/** What somebody has put there meanwhile stays. */
async function removeEmpty(dataDir: string): Promise<void> {
  try {
    await rmdir(dataDir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** An earlier attempt may have copied projects that are gone. */
async function removeOthers(data: string, projects: readonly Named[]): Promise<void> {
  const known = new Set(projects.map(({ id }) => String(id)))
  for (const name of await readdir(join(data, 'projects')).catch(() => []))
    if (!known.has(name)) await rm(join(data, 'projects', name), { recursive: true, force: true })
}

/** The directory is missing or empty. */
async function mustBeFree(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length > 0) throw failed(`${dataDir} is not empty. Name a directory that does not exist yet.`)
}

const projectsOf = ({ postgres }: ClusterSource): Promise<readonly Named[]> =>
  postgres.rows<{ id: number; name: string }>(`SELECT id, name FROM ${postgres.schema}.projects ORDER BY id`) as Promise<readonly Named[]>

/** Copies what is applied while servers go on. */
async function preload(source: ClusterSource, instance: Instance, parts: Parts): Promise<void> {
  for (const { id } of await projectsOf(source)) {
    const { appliedSeq } = await source.positionOf(id)
    if (appliedSeq === 0) continue
    const store = await openStoreBack({ instance, store: source.store(id), ...copying(id, parts) }, id)
    try {
      await store.copyEvents(appliedSeq)
    } finally {
      await store.close()
    }
  }
}

/** Until the operator has stopped all servers. */
async function waitForServers(source: ClusterSource, parts: Parts): Promise<void> {
  for (;;) {
    const servers = await source.servers()
    if (servers === 0) return
    parts.onProgress({ phase: 'waiting', project: 0, rows: servers })
    await parts.pause()
  }
}

/** A server that stopped may have left records that are not applied. */
async function applyAll(source: ClusterSource, parts: Parts): Promise<void> {
  const behind: number[] = []
  for (const { id } of await projectsOf(source)) {
    const { lastSeq, appliedSeq } = await source.positionOf(id)
    if (appliedSeq < lastSeq) behind.push(id)
  }
  if (behind.length === 0) return
  const server = await parts.openCluster()
  try {
    for (const id of behind) {
      parts.onProgress({ phase: 'following', project: id })
      await server.reach(id)
    }
  } finally {
    await server.close()
  }
}

async function moveProject(source: ClusterSource, instance: Instance, { id, name }: Named, parts: Parts) {
  const { lastSeq } = await source.positionOf(id)
  if (lastSeq === 0) return { id, name, position: 0, events: 0, persons: 0, copied_again: false }
  const there = source.store(id)
  const store = await openStoreBack({ instance, store: there, ...copying(id, parts) }, id)
  try {
    const copy = async () => {
      await store.copyEvents(lastSeq)
      await store.finish(lastSeq)
      parts.onProgress({ phase: 'comparing', project: id })
      return compareStores(instance, store.database, there)
    }
    let compared = await copy()
    const differs = compared.differences.some(({ what }) => what === 'events')
    if (differs) {
      // Events that were copied earlier have been removed since.
      await store.clearEvents()
      compared = await copy()
    }
    mustBeEqual(id, compared)
    return { id, name, position: lastSeq, events: compared.events, persons: compared.persons, copied_again: differs }
  } finally {
    await store.close()
  }
}

function mustHaveKeys(keys: ReadonlySet<string>, secretKeys: readonly string[]): void {
  const known = new Set(secretKeys.map(keyIdOf))
  const missing = [...keys].filter((id) => !known.has(id))
  if (missing.length > 0)
    throw failed(
      `Secrets (of exports, alerts, second factors) are sealed with the key ${missing.join(', ')}, which WAYMARK_SECRET_KEY does not have. Give this command the value that the servers have.`,
    )
}

/** Everything once no server runs any more. */
async function finish(source: ClusterSource, instance: Instance, parts: Parts) {
  await applyAll(source, parts)
  const all = await projectsOf(source)
  await removeOthers(instance.dataDir, all)
  const projects = []
  for (const project of all) {
    parts.signal.throwIfAborted()
    projects.push(await moveProject(source, instance, project, parts))
  }
  const { rows, keys } = await copyAccountsBack(source.postgres, instance)
  mustHaveKeys(keys, parts.secretKeys)
  await instance.checkpoint('control')
  return { projects, rows }
}

export interface SourceFindings {
  /** Without passwords. */
  readonly from: string
  readonly projects: number
  readonly events: number
  readonly servers: number
  /** Why it cannot be moved; null: it can. */
  readonly problem: string | null
}

/** Looks whether a cluster can be moved into a directory. */
export function inspectSource(engine: EngineChoice, dataDir: string): Promise<SourceFindings> {
  const from = addressOf(engine)
  return withClusterSource(engine, null, async (source) => {
    const projects = await projectsOf(source)
    let events = 0
    for (const { id } of projects)
      events += (await source.store(id).rows<[number]>(`SELECT count() FROM events WHERE project_id = ${id}`))[0]?.[0] ?? 0
    const { movedTo } = source
    const problem =
      movedTo === null
        ? await mustBeFree(dataDir).then(
            () => null,
            (error: Error) => error.message.replace(/\.$/, ''),
          )
        : `the data was moved to ${movedTo.to} at ${movedTo.at}`
    return { from, projects: projects.length, events, servers: await source.servers(), problem }
  })
}

export async function moveToDirectory(parts: Parts): Promise<MovedBackSummary> {
  const { dataDir, engine, memoryLimit } = parts
  const began = performance.now()
  const folder = workFolder(dataDir)
  const data = join(folder, 'data')
  const from = addressOf(engine)
  return withClusterSource(engine, prepareSharedAccounts, async (source) => {
    const isReady = (await readFile(join(folder, readyFile), 'utf8').catch(() => null)) !== null
    if (source.movedTo !== null && (!isReady || source.movedTo.to !== dataDir))
      throw failed(`The data of ${from} was moved to the directory ${source.movedTo.to} at ${source.movedTo.at}.`)
    await mustBeFree(dataDir)
    let paused = performance.now()
    let made: Awaited<ReturnType<typeof finish>> = { projects: [], rows: 0 }
    if (source.movedTo === null) {
      await rm(join(folder, readyFile), { force: true })
      await mkdir(data, { recursive: true, mode: 0o700 })
      const instance = await openInstance({ dataDir: data, memoryLimit })
      try {
        await instance.attach('control', 'control.duckdb', accountsFile)
        await preload(source, instance, parts)
        await waitForServers(source, parts)
        paused = performance.now()
        made = await finish(source, instance, parts)
      } finally {
        await instance.close()
      }
      if (parts.secretKeys.length > 0) writeSecretKeys(data, parts.secretKeys)
      await writeStorageFile(storageIn(data), await readStorage(source.postgres))
      openSaltFile(data, { isCopy: false }).write(await readSalts(source.postgres))
      await parts.settle(data) // it can be opened
      parts.signal.throwIfAborted()
      await writeFile(join(folder, readyFile), '', { flush: true })
      await source.mark(dataDir, new Map(made.projects.map(({ id, position }) => [id, position])))
    }
    await forgetOwner(data)
    await removeEmpty(dataDir)
    await rename(data, dataDir)
    syncFolder(dirname(dataDir))
    await rm(folder, { recursive: true, force: true })
    const now = performance.now()
    const times = { pause_seconds: (now - paused) / 1000, seconds: (now - began) / 1000 }
    return { from, to: dataDir, projects: made.projects, account_rows: made.rows, ...times }
  })
}
