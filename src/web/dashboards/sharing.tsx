import { get, patch, post } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useAction } from '../ui/forms.tsx'
import { CopyButton, Dialog, ErrorBox, Working } from '../ui/parts.tsx'

interface Sharing {
  readonly enabled: boolean
  readonly access_token: string | null
}

/** The public link of a dashboard: made, copied, renewed and withdrawn. */
export function SharingDialog({ dashboard, onClose }: { dashboard: number; onClose: () => void }) {
  const { api } = useProject()
  const path = api(`dashboards/${dashboard}/sharing/`)
  const { value, error, reload } = useLoaded((signal) => get<Sharing>(path, signal), [])
  const { act, isBusy, failure } = useAction()
  const change = (work: () => Promise<unknown>) => act(() => work().then(reload))
  // The address of this page, not that of the server behind a proxy.
  const link = value?.enabled ? new URL(`shared/${value.access_token}`, document.baseURI).href : null
  return (
    <Dialog title="Public link" onClose={onClose}>
      {error && <ErrorBox error={error} retry={reload} />}
      {failure}
      {!value && !error && <Working what="Reading the link" />}
      {value && link === null && (
        <>
          <p>
            Everybody who has the link can see the answers of this dashboard, without an account. They cannot see its questions or ask
            others.
          </p>
          <button type="button" class="primary" disabled={isBusy} onClick={() => change(() => patch(path, { enabled: true }))}>
            Make a link
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
            <button type="button" disabled={isBusy} onClick={() => change(() => post(`${path}refresh/`))}>
              Renew: the old one ends
            </button>
            <button type="button" disabled={isBusy} onClick={() => change(() => patch(path, { enabled: false }))}>
              Withdraw
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}
