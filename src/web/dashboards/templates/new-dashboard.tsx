import { useState } from 'preact/hooks'
import type { WholeDashboardAnswer } from '../../../doors/answers/dashboards.ts'
import type { AnsweredInsightAnswer } from '../../../doors/answers/insights.ts'
import { EventNameField } from '../../insights/event-field.tsx'
import { PropertyField } from '../../insights/property-field.tsx'
import { post } from '../../lib/api.ts'
import { useKnownEvents, useProperties } from '../../lib/names.ts'
import { go, linkTo } from '../../lib/router.ts'
import { type CurrentProject, useProject } from '../../lib/session.ts'
import { FormDialog, TextField, textOf } from '../../ui/forms.tsx'
import { Dialog, Working } from '../../ui/parts.tsx'
import { arrangedTiles, type Cast, castOf, type Player, type Role, type Template, templates } from './templates.ts'

/** An empty dashboard, or one of a template whose events are found and can be chosen. */
export function NewDashboard({ first = null, onClose }: { first?: Template | null; onClose: () => void }) {
  const [template, setTemplate] = useState<Template | null>(first)
  if (template) return <FromTemplate template={template} onClose={onClose} />
  return <Start onTemplate={setTemplate} onClose={onClose} />
}

function Start({ onTemplate, onClose }: { onTemplate: (template: Template) => void; onClose: () => void }) {
  const project = useProject()
  const create = async (form: HTMLFormElement) => {
    const made = await post<WholeDashboardAnswer>(project.api('dashboards/'), { name: textOf(form, 'name') })
    go(linkTo(project.link(`dashboards/${made.id}`)))
  }
  return (
    <FormDialog title="New dashboard" submit="Create" onClose={onClose} send={create}>
      <TextField name="name" label="Name" required maxLength={400} autofocus />
      <fieldset>
        <legend>Or begin with a template</legend>
        <div class="templates">
          {templates.map((one) => (
            <button type="button" class="kind" key={one.name} onClick={() => onTemplate(one)}>
              <strong>{one.title}</strong>
              <span>{one.about}</span>
            </button>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  )
}

function FromTemplate({ template, onClose }: { template: Template; onClose: () => void }) {
  const events = useKnownEvents()
  const properties = useProperties('event')
  if (!events)
    return (
      <Dialog title={template.title} onClose={onClose}>
        <Working what="Reading events" />
      </Dialog>
    )
  const numbers = properties.filter(({ is_numerical }) => is_numerical)
  return <Roles template={template} found={castOf(template, events, numbers)} properties={properties} onClose={onClose} />
}

function Roles({
  template,
  found,
  properties,
  onClose,
}: {
  template: Template
  found: Cast
  properties: readonly { readonly name: string; readonly count: number }[]
  onClose: () => void
}) {
  const project = useProject()
  const [chosen, setChosen] = useState<Cast>({})
  const cast = { ...found, ...chosen }
  const has = (property: string) => properties.some(({ name, count }) => name === property && count > 0)
  const tiles = template.tiles(cast, has)
  const set = (role: string, player: Player | undefined) => setChosen({ ...chosen, [role]: player })
  const create = async (form: HTMLFormElement) => {
    const id = await createDashboard(project, textOf(form, 'name'), template, tiles)
    go(linkTo(project.link(`dashboards/${id}`)))
  }
  return (
    <FormDialog title={template.title} submit="Create" onClose={onClose} send={create}>
      <TextField name="name" label="Name" value={template.title} required maxLength={400} />
      {template.roles.map((role) => (
        <RoleFields key={role.name} role={role} player={cast[role.name]} onChange={(player) => set(role.name, player)} />
      ))}
      {tiles.length === 0 ? (
        <p class="hint">Choose an event above: there is nothing to show yet.</p>
      ) : (
        <details>
          <summary>
            {tiles.length} {tiles.length === 1 ? 'insight' : 'insights'}
          </summary>
          <ul>
            {tiles.map(({ name }) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </FormDialog>
  )
}

function RoleFields({
  role,
  player,
  onChange,
}: {
  role: Role
  player: Player | undefined
  onChange: (player: Player | undefined) => void
}) {
  return (
    <div class="field">
      <strong>{role.title}</strong>
      <div class="row">
        <EventNameField
          label={role.title}
          all="None"
          value={player?.event ?? ''}
          onChange={(event) => onChange(event === '' ? undefined : { ...player, event })}
        />
        {role.numbers && player && (
          <PropertyField
            label={`${role.title}: sum of`}
            placeholder="Sum of a property"
            value={player.number === undefined ? null : { type: 'event', key: player.number }}
            whose={['event']}
            isNumber
            onChoose={(choice) => 'key' in choice && onChange({ ...player, number: choice.key })}
          />
        )}
      </div>
    </div>
  )
}

/** Insights are not listed before they are on the dashboard: one that cannot be made leaves none behind that anybody sees. */
async function createDashboard(
  { api }: CurrentProject,
  name: string,
  template: Template,
  tiles: ReturnType<Template['tiles']>,
): Promise<number> {
  const placed = arrangedTiles(tiles)
  const insights: number[] = []
  for (const tile of placed) {
    const query = { kind: 'InsightVizNode', source: tile.query }
    const { id } = await post<AnsweredInsightAnswer>(api('insights/'), { name: tile.name, query, saved: false })
    insights.push(id)
  }
  const made = await post<WholeDashboardAnswer>(api('dashboards/'), {
    name,
    description: template.about,
    tiles: placed.map(({ place }, i) => ({ insight: insights[i], layouts: { sm: place } })),
  })
  return made.id
}
