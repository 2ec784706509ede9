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
