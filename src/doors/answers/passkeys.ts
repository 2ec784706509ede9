import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'

export const passkeySchema = z.object({
  id: uuidSchema,
  name: z.string(),
  is_backed_up: z.boolean().meta({ description: 'It is on several devices of the user, or in the cloud' }),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable(),
})
export type PasskeyAnswer = z.output<typeof passkeySchema>
export const addedPasskeySchema = passkeySchema.extend({
  recovery_codes: z.array(z.string()).nullable().meta({ description: 'Ten, if it is the first factor of the account; shown once' }),
})
export type AddedPasskeyAnswer = z.output<typeof addedPasskeySchema>
export const passkeyOptionsSchema = z
  .looseObject({ challenge: z.string() })
  .meta({
    description: 'Options of WebAuthn, as `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read them',
  })
export type PasskeyOptionsAnswer = z.output<typeof passkeyOptionsSchema>
export const secondStepSchema = z.object({ app: z.boolean(), passkeys: z.int() })
export type SecondStepAnswer = z.output<typeof secondStepSchema>
