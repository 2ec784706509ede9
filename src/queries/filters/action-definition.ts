import * as z from 'zod'
import { fields } from '../fields.ts'
import { filtersSchema } from '../series/series.ts'

const matching = z.enum(['exact', 'contains', 'regex']).nullish()
const text = z.string().nullish()

export const actionStepSchema = fields(
  {
    event: text,
    properties: filtersSchema.nullish(),
    tag_name: text,
    text,
    text_matching: matching,
    href: text,
    href_matching: matching,
    selector: text,
    url: text,
    url_matching: matching,
  },
  'step',
)

/** An action as callers write it: an event belongs to it if it matches one of the steps. */
export const actionFieldsSchema = z.looseObject({
  name: z.string().trim().min(1, { error: 'An action needs a name.' }).max(400),
  description: z.string().nullish(),
  steps: z.array(actionStepSchema).default([]),
  tags: z.array(z.string().max(255)).max(100).optional(),
  pinned_at: z.string().nullish(),
})
export type ActionFields = z.infer<typeof actionFieldsSchema>

/** An action as callers write it: an event belongs to it if it matches one of the steps. */
export interface ActionInput {
  readonly name: string
  readonly description?: string | null
  readonly steps?: readonly ActionStepInput[]
  readonly tags?: readonly string[]
  /** An id chosen by the caller, used if it is free. */
  readonly id?: number
}
type ActionStepInput = Readonly<z.input<typeof actionStepSchema>>
