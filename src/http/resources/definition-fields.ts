import { z } from 'zod'
import { type Note, noNote } from '../../accounts/definition-notes.ts'
import { flag, listOf, text } from '../../accounts/fields.ts'
import type { Json } from '../../accounts/store.ts'
import { runInSlices } from '../../lib/run-in-slices.ts'
import { maybeTime, presentAuthor, timeSchema, userSchema } from '../present.ts'
import type { ProjectVisit } from '../resource.ts'

// What definitions of events and of properties have in common: what users wrote about them.

const tag = text({ max: 255 })

export const notesInput = z.object({
  description: text({ max: 4000, blank: true }).optional(),
  tags: listOf(tag).max(100).optional(),
  verified: flag().optional(),
  hidden: flag().optional(),
})

export const notesSchema = {
  description: z.string(),
  tags: z.array(z.string()),
  verified: z.boolean(),
  verified_at: timeSchema.nullable(),
  verified_by: userSchema.nullable(),
  hidden: z.boolean().meta({ description: 'Not to be suggested by editors; queries are not changed' }),
  updated_at: timeSchema.nullable().meta({ description: 'When somebody last changed one of these' }),
  updated_by: userSchema.nullable(),
}

interface Counted {
  readonly id: string
  readonly name: string
  readonly count: number
}

/** A definition that was removed is one again when more values arrive. */
const isRemoved = ({ fields }: Note, { count }: Counted): boolean =>
  typeof fields.removed_at_count === 'number' && count <= fields.removed_at_count

export interface Noted<D extends Counted> {
  readonly definition: D
  readonly note: Note
}

export const withNotes = async <D extends Counted>(visit: ProjectVisit, definitions: readonly D[]): Promise<Noted<D>[]> => {
  const notes = await visit.app.accounts.definitionNotes.of(visit.project.id)
  if (notes.size === 0) return definitions.map((definition) => ({ definition, note: noNote }))
  return runInSlices(noted(definitions, notes), sliceMs)
}

/** A project can have 200,000 names, and the id of each is a hash: other requests have their turn meanwhile. */
const sliceMs = 20
const someRows = 500
function* noted<D extends Counted>(definitions: readonly D[], notes: ReadonlyMap<string, Note>): Generator<void, Noted<D>[]> {
  const found: Noted<D>[] = []
  for (const [i, definition] of definitions.entries()) {
    if (i % someRows === 0) yield
    const note = notes.get(definition.id) ?? noNote
    if (!isRemoved(note, definition)) found.push({ definition, note })
  }
  return found
}

export const presentNote = async ({ app }: ProjectVisit, { description, fields, updated_at, updated_by_id }: Note) => {
  const by = typeof fields.verified_by_id === 'number' ? fields.verified_by_id : null
  return {
    description,
    tags: (fields.tags ?? []) as string[],
    verified: fields.verified === true,
    verified_at: typeof fields.verified_at === 'string' ? fields.verified_at : null,
    verified_by: await presentAuthor(app.accounts, by),
    hidden: fields.hidden === true,
    updated_at: maybeTime(updated_at),
    updated_by: await presentAuthor(app.accounts, updated_by_id),
  }
}

