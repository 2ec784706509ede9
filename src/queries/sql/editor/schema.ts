import * as z from 'zod'
import { fields } from '../../fields.ts'
import { everyQuery } from '../../schemas.ts'
import { sqlSchema } from '../schema.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

const languages = ['hogQL', 'hogQLExpr'] as const

const edited = {
  ...everyQuery,
  /** A statement, or one expression. */
  language: z.enum(languages),
  query: z.string(),
  /** Of an expression: the statement whose tables it reads. Default the events. */
  sourceQuery: nullish(z.looseObject({ kind: z.string() })),
  filters: sqlSchema.shape.filters,
  variables: sqlSchema.shape.variables,
  /** Values of `{name}`. */
  globals: nullish(z.record(z.string(), z.unknown())),
  connectionId: z.null().optional(),
}

export const metadataSchema = fields({ ...edited, kind: z.literal('HogQLMetadata'), debug: nullish(z.boolean()) }, 'query')
export type HogQLMetadataQuery = z.infer<typeof metadataSchema>

const position = z.number().int().min(0)
export const autocompleteSchema = fields(
  {
    ...edited,
    kind: z.literal('HogQLAutocomplete'),
    /** Where the word at the cursor begins and ends, counted in UTF-16 units. */
    startPosition: position,
    endPosition: position,
  },
  'query',
)
export type HogQLAutocompleteQuery = z.infer<typeof autocompleteSchema>
