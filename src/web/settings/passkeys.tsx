import { useState } from 'preact/hooks'
import type { AddedPasskeyAnswer, PasskeyAnswer } from '../../doors/answers/two-factor.ts'
import { patch, post, remove } from '../lib/api.ts'
import { Ago } from '../ui/ago.tsx'
import { ConfirmButton, DialogButton, Form, TextField, textOf } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { hasPasskeys } from '../ui/passkey-button.tsx'
import { deviceName } from './device-name.ts'
import { RecoveryCodes } from './second-factor-setup.tsx'

export const passkeysPath = 'api/users/@me/passkeys/'

/** Adds a passkey. `onDone`: after recovery codes were saved, if there are any. */
export function AddPasskey({ onDone }: { onDone: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />
  if (!hasPasskeys()) return <p class="note">Passkeys need a browser that has them, and an address of this server with a name and HTTPS.</p>
  const add = async (form: HTMLFormElement) => {
    const name = textOf(form, 'passkey_name')
    const { makePasskey } = await import('./passkey-calls.ts')
    const { recovery_codes } = await post<AddedPasskeyAnswer>(passkeysPath, { name, passkey: await makePasskey() })
    if (recovery_codes) return setCodes(recovery_codes)
    onDone()
  }
  return (
    <Form submit="Add a passkey" send={add}>
      <TextField
        name="passkey_name"
        of="name"
        label="Name of the passkey"
        value={deviceName(navigator.userAgent)}
        required
        maxLength={80}
      />
    </Form>
  )
}

/** The passkeys of the own account. */
export function PasskeysSection({ onChanged }: { onChanged: () => void }) {
  const list = useList<PasskeyAnswer>(`${passkeysPath}?limit=50`)
  const [round, setRound] = useState(0)
  const changed = () => {
    setRound(round + 1)
    list.reload()
    onChanged()
  }
  return (
    <section class="block">
      <h2>Passkeys</h2>
      <p class="note">
        A passkey signs you in with your fingerprint, your face or the PIN of your device: alone, or after your password. It is a second
        factor.
      </p>
      <ListTable
        list={list}
        what="passkeys"
        head={[
          { title: 'Name', by: ({ name }) => name },
          { title: 'Added', by: ({ created_at }) => created_at },
          { title: 'Last used', by: ({ last_used_at }) => last_used_at ?? '' },
          null,
        ]}
        empty="You have none."
        row={(passkey) => (
          <tr key={passkey.id}>
            <td class="wrap">
              {passkey.name} {passkey.is_backed_up && <span class="state">synchronized</span>}
            </td>
            <td class="when">
              <Ago of={passkey.created_at} />
            </td>
            <td class="when">
              <Ago of={passkey.last_used_at} never="Never" />
            </td>
            <td>
              <div class="row">
                <DialogButton look="plain" label="Rename…" title={`Rename ${passkey.name}`}>
                  {(close) => (
                    <Form
                      submit="Rename"
                      send={async (form) => {
                        await patch(`${passkeysPath}${passkey.id}/`, { name: textOf(form, 'name') })
                        close()
                        list.reload()
                      }}
                    >
                      <TextField name="name" label="Name" value={passkey.name} required maxLength={80} />
                    </Form>
                  )}
                </DialogButton>
                <ConfirmButton
                  isPlain
                  label="Remove…"
                  title={`Remove ${passkey.name}`}
                  submit="Remove"
                  action={() => remove(`${passkeysPath}${passkey.id}/`).then(changed)}
                >
                  <p>It signs in no longer. Delete it on your device, too.</p>
                </ConfirmButton>
              </div>
            </td>
          </tr>
        )}
      />
      <AddPasskey key={round} onDone={changed} />
    </section>
  )
}
