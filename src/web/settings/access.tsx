import type { ProxyRecordAnswer } from '../../doors/answers/proxy-records.ts'
import { post, remove } from '../lib/api.ts'
import { Ago } from '../ui/ago.tsx'
import { ConfirmButton, Form, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { useOrganization } from './organization-of.ts'

// What administrators arrange for the whole organization: proxies.

/** A form with one field, below a list. */
export function Addition({
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

export const OnlyAdmins = ({ of }: { of: string }) => <p class="note">Only administrators can change {of}.</p>

const proxyTone: Readonly<Record<string, string>> = { valid: 'good', erroring: 'bad', timed_out: 'bad', warning: 'warn', waiting: 'warn' }

export function ProxySection() {
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
              <td>
                <Ago of={record.created_at} />
              </td>
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
