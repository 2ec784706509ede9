import { nearestSpellings } from '../../lib/text/spelling.ts'
import { type CatalogField, type PropertyScope, tables } from '../catalog/tables.ts'
import type { ResolveContext } from './context.ts'

// Likely alternatives for a name that a table does not have: one of its fields, or a property of its rows, or of their person, group or session.

/** Names that are read the same way, and how they are written. */
interface Way {
  readonly written: (name: string) => string
  readonly names: readonly string[]
}

type Fields = Readonly<Record<string, CatalogField>>

const nameable = (fields: object): string[] => Object.keys(fields).filter((field) => !field.startsWith('@'))

const step = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `['${name.replaceAll("'", "''")}']`)

/** Fields that duplicate others under another name. */
const duplicateFields: ReadonlySet<string> = new Set(['pdi', 'poe'])

function waysOf(fields: Fields, context: ResolveContext, before: string): Way[] {
  const scopes = Object.entries(fields).flatMap(([field, one]): [string, PropertyScope][] =>
    one.kind === 'column' && one.properties ? [[field, one.properties]] : [],
  )
  return scopes.map(([field, scope]) => ({
    written: (name) => `${before}${field}${step(name)}`,
    names: context.knownProperties?.(scope) ?? [],
  }))
}

/** The name of the field in the project: groups have the name of their type. */
const shownField = (field: string, { groupTypes = [] }: ResolveContext): string =>
  groupTypes.find(({ index }) => `group_${index}` === field)?.name ?? field

/** `before` is the written path to the fields. */
export function likelyNames(wanted: string, fields: Fields, ownNames: Iterable<string>, context: ResolveContext, before: string): string[] {
  const ways = [
    ...waysOf(fields, context, before),
    ...Object.entries(fields).flatMap(([field, one]): Way[] => {
      if (one.kind !== 'lazy' || field.startsWith('@') || duplicateFields.has(field) || before !== '') return []
      const there = tables[one.table]!
      const shown = `${shownField(field, context)}.`
      const own: Way[] = there.isView ? [{ written: (name) => `${shown}${name}`, names: nameable(there.fields) }] : []
      return [...own, ...waysOf(there.fields, context, shown)]
    }),
  ]
  const exact = ways.filter(({ names }) => names.includes(wanted)).map(({ written }) => written(wanted))
  if (exact.length > 0) return exact
  const near = nearestSpellings(wanted, [...nameable(fields), ...ownNames])
  if (near.length > 0) return near
  return ways.flatMap(({ names, written }) => nearestSpellings(wanted, names).map(written)).slice(0, 3)
}
