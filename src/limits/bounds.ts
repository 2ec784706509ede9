import type * as z from 'zod'
import { type FieldLimitName, fieldLimits } from './limits.ts'

/** The schema, for values of at most so many characters as JSON. What it contains needs no bound of its own. */
export const withinJson = <S extends z.ZodType>(schema: S, limit: FieldLimitName): S => {
  const { most } = fieldLimits[limit]
  return schema.refine((value) => value === undefined || JSON.stringify(value).length <= most, {
    params: { rule: 'max_length', limit },
    error: `Ensure this field has no more than ${most} characters as JSON.`,
  }) as S
}

/** Of text that is not kept as it was sent: an id, a time, a name that is looked up. */
export const tokenLength: number = fieldLimits.token.most
