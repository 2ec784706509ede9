import type { SharingAnswer } from '../../doors/answers/sharing.ts'
import { get, patch, post } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useAction } from '../ui/forms.tsx'
import { CopyButton, Dialog, ErrorBox, Field, Working } from '../ui/parts.tsx'

export interface Shared {
  readonly what: 'dashboard' | 'insight'
  readonly id: number
  readonly name: string
}

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** HTML that shows the answers on another page. A dashboard is higher; both scroll if there is more. */
const frameOf = ({ what, name }: Shared, address: string): string =>
  `<iframe src="${attribute(address)}" title="${attribute(name)}" width="100%" height="${what === 'dashboard' ? 900 : 520}" loading="lazy" style="border: 0"></iframe>`

/** The public link of a dashboard or an insight: made, copied, put into a page, renewed and withdrawn. */
export function SharingDialog({ of, note, onClose }: { of: Shared; note?: string | undefined; onClose: () => void }) {
  const { api } = useProject()
  const path = api(`${of.what}s/${of.id}/sharing/`)
  const { value, error, reload } = useLoaded((signal) => get<SharingAnswer>(path, signal), [])
  const { act, isBusy, failure } = useAction()
  const change = (work: () => Promise<unknown>) => act(() => work().then(reload))
  // The addresses of this page, not those of the server behind a proxy.
  const addressOf = (kind: string) => new URL(`${kind}/${value!.access_token}`, document.baseURI).href
  const [link, frame] = value?.enabled ? [addressOf('shared'), frameOf(of, addressOf('embedded'))] : [null, null]
  return (
    <Dialog title="Public link" onClose={onClose}>
      {error && <ErrorBox error={error} retry={reload} />}
      {failure}
      {!value && !error && <Working what="Reading the link" />}
      {note && <p class="hint">{note}</p>}
      {value && link === null && (
        <>
          <p>
            Everybody who has the link can see the answers of this {of.what}, without an account, and any site can show them in a frame.
            They cannot see its questions or ask others.
          </p>
          <button type="button" class="primary" disabled={isBusy} onClick={() => change(() => patch(path, { enabled: true }))}>
            Create link
          </button>
        </>
      )}
      {link !== null && (
        <>
          <p>Everybody who has this link can see the answers:</p>
          <p>
            <a href={link} target="_blank" rel="noopener noreferrer" class="shared-link">
              {link}
            </a>
          </p>
          <div class="actions">
            <CopyButton text={link} label="Copy link" />
          </div>
          <Field
            label="Embed code"
            hint="Only the address in this code may be shown in frames of other sites. The link above is refused there."
          >
            {(id) => <textarea id={id} class="code" readOnly rows={4} value={frame} onFocus={(event) => event.currentTarget.select()} />}
          </Field>
          <div class="actions">
            <CopyButton text={frame} label="Copy code" />
            <button type="button" disabled={isBusy} onClick={() => change(() => post(`${path}refresh/`))}>
              Replace link
            </button>
            <button type="button" disabled={isBusy} onClick={() => change(() => patch(path, { enabled: false }))}>
              Turn off link
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}
