import { useState } from 'preact/hooks'
import type { ProjectAnswer } from '../../doors/answers/projects.ts'
import { Filters } from '../insights/filters.tsx'
import type { Filter } from '../insights/query.ts'
import { call, get, patch, post, remove } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { browserZone } from '../lib/zones.ts'
import { At } from '../ui/field-errors.tsx'
import {
  CheckField,
  ChoiceField,
  ConfirmButton,
  DialogButton,
  Form,
  isChecked,
  linesOf,
  numberIn,
  TextField,
  textOf,
  ZoneField,
} from '../ui/forms.tsx'
import { CopyButton, ErrorBox, Working } from '../ui/parts.tsx'
import { DataRetention } from './data-retention.tsx'
import { level, useOrganization } from './organization-of.ts'

/** The settings of the project, for the sections that show a part of them. */
function useSettings() {
  const { api, mayChange } = useProject()
  const { reload } = useSession()
  const loaded = useLoaded((signal) => get<ProjectAnswer>(api(''), signal), [])
  const [changed, setChanged] = useState<ProjectAnswer | null>(null)
  const save = async (fields: Partial<ProjectAnswer>) => {
    setChanged(await patch<ProjectAnswer>(api(''), fields))
    void reload()
  }
  const waiting = loaded.error ? <ErrorBox error={loaded.error} retry={loaded.reload} /> : <Working what="Reading the settings" />
  return { settings: changed ?? loaded.value, save, waiting, take: setChanged, mayChange }
}

const weekDays = [
  { value: '', label: 'Default (Sunday)' },
  { value: '0', label: 'Sunday' },
  { value: '1', label: 'Monday' },
]

export function ProjectSection() {
  const { settings, save, waiting, take, mayChange } = useSettings()
  const { isAdmin } = useOrganization()
  if (!settings) return waiting
  const send = (form: HTMLFormElement) =>
    save({
      name: textOf(form, 'name'),
      timezone: textOf(form, 'timezone'),
      week_start_day: textOf(form, 'week_start_day') === '' ? null : Number(textOf(form, 'week_start_day')),
      base_currency: textOf(form, 'base_currency').toUpperCase(),
      person_display_name_properties: linesOf(form, 'person_display_name_properties'),
      anonymize_ips: isChecked(form, 'anonymize_ips'),
    })
  return (
    <>
      <section class="block">
        <h2>Project</h2>
        <Form submit="Save" done="Saved" send={send} isReadOnly={!mayChange}>
          <TextField name="name" label="Name" value={settings.name} required maxLength={200} />
          <ZoneField name="timezone" label="Time zone" value={settings.timezone} hint="Days and weeks of all charts begin in this zone." />
          <ChoiceField name="week_start_day" label="First day of the week" value={settings.week_start_day} options={weekDays} />
          <TextField
            name="base_currency"
            label="Currency"
            value={settings.base_currency}
            hint="Three letters, such as EUR."
            maxLength={3}
            required
          />
          <TextField
            name="person_display_name_properties"
            label="Names of people"
            rows={3}
            value={(settings.person_display_name_properties ?? []).join('\n')}
            hint="Person properties, one per line; the first with a value names a person. Without any: e-mail address and name."
          />
          <CheckField name="anonymize_ips" label="Do not store IP addresses" value={settings.anonymize_ips} />
        </Form>
      </section>
      <ProjectKey token={settings.api_token} isAdmin={isAdmin} onRotated={take} />
      <EventLimit settings={settings} isAdmin={isAdmin} save={save} />
      <DataRetention settings={settings} isAdmin={isAdmin} save={save} />
      <NewProject />
      <DeleteProject name={settings.name} isAdmin={isAdmin} />
    </>
  )
}

function ProjectKey({ token, isAdmin, onRotated }: { token: string; isAdmin: boolean; onRotated: (settings: ProjectAnswer) => void }) {
  const { api } = useProject()
  const { reload } = useSession()
  const [isShown, setShown] = useState(false)
  const rotate = async () => {
    onRotated(await call<ProjectAnswer>('PATCH', api('reset_token/')))
    setShown(true)
    void reload()
  }
  return (
    <section class="block">
      <h2>Project key</h2>
      <p class="note">Applications send events with it. It can be in a web page: it does not allow reading anything.</p>
      <div class="row">
        <code class="secret">{isShown ? token : `${token.slice(0, 6)}…`}</code>
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </button>
        <CopyButton text={token} />
        {isAdmin && (
          <ConfirmButton label="Rotate…" title="Rotate the project key" submit="Rotate the key" action={rotate}>
            <p>The old key stops at once: events sent with it are refused. Change it in your applications first, or right after.</p>
          </ConfirmButton>
        )}
      </div>
      {!isAdmin && <p class="note">Only administrators can rotate it.</p>}
    </section>
  )
}

