import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { check } from '../accounts/fields.ts'
import { isIssuer } from '../accounts/single-sign-on/issuer.ts'

// Identity providers that the operator has set up, for users of every organization.

/** A client at an issuer of OpenID Connect, or at GitHub, as the operator has registered it. */
export interface ProviderOptions {
  readonly client_id: string
  readonly client_secret?: string
  /** Default: that of Google, GitHub or GitLab. Of another provider: its address, as it calls itself. */
  readonly issuer?: string
  /** As the sign-in page shows it. */
  readonly name?: string
  /** Domains whose addresses this issuer gives: their users may join by themselves. */
  readonly domains?: readonly string[]
}
export interface Provider {
  /** `google-oauth2`, `github`, `gitlab`, or a name that the operator has chosen. */
  readonly id: string
  readonly name: string
  readonly kind: 'oidc' | 'github'
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly domains: readonly string[]
}

const known: Readonly<Record<string, { readonly name: string; readonly issuer: string; readonly kind?: 'github' }>> = {
  'google-oauth2': { name: 'Google', issuer: 'https://accounts.google.com' },
  github: { name: 'GitHub', issuer: 'https://github.com', kind: 'github' },
  gitlab: { name: 'GitLab', issuer: 'https://gitlab.com' },
}

/** No dot: domains of organizations have one. */
const providerId = /^[a-z][a-z0-9-]{0,27}$/
/** They name what an organization sets up for its domain. */
const ownKinds = new Set(['saml', 'oidc'])

const options = z.strictObject({
  client_id: z.string().min(1).max(512),
  client_secret: z.string().min(1).max(2_000).optional(),
  issuer: z
    .string()
    .max(512)
    .refine(isIssuer, { error: 'must be an address that begins with https://, as the issuer calls itself' })
    .optional(),
  name: z.string().min(1).max(40).optional(),
  domains: z.array(z.string().min(1).max(128).toLowerCase()).max(100).optional(),
})

const refuse = (message: string) => new WaymarkError('validation-failed', { message, attr: 'singleSignOn__providers' })

/** `google` is what people call it. */
const idOf = (name: string): string => (name === 'google' ? 'google-oauth2' : name)

export function readProviders(given: Readonly<Record<string, unknown>>): readonly Provider[] {
  return Object.entries(given).map(([name, value]): Provider => {
    const id = idOf(name)
    if (!providerId.test(id) || ownKinds.has(id))
      throw refuse(
        `Identity provider "${name}": a name is google, github, gitlab or another word of lower-case letters, digits and hyphens.`,
      )
    const preset = Object.hasOwn(known, id) ? known[id] : undefined
    const read = readOptions(name, value)
    const issuer = read.issuer ?? preset?.issuer
    if (issuer === undefined) throw refuse(`Identity provider "${name}": \`issuer\` is missing, its address as it calls itself.`)
    return {
      id,
      name: read.name ?? preset?.name ?? name,
      kind: preset?.kind ?? 'oidc',
      issuer: preset?.kind === 'github' ? issuer.replace(/\/$/, '') : issuer,
      clientId: read.client_id,
      clientSecret: read.client_secret ?? null,
      domains: read.domains ?? [],
    }
  })
}

function readOptions(name: string, value: unknown): z.infer<typeof options> {
  try {
    return check(options, value)
  } catch (error) {
    if (!(error instanceof WaymarkError)) throw error
    throw refuse(`Identity provider "${name}"${error.attr === null ? '' : `, \`${error.attr}\``}: ${error.detail}`)
  }
}
