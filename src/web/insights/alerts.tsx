import { useState } from 'preact/hooks'
import { get, type Page, patch, post, type Query, remove } from '../lib/api.ts'
import { momentText, numberText } from '../lib/format.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { CheckField, ChoiceField, ConfirmButton, Form, isChecked, TextField, TimeField, textOf, timeOf, useAction } from '../ui/forms.tsx'
import { NoMail } from '../ui/no-mail.tsx'
import { CopyButton, Dialog, ErrorBox, Working } from '../ui/parts.tsx'

// What a saved insight sends by itself: alerts when a number leaves its bounds, and itself on a schedule.

interface Person {
  readonly id: number
  readonly uuid: string
  readonly first_name: string
  readonly email: string
}
interface Alert {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly enabled: boolean
  readonly condition: { readonly type: string }
  readonly threshold: {
    readonly configuration: { readonly type: string; readonly bounds: { readonly lower: number | null; readonly upper: number | null } }
  }
  readonly calculation_interval: string
  readonly snoozed_until: string | null
  readonly last_value: number | null
  readonly last_checked_at: string | null
  readonly webhook_secret: string | null
  readonly checks: readonly { readonly id: string; readonly error: string | null }[]
}
interface Subscription {
  readonly id: number
  readonly title: string | null
  readonly summary: string
  readonly target_type: string
  readonly target_value: string
  readonly next_delivery_date: string | null
  readonly webhook_secret: string | null
}

export interface NotifiedInsight {
  readonly id: number
  readonly query: Query
}

export function NotificationsDialog({ insight, isTrend, onClose }: { insight: NotifiedInsight; isTrend: boolean; onClose: () => void }) {
  const [tab, setTab] = useState<'alerts' | 'subscriptions'>(isTrend ? 'alerts' : 'subscriptions')
  const [secret, setSecret] = useState<string | null>(null)
  const tabs = [
    ['alerts', 'Alerts'],
    ['subscriptions', 'Subscriptions'],
  ] as const
  return (
    <Dialog title="Notifications" onClose={onClose}>
      <div class="tabs" role="tablist" aria-label="Kinds of notifications">
        {tabs.map(([name, title]) => (
          <button type="button" role="tab" key={name} aria-selected={tab === name} onClick={() => setTab(name)}>
            {title}
          </button>
        ))}
      </div>
      {secret && (
        <div class="once" role="status">
          <p>Its webhooks are signed with this secret. It is shown this once.</p>
          <div class="row">
            <code>{secret}</code>
            <CopyButton text={secret} />
          </div>
        </div>
      )}
      {tab === 'alerts' ? (
        isTrend ? (
          <Alerts insight={insight} onSecret={setSecret} />
        ) : (
          <p class="note">Alerts compare a trend with a threshold. This insight has another kind.</p>
        )
      ) : (
        <Subscriptions insight={insight} onSecret={setSecret} />
      )}
    </Dialog>
  )
}

const conditions = [
  { value: 'absolute_value', label: 'The number' },
  { value: 'relative_increase', label: 'Its increase from the interval before' },
  { value: 'relative_decrease', label: 'Its decrease from the interval before' },
]
const checkIntervals = [
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
]
const tone = (state: string) => (state === 'Firing' || state === 'Errored' ? 'bad' : state === 'Snoozed' ? 'warn' : 'good')

/** `more than 10`, in percent where the bounds are shares. */
function boundsText({ type, bounds: { lower, upper } }: Alert['threshold']['configuration']): string {
  const shown = (bound: number) => (type === 'percentage' ? `${numberText(bound * 100)} %` : numberText(bound))
  return [lower === null ? '' : `less than ${shown(lower)}`, upper === null ? '' : `more than ${shown(upper)}`].filter(Boolean).join(' or ')
}

