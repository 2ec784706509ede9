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
  has_oidc: z.boolean(),
  oidc_issuer: z.string().nullable(),
  oidc_client_id: z.string().nullable(),
  has_oidc_client_secret: z.boolean().meta({ description: 'The secret itself is never sent back' }),
  scim_token: z
    .object({ mask_value: z.string(), created_at: timeSchema, last_used_at: timeSchema.nullable() })
    .nullable()
    .meta({ description: 'With which the identity provider of the domain provisions users; null: none' }),
  proof: z.string().nullable().meta({
    description: '`dns`: name servers are asked again from time to time; `operator`; null: not proven, or proven by an older version',
  }),
  proof_missing_since: timeSchema
    .nullable()
    .meta({ description: 'Since when the TXT record is missing. After three days the proof lapses, and with it enforcement' }),
  pending: z
    .object({ jit_provisioning_enabled: z.boolean().optional(), sso_enforcement: z.string().optional() })
    .nullable()
    .meta({ description: 'Settings that were sent when the domain was added. They take effect when it is proven' }),
  not_enforced: notEnforcedSchema,
})
export type DomainAnswer = z.output<typeof domainSchema>

export const scimTokenSchema = z.object({
  value: z.string().nullable().meta({ description: 'Shown once' }),
  mask_value: z.string(),
  created_at: timeSchema,
})
export type ScimTokenAnswer = z.output<typeof scimTokenSchema>
