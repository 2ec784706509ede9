import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ExportLogAnswer } from '../../doors/answers/batch-exports.ts'
import type {
  ChangedDeliveriesAnswer,
  FailedDeliveryAnswer,
  PluginAnswer,
  PluginConfigAnswer,
  PluginLogAnswer,
} from '../../doors/answers/plugins.ts'
import { EventName } from '../data/event-name.tsx'
import { FileField } from '../files/file-field.tsx'
import { ApiError, get, patch, post, remove } from '../lib/api.ts'
import { counted, momentText, numberText } from '../lib/format.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { type CurrentProject, useProject } from '../lib/session.ts'
import { useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useOrganization } from '../settings/organization-of.ts'
import { Ago } from '../ui/ago.tsx'
import { At } from '../ui/field-errors.tsx'
import { ForMembers } from '../ui/for-members.tsx'
import { CheckField, ChoiceField, ConfirmButton, Form, isChecked, TextField, useAction } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { ErrorBox, Field, NotHere, Working } from '../ui/parts.tsx'
import { type ConfigField, fieldsOf, problemText } from './records.ts'
import { SourceEditor } from './source.tsx'
import { WebhookAddress } from './webhook.tsx'

interface StoredFile {
  readonly name: string
  readonly size: number
}
const fileOf = (value: unknown): StoredFile | null =>
  typeof value === 'object' && value !== null && 'saved' in value ? (value as unknown as StoredFile) : null

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`))
    reader.readAsDataURL(file)
  })

/** What the form of a plugin sends. A secret whose field was left empty stays as it is. */
async function bodyOf(form: HTMLFormElement, fields: readonly ConfigField[], before: Readonly<Record<string, unknown>>) {
  const config: Record<string, unknown> = {}
  const added: Record<string, object> = {}
  const removed: Record<string, true> = {}
  const data = new FormData(form)
  for (const { key, type, secret } of fields) {
    if (key === undefined) continue
    const value = data.get(`config__${key}`)
    if (type === 'attachment') {
      if (value instanceof File && value.size > 0)
        added[key] = { name: value.name, type: value.type || 'application/octet-stream', contents: await base64Of(value) }
      else if (data.has(`remove__${key}`)) removed[key] = true
      continue
    }
    const text = String(value ?? '')
    if (secret && text === '' && before[key] !== undefined && before[key] !== '')
      config[key] = data.has(`remove__${key}`) ? '' : before[key]
    else config[key] = text
  }
  return {
    config,
    ...(Object.keys(added).length > 0 && { add_attachment: added }),
    ...(Object.keys(removed).length > 0 && { remove_attachment: removed }),
  }
}

function ConfigInput({ field, value }: { field: ConfigField; value: unknown }) {
  const { key, name, type, hint, required = false, secret, choices, markdown } = field
  if (key === undefined) return markdown ? <p class="note">{markdown}</p> : null
  const label = `${name || key}${required ? '' : ' (optional)'}`
  const at = `config__${key}`
  const text = value === undefined || value === null ? (field.default ?? '') : typeof value === 'string' ? value : JSON.stringify(value)
  if (type === 'choice')
    return (
      <ChoiceField
        name={at}
        label={label}
        hint={hint}
        value={text}
        options={['', ...(choices ?? [])].map((one) => ({ value: one, label: one || '–' }))}
      />
    )
  if (type === 'attachment') {
    const stored = fileOf(value)
    return (
      <>
        <At of={[at, `add_attachment__${key}`]}>
          <Field label={label} {...(hint ? { hint } : {})}>
            {(id) => <FileField id={id} name={at} required={required && !stored} />}
          </Field>
        </At>
        {stored && (
          <>
            <p class="note">
              Stored: {stored.name}, {stored.size} bytes
            </p>
            <CheckField name={`remove__${key}`} label="Remove it" />
          </>
        )}
      </>
    )
  }
  if (secret) {
    const isStored = value !== undefined && value !== null && value !== ''
    return (
      <>
        <TextField
          name={at}
          type="password"
          autocomplete="new-password"
          label={label}
          hint={hint}
          required={required && !isStored}
          placeholder={isStored ? 'Stored. Leave it empty to keep it.' : ''}
        />
        {isStored && !required && <CheckField name={`remove__${key}`} label={`Remove ${name || key}`} />}
      </>
    )
  }
  return <TextField name={at} label={label} hint={hint} value={text} required={required} {...(type === 'json' ? { rows: 4 } : {})} />
}

function ConfigForm({
  plugin,
  config,
  isReadOnly = false,
  send,
  submit,
}: {
  plugin: PluginAnswer
  config: PluginConfigAnswer | null
  isReadOnly?: boolean
  send: (body: object) => Promise<unknown>
  submit: string
}) {
  const fields = fieldsOf(plugin.config_schema)
  const values = config?.config ?? {}
  return (
    <Form
      submit={submit}
      done="Saved"
      isReadOnly={isReadOnly}
      send={async (form) => send({ ...(await bodyOf(form, fields, values)), enabled: isChecked(form, 'enabled') })}
    >
      {fields.map((field, i) => (
        <ConfigInput key={field.key ?? i} field={field} value={field.key === undefined ? undefined : values[field.key]} />
      ))}
      {fields.length === 0 && <p class="note">It has no settings.</p>}
      <CheckField name="enabled" label="Switched on" value={config?.enabled ?? true} />
    </Form>
  )
}

function NotRead({ error, retry }: { error: Error; retry: () => void }) {
  const { link } = useProject()
  if (!(error instanceof ApiError) || error.status !== 404) return <ErrorBox error={error} retry={retry} />
  return (
    <NotHere title="There is no such plugin here">
      <p>
        <a href={linkTo(link('pipelines/plugins'))}>All plugins</a>
      </p>
    </NotHere>
  )
}

const nameOf = (plugin: PluginAnswer) => plugin.name ?? `Plugin ${plugin.id}`

/** The first settings of a plugin that is installed. */
export function NewPluginConfig({ pluginId }: { pluginId: number }) {
  const { api, link } = useProject()
  const own = useOrganization()
  const { value, error, reload } = useLoaded((signal) => get<PluginAnswer>(own.api(`plugins/${pluginId}/`), signal), [pluginId])
  if (error) return <NotRead error={error} retry={reload} />
  if (!value) return <Working what="Reading the plugin" />
  return (
    <>
      <section class="block">
        <h2>{nameOf(value)}</h2>
        {value.description && <p>{value.description}</p>}
        <ConfigForm
          plugin={value}
          config={null}
          submit="Use in this project"
          send={async (body) => {
            const made = await post<PluginConfigAnswer>(api('plugin_configs/'), { ...body, plugin: value.id })
            go(linkTo(link(`pipelines/plugins/${made.id}`)))
          }}
        />
      </section>
      {value.plugin_type === 'source' && value.organization_id === own.id && <SourceEditor plugin={value} onSaved={reload} />}
    </>
  )
}

/** Code that no administrator has agreed to yet. */
function Agreement({ config, plugin, onAgreed }: { config: PluginConfigAnswer; plugin: PluginAnswer; onAgreed: () => void }) {
  const { api } = useProject()
  const own = useOrganization()
  const isWaiting = config.running_version !== config.code_version
  const { value: source } = useLoaded(
    (signal) =>
      isWaiting ? get<Readonly<Record<string, string>>>(own.api(`plugins/${plugin.id}/source/`), signal) : Promise.resolve(null),
    [config.code_version, isWaiting],
  )
  if (!isWaiting) return null
  return (
    <div class="note" role="status">
      <p>
        {config.running_version === null
          ? 'Nothing runs yet: an administrator of the project has to agree to the code.'
          : 'The code of this plugin was changed. The version that an administrator agreed to keeps running.'}{' '}
        Version {config.code_version.slice(0, 12)} waits.
      </p>
      {source &&
        Object.entries(source).map(([name, text]) => (
          <details key={name}>
            <summary>{name}</summary>
            <pre>{text}</pre>
          </details>
        ))}
      <ForMembers>
        <ConfirmButton
          label="Agree to this code…"
          title={`Agree to the code of ${nameOf(plugin)}`}
          submit="Agree"
          action={async () => {
            await post(api(`plugin_configs/${config.id}/agree/`), { version: config.code_version })
            onAgreed()
          }}
        >
          <p>It gets the events of this project, and the secrets of these settings. Only administrators of the project can agree.</p>
        </ConfirmButton>
      </ForMembers>
    </div>
  )
}

const load = (project: CurrentProject, id: number, signal: AbortSignal) =>
  get<PluginConfigAnswer>(project.api(`plugin_configs/${id}/`), signal)

export function PluginPage({ place, configId }: { place: Place; configId: number }) {
  const project = useProject()
  const own = useOrganization()
  const { value, error, reload } = useLoaded((signal) => load(project, configId, signal), [configId])
  const { act, failure } = useAction()
  if (error) return <NotRead error={error} retry={reload} />
  if (!value?.plugin_info) return <Working what="Reading the plugin" />
  const plugin = value.plugin_info
  const problem = problemText(value.error)
  const isOwn = plugin.organization_id === own.id
  const isNewer = plugin.latest_tag !== null && plugin.latest_tag !== plugin.tag
  return (
    <>
      <section class="block">
        <h2>{value.name ?? nameOf(plugin)}</h2>
        {plugin.description && <p>{plugin.description}</p>}
        <p class="note">
          {plugin.url ?? (plugin.plugin_type === 'source' ? 'Edited here' : plugin.plugin_type)}
          {plugin.tag && `, version ${plugin.tag}`}
        </p>
        {problem && <ErrorBox error={new Error(problem)} />}
        {failure}
        <Agreement config={value} plugin={plugin} onAgreed={reload} />
        <ConfigForm
          plugin={plugin}
          config={value}
          isReadOnly={!project.mayChange}
          submit="Save"
          send={(body) => patch(project.api(`plugin_configs/${configId}/`), body).then(reload)}
          key={`${value.id} ${JSON.stringify(value.config)} ${value.enabled}`}
        />
        <ForMembers>
          {' '}
          <div class="row">
            {isOwn && plugin.plugin_type === 'custom' && !isNewer && (
              <button type="button" onClick={() => act(() => get(own.api(`plugins/${plugin.id}/check_for_updates/`)).then(reload))}>
                Look for a newer version
              </button>
            )}
            {isOwn && isNewer && (
              <button type="button" onClick={() => act(() => post(own.api(`plugins/${plugin.id}/upgrade/`)).then(reload))}>
                Upgrade to {plugin.latest_tag}
              </button>
            )}
            <ConfirmButton
              label="Remove from this project…"
              title={`Remove ${nameOf(plugin)}`}
              submit="Remove"
              action={async () => {
                await patch(project.api(`plugin_configs/${configId}/`), { deleted: true })
                go(linkTo(project.link('pipelines/plugins')))
              }}
            >
              <p>It stops at once. The plugin stays installed.</p>
            </ConfirmButton>
          </div>
        </ForMembers>
      </section>
      <WebhookAddress config={value} reload={reload} />
      {plugin.plugin_type === 'source' && isOwn && project.mayChange && <SourceEditor plugin={plugin} onSaved={reload} />}
      <Failed configId={configId} />
      <Logs place={place} path={project.api(`plugin_configs/${configId}/logs/`)} />
    </>
  )
}

function Failed({ configId }: { configId: number }) {
  const { api, mayChange } = useProject()
  const path = api(`plugin_configs/${configId}/failed_deliveries/`)
  const list = useList<FailedDeliveryAnswer>(`${path}?limit=50`)
  const { act, isBusy, failure } = useAction()
  const [said, setSaid] = useState('')
  const all = (what: 'retry' | 'discard') =>
    act(async () => {
      const { count } = await post<ChangedDeliveriesAnswer>(`${path}${what}/`)
      setSaid(`${counted(count, 'event is', 'events are')} ${what === 'retry' ? 'delivered again' : 'discarded'}.`)
      list.reload()
    })
  return (
    <section class="block">
      <h2>Failed deliveries</h2>
      {failure}
      <ListTable
        list={list}
        what="failed deliveries"
        head={[
          { title: 'Event', by: ({ event }) => event },
          'State',
          { title: 'Attempts', by: ({ attempts }) => attempts, isNumber: true },
          'Last error',
          { title: 'Last attempt', by: ({ last_attempt_at }) => last_attempt_at ?? '' },
          null,
        ]}
        empty="None. Events that cannot be delivered wait here."
        row={(one) => (
          <tr key={one.id}>
            <td>
              <EventName of={one.event} />
            </td>
            <td>{one.status}</td>
            <td class="number">{numberText(one.attempts)}</td>
            <td>{one.latest_error}</td>
            <td>
              <Ago of={one.last_attempt_at} />
            </td>
            <td>
              <ForMembers>
                <div class="row">
                  <button type="button" disabled={isBusy} onClick={() => act(() => post(`${path}${one.id}/retry/`).then(list.reload))}>
                    Retry
                  </button>
                  <button type="button" disabled={isBusy} onClick={() => act(() => remove(`${path}${one.id}/`).then(list.reload))}>
                    Discard
                  </button>
                </div>
              </ForMembers>
            </td>
          </tr>
        )}
      />
      {said && <p role="status">{said}</p>}
      {mayChange && (list.rows?.length ?? 0) > 0 && (
        <div class="row">
          <button type="button" disabled={isBusy} onClick={() => all('retry')}>
            Retry all that gave up
          </button>
          <ConfirmButton label="Discard all that gave up…" title="Discard deliveries" submit="Discard" action={async () => all('discard')}>
            <p>They are not sent any more. The events stay stored.</p>
          </ConfirmButton>
        </div>
      )}
    </section>
  )
}

/** The log of a page, whose address has what is searched. */
export function Logs({ place, path }: { place: Place; path: string }) {
  const { of, set } = useAddress(place)
  return <LogLines path={path} search={of('search')} onSearch={(search) => set({ search })} />
}
export function LogsInDialog({ path }: { path: string }) {
  const [search, setSearch] = useState('')
  return <LogLines path={path} search={search} onSearch={setSearch} />
}

/** What a plugin or an export has logged, the newest first. */
function LogLines({ path, search, onSearch }: { path: string; search: string; onSearch: (search: string) => void }) {
  const { timezone } = useProject()
  const list = useList<PluginLogAnswer | ExportLogAnswer>(`${path}?limit=50${search ? `&search=${encodeURIComponent(search)}` : ''}`)
  return (
    <section class="block">
      <h2>Log</h2>
      <div class="row">
        <Search label="Search the log" value={search} onChange={onSearch} />
        <button type="button" onClick={list.reload}>
          Refresh
        </button>
      </div>
      <div class="logs">
        <ListTable
          list={list}
          what="log lines"
          head={['Time', 'Level', 'Message']}
          empty={search ? 'No line has these words.' : 'Nothing yet.'}
          row={(line) => (
            <Fragment key={'id' in line ? line.id : `${line.timestamp} ${line.message}`}>
              <tr>
                <td>{momentText(line.timestamp, timezone)}</td>
                <td>{'type' in line ? line.type : line.level}</td>
                <td>{line.message}</td>
              </tr>
            </Fragment>
          )}
        />
      </div>
    </section>
  )
}
