import * as z from 'zod'
import { uuidSchema } from './fields.ts'

export const signedInSchema = z.object({ success: z.literal(true) })
export const lookSchema = z.object({ id: uuidSchema, target_email: z.string(), first_name: z.string(), organization_name: z.string() })
export type InvitationAnswer = z.output<typeof lookSchema>
export const setupSchema = z.object({ is_waiting: z.boolean() })
export type SetupAnswer = z.output<typeof setupSchema>
export const passwordSetSchema = z.object({ success: z.literal(true), email: z.string() })
export type PasswordSetAnswer = z.output<typeof passwordSetSchema>