function Alerts({ insight, onSecret }: { insight: NotifiedInsight; onSecret: (secret: string | null) => void }) {
  const { api, timezone } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<Alert>>(api(`alerts/?insight_id=${insight.id}&limit=50`), signal),
    [insight.id],
  )
  const { act, isBusy, failure } = useAction()
  const change = (alert: Alert, fields: object) => act(() => patch(api(`alerts/${alert.id}/`), fields).then(reload))
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {failure}
      {!value && !error && <Working what="Reading alerts" />}
      {value?.results.length === 0 && <p class="note">None yet.</p>}
      <ul class="cards">
        {value?.results.map((alert) => (
          <li key={alert.id}>
            <div>
              <h3>{alert.name || conditions.find(({ value: type }) => type === alert.condition.type)?.label}</h3>
              <p>
                <span class={`state ${alert.enabled ? tone(alert.state) : ''}`}>{alert.enabled ? alert.state : 'Off'}</span>{' '}
                {boundsText(alert.threshold.configuration)}
              </p>
              <p class="note">
                {checkIntervals.find(({ value: one }) => one === alert.calculation_interval)?.label}.{' '}
                {alert.last_checked_at
                  ? `Last value ${alert.last_value === null ? 'none' : numberText(alert.last_value)}, ${momentText(alert.last_checked_at, timezone)}.`
                  : 'Not checked yet.'}
                {alert.snoozed_until && ` Snoozed until ${momentText(alert.snoozed_until, timezone)}.`}
              </p>
              {alert.checks[0]?.error && <p class="field-error">{alert.checks[0].error}</p>}
            </div>
            <div class="row">
              <button type="button" disabled={isBusy} onClick={() => change(alert, { enabled: !alert.enabled })}>
                {alert.enabled ? 'Switch off' : 'Switch on'}
              </button>
              <button type="button" disabled={isBusy} onClick={() => change(alert, { snoozed_until: alert.snoozed_until ? null : '1d' })}>
                {alert.snoozed_until ? 'Wake' : 'Snooze for a day'}
              </button>
              <button
                type="button"
                class="danger-text"
                disabled={isBusy}
                onClick={() => act(() => remove(api(`alerts/${alert.id}/`)).then(reload))}
              >
                Remove
              </button>
            </div>
          </li>
        ))}
      </ul>
      <NewAlert
        insight={insight}
        onMade={(made) => {
          onSecret(made.webhook_secret)
          reload()
        }}
      />
    </>
  )
}

/** Members, of whom some get the mail. */
function useMembers(): readonly Person[] {
  const { project } = useSession()
  const { value } = useLoaded(
    (signal) => get<Page<{ user: Person }>>(`api/organizations/${project.organization}/members/?limit=200`, signal),
    [project.organization],
  )
  return value?.results.map(({ user }) => user) ?? []
}

const numberIn = (form: HTMLFormElement, name: string): number | null => (textOf(form, name) === '' ? null : Number(textOf(form, name)))

function NewAlert({ insight, onMade }: { insight: NotifiedInsight; onMade: (alert: Alert) => void }) {
  const { api } = useProject()
  const { user } = useSession()
  const members = useMembers()
  const [condition, setCondition] = useState('absolute_value')
  const [isShare, setShare] = useState(false)
  const series = Array.isArray(insight.query.series) ? insight.query.series : []
  const percent = condition !== 'absolute_value' && isShare
  const send = async (form: HTMLFormElement) => {
    const bound = (name: string) => {
      const given = numberIn(form, name)
      return given === null ? null : percent ? given / 100 : given
    }
    const made = await post<Alert>(api('alerts/'), {
      insight: insight.id,
      name: textOf(form, 'name'),
      condition: { type: condition },
      threshold: { configuration: { type: percent ? 'percentage' : 'absolute', bounds: { lower: bound('lower'), upper: bound('upper') } } },
      config: { type: 'TrendsAlertConfig', series_index: Number(textOf(form, 'series_index')) },
      calculation_interval: textOf(form, 'calculation_interval'),
      subscribed_users: members.filter(({ id }) => isChecked(form, `user-${id}`)).map(({ id }) => id),
      webhook_url: textOf(form, 'webhook_url') || null,
    })
    form.reset()
    onMade(made)
  }
  return (
    <section class="block">
      <h3>New alert</h3>
      <Form submit="Create the alert" send={send}>
        <TextField name="name" label="Name" required maxLength={255} />
        {series.length > 1 ? (
          <ChoiceField
            name="series_index"
            label="Series"
            value="0"
            options={series.map((one, i) => {
              const { custom_name, name, event } = one as { custom_name?: string; name?: string; event?: string | null }
              return { value: String(i), label: `${i + 1}: ${custom_name || name || event || 'All events'}` }
            })}
          />
        ) : (
          <input type="hidden" name="series_index" value="0" />
        )}
        <ChoiceField name="condition" label="Compare" value={condition} options={conditions} onChange={setCondition} />
        {condition !== 'absolute_value' && <CheckField name="share" label="As a percentage of the number before" onChange={setShare} />}
        <div class="two">
          <TextField name="lower" type="number" step="any" label={`Fires below${percent ? ' (%)' : ''}`} />
          <TextField name="upper" type="number" step="any" label={`Fires above${percent ? ' (%)' : ''}`} />
        </div>
        <ChoiceField name="calculation_interval" label="Check" value="daily" options={checkIntervals} />
        <fieldset>
          <legend>Mail to</legend>
          <NoMail instead="A webhook works without one." />
          {members.map((one) => (
            <CheckField key={one.id} name={`user-${one.id}`} label={one.first_name || one.email} value={one.uuid === user.uuid} />
          ))}
        </fieldset>
        <TextField name="webhook_url" type="url" label="Webhook (optional)" placeholder="https://" maxLength={2000} />
      </Form>
    </section>
  )
}

