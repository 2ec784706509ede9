import * as z from 'zod'
import { type NamesAsked, nameOrders } from '../../../language/catalog/known-names.ts'
import { nameSearch } from '../../../language/catalog/name-labels.ts'
import { flag, listOf, text } from '../../../service/accounts/fields.ts'
import { type Note, noNote } from '../../../service/accounts/projects/definition-notes.ts'
import type { Json } from '../../../service/accounts/store.ts'
import { failures } from '../errors.ts'
import { maybeTime, presentAuthor } from '../present.ts'
import { pageBounds } from '../requests/pages.ts'
import { repeatable } from '../requests/query-parameter.ts'
import type { ProjectVisit } from '../resource.ts'

// What definitions of events and of properties have in common: what users wrote about them.

const tag = text({ max: 255 })

export const notesInput = z.object({
  description: text({ max: 4000, blank: true }).optional(),
  tags: listOf(tag).max(100).optional(),
  verified: flag().optional(),
  hidden: flag().optional(),
})

interface Counted {
  readonly id: string
  readonly name: string
  readonly count: number
}

/** Until it has more values than this, a definition that was removed is not listed. */
const removedAt = ({ fields }: Note): number | null => (typeof fields.removed_at_count === 'number' ? fields.removed_at_count : null)

export interface Noted<D extends Counted> {
  readonly definition: D
  readonly note: Note
}

export type Notes = ReadonlyMap<string, Note>
export const notesOf = ({ app, project }: ProjectVisit): Promise<Notes> => app.accounts.definitionNotes.of(project.id)

type Given = Omit<NamesAsked, 'removed' | 'limit' | 'offset' | 'order'> & Partial<Pick<NamesAsked, 'order'>>

/** Asks for a single name, unless it was removed. */
export const askedOne = (notes: Notes, given: Given): NamesAsked => ({
  ...given,
  order: [],
  limit: 1,
  offset: 0,
  removed: removedIn(notes),
})

const removedIn = (notes: Notes): readonly { readonly id: string; readonly count: number }[] =>
  [...notes].flatMap(([id, note]) => {
    const count = removedAt(note)
    return count === null ? [] : [{ id, count }]
  })

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

export const listParameters = {
  search: 'Only names that contain all of these words, or whose usual label does (`library version` finds `$lib_version`), ignoring case',
  ordering: repeatable(`${nameOrders.join(', ')}, with \`-\` descending; the first one is the most important`),
  verified: '`true` or `false`',
  exclude_hidden: '`true`: without hidden ones',
  tags: 'A JSON list: only those with one of these tags. Anything but a list is ignored, and named in the header `X-Ignored-Parameters`',
}

const listIn = (text: string): readonly string[] | null => {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.map(String) : null
  } catch {
    return null
  }
}
const names = (text: string): readonly string[] => (text.startsWith('[') ? (listIn(text) ?? []) : text.split(','))

/** A list of names in a parameter: JSON, with commas, or the parameter repeated. Null: it is not given. */
export const givenNames = ({ query }: Pick<ProjectVisit, 'query'>, parameter: string): readonly string[] | null => {
  const given = query.getAll(parameter).filter((text) => text !== '')
  if (given.length === 0) return null
  // A name may have a comma, but not if there is one parameter for all of them.
  return given.length === 1 ? names(given[0]!) : given.flatMap((text) => (text.startsWith('[') ? names(text) : [text]))
}

/** Tags are a JSON list; anything else chooses nothing, and is named in the answer. */
const givenTags = ({ query }: Pick<ProjectVisit, 'query'>): readonly string[] | null => {
  const text = query.get('tags')
  return text ? listIn(text) : null
}
const ignoredParametersHeader = 'x-ignored-parameters'
/** The header of the answer that names what could not be read. */
export const ignoredIn = ({ query }: Pick<ProjectVisit, 'query'>): Readonly<Record<string, string>> =>
  query.get('tags') && givenTags({ query }) === null ? { [ignoredParametersHeader]: 'tags' } : {}

/** The criteria of `ordering`, the most important first. */
const givenOrder = ({ query }: Pick<ProjectVisit, 'query'>): NamesAsked['order'] =>
  query
    .getAll('ordering')
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
    .map((text) => {
      const by = nameOrders.find((one) => one === text.replace(/^-/, ''))
      if (!by) throw failures.invalid(`ordering must be one of ${nameOrders.join(', ')}, or one with - for descending.`, 'ordering')
      return { by, isDescending: text.startsWith('-') }
    })

/** What the parameters of a list ask for. */
export function askedPage(visit: ProjectVisit, notes: Notes, byDefault: NamesAsked['order'][number], given: Given): NamesAsked {
  const { query } = visit
  const search = nameSearch(query.get('search') ?? '')
  const tags = givenTags(visit)
  const verified = query.get('verified')
  const isHidden = query.get('exclude_hidden') === 'true'
  const isVerified = ({ fields }: Note) => fields.verified === true
  const fits = (note: Note) =>
    (verified === null || String(isVerified(note)) === verified) &&
    !(isHidden && note.fields.hidden === true) &&
    (tags === null || tags.length === 0 || tags.some((one) => ((note.fields.tags ?? []) as string[]).includes(one)))
  const noted = [...notes]
  // Names without a note are alike: all of them fit, or none does.
  const ids = noted.filter(([, note]) => fits(note) !== fits(noNote)).map(([id]) => id)
  const asked = givenOrder(visit)
  const order = asked.length > 0 ? asked : [byDefault]
  return {
    ...given,
    ...pageBounds(query),
    order,
    removed: removedIn(notes),
    ...(search ? { search } : {}),
    ...(!fits(noNote) ? { onlyIds: ids } : ids.length > 0 ? { withoutIds: ids } : {}),
    ...(order.some(({ by }) => by === 'verified') ? { verified: noted.filter(([, note]) => isVerified(note)).map(([id]) => id) } : {}),
  }
}
