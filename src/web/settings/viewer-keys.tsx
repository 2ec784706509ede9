import { useState } from 'preact/hooks'
import type { ViewerKeyAnswer } from '../../doors/answers/sharing.ts'
import { get, post, remove } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { ConfirmButton, Form, Refused, TextField, textOf } from '../ui/forms.tsx'
import { Scroll } from '../ui/list-table.tsx'
import { Working } from '../ui/parts.tsx'
import { Copied } from './copied.tsx'
import { tokenId } from './token-id.ts'

/** Keys with which an application signs the tokens of its viewers. */
export function ViewerKeysSection() {
  const { api, link, mayChange } = useProject()
  const { value: keys, error, reload } = useLoaded((signal) => get<readonly ViewerKeyAnswer[]>(api('viewer_keys/'), signal), [])
  const [made, setMade] = useState<ViewerKeyAnswer | null>(null)
  const removeKey = async (id: string) => {
    await remove(api(`viewer_keys/${id}/`))
    if (made?.id === id) setMade(null)
    reload()
  }
  return (
    <>
      <section class="block">
        <h2>Viewer keys</h2>
        <p class="note">
          Your application signs tokens with them, for <a href={linkTo(link('docs/viewers'))}>charts in its own pages</a>. A token opens
          only the events that it names.
        </p>
        {!mayChange && <p class="note">Only members can make and remove keys.</p>}
        {error && <Refused error={error} onRenewed={reload} retry={reload} />}
        {made?.secret && (
          <div class="once" role="status">
            <p>
              The key <b>{made.name}</b>. Copy its secret now: it is not shown again.
            </p>
            <Copied label="Id: the kid of tokens" text={made.id} />
            <Copied label="Secret" text={made.secret} />
          </div>
        )}
        {!keys && !error && <Working what="Reading keys" />}
        {keys?.length === 0 && !made && <p class="note">No key yet. The server makes the first one when it is asked for a token.</p>}
        {keys && keys.length > 0 && <KeyTable keys={keys} onRemove={mayChange ? removeKey : null} />}
      </section>
      {keys && mayChange && (
        <>
          <NewViewerKey
            onMade={(key) => {
              setMade(key)
              reload()
            }}
          />
          <EndToken />
        </>
      )}
    </>
  )
}

/** `onRemove`: null for those who may not. */
function KeyTable({ keys, onRemove }: { keys: readonly ViewerKeyAnswer[]; onRemove: ((id: string) => Promise<void>) | null }) {
  return (
    <Scroll label="Viewer keys">
      <table class="rows">
        <thead>
          <tr>
            <th>Name</th>
            <th>Id</th>
            <th>Made</th>
            {onRemove && (
              <th>
                <span class="hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {keys.map(({ id, name, created_at }) => (
            <tr key={id}>
              <td>{name}</td>
              <td>
                <code class="whole">{id}</code>
              </td>
              <td>
                <Ago of={created_at} />
              </td>
              {onRemove && (
                <td>
                  <ConfirmButton isPlain label="Remove…" title={`Remove ${name}`} submit="Remove" action={() => onRemove(id)}>
                    <p>All tokens that it has signed end at once: the charts of their viewers show an error.</p>
                  </ConfirmButton>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function NewViewerKey({ onMade }: { onMade: (key: ViewerKeyAnswer) => void }) {
  const { api } = useProject()
  return (
    <section class="block">
      <h2>New viewer key</h2>
      <Form
        submit="Create"
        send={async (form) => {
          onMade(await post<ViewerKeyAnswer>(api('viewer_keys/'), { name: textOf(form, 'name') }))
          form.reset()
        }}
      >
        <TextField name="name" label="Name of the application" required maxLength={100} />
      </Form>
    </section>
  )
}

function EndToken() {
  const { api } = useProject()
  return (
    <section class="block">
      <h2>End a token</h2>
      <p class="note">From the next request on it opens nothing. The others of its key stay.</p>
      <Form
        submit="End it"
        done="It has ended"
        send={async (form) => {
          await remove(api(`viewer_tokens/${encodeURIComponent(tokenId(textOf(form, 'token')))}/`))
          form.reset()
        }}
      >
        <TextField name="token" label="The token, or its id (jti)" required maxLength={8000} />
      </Form>
    </section>
  )
}
