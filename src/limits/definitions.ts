import { WaymarkError } from '../errors/errors.ts'
import { isObject } from '../lib/is-object.ts'
import { otherLimits } from './limits.ts'

// Actions and cohorts: every query of the project loads their definitions, and so does its opening.

const count = (value: number) => value.toLocaleString('en-US')

/** Refuses a definition that is too large, one too many, or more than the project can load. `all`: the JSON of those that are there. */
export function mustFit(kind: 'actions' | 'cohorts', all: ReadonlyMap<number, string>, id: number, definition: string): void {
  const refuse = (message: string) => new WaymarkError('validation-failed', { message, attr: null })
  const before = all.get(id)
  const { number: most } = otherLimits.definitionSize
  if (definition.length > most && definition.length > (before?.length ?? 0))
    throw refuse(
      `This is too large: it has ${count(definition.length)} characters as JSON, and the limit for one of the ${kind} is ${count(most)}.`,
    )
  if (before === undefined && all.size >= otherLimits[kind].number)
    throw refuse(`A project can have at most ${count(otherLimits[kind].number)} ${kind}. Remove some of them first.`)
  let sum = definition.length - (before?.length ?? 0)
  for (const text of all.values()) sum += text.length
  if (sum > otherLimits.definitionsInAll.number && definition.length > (before?.length ?? 0))
    throw refuse(
      `The ${kind} of a project can have ${count(otherLimits.definitionsInAll.number)} characters as JSON in all. Remove some of them first.`,
    )
}

/** Larger ones were written before there was a limit: an opening cannot load many of them. */
export const largestStanding = 1024 * 1024

/** A definition that can be loaded: without its description, and if that does not help without its condition. */
export function loadableDefinition(text: string): string {
  if (text.length <= largestStanding) return text
  const read: unknown = JSON.parse(text)
  const fields: Record<string, unknown> = isObject(read) ? { ...read } : {}
  const shortened = { ...fields, name: String(fields.name ?? '').slice(0, 400), description: '' }
  const kept = JSON.stringify(shortened)
  if (kept.length <= largestStanding) return kept
  const { name, is_static, created_by_id, created_at, updated_at } = shortened as Record<string, unknown>
  const emptied =
    'steps' in fields ? { steps: [] } : { is_static, filters: is_static === true ? null : { properties: { type: 'AND', values: [] } } }
  return JSON.stringify({
    name,
    description: 'Its condition was too large to be stored.',
    ...emptied,
    created_by_id,
    created_at,
    updated_at,
  })
}
