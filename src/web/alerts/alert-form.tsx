import { useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import type { MemberAnswer } from '../../doors/answers/members.ts'
import type { AlertAnswer } from '../../doors/answers/notifications.ts'
import type { UserAnswer } from '../../doors/answers/users.ts'
import { unwrapped } from '../insights/query.ts'
import { get, type Page, patch, post, type Query } from '../lib/api.ts'
import { inPercent } from '../lib/format.ts'
import { sendsMail } from '../lib/mail.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { At } from '../ui/field-errors.tsx'
import { CheckField, ChoiceField, Form, isChecked, TextField, textOf } from '../ui/forms.tsx'
import { NoMail } from '../ui/no-mail.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { type AlertNumbers, alertNumbers } from './alert-numbers.ts'
import { checkIntervals, conditions } from './notified.ts'

// The rule of an alert: which number, which threshold, how often, who is told.

export interface NotifiedInsight {
  readonly id: number
  readonly query: Query
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

/** A new alert, or the changes of one: what is kept of its webhook is not shown. */
export function AlertForm({
  insight,
  numbers: { options, unit, hasIntervals },
  of: kept = null,
  onSaved,
}: {
  insight: NotifiedInsight
  numbers: AlertNumbers
  of?: AlertAnswer | null
  onSaved: (alert: AlertAnswer) => void
}) {
  const { api } = useProject()
  const { user } = useSession()
  const members = useMembers()
  const { value: hasMail } = useLoaded(sendsMail, [])
  const rule = kept?.threshold.configuration as { readonly type?: string; readonly bounds?: Bounds } | undefined
  const [condition, setCondition] = useState<string>(kept?.condition.type ?? 'absolute_value')
  const [isShare, setShare] = useState(rule?.type === 'percentage')
  const percent = condition !== 'absolute_value' && isShare
  const shownUnit = percent ? ' (%)' : unit === '' ? '' : ` (${unit})`
  const bound = (name: keyof Bounds): string | undefined => {
    const value = rule?.bounds?.[name]
    return value == null ? undefined : String(rule?.type === 'percentage' ? inPercent(value) : value)
  }
  const told = new Set(kept?.subscribed_users.map(({ id }) => id))
  const index = String((kept?.config as { readonly series_index?: number } | null | undefined)?.series_index ?? options[0]!.value)
  const send = async (form: HTMLFormElement) => {
    const numberOf = (name: string) => {
      const given = numberIn(form, name)
      return given === null ? null : percent ? given / 100 : given
    }
    const address = textOf(form, 'webhook_url')
    const fields = {
      name: textOf(form, 'name'),
      condition: { type: condition },
      threshold: {
        configuration: { type: percent ? 'percentage' : 'absolute', bounds: { lower: numberOf('lower'), upper: numberOf('upper') } },
      },
      config: { type: 'TrendsAlertConfig', ...(kept?.config as object | null), series_index: Number(textOf(form, 'series_index')) },
      calculation_interval: textOf(form, 'calculation_interval'),
      subscribed_users: members.filter(({ id }) => hasMail && isChecked(form, `user-${id}`)).map(({ id }) => id),
      ...((kept === null || address !== (kept.webhook_url ?? '')) && { webhook_url: address || null }),
    }
    const saved = await (kept
      ? patch<AlertAnswer>(api(`alerts/${kept.id}/`), fields)
      : post<AlertAnswer>(api('alerts/'), { insight: insight.id, ...fields }))
    if (!kept) form.reset()
    onSaved(saved)
  }
  return (
    <Form submit={kept ? 'Save' : 'Create the alert'} send={send}>
      <TextField name="name" label="Name" value={kept?.name ?? ''} required maxLength={255} />
      {options.length > 1 ? (
        <ChoiceField name="series_index" of="config.series_index" label="Number" value={index} options={options} />
      ) : (
        <input type="hidden" name="series_index" value={options[0]!.value} />
      )}
      {hasIntervals && <ChoiceField name="condition" label="Compare" value={condition} options={conditions} onChange={setCondition} />}
      {condition !== 'absolute_value' && (
        <CheckField
          name="share"
          of="threshold.configuration.type"
          label="As a percentage of the previous number"
          value={isShare}
          onChange={setShare}
        />
      )}
      <div class="two">
        <TextField
          name="lower"
          of={[...bounds, `${bounds[0]}.lower`]}
          type="number"
          step="any"
          label={`Alert below${shownUnit}`}
          value={bound('lower') ?? ''}
        />
        <TextField
          name="upper"
          of={`${bounds[0]}.upper`}
          type="number"
          step="any"
          label={`Alert above${shownUnit}`}
          value={bound('upper') ?? ''}
        />
      </div>
      {insight.query.breakdownFilter != null && (
        <p class="note">Each value of the breakdown is compared; the alert fires when one of them is outside.</p>
      )}
      <ChoiceField name="calculation_interval" label="Check" value={kept?.calculation_interval ?? 'daily'} options={checkIntervals} />
      <fieldset>
        <legend>Email to</legend>
        <NoMail instead="A webhook works without one." />
        {hasMail && (
          <At of="subscribed_users">
            {members.map((one) => (
              <CheckField
                key={one.id}
                name={`user-${one.id}`}
                label={one.first_name || one.email}
                value={kept ? told.has(one.id) : one.uuid === user.uuid}
              />
            ))}
          </At>
        )}
      </fieldset>
      <TextField
        name="webhook_url"
        type="url"
        label="Webhook (optional)"
        placeholder="https://"
        value={kept?.webhook_url ?? ''}
        maxLength={2000}
        hint="Notices have the numbers and a picture of the chart."
      />
    </Form>
  )
}

interface Bounds {
  readonly lower?: number | null
  readonly upper?: number | null
}

/** Changes an alert, whose insight is read first: it says what can be compared. */
export function EditAlert({ alert, onSaved }: { alert: AlertAnswer; onSaved: () => void }) {
  const { api } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&short_id=${alert.insight!.short_id}`), signal),
    [alert.insight!.short_id],
  )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the insight" />
  const insight = value.results[0]
  if (!insight) return <p class="note">Its insight was deleted.</p>
  const query = unwrapped(insight.query)
  const numbers = alertNumbers(query)
  if (!numbers) return <p class="note">Alerts compare a number with a threshold. The answer of this insight has none.</p>
  return <AlertForm insight={{ id: insight.id, query }} numbers={numbers} of={alert} onSaved={onSaved} />
}
