import { useState } from 'preact/hooks'
import type { DomainAnswer, ScimTokenAnswer } from '../../doors/answers/domains.ts'
import { post, remove } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { ConfirmButton, Form } from '../ui/forms.tsx'
import { CopyButton } from '../ui/parts.tsx'
import { Copied, here } from './copied.tsx'
import { useOrganization } from './organization-of.ts'

/** The token with which the identity provider of a domain provisions users by SCIM. */
export function ProvisioningForm({ domain, onChanged }: { domain: DomainAnswer; onChanged: () => void }) {
  const { api } = useOrganization()
  const { timezone } = useProject()
  const [made, setMade] = useState<ScimTokenAnswer | null>(null)
  const path = api(`domains/${domain.id}/scim_token/`)
  const { scim_token: token } = domain
  return (
    <>
      <p class="note">
        The identity provider makes, changes and deactivates users with addresses of {domain.domain}, and makes roles of its groups. New
        users are viewers. Whom it deactivates is out at once: sessions and API keys end.
      </p>
      <Copied label="SCIM address (tenant URL, base URL), for the identity provider" text={here('scim/v2')} />
      {made?.value && (
        <div class="once" role="status">
          <p>Copy the token now: it is shown only once.</p>
          <div class="row">
            <code>{made.value}</code>
            <CopyButton text={made.value} label="Copy token" />
          </div>
        </div>
      )}
      {token && !made && (
        <p>
          There is a token, <code>{token.mask_value}</code>, of {momentText(token.created_at, timezone)}.{' '}
          {token.last_used_at ? `It was used last on ${momentText(token.last_used_at, timezone)}.` : 'It has not been used yet.'}
        </p>
      )}
      <Form
        submit={token ? 'Replace the token' : 'Make a token'}
        send={async () => {
          setMade(await post<ScimTokenAnswer>(path))
          onChanged()
        }}
        note={token && <span class="note">The present one ends.</span>}
      />
      {token && (
        <ConfirmButton
          label="Revoke the token…"
          title={`Revoke the token of ${domain.domain}`}
          submit="Revoke"
          action={async () => {
            await remove(path)
            setMade(null)
            onChanged()
          }}
        >
          <p>The identity provider can change nothing here any more. Users and roles stay as they are.</p>
        </ConfirmButton>
      )}
    </>
  )
}
