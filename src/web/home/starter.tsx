import { useState } from 'preact/hooks'
import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import { NewDashboard } from '../dashboards/templates/new-dashboard.tsx'
import { castOf, templates } from '../dashboards/templates/templates.ts'
import { get, type Page } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'

/** The template of which a project has most parts. */
const fittingTemplate = (events: readonly EventDefinitionAnswer[]) =>
  templates
    .map((template) => ({ template, parts: Object.values(castOf(template, events, [])).filter((player) => player !== undefined).length }))
    .reduce((best, one) => (one.parts > best.parts ? one : best)).template

/** Offers a first dashboard of the events that there are, where there is none. */
export function Starter({ events }: { events: readonly EventDefinitionAnswer[] }) {
  const { api } = useProject()
  const [isOpen, setOpen] = useState(false)
  const { value } = useLoaded((signal) => get<Page<DashboardAnswer>>(api('dashboards/?limit=1'), signal), [])
  if (events.length === 0 || value?.results.length !== 0) return null
  const template = fittingTemplate(events)
  return (
    <section class="panel" aria-label="First dashboard">
      <h2>Your first dashboard</h2>
      <p>{template.about}: made of the events that have arrived. You choose which ones.</p>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        Make a dashboard
      </button>
      {isOpen && <NewDashboard first={template} onClose={() => setOpen(false)} />}
    </section>
  )
}
