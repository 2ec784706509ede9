import { useState } from 'preact/hooks'
import type { MemberAnswer } from '../../doors/answers/members.ts'
import type { AlertAnswer, SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import type { UserAnswer } from '../../doors/answers/users.ts'
import { get, type Page, post, type Query } from '../lib/api.ts'
import { sendsMail } from '../lib/mail.ts'
import { useProject, useSession } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { At } from '../ui/field-errors.tsx'
import { CheckField, ChoiceField, Form, isChecked, TextField, TimeField, textOf, timeOf } from '../ui/forms.tsx'
import { NoMail } from '../ui/no-mail.tsx'
import { CopyButton, Dialog, ErrorBox, Working } from '../ui/parts.tsx'
import { type AlertNumbers, alertNumbers } from './alert-numbers.ts'
import { AlertCard, SubscriptionCard } from './cards.tsx'
import { checkIntervals, conditions } from './notified.ts'

// What a saved insight sends by itself: alerts when a number leaves its bounds, and itself on a schedule.

export interface NotifiedInsight {
  readonly id: number
  readonly query: Query
}

/** Of a webhook, which is shown once. */
function Secret({ secret }: { secret: string | null }) {
  return (
    secret && (
      <div class="once" role="status">
        <p>Its webhooks are signed with this secret. It is shown only once.</p>
        <div class="row">
          <code>{secret}</code>
          <CopyButton text={secret} />
        </div>
      </div>
    )
  )
}

/** Of a dashboard: it has subscriptions only. */
export function SubscriptionsDialog({ of, onClose }: { of: Subscribed; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Dialog title="Subscriptions" onClose={onClose}>
      <Secret secret={secret} />
      <Subscriptions of={of} onSecret={setSecret} />
    </Dialog>
  )
}

export function NotificationsDialog({ insight, onClose }: { insight: NotifiedInsight; onClose: () => void }) {
  const numbers = alertNumbers(insight.query)
  const [tab, setTab] = useState<'alerts' | 'subscriptions'>(numbers ? 'alerts' : 'subscriptions')
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
      <Secret secret={secret} />
      {tab === 'alerts' ? (
        numbers ? (
          <Alerts insight={insight} numbers={numbers} onSecret={setSecret} />
        ) : (
          <p class="note">Alerts compare a number with a threshold. The answer of this insight has none.</p>
        )
      ) : (
        <Subscriptions of={{ insight: insight.id }} onSecret={setSecret} />
      )}
    </Dialog>
  )
}

function Alerts({
  insight,
  numbers,
  onSecret,
}: {
  insight: NotifiedInsight
  numbers: AlertNumbers
  onSecret: (secret: string | null) => void
}) {
  const { api } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<AlertAnswer>>(api(`alerts/?insight_id=${insight.id}&limit=50`), signal),
    [insight.id],
  )
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && !error && <Working what="Reading alerts" />}
      {value?.results.length === 0 && <p class="note">None yet.</p>}
      <ul class="cards">
        {value?.results.map((alert) => (
          <AlertCard key={alert.id} alert={alert} onChanged={reload} />
        ))}
      </ul>
      <NewAlert
        insight={insight}
        numbers={numbers}
        onMade={(made) => {
          onSecret(made.webhook_secret)
          reload()
        }}
      />
    </>
  )
}

/** Members, of whom some get the mail. */
function useMembers(): readonly UserAnswer[] {
  const { project } = useSession()
  const { value } = useLoaded(
    (signal) => get<Page<MemberAnswer>>(`api/organizations/${project.organization}/members/?limit=200`, signal),
    [project.organization],
  )
  return value?.results.map(({ user }) => user) ?? []
}

/** Of the threshold, as errors call them. */
const bounds = ['threshold.configuration.bounds', 'threshold.configuration', 'threshold'] as const

const numberIn = (form: HTMLFormElement, name: string): number | null => (textOf(form, name) === '' ? null : Number(textOf(form, name)))

function NewAlert({
  insight,
  numbers: { options, unit, hasIntervals },
  onMade,
}: {
  insight: NotifiedInsight
  numbers: AlertNumbers
  onMade: (alert: AlertAnswer) => void
}) {
  const { api } = useProject()
  const { user } = useSession()
  const members = useMembers()
  const { value: hasMail } = useLoaded(sendsMail, [])
  const [condition, setCondition] = useState('absolute_value')
  const [isShare, setShare] = useState(false)
  const percent = condition !== 'absolute_value' && isShare
  const shownUnit = percent ? ' (%)' : unit === '' ? '' : ` (${unit})`
  const send = async (form: HTMLFormElement) => {
    const bound = (name: string) => {
      const given = numberIn(form, name)
      return given === null ? null : percent ? given / 100 : given
    }
    const made = await post<AlertAnswer>(api('alerts/'), {
      insight: insight.id,
      name: textOf(form, 'name'),
      condition: { type: condition },
      threshold: { configuration: { type: percent ? 'percentage' : 'absolute', bounds: { lower: bound('lower'), upper: bound('upper') } } },
      config: { type: 'TrendsAlertConfig', series_index: Number(textOf(form, 'series_index')) },
      calculation_interval: textOf(form, 'calculation_interval'),
      subscribed_users: members.filter(({ id }) => hasMail && isChecked(form, `user-${id}`)).map(({ id }) => id),
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
        {options.length > 1 ? (
          <ChoiceField name="series_index" of="config.series_index" label="Number" value={options[0]!.value} options={options} />
        ) : (
          <input type="hidden" name="series_index" value={options[0]!.value} />
        )}
        {hasIntervals && <ChoiceField name="condition" label="Compare" value={condition} options={conditions} onChange={setCondition} />}
        {condition !== 'absolute_value' && (
          <CheckField name="share" of="threshold.configuration.type" label="As a percentage of the previous number" onChange={setShare} />
        )}
        <div class="two">
          <TextField name="lower" of={[...bounds, `${bounds[0]}.lower`]} type="number" step="any" label={`Alert below${shownUnit}`} />
          <TextField name="upper" of={`${bounds[0]}.upper`} type="number" step="any" label={`Alert above${shownUnit}`} />
        </div>
        <ChoiceField name="calculation_interval" label="Check" value="daily" options={checkIntervals} />
        <fieldset>
          <legend>Mail to</legend>
          <NoMail instead="A webhook works without one." />
          {hasMail && (
            <At of="subscribed_users">
              {members.map((one) => (
                <CheckField key={one.id} name={`user-${one.id}`} label={one.first_name || one.email} value={one.uuid === user.uuid} />
              ))}
            </At>
          )}
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

/** What is sent. */
export type Subscribed = { readonly insight: number } | { readonly dashboard: number }

function Subscriptions({ of, onSecret }: { of: Subscribed; onSecret: (secret: string | null) => void }) {
  const { api } = useProject()
  const { user } = useSession()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<SubscriptionAnswer>>(api(`subscriptions/?${parameters({ ...of, limit: 50 })}`), signal),
    [JSON.stringify(of)],
  )
  const { value: hasMail } = useLoaded(sendsMail, [])
  const [chosen, setTarget] = useState<string | null>(null)
  const target = chosen ?? (hasMail === false ? 'webhook' : 'email')
  const send = async (form: HTMLFormElement) => {
    const made = await post<SubscriptionAnswer>(api('subscriptions/'), {
      ...of,
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
      {!value && !error && <Working what="Reading subscriptions" />}
      {value?.results.length === 0 && <p class="note">None yet.</p>}
      <ul class="cards">
        {value?.results.map((one) => (
          <SubscriptionCard key={one.id} subscription={one} onChanged={reload} />
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
