import { z } from 'zod'
import { WaymarkError } from '../errors/errors.ts'
import { unknownField } from '../errors/unknown-field.ts'
import { isObject } from '../lib/is-object.ts'
import { likelyName } from '../lib/likely-name.ts'
import { leftOutEverywhere, leftOutFields, sameRecords } from './left-out-fields.ts'
import type { Row } from './resource.ts'

const shapeOf = (schema: z.ZodType | null): readonly string[] => {
  if (schema instanceof z.ZodArray) return shapeOf(schema.element as z.ZodType)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

interface Known {
  readonly written: readonly string[]
  readonly all: ReadonlySet<string>
}
const knownOf = new WeakMap<Row, Known>()

const resourceOf = (row: Row): string => row.name.slice(0, row.name.indexOf('.'))

function fieldsOf(row: Row): Known {
  const before = knownOf.get(row)
  if (before) return before
  const resource = resourceOf(row)
  const written = shapeOf(row.body)
  const leftOut = leftOutFields[sameRecords[resource] ?? resource] ?? []
  const known = { written, all: new Set([...written, ...shapeOf(row.answer), ...leftOut, ...leftOutEverywhere]) }
  knownOf.set(row, known)
  return known
}

/** Refuses a field that the record does not have: nothing would be read from it. Routes without a schema, and the query endpoint, look themselves. */
export function mustHaveKnownFields(row: Row, body: unknown): void {
  if (row.body === null || resourceOf(row) === 'query') return
  const { written, all } = fieldsOf(row)
  for (const item of row.body instanceof z.ZodArray && Array.isArray(body) ? body : [body]) {
    const strange = isObject(item) ? Object.keys(item).find((name) => !all.has(name)) : undefined
    if (strange === undefined) continue
    const likely = likelyName(strange, written)
    throw new WaymarkError('validation-failed', {
      message: unknownField(strange, written),
      attr: strange,
      ...(likely !== undefined && { candidates: [likely] }),
    })
  }
}
