import { z } from 'zod'
import { fields } from '../fields.ts'
import { dateRangeSchema, everyQuery } from '../schemas.ts'

export const sqlSchema = fields(
  {
    ...everyQuery,
    kind: z.enum(['HogQLQuery', 'SqlLikeQuery']),
    query: z.string(),
    /** What `{name}` stands for. */
    values: z.record(z.string(), z.unknown()).nullish(),
    /** By id: what `{variables.code_name}` stands for. */
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
    /** What `{filters}` stands for. */
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
