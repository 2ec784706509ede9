import * as z from 'zod'
import { uuidSchema } from './fields.ts'

export const signedInSchema = z.object({ success: z.literal(true) })
const waySchema = z.object({
  id: z.string(),
  name: z.string(),
  path: z.string().meta({ description: 'Where the browser begins, below the address of the server' }),
})
export type WayAnswer = z.output<typeof waySchema>
const enforcementSchema = z
  .string()
  .nullable()
  .meta({ description: 'The provider that the domain of the address requires; null: a password is enough' })
const allowedWays = z
  .array(waySchema)
  .meta({ description: 'Providers that the address may sign in with. Empty although one is required: nobody has set it up' })
export const waysSchema = z.object({
  is_waiting: z.boolean().meta({ description: 'The first owner still has to choose a password, with the link that the server printed' }),
  providers: z.array(waySchema),
  not_installed: z.array(z.string()).meta({
    description:
      'Optional packages that single sign-on of organizations needs, and that this server does not have. Only with `?packages=1`: they are loaded for it',
  }),
})
export type WaysAnswer = z.output<typeof waysSchema>
export const precheckSchema = z.object({
  sso_enforcement: enforcementSchema,
  saml_available: z.boolean(),
  providers: allowedWays,
})
export type PrecheckAnswer = z.output<typeof precheckSchema>
export const lookSchema = z.object({
  id: uuidSchema,
  target_email: z.string(),
  first_name: z.string(),
  organization_name: z.string(),
  sso_enforcement: enforcementSchema,
  providers: allowedWays,
})
export type InvitationAnswer = z.output<typeof lookSchema>
export const setupSchema = z.object({ is_waiting: z.boolean() })
export type SetupAnswer = z.output<typeof setupSchema>
export const passwordSetSchema = z.object({ success: z.literal(true), email: z.string() })
export type PasswordSetAnswer = z.output<typeof passwordSetSchema>
