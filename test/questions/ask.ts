import { isDeepStrictEqual } from 'node:util'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import { finish, firstLine, run, start } from '../doors/cli/shell.ts'
import type { ShopEvent } from './events.ts'
import { type Question, questions, shown } from './questions.ts'

// Asks the questions of the page by each way there is: the library, HTTP, the command line.

type Ask = (query: Readonly<Record<string, unknown>>) => Promise<unknown>
type Answers = Question['answers']
export type Way = 'library' | 'HTTP' | 'command line'

export interface Wrong {
  readonly way: Way
  readonly question: string
  readonly as: 'sql' | 'kind'
  readonly wanted: unknown
  readonly got: unknown
}

const batchSize = 10_000
/** Enough for millions of events, and room beside it for whatever else runs. */
const memoryLimit = '1GB'

export async function store(dataDir: string, events: Iterable<ShopEvent>): Promise<void> {
  await using waymark = await open({ dataDir, memoryLimit })
  const project = await waymark.createProject({ name: 'Shop' })
  let batch: ShopEvent[] = []
  const send = () => project.ingest({ batch, historical_migration: true })
  for (const event of events) {
    batch.push(event)
    if (batch.length < batchSize) continue
    await send()
    batch = []
  }
  if (batch.length > 0) await send()
}

/** Sums of fractions may end in other digits: what is as good as equal is equal. */
const near = (a: unknown, b: unknown): boolean => {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a))
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => near(one, b[i]))
  return isDeepStrictEqual(a, b)
}

async function asked(way: Way, ask: Ask, all: readonly Question[], answers: readonly Answers[]): Promise<readonly Wrong[]> {
  const wrong: Wrong[] = []
  for (const question of all) {
    const wanted = answers[question.number - 1]!
    const name = `${question.number}. ${question.text}`
    const rows = await ask({ kind: 'SqlLikeQuery', query: question.sql })
    if (!near(wanted.sql, rows)) wrong.push({ way, question: name, as: 'sql', wanted: wanted.sql, got: rows })
    const got = shown(question, await ask(question.kind))
    if (!near(wanted.kind, got)) wrong.push({ way, question: name, as: 'kind', wanted: wanted.kind, got })
  }
  return wrong
}

const overHttp = async (waymark: LocalWaymark, projectId: number): Promise<Ask> => {
  const { key } = await waymark.createPersonalKey({ label: 'questions', scopes: ['query:read'] })
  const handler = createHandler(waymark)
  return async (query) => {
    const response = await handler(
      new Request(`http://localhost/api/projects/${projectId}/query/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }),
    )
    const answer = (await response.json()) as { results: unknown; detail?: string }
    if (!response.ok) throw new Error(answer.detail)
    return answer.results
  }
}

const onCommandLine =
  (dataDir: string, projectId: number): Ask =>
  async (query) => {
    const text = query.kind === 'SqlLikeQuery' ? (query.query as string) : JSON.stringify(query)
    const { code, out, err } = await run(['query', text, '--data', dataDir, '--project', String(projectId), '--format', 'json'])
    if (code !== 0) throw new Error(err)
    return (JSON.parse(out) as { results: unknown }).results
  }

export const ways: readonly Way[] = ['library', 'HTTP', 'command line']

/** Every question by these ways; answers what is wrong. The command line asks a server, as people mostly do: opening a directory forty times takes long. */
export async function wrongAnswers(dataDir: string, answers: readonly Answers[], by: readonly Way[] = ways): Promise<readonly Wrong[]> {
  const all = questions()
  const wrong: Wrong[] = []
  const waymark = await open({ dataDir, memoryLimit })
  const project = await waymark.project('Shop')
  const inLibrary: Ask = async (query) => ((await project.answer(query)) as { results: unknown }).results
  try {
    if (by.includes('library')) wrong.push(...(await asked('library', inLibrary, all, answers)))
    if (by.includes('HTTP')) wrong.push(...(await asked('HTTP', await overHttp(waymark, project.id), all, answers)))
  } finally {
    await waymark.close()
  }
  if (!by.includes('command line')) return wrong
  const server = start(['serve', '--data', dataDir, '--port', '0', '--json', '--memory', memoryLimit])
  const ended = finish(server)
  try {
    await firstLine(server)
    return [...wrong, ...(await asked('command line', onCommandLine(dataDir, project.id), all, answers))]
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}
