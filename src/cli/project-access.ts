import { open } from '../engine.ts'
import { WaymarkError } from '../errors/errors.ts'
import type { IngestAnswer } from '../project.ts'
import { type Values, wrongUsage } from './command.ts'
import { runningServer } from './running-server.ts'

/** A project for one command: of a running server when one owns the directory, of the opened files otherwise. */
export interface ProjectAccess {
  readonly isServer: boolean
  query(query: unknown): Promise<object>
  ingest(body: unknown): Promise<IngestAnswer>
}

export const projectOption = { value: 'ID', summary: 'the number of the project' } as const

export function projectId(values: Values): number {
  const text = values.required('project')
  if (!/^\d+$/.test(text)) throw wrongUsage(`--project takes the number of a project, not ${text}.`)
  return Number(text)
}

export async function withProject<T>(dataDir: string, id: number, work: (project: ProjectAccess) => Promise<T>): Promise<T> {
  const server = await runningServer(dataDir)
  if (server)
    return work({
      isServer: true,
      query: (query) => server.query(id, query),
      ingest: (body) => server.ingest(id, body) as Promise<IngestAnswer>,
    })
  const waymark = await open({ dataDir })
  try {
    const project = await waymark.project(id)
    return await work({ isServer: false, query: (query) => project.query(query), ingest: (body) => project.ingest(body) })
  } finally {
    await waymark.close()
  }
}

export const isBadEvent = (error: unknown): error is WaymarkError<'bad-event'> =>
  error instanceof WaymarkError && error.code === 'bad-event'
