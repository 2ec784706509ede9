import * as z from 'zod'
import { isObject } from '../../../lib/is-object.ts'
import { anyJson, check, jsonObject, listOf } from '../fields.ts'
import { type Path, readPath } from './expressions.ts'
import { refused } from './refusals.ts'

// The body of a PATCH as a list of steps. Entra ID sends `{"op": "Replace", "path": "name.familyName", "value": "Lee"}`, Okta `{"op": "replace", "value": {"active": false}}`.

export const patchInput = z.object({
  schemas: z.array(z.string().max(200)).max(20).optional(),
  Operations: listOf(
    z.object({ op: z.string().max(20), path: z.string().max(2_000).optional(), value: anyJson('members').optional() }),
    'list',
  ).meta({ description: '`add`, `replace` and `remove`, in any case; without `path` the value is an object of attributes' }),
})

export type StepKind = 'add' | 'replace' | 'remove'
export interface Step {
  readonly kind: StepKind
  readonly path: Path
  /** Undefined: none was sent. */
  readonly value: unknown
}

const kindOf = (op: string): StepKind => {
  const kind = op.toLowerCase()
  if (kind === 'add' || kind === 'replace' || kind === 'remove') return kind
  throw refused('invalidSyntax', 'The `op` of an operation must be add, replace or remove.')
}

const coreUser = 'urn:ietf:params:scim:schemas:core:2.0:'
/** The attributes of an object, each as a step. Names may have a dot, or be in an object named after their schema. */
export function stepsOf(attributes: Readonly<Record<string, unknown>>, kind: StepKind = 'replace'): readonly Step[] {
  return Object.entries(attributes).flatMap(([name, value]): readonly Step[] => {
    const isSchema = name.toLowerCase().startsWith(coreUser) && isObject(value)
    if (isSchema) return stepsOf(value as Readonly<Record<string, unknown>>, kind)
    return [{ kind, path: readPath(name), value }]
  })
}

export function readPatch(body: unknown): readonly Step[] {
  const { Operations: operations } = check(patchInput, body)
  if (operations.length === 0) throw refused('invalidSyntax', 'A PATCH must have at least one operation.')
  return operations.flatMap(({ op, path, value }): readonly Step[] => {
    const kind = kindOf(op)
    if (path !== undefined && path !== '') return [{ kind, path: readPath(path), value }]
    if (kind === 'remove') throw refused('noTarget', 'An operation that removes something must have a path.')
    if (!isObject(value)) throw refused('invalidValue', 'An operation without a path must have an object of attributes as its value.')
    return stepsOf(value as Readonly<Record<string, unknown>>, kind)
  })
}

export const userInput = jsonObject()
export const groupInput = jsonObject('members')
export const readBody = (schema: typeof userInput, body: unknown): readonly Step[] => stepsOf(check(schema, body))
