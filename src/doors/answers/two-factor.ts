import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'

export const organizationsSchema = z.array(z.object({ id: uuidSchema, name: z.string() }))

export const twoFactorStatusSchema = z.object({
  is_enabled: z.boolean(),
  enabled_at: timeSchema.nullable(),
  has_app: z.boolean(),
  passkeys: z.int(),
  recovery_codes_left: z.int(),
  required_by: organizationsSchema.meta({ description: 'Organizations of the user that require a second factor' }),
})
export type TwoFactorStatusAnswer = z.output<typeof twoFactorStatusSchema>
export const twoFactorSetupSchema = z.object({
  secret: z.string().meta({ description: 'In base 32, for apps that cannot read the picture' }),
  uri: z.string().meta({ description: 'What the QR picture holds' }),
})
export type TwoFactorSetupAnswer = z.output<typeof twoFactorSetupSchema>
export const recoveryCodesSchema = z.object({ recovery_codes: z.array(z.string()) })
export type RecoveryCodesAnswer = z.output<typeof recoveryCodesSchema>

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
export const passkeyOptionsSchema = z.looseObject({ challenge: z.string() }).meta({
  description: 'Options of WebAuthn, as `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read them',
})
export type PasskeyOptionsAnswer = z.output<typeof passkeyOptionsSchema>
export const secondStepSchema = z.object({ app: z.boolean(), passkeys: z.int() })
export type SecondStepAnswer = z.output<typeof secondStepSchema>