function EventLimit({
  settings: { daily_event_limit: own, event_quota: quota },
  isAdmin,
  save,
}: {
  settings: ProjectAnswer
  isAdmin: boolean
  save: (fields: Partial<ProjectAnswer>) => Promise<void>
}) {
  const send = (form: HTMLFormElement) => {
    const text = textOf(form, 'daily_event_limit').replaceAll(/[\s,.]/g, '')
    return save({ daily_event_limit: numberIn(text) })
  }
  return (
    <section class="block">
      <h2>Events a day</h2>
      <p class="note">
        {quota.limit === null
          ? 'The project takes events without a limit.'
          : `${numberText(quota.taken)} of ${numberText(quota.limit)} events taken today, in UTC. More are refused until 00:00, and the owners get an e-mail.`}
      </p>
      {isAdmin && (
        <Form submit="Save" done="Saved" send={send}>
          <TextField
            name="daily_event_limit"
            label="Limit"
            value={own === null ? '' : String(own)}
            hint="The project key is public: a limit bounds what a stranger can send. Empty: as many as the operator of the server allows."
          />
        </Form>
      )}
    </section>
  )
}

function NewProject() {
  const { reload } = useSession()
  const own = useOrganization()
  const create = async (form: HTMLFormElement) => {
    const body = { name: textOf(form, 'name'), timezone: textOf(form, 'timezone'), is_demo: isChecked(form, 'is_demo') }
    const made = await post<ProjectAnswer>(own.api('projects/'), body)
    await reload()
    go(linkTo(`project/${made.id}/home`))
  }
  if (own.level < level.member) return null
  return (
    <section class="block">
      <h2>Another project</h2>
      <p class="note">Each project has its own key, events and people.</p>
      <DialogButton label="New project">
        {() => (
          <Form submit="Create" send={create}>
            <TextField name="name" label="Name" required maxLength={200} autofocus />
            <ZoneField name="timezone" label="Time zone" value={browserZone()} />
            <CheckField name="is_demo" label="Fill it with the events of a fictional shop" hint="For a look around." />
          </Form>
        )}
      </DialogButton>
    </section>
  )
}

function DeleteProject({ name, isAdmin }: { name: string; isAdmin: boolean }) {
  const { api } = useProject()
  const { projects, project, reload } = useSession()
  const drop = async () => {
    await remove(api(''))
    const other = projects.find(({ id }) => id !== project.id)
    go(other ? linkTo(`project/${other.id}/home`) : '#/', true)
    await reload()
  }
  return (
    <section class="block">
      <h2>Delete this project</h2>
      {isAdmin ? (
        <ConfirmButton label="Delete…" title={`Delete ${name}`} submit="Delete the project" typed={name} action={drop}>
          <p>All its events, people, insights and dashboards are deleted. This cannot be undone.</p>
        </ConfirmButton>
      ) : (
        <p class="note">Only administrators can delete a project.</p>
      )}
    </section>
  )
}

