import { z } from 'zod'

const name = 'must be a statement as text'

export const sqlSchema = z.looseObject({
  query: z.string({ error: name }),
  /** What `{name}` stands for. */
  values: z.record(z.string(), z.unknown()).nullish(),
  /** By id: what `{variables.code_name}` stands for. */
  variables: z
    .record(
      z.string(),
      z.looseObject({
        code_name: z.string(),
        value: z.unknown().optional(),
        isNull: z.boolean().nullish(),
        variableId: z.string().nullish(),
      }),
    )
    .nullish(),
  /** What `{filters}` stands for. */
  filters: z
    .looseObject({
      properties: z.array(z.unknown()).nullish(),
      dateRange: z.looseObject({ date_from: z.string().nullish(), date_to: z.string().nullish() }).nullish(),
      filterTestAccounts: z.boolean().nullish(),
    })
    .nullish(),
})

export type SqlQuery = z.infer<typeof sqlSchema>
