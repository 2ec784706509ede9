import { isObject } from '../../lib/is-object.ts'
import { chartFields } from '../../queries/answers/answer-fields.ts'
import type { SharedInsight, SharedView } from './shared-view.ts'

// The JSON of a public link: answers, and not the questions, whose filters may hold values that are not for readers.

const answerFields = ['columns', 'types', 'hasMore', 'limit', 'offset', ...chartFields, 'timezone', 'last_refresh'] as const

/** Rows of charts repeat the query. */
const ofTheQuestion = new Set(['filter', 'action', 'action_id', 'people', 'persons_urls'])

const withoutQuestion = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutQuestion)
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !ofTheQuestion.has(name))) : value
}

/** Rows of a statement are the reader's as they are. */
const isRows = (answer: Readonly<Record<string, unknown>>): boolean => Array.isArray(answer.columns)

export const sharedInsightJson = ({ id, name, description, kind, answer, error }: SharedInsight) => ({
  id,
  name,
  description,
  kind,
  result: answer === null ? null : isRows(answer) ? (answer.results ?? null) : withoutQuestion(answer.results ?? null),
  ...Object.fromEntries(answerFields.flatMap((field) => (answer?.[field] === undefined ? [] : [[field, answer[field]] as const]))),
  ...(error !== null && { error }),
})

export const sharedJson = ({ type, name, description, timezone, computedAt, tiles }: SharedView) => {
  const about = { type, timezone, computed_at: computedAt.toISOString() }
  if (type === 'insight') return { ...about, insight: sharedInsightJson(tiles[0] as SharedInsight) }
  return {
    ...about,
    dashboard: {
      name,
      description,
      tiles: tiles.map((tile) =>
        'text' in tile ? { text: { body: tile.text }, layouts: tile.layouts } : { insight: sharedInsightJson(tile), layouts: tile.layouts },
      ),
    },
  }
}
