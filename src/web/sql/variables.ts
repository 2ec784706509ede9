import type { Query } from '../lib/api.ts'

// Values that a statement has as `{variables.name}`: typed beside it, kept with it, and changed where its answer is looked at.

export interface Variable {
  readonly code_name: string
  readonly value?: unknown
}
/** By id. Ours are their names; other clients have ids of their own. */
export type Variables = Readonly<Record<string, Variable>>

/** Where a text in quotation marks ends; the one that is doubled begins the next text. */
function textEnd(statement: string, from: number): number {
  let at = from + 1
  while (at < statement.length && statement[at] !== "'") at += statement[at] === '\\' ? 2 : 1
  return at + 1
}
const endOf = (statement: string, mark: string, from: number): number => {
  const at = statement.indexOf(mark, from)
  return at < 0 ? statement.length : at + mark.length
}

/** Without what is not part of the statement: comments and texts in quotation marks. */
function withoutAsides(statement: string): string {
  const parts: string[] = []
  let [from, at] = [0, 0]
  while (at < statement.length) {
    const end = statement.startsWith('--', at)
      ? endOf(statement, '\n', at)
      : statement.startsWith('/*', at)
        ? endOf(statement, '*/', at + 2)
        : statement[at] === "'"
          ? textEnd(statement, at)
          : null
    if (end === null) at++
    else {
      parts.push(statement.slice(from, at))
      ;[from, at] = [end, end]
    }
  }
  return [...parts, statement.slice(from)].join(' ')
}

const variableInBraces = /\{\s*variables\.([A-Za-z_]\w*)\s*\}/g

/** The variables in a statement, in their order. */
export const variableNames = (statement: string): readonly string[] => [
  ...new Set(Array.from(withoutAsides(statement).matchAll(variableInBraces), ([, name]) => name!)),
]

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

export const variablesIn = (of: unknown): Variables =>
  Object.fromEntries(
    Object.entries(asObject(of)).flatMap(([id, one]) => (typeof asObject(one).code_name === 'string' ? [[id, one as Variable]] : [])),
  )

/** The variables of a statement with their values; one that is new is an empty text. */
export function variablesOf(statement: string, known: Variables): Variables {
  const byName = new Map(Object.entries(known).map(([id, one]) => [one.code_name, [id, one] as const]))
  return Object.fromEntries(variableNames(statement).map((name) => byName.get(name) ?? [name, { code_name: name, value: '' }]))
}

/** A statement as it is asked. */
export function statementQuery(statement: string, known: Variables): Query {
  const variables = variablesOf(statement, known)
  return { kind: 'HogQLQuery', query: statement, ...(Object.keys(variables).length > 0 && { variables }) }
}

/** Values by id that are laid over those of a query, as an address holds them. */
export function readValues(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text ?? '{}'))
  } catch {
    return {}
  }
}
/** `variables` with other values. What is not among them is left out. */
export const withValues = (variables: Variables, values: Readonly<Record<string, unknown>>): Variables =>
  Object.fromEntries(Object.entries(variables).map(([id, one]) => [id, Object.hasOwn(values, id) ? { ...one, value: values[id] } : one]))

export const valueKinds = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
] as const
export type ValueKind = (typeof valueKinds)[number]['value']

export const kindOfValue = (value: unknown): ValueKind =>
  typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text'

/** The value as another kind has it. */
export function asKind(value: unknown, kind: ValueKind): unknown {
  if (kind === 'boolean') return value === true || value === 'true'
  if (kind === 'text') return String(value ?? '')
  const number = Number(value)
  return Number.isFinite(number) ? number : 0
}
