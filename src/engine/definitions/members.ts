import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { alias, call, field, isIn, literal, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { parseQuery } from '../../language/parser/parse.ts'
import { isUuid } from '../../lib/ids/time-ordered-uuid.ts'
import { columnOfCsv, csvIds } from './csv-ids.ts'
import { check } from './records.ts'
import type { DefinitionStore } from './store.ts'
import type { Matching } from './stored-cohort.ts'

// Who the members of a static cohort are, as a caller says it.

/** The source of a static cohort's members. */
const membersSchema = z.looseObject({
  /** Uuids of persons. */
  person_ids: z.array(z.string()).nullish(),
  distinct_ids: z.array(z.string()).nullish(),
  /** The first column, or the one named distinct_id or person_id, or `csv_column`. */
  csv: z.string().nullish(),
  csv_column: z.string().nullish(),
  /** A property of persons, which `values` or the column of the CSV are compared with. */
  match_property: z.string().nullish(),
  values: z.array(z.string()).nullish(),
  /** A statement whose first column identifies persons, or any query with actors. */
  query: z
    .union([z.string(), z.looseObject({ kind: z.string() })], { error: 'A query must be a statement, or an object with a kind.' })
    .nullish(),
})

export interface Members {
  /** Uuids. */
  readonly persons: readonly string[]
  /** Null: they were not looked up by values. */
  readonly matching: Matching | null
}

/** Values that matched nobody, which an answer shows. */
const mostShown = 100
const chunk = 1000
const uuidLength = 36

/** null when the request does not set members. Unknown ids are skipped. */
export async function membersOf(fields: unknown, store: DefinitionStore): Promise<Members | null> {
  const {
    person_ids: ids,
    distinct_ids: distinctIds,
    csv,
    csv_column,
    match_property: property,
    values,
    query,
  } = check(membersSchema, fields)
  if (!ids && !distinctIds && !csv && !values && !query) return null
  if (values && !property)
    throw new WaymarkError('validation-failed', { message: 'Values need match_property: a property of persons.', attr: 'match_property' })
  const persons = [...(ids ?? [])]
  const names = [...(distinctIds ?? [])]
  const sought = [...(values ?? [])]
  if (csv) {
    const found =
      property || csv_column
        ? { kind: 'distinct' as const, ids: columnOfCsv(csv, csv_column ?? property!, Boolean(csv_column)) }
        : csvIds(csv)
    ;(property ? sought : found.kind === 'person' ? persons : names).push(...found.ids)
  }
  const counted = tally()
  persons.push(
    ...(await lookedUp(names, { from: 'person_distinct_ids', person: 'person_id', value: field('distinct_id') }, store, counted)),
  )
  if (property) {
    const value = call('toString', field('properties', property))
    persons.push(...(await lookedUp(sought, { from: 'persons', person: 'id', value }, store, counted)))
  }
  if (query) persons.push(...(await personsIn(query, store)))
  const found = [...new Set(persons.map((id) => id.toLowerCase()).filter(isUuid))]
  return { persons: found, matching: names.length + sought.length > 0 ? counted.matching() : null }
}

function tally() {
  const counts = { values: 0, unmatched: 0, several: 0 }
  const unmatched: string[] = []
  return {
    add(value: string, persons: number) {
      counts.values++
      if (persons > 1) counts.several++
      if (persons > 0) return
      counts.unmatched++
      if (unmatched.length < mostShown) unmatched.push(value.slice(0, 200))
    },
    matching: (): Matching => ({ ...counts, unmatched_values: unmatched }),
  }
}

/** Addresses of mail are the same in whatever case they are written. */
const comparable = (value: string): string => (value.includes('@') ? value.toLowerCase() : value)

async function lookedUp(
  given: readonly string[],
  { from, person, value }: { readonly from: string; readonly person: string; readonly value: Expr },
  store: DefinitionStore,
  counted: ReturnType<typeof tally>,
): Promise<string[]> {
  const values = [...new Set(given.map((one) => one.trim()).filter((one) => one !== ''))]
  const persons: string[] = []
  for (let i = 0; i < values.length; i += chunk) {
    const some = values.slice(i, i + chunk)
    const columns = [alias(call('concat', call('toString', field(person)), value), 'found')]
    const where = isIn(
      call('lower', value),
      [...new Set(some.map((one) => one.toLowerCase()))].map((one) => literal(one)),
    )
    const byValue = new Map<string, Set<string>>()
    for (const text of await store.texts(select({ columns, from: table(from), where }))) {
      const key = comparable(text.slice(uuidLength))
      byValue.set(key, (byValue.get(key) ?? new Set()).add(text.slice(0, uuidLength)))
    }
    for (const one of some) {
      const found = byValue.get(comparable(one)) ?? new Set()
      counted.add(one, found.size)
      persons.push(...found)
    }
  }
  return persons
}

async function personsIn(query: string | { readonly kind: string }, store: DefinitionStore): Promise<string[]> {
  const found = typeof query === 'string' ? await store.texts(parseQuery(query)) : await store.actors(query)
  const strange = found.find((id) => !isUuid(id))
  if (strange === undefined) return found
  const message = `The first column of the query must contain person ids, but got ${JSON.stringify(strange)}.`
  throw new WaymarkError('validation-failed', { message, attr: 'query' })
}