const frequencies = [
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
  { value: 'yearly', label: 'Every year' },
]

function Subscriptions({ insight, onSecret }: { insight: NotifiedInsight; onSecret: (secret: string | null) => void }) {
  const { api, timezone } = useProject()
  const { user } = useSession()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<Subscription>>(api(`subscriptions/?insight=${insight.id}&limit=50`), signal),
    [insight.id],
  )
  const [target, setTarget] = useState('email')
  const [said, setSaid] = useState('')
  const { act, isBusy, failure } = useAction()
  const send = async (form: HTMLFormElement) => {
    const made = await post<Subscription>(api('subscriptions/'), {
      insight: insight.id,
      title: textOf(form, 'title'),
      target_type: target,
      target_value: textOf(form, 'target_value'),
      frequency: textOf(form, 'frequency'),
      start_date: timeOf(form, 'start_date'),
    })
    onSecret(made.webhook_secret)
    form.reset()
    reload()
  }
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {failure}
      {said && <p role="status">{said}</p>}
      {!value && !error && <Working what="Reading subscriptions" />}
      {value?.results.length === 0 && <p class="note">None yet.</p>}
      <ul class="cards">
        {value?.results.map((one) => (
          <li key={one.id}>
            <div>
              <h3>{one.title || one.summary}</h3>
              <p class="note">
                {one.summary} to {one.target_value}.{' '}
                {one.next_delivery_date ? `Next: ${momentText(one.next_delivery_date, timezone)}.` : 'It has ended.'}
              </p>
            </div>
            <div class="row">
              <button
                type="button"
                disabled={isBusy}
                onClick={() =>
                  act(async () => {
                    await post(api(`subscriptions/${one.id}/test-delivery/`))
                    setSaid('It is being sent.')
                  })
                }
              >
                Send now
              </button>
              <ConfirmButton
                label="End…"
                title="End the subscription"
                submit="End it"
                action={() => patch(api(`subscriptions/${one.id}/`), { deleted: true }).then(reload)}
              >
                <p>{one.target_value} gets nothing any more.</p>
              </ConfirmButton>
            </div>
          </li>
        ))}
      </ul>
      <section class="block">
        <h3>New subscription</h3>
        <Form submit="Create the subscription" send={send}>
          <TextField name="title" label="Title" required maxLength={100} />
          <ChoiceField
            name="target_type"
            label="Send by"
            value={target}
            options={[
              { value: 'email', label: 'Mail' },
              { value: 'webhook', label: 'Webhook' },
            ]}
            onChange={setTarget}
          />
          {target === 'email' && <NoMail instead="A webhook works without one." />}
          {target === 'email' ? (
            <TextField name="target_value" label="Addresses, separated by commas" value={user.email} required key="email" />
          ) : (
            <TextField name="target_value" type="url" label="Address of the webhook" placeholder="https://" required key="webhook" />
          )}
          <ChoiceField name="frequency" label="How often" value="weekly" options={frequencies} />
          <TimeField name="start_date" label="First time" hint="Later ones are at the same time of day." required />
        </Form>
      </section>
    </>
  )
}
