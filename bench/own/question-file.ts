import { readFileSync } from 'node:fs'

// A person's own questions: a JSON array, or JSON lines. Each is a query, a statement as text, or { "name": …, "query": … } of either.

export interface OwnQuestion {
  readonly what: string
  readonly query: { readonly kind: string } & Readonly<Record<string, unknown>>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${where} is not JSON: ${(error as Error).message}`)
  }
}

function questionOf(entry: unknown, where: string): OwnQuestion {
  const named = isObject(entry) && 'query' in entry && !('kind' in entry) ? entry : { query: entry }
  const { query } = named
  const name = 'name' in named && typeof named.name === 'string' ? named.name : null
  if (typeof query === 'string') return { what: name ?? query.replace(/\s+/g, ' ').slice(0, 80), query: { kind: 'SqlLikeQuery', query } }
  if (!isObject(query) || typeof query.kind !== 'string')
    throw new Error(`${where} is neither a query (an object with a kind) nor a statement (a text)`)
  return { what: name ?? `${where}: ${query.kind}`, query: query as OwnQuestion['query'] }
}

export function readQuestions(path: string): readonly OwnQuestion[] {
  const text = readFileSync(path, 'utf8').trim()
  const entries = text.startsWith('[')
    ? (parsed(text, path) as unknown[]).map((entry, i) => [entry, `question ${i + 1}`] as const)
    : text
        .split('\n')
        .flatMap((line, i) => (line.trim() === '' ? [] : [[parsed(line, `line ${i + 1} of ${path}`), `line ${i + 1}`] as const]))
  if (entries.length === 0) throw new Error(`${path} has no questions`)
  return entries.map(([entry, where]) => questionOf(entry, where))
}
