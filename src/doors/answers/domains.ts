import * as z from 'zod'
import { notEnforcedSchema, timeSchema, uuidSchema } from './fields.ts'

export const domainSchema = z.object({
  id: uuidSchema,
  domain: z.string(),
  is_verified: z.boolean().meta({ description: 'Proven by the TXT record or by the operator. Only a proven domain gives rights' }),
  verified_at: timeSchema
    .nullable()
    .meta({ description: 'When it was proven. Without `--hosted`, set when the domain is added, which is no proof' }),
  verification_challenge: z.string(),
  jit_provisioning_enabled: z.boolean(),
  sso_enforcement: z.string(),
  has_saml: z.boolean(),
  saml_entity_id: z.string().nullable(),
  saml_acs_url: z.string().nullable(),
  saml_x509_cert: z.string().nullable(),
  pending: z
    .object({ jit_provisioning_enabled: z.boolean().optional(), sso_enforcement: z.string().optional() })
    .nullable()
    .meta({ description: 'Settings that were sent when the domain was added. They take effect when it is proven' }),
  not_enforced: notEnforcedSchema,
})
export type DomainAnswer = z.output<typeof domainSchema>
