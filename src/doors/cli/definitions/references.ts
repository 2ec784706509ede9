import { isObject } from '../../../lib/is-object.ts'
import type { Kind, Made } from './made.ts'

// Ids in definitions: queries, cohorts and flags name actions, cohorts and flags of their project. They get the ids of those that were made of them.

/** What a record names, and nothing was made of. */
export class NotMoved extends Error {
  constructor(
    readonly kind: Kind,
    readonly id: unknown,
  ) {
    super(
      `it uses ${kind === 'actions' ? 'the action' : kind === 'cohorts' ? 'the cohort' : 'the flag'} ${String(id)}, which was not moved`,
    )
  }
}

type Fields = Record<string, unknown>

/** No definition that anybody wrote is nested deeper. */
const deepest = 200

/** A record that cannot be read. */
export class TooDeep extends Error {
  constructor() {
    super(`it is nested more than ${deepest} levels deep`)
  }
}

/** The same definition with the ids of the other project. Throws `NotMoved` and `TooDeep`. */
export function withNewIds(value: unknown, made: Made, depth = 0): unknown {
  if (depth > deepest) throw new TooDeep()
  if (Array.isArray(value)) return value.map((one: unknown) => withNewIds(one, made, depth + 1))
  if (!isObject(value)) return value
  const copy: Fields = {}
  for (const [key, one] of Object.entries(value)) copy[key] = withNewIds(one, made, depth + 1)
  renameIn(copy, made)
  return copy
}

const cohortTypes: ReadonlySet<unknown> = new Set(['cohort', 'precalculated-cohort', 'static-cohort', 'dynamic-cohort'])

function renameIn(fields: Fields, made: Made): void {
  const ids = (kind: Kind, value: unknown): unknown =>
    Array.isArray(value) ? value.map((one: unknown) => newId(kind, one, made)) : newId(kind, value, made)
  if (fields.kind === 'ActionsNode' && 'id' in fields) fields.id = ids('actions', fields.id)
  if (fields.type === 'actions' && 'id' in fields) fields.id = ids('actions', fields.id)
  if ('actionId' in fields) fields.actionId = ids('actions', fields.actionId)
  if (fields.event_type === 'actions' && 'key' in fields) fields.key = ids('actions', fields.key)
  if (fields.seq_event_type === 'actions' && 'seq_event' in fields) fields.seq_event = ids('actions', fields.seq_event)
  if (cohortTypes.has(fields.type) && 'value' in fields) fields.value = ids('cohorts', fields.value)
  if (fields.type === 'cohort' && 'property' in fields) fields.property = ids('cohorts', fields.property)
  if (fields.breakdown_type === 'cohort' && 'breakdown' in fields) fields.breakdown = ids('cohorts', fields.breakdown)
  if (fields.type === 'flag' && 'key' in fields) fields.key = String(ids('feature_flags', fields.key))
  if ('cohort_ids' in fields) fields.cohort_ids = ids('cohorts', fields.cohort_ids)
}

function newId(kind: Kind, id: unknown, made: Made): unknown {
  if ((typeof id !== 'number' && typeof id !== 'string') || id === '' || id === 'all') return id
  const found = made.find(kind, id)
  if (found === undefined) throw new NotMoved(kind, id)
  return found
}
