import { useState } from 'preact/hooks'
import { get, type Page, post, type Query } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Dialog, ErrorBox, Field } from '../ui/parts.tsx'

/** Keeps a statement with its chart as an insight, on a dashboard if one is chosen. */
export function SaveInsight({ query, onClose }: { query: Query; onClose: () => void }) {
  const { api, link } = useProject()
  const [error, setError] = useState<Error | null>(null)
  const [done, setDone] = useState<{ name: string; dashboard: number } | null>(null)
  const dashboards = useLoaded((signal) => get<Page<{ id: number; name: string }>>(api('dashboards/?limit=200'), signal), [])
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const dashboard = Number(data.get('dashboard'))
    const name = String(data.get('name')).trim()
    await post(api('insights/'), { name, query, saved: true, ...(dashboard > 0 && { dashboards: [dashboard] }) }).then(
      () => setDone({ name, dashboard }),
      setError,
    )
  }
  return (
    <Dialog title="Save as an insight" onClose={onClose}>
      {done ? (
        <p role="status">
          Saved: {done.name}.{' '}
          <a href={linkTo(link(done.dashboard > 0 ? `dashboards/${done.dashboard}` : 'insights'))} onClick={onClose}>
            {done.dashboard > 0 ? 'Open the dashboard' : 'All insights'}
          </a>
        </p>
      ) : (
        <form onSubmit={(event) => void save(event)}>
          <Field label="Name">{(id) => <input id={id} name="name" required maxLength={400} autofocus />}</Field>
          <Field label="Put on a dashboard" hint="Its dates and filters hold where the statement says {filters}.">
            {(id) => (
              <select id={id} name="dashboard">
                <option value="">None</option>
                {(dashboards.value?.results ?? []).map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {error && <ErrorBox error={error} />}
          <button type="submit" class="primary">
            Save
          </button>
        </form>
      )}
    </Dialog>
  )
}
