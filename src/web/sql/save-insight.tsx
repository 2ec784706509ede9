import { useState } from 'preact/hooks'
import { DashboardChoice, dashboardsIn } from '../insights/dashboard-choice.tsx'
import { post, type Query } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { At, FieldErrors } from '../ui/field-errors.tsx'
import { Refused } from '../ui/forms.tsx'
import { Dialog, Field } from '../ui/parts.tsx'

/** Keeps a statement with its chart as an insight, on a dashboard if one is chosen. */
export function SaveInsight({ query, onClose }: { query: Query; onClose: () => void }) {
  const { api, link } = useProject()
  const [error, setError] = useState<Error | null>(null)
  const [done, setDone] = useState<{ name: string; dashboard: number | null } | null>(null)
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const dashboards = dashboardsIn(form, [])
    const name = String(new FormData(form).get('name')).trim()
    const saved = dashboards.length === 0 || !new FormData(form).has('tile')
    await post(api('insights/'), { name, query, saved, dashboards }).then(
      () => setDone({ name, dashboard: dashboards[0] ?? null }),
      setError,
    )
  }
  return (
    <Dialog title="Save as an insight" onClose={onClose}>
      {done ? (
        <p role="status">
          Saved: {done.name}.{' '}
          <a href={linkTo(link(done.dashboard !== null ? `dashboards/${done.dashboard}` : 'insights'))} onClick={onClose}>
            {done.dashboard !== null ? 'Open the dashboard' : 'All insights'}
          </a>
        </p>
      ) : (
        <FieldErrors error={error}>
          {(unplaced) => (
            <form onSubmit={(event) => void save(event)}>
              <At of="name">
                <Field label="Name">{(id) => <input id={id} name="name" required maxLength={400} autofocus />}</Field>
              </At>
              <DashboardChoice chosen={[]} />
              <label class="check">
                <input type="checkbox" name="tile" />
                Only as a tile of these dashboards: it can be saved as an insight later
              </label>
              <p class="note">Dates and filters of a dashboard hold where the statement says {'{filters}'}.</p>
              {unplaced && <Refused error={unplaced} />}
              <button type="submit" class="primary">
                Save
              </button>
            </form>
          )}
        </FieldErrors>
      )}
    </Dialog>
  )
}
