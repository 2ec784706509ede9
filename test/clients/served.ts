import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { program } from '../harness/programs.ts'

// `waymark serve` in a process of its own: the built command where WAYMARK_CLI names one, else one made of the sources.

const command = [process.env.WAYMARK_CLI ?? program('cli')]

interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

export interface Served {
  readonly url: string
  readonly projectId: number
  readonly projectKey: string
  readonly process: ChildProcess
  readonly dataDir: string
  readonly personalKey: string
  /** Lines that the server wrote about itself and that are no plain report of a request. */
  readonly complaints: LogLine[]
  query(query: object): Promise<{ readonly results: readonly (readonly unknown[])[]; readonly [field: string]: unknown }>
  /** Rows of a statement. */
  rows(sql: string): Promise<readonly (readonly unknown[])[]>
  api(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>
  /** Fields of events and batches that the client sent and that nobody knows. */
  strangeFields(): Promise<readonly unknown[]>
  stop(): Promise<void>
}

interface Place {
  /** Not given: one of its own, gone with the server. */
  readonly dataDir?: string
  readonly port?: number
  /** Of an earlier start on that directory: it is printed once. */
  readonly personalKey?: string
  readonly args?: readonly string[]
}

export async function startServe(place?: Place): Promise<Served> {
  const dataDir = place?.dataDir ?? (await mkdtemp(join(tmpdir(), 'waymark-clients-')))
  const args = ['serve', '--data', dataDir, '--port', String(place?.port ?? 0), '--json', ...(place?.args ?? [])]
  const child = spawn(process.execPath, [...command, ...args], { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] })
  const complaints: LogLine[] = []
  const orphaned = () => child.kill('SIGKILL')
  process.once('exit', orphaned)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  createInterface({ input: child.stderr }).on('line', (line) => {
    try {
      const entry = JSON.parse(line) as LogLine
      if (entry.level !== 'info') complaints.push(entry)
    } catch {
      complaints.push({ level: 'raw', message: line })
    }
  })
  const ready = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${JSON.stringify(complaints)}`)))
  })
  const facts = JSON.parse(ready) as { url: string; project_id: number; project_api_key: string; personal_api_key?: string }
  const personalKey = facts.personal_api_key ?? place?.personalKey ?? ''
  const api: Served['api'] = async (method, path, body) => {
    const response = await fetch(facts.url + path, {
      method,
      headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
  const query: Served['query'] = async (asked) => {
    const { status, body } = await api('POST', `/api/projects/${facts.project_id}/query/`, { query: asked })
    if (status !== 200) throw new Error(`the query was answered with ${status}: ${JSON.stringify(body)}`)
    return body as Awaited<ReturnType<Served['query']>>
  }
  return {
    url: facts.url,
    projectId: facts.project_id,
    projectKey: facts.project_api_key,
    process: child,
    dataDir,
    personalKey,
    complaints,
    api,
    query,
    rows: async (sql) => (await query({ kind: 'SqlLikeQuery', query: sql })).results,
    strangeFields: async () => {
      const { body } = await api('GET', `/api/projects/${facts.project_id}/ingestion_warnings/`)
      const { results } = body as { results: readonly { type: string; samples: readonly { details: unknown }[] }[] }
      return results.filter(({ type }) => type === 'unknown_event_field').flatMap(({ samples }) => samples.map(({ details }) => details))
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      process.off('exit', orphaned)
      if (place?.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}