/** Also writes the activity log. `others`: further fields that the change has, as they were and as they are. */
export const writeNote = async <D extends Counted>(
  visit: ProjectVisit,
  scope: 'EventDefinition' | 'PropertyDefinition',
  { definition, note }: Noted<D>,
  { description = note.description, tags, verified, hidden }: z.infer<typeof notesInput>,
  others: { readonly before: object; readonly after: object } = { before: {}, after: {} },
): Promise<void> => {
  const { accounts, clock } = visit.app
  const { user } = visit.caller
  const { id, name } = definition
  const shown = (of: Note) => ({
    tags: (of.fields.tags ?? []) as string[],
    verified: of.fields.verified === true,
    hidden: of.fields.hidden === true,
  })
  const before = { description: note.description, ...shown(note) }
  const now = {
    description,
    tags: tags ? [...new Set(tags)] : before.tags,
    verified: verified ?? before.verified,
    hidden: hidden ?? before.hidden,
  }
  if (JSON.stringify(now) !== JSON.stringify(before)) {
    const fields: Record<string, Json> = {
      tags: now.tags.length > 0 ? now.tags : null,
      hidden: now.hidden || null,
      verified: now.verified || null,
    }
    if (now.verified !== before.verified)
      Object.assign(
        fields,
        now.verified ? { verified_at: clock().toISOString(), verified_by_id: user.id } : { verified_at: null, verified_by_id: null },
      )
    await accounts.definitionNotes.write(visit.project.id, id, { description, fields }, user)
  }
  await accounts.definitionLog.note(
    user,
    visit.project,
    scope,
    { id, name, fields: { ...before, ...others.before } },
    { id, name, fields: { ...now, ...others.after } },
  )
}

/** Nothing stored is removed: the definition is not listed until it is seen again. */
export const removeDefinition = async <D extends Counted>(
  visit: ProjectVisit,
  scope: 'EventDefinition' | 'PropertyDefinition',
  { definition, note }: Noted<D>,
): Promise<void> => {
  const { id, name, count } = definition
  const cleared = Object.fromEntries(Object.keys(note.fields).map((field) => [field, null]))
  const { accounts } = visit.app
  await accounts.definitionNotes.write(
    visit.project.id,
    id,
    { description: '', fields: { ...cleared, removed_at_count: count } },
    visit.caller.user,
  )
  await accounts.definitionLog.note(visit.caller.user, visit.project, scope, { id, name, fields: {} }, null)
}

const orders = ['name', 'count', 'created_at', 'last_seen_at'] as const
type Order = (typeof orders)[number]
export const listParameters = {
  search: 'Only names that contain this text, in any case',
  ordering: `${orders.join(', ')}, each also descending with \`-\`; default: the most frequent first`,
  verified: '`true` or `false`',
  exclude_hidden: '`true`: without hidden ones',
  tags: 'A JSON list: only those with one of these tags',
}

const names = (text: string | null): readonly string[] | null => {
  if (!text) return null
  if (!text.startsWith('[')) return text.split(',')
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.map(String) : null
  } catch {
    return null
  }
}
/** A list of names in a parameter: JSON, or with commas. Null: it is not given. */
export const givenNames = ({ query }: Pick<ProjectVisit, 'query'>, parameter: string): readonly string[] | null =>
  names(query.get(parameter))

type Sortable = Counted & { readonly first: Date | null; readonly last: Date | null }

/** What the parameters of a list ask for. */
export function chosen<D extends Sortable>(visit: ProjectVisit, all: readonly Noted<D>[]): Noted<D>[] {
  const { query } = visit
  const wanted = query.get('search')?.toLowerCase() ?? ''
  const tags = givenNames(visit, 'tags')
  const verified = query.get('verified')
  const found = all.filter(
    ({ definition, note }) =>
      definition.name.toLowerCase().includes(wanted) &&
      (verified === null || String(note.fields.verified === true) === verified) &&
      !(query.get('exclude_hidden') === 'true' && note.fields.hidden === true) &&
      (tags === null || tags.some((one) => ((note.fields.tags ?? []) as string[]).includes(one))),
  )
  const given = query.get('ordering') ?? ''
  const field = orders.find((one) => one === given.replace(/^-/, ''))
  if (!field) return found
  const sign = given.startsWith('-') ? -1 : 1
  return found.sort((a, b) => sign * compared(a.definition, b.definition, field) || (a.definition.name < b.definition.name ? -1 : 1))
}

function compared(a: Sortable, b: Sortable, by: Order): number {
  const time = (at: Date | null) => at?.getTime() ?? 0
  switch (by) {
    case 'name':
      return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
    case 'count':
      return a.count - b.count
    case 'created_at':
      return time(a.first) - time(b.first)
    case 'last_seen_at':
      return time(a.last) - time(b.last)
  }
}
