import * as z from 'zod'
import { fields } from '../fields.ts'
import { dateRangeSchema, everyQuery } from '../schemas.ts'

export const sqlSchema = fields(
  {
    ...everyQuery,
    kind: z.enum(['HogQLQuery', 'SqlLikeQuery']),
    query: z.string(),
    /** The value of `{name}`. */
    values: z.record(z.string(), z.unknown()).nullish(),
    /** By id: the value of `{variables.code_name}`. */
    variables: z
      .record(
        z.string(),
        fields(
          {
            code_name: z.string(),
            value: z.unknown().optional(),
            isNull: z.boolean().nullish(),
            variableId: z.string().nullish(),
          },
          'query',
        ),
      )
      .nullish(),
    /** The value of `{filters}`. */
    filters: fields(
      {
        properties: z.array(z.unknown()).nullish(),
        dateRange: dateRangeSchema.nullish(),
        filterTestAccounts: z.boolean().nullish(),
      },
      'range',
    ).nullish(),
  },
  'query',
  ['query'],
)

export type SqlQuery = z.infer<typeof sqlSchema>