export function FiltersSection() {
  const { settings, save, waiting, mayChange } = useSettings()
  const [filters, setFilters] = useState<readonly Filter[] | null>(null)
  const [paths, setPaths] = useState<ProjectAnswer['path_cleaning_filters']>(null)
  if (!settings) return waiting
  const shown = filters ?? (settings.test_account_filters as readonly Filter[])
  const rules = paths ?? settings.path_cleaning_filters ?? []
  const changeRule = (at: number, by: { regex?: string; alias?: string }) =>
    setPaths(rules.map((rule, i) => (i === at ? { ...rule, ...by } : rule)))
  return (
    <>
      <section class="block">
        <h2>Test accounts</h2>
        <p class="note">Insights that leave out test accounts count only events that pass these filters.</p>
        <Form
          submit="Save"
          done="Saved"
          isReadOnly={!mayChange}
          send={(form) =>
            save({
              test_account_filters: [...shown],
              test_account_filters_default_checked: isChecked(form, 'default_checked'),
            })
          }
        >
          <At of="test_account_filters">
            <Filters filters={shown} onChange={setFilters} paths={['test_account_filters']} />
          </At>
          <CheckField
            name="default_checked"
            of="test_account_filters_default_checked"
            label="New insights leave them out"
            value={settings.test_account_filters_default_checked === true}
          />
        </Form>
      </section>
      <section class="block">
        <h2>Path cleaning</h2>
        <p class="note">What matches the expression is shown as the alias, so that paths with an id in them count together.</p>
        <Form
          submit="Save"
          done="Saved"
          isReadOnly={!mayChange}
          send={() => save({ path_cleaning_filters: rules.filter(({ regex }) => regex) })}
          note={
            <button type="button" onClick={() => setPaths([...rules, { regex: '', alias: '' }])}>
              Add a rule
            </button>
          }
        >
          {rules.map((rule, i) => (
            <At of={`path_cleaning_filters.${rules.slice(0, i).filter(({ regex }) => regex).length}`} key={i}>
              <div class="pair">
                <input
                  aria-label={`Expression ${i + 1}`}
                  placeholder="/order/\d+"
                  value={rule.regex ?? ''}
                  onInput={(event) => changeRule(i, { regex: event.currentTarget.value })}
                />
                <input
                  aria-label={`Alias ${i + 1}`}
                  placeholder="/order/:id"
                  value={rule.alias ?? ''}
                  onInput={(event) => changeRule(i, { alias: event.currentTarget.value })}
                />
                <button
                  type="button"
                  class="plain"
                  aria-label={`Remove rule ${i + 1}`}
                  onClick={() => setPaths(rules.filter((_, at) => at !== i))}
                >
                  ✕
                </button>
              </div>
            </At>
          ))}
        </Form>
      </section>
    </>
  )
}

export function CaptureSection() {
  const { settings, save, waiting, mayChange } = useSettings()
  const { link } = useProject()
  if (!settings) return waiting
  return (
    <section class="block">
      <h2>What browsers send</h2>
      <p class="note">
        The client library reads these settings when a page loads. <a href={linkTo(link('settings/install'))}>How to install it</a>
      </p>
      <Form
        submit="Save"
        done="Saved"
        isReadOnly={!mayChange}
        send={(form) =>
          save({
            autocapture_opt_out: !isChecked(form, 'autocapture'),
            capture_performance_opt_in: isChecked(form, 'capture_performance_opt_in'),
            autocapture_web_vitals_opt_in: isChecked(form, 'autocapture_web_vitals_opt_in'),
            autocapture_exceptions_opt_in: isChecked(form, 'autocapture_exceptions_opt_in'),
            capture_dead_clicks: isChecked(form, 'capture_dead_clicks'),
            heatmaps_opt_in: isChecked(form, 'heatmaps_opt_in'),
            app_urls: linesOf(form, 'app_urls'),
          })
        }
      >
        <CheckField
          name="autocapture"
          of="autocapture_opt_out"
          label="Clicks and submitted forms (autocapture)"
          value={settings.autocapture_opt_out !== true}
        />
        <CheckField name="autocapture_web_vitals_opt_in" label="Web vitals" value={settings.autocapture_web_vitals_opt_in === true} />
        <CheckField
          name="autocapture_exceptions_opt_in"
          label="Exceptions"
          value={settings.autocapture_exceptions_opt_in === true}
          hint="Errors of scripts that nothing has caught, as $exception."
        />
        <CheckField
          name="capture_dead_clicks"
          label="Dead clicks"
          value={settings.capture_dead_clicks === true}
          hint="Clicks after which nothing happens, as $dead_click."
        />
        <CheckField
          name="capture_performance_opt_in"
          label="Timing of network requests"
          value={settings.capture_performance_opt_in === true}
          hint="The library measures requests for recordings of sessions. Waymark keeps neither: it drops $performance_event."
        />
        <CheckField
          name="heatmaps_opt_in"
          label="Heat maps"
          value={settings.heatmaps_opt_in === true}
          hint="The library sends where clicks and the mouse were, as $$heatmap. Waymark drops these events and draws no heat map: on, they are only traffic."
        />
        <TextField
          name="app_urls"
          label="Addresses of your site"
          rows={3}
          value={settings.app_urls.filter(Boolean).join('\n')}
          hint="One per line, such as https://shop.example.com."
        />
      </Form>
    </section>
  )
}
