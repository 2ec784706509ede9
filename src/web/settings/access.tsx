import type { DomainAnswer } from '../../doors/answers/domains.ts'
import type { ProxyRecordAnswer } from '../../doors/answers/proxy-records.ts'
import { patch, post, remove } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { CheckField, ChoiceField, ConfirmButton, DialogButton, Form, isChecked, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { CopyButton } from '../ui/parts.tsx'
import { useOrganization } from './organization-of.ts'

// What administrators arrange for the whole organization: domains, proxies.

/** A form with one field, below a list. */
function Addition({
  title,
  submit,
  path,
  field,
  onAdded,
  ...input
}: {
  title: string
  submit: string
  path: string
  /** Its name in the API, and its label. */
  field: readonly [name: string, label: string]
  onAdded: () => void
  placeholder?: string
  maxLength: number
}) {
  const [name, label] = field
  return (
    <section class="block">
      <h2>{title}</h2>
      <Form
        submit={submit}
        send={async (form) => {
          await post(path, { [name]: textOf(form, name) })
          form.reset()
          onAdded()
        }}
      >
        <TextField name={name} label={label} required {...input} />
      </Form>
    </section>
  )
}

const OnlyAdmins = ({ of }: { of: string }) => <p class="note">Only administrators can change {of}.</p>

const enforcements = [
  { value: '', label: 'Any way of signing in' },
  { value: 'google-oauth2', label: 'Google' },
  { value: 'github', label: 'GitHub' },
  { value: 'gitlab', label: 'GitLab' },
  { value: 'saml', label: 'SAML' },
]

export function DomainsSection() {
  const { isAdmin, api } = useOrganization()
  const list = useList<DomainAnswer>(api('domains/?limit=50'))
  const { act, isBusy, failure } = useAction()
  return (
    <>
      <section class="block">
        <h2>Domains</h2>
        <p class="note">
          A verified domain belongs to this organization. Its sign-in settings are stored but not enforced yet: this server itself signs in
          with passwords only.
        </p>
        {!isAdmin && <OnlyAdmins of="domains" />}
        {failure}
        <ListTable
          list={list}
          what="domains"
          head={['Domain', 'State', null]}
          empty="No domain yet."
          row={(domain) => (
            <tr key={domain.id}>
              <td>{domain.domain}</td>
              <td>
                {domain.is_verified ? (
                  <>
                    <span class="state good">verified</span>{' '}
                    {domain.sso_enforcement && (
                      <span class="state">{enforcements.find(({ value }) => value === domain.sso_enforcement)?.label} only</span>
                    )}{' '}
                    {domain.jit_provisioning_enabled && <span class="state">joins by itself</span>}
                  </>
                ) : (
                  <>
                    <span class="state warn">not verified</span>
                    <p class="note">
                      Add a TXT record named <code>_waymark-challenge.{domain.domain}</code> with this text, then verify:
                    </p>
                    <div class="row">
                      <code class="secret">{domain.verification_challenge}</code>
                      <CopyButton text={domain.verification_challenge} />
                    </div>
                  </>
                )}
              </td>
              <td>
                {isAdmin && (
                  <div class="row">
                    {!domain.is_verified && (
                      <button
                        type="button"
                        disabled={isBusy}
                        onClick={() =>
                          act(async () => {
                            const { is_verified } = await post<DomainAnswer>(api(`domains/${domain.id}/verify/`))
                            list.reload()
                            if (!is_verified)
                              throw new Error(`The TXT record of ${domain.domain} was not found. New records can take some time to appear.`)
                          })
                        }
                      >
                        Verify
                      </button>
                    )}
                    {domain.is_verified && (
                      <DialogButton label="Sign-in…" title={`Signing in from ${domain.domain}`}>
                        {(close) => (
                          <Form
                            submit="Save"
                            send={async (form) => {
                              await patch(api(`domains/${domain.id}/`), {
                                sso_enforcement: textOf(form, 'sso_enforcement'),
                                jit_provisioning_enabled: isChecked(form, 'jit_provisioning_enabled'),
                              })
                              list.reload()
                              close()
                            }}
                          >
                            <ChoiceField
                              name="sso_enforcement"
                              label="Only with"
                              value={domain.sso_enforcement}
                              options={enforcements}
                              hint="Kept for an identity provider in front of this server. Passwords still work here."
                            />
                            <CheckField
                              name="jit_provisioning_enabled"
                              label="Who signs in for the first time joins this organization"
                              value={domain.jit_provisioning_enabled}
                            />
                          </Form>
                        )}
                      </DialogButton>
                    )}
                    <ConfirmButton
                      label="Remove…"
                      title={`Remove ${domain.domain}`}
                      submit="Remove"
                      action={() => remove(api(`domains/${domain.id}/`)).then(list.reload)}
                    >
                      <p>Its sign-in settings are deleted with it.</p>
                    </ConfirmButton>
                  </div>
                )}
              </td>
            </tr>
          )}
        />
      </section>
      {isAdmin && (list.rows !== null || list.error !== null) && (
        <Addition
          title="Add a domain"
          submit="Add"
          path={api('domains/')}
          field={['domain', 'Domain']}
          placeholder="example.com"
          maxLength={128}
          onAdded={list.reload}
        />
      )}
    </>
  )
}

const proxyTone: Readonly<Record<string, string>> = { valid: 'good', erroring: 'bad', timed_out: 'bad', warning: 'warn', waiting: 'warn' }

export function ProxySection() {
  const { timezone } = useProject()
  const { isAdmin, api } = useOrganization()
  const list = useList<ProxyRecordAnswer>(api('proxy_records/?limit=50'))
  const { act, isBusy, failure } = useAction()
  return (
    <>
      <section class="block">
        <h2>Proxies</h2>
        <p class="note">A domain of yours that takes events and passes them on. Point its CNAME record at the target.</p>
        {!isAdmin && <OnlyAdmins of="proxies" />}
        {failure}
        <ListTable
          list={list}
          what="proxies"
          head={['Domain', 'CNAME target', 'State', 'Added', null]}
          empty="No proxy yet."
          row={(record) => (
            <tr key={record.id}>
              <td>{record.domain}</td>
              <td>
                <code class="secret">{record.target_cname}</code>
              </td>
              <td>
                <span class={`state ${proxyTone[record.status] ?? ''}`}>{record.status.replace('_', ' ')}</span>
                {record.message && <p class="note">{record.message}</p>}
              </td>
              <td>{momentText(record.created_at, timezone)}</td>
              <td>
                {isAdmin && (
                  <div class="row">
                    {record.status !== 'valid' && record.status !== 'deleting' && (
                      <button
                        type="button"
                        disabled={isBusy}
                        onClick={() => act(() => post(api(`proxy_records/${record.id}/retry/`)).then(list.reload))}
                      >
                        Look again
                      </button>
                    )}
                    <ConfirmButton
                      label="Remove…"
                      title={`Remove ${record.domain}`}
                      submit="Remove"
                      action={() => remove(api(`proxy_records/${record.id}/`)).then(list.reload)}
                    >
                      <p>Events sent to it do not arrive any more.</p>
                    </ConfirmButton>
                  </div>
                )}
              </td>
            </tr>
          )}
        />
      </section>
      {isAdmin && (
        <Addition
          title="Add a proxy"
          submit="Add"
          path={api('proxy_records/')}
          field={['domain', 'Domain']}
          placeholder="e.example.com"
          maxLength={64}
          onAdded={list.reload}
        />
      )}
    </>
  )
}
