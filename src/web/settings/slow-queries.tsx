import { useState } from 'preact/hooks'
import type { MemberAnswer } from '../../doors/answers/members.ts'
import type { ExplainedQueryAnswer, SlowQueryAnswer } from '../../doors/answers/query.ts'
import { ApiError, get, type Page, post } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { useAction } from '../ui/forms.tsx'
import { ListTable, Scroll, useList } from '../ui/list-table.tsx'
import { Dialog } from '../ui/parts.tsx'
import { personName, useOrganization } from './organization-of.ts'

const tones: Readonly<Record<SlowQueryAnswer['outcome'], string>> = { answered: 'good', failed: 'bad', cancelled: 'warn' }
const secondsText = (seconds: number) => `${numberText(Math.round(seconds * 100) / 100)} s`

/** Says who asked: members by their names. */
function useAskers(): (of: SlowQueryAnswer) => string {
  const own = useOrganization()
  const { value, error } = useLoaded((signal) => get<Page<MemberAnswer>>(own.api('members/?limit=1000'), signal), [own.id])
  return ({ caller, user_id: id }) => {
    const user = value?.results.find((one) => one.user.id === id)?.user
    if (id === null || error) return caller
    return user ? personName(user) : value ? 'Somebody who left' : ''
  }
}

/** Queries that took long, and where their time went. */
export function SlowQueriesSection() {
  const { api } = useProject()
  const list = useList<SlowQueryAnswer>(api('slow_queries/?limit=50'))
  const askedBy = useAskers()
  const [open, setOpen] = useState<SlowQueryAnswer | null>(null)
  if (list.error instanceof ApiError && list.error.status === 403)
    return (
      <section class="block">
        <h2>Slow queries</h2>
        <p class="note">Only members can see them.</p>
      </section>
    )
  return (
    <section class="block">
      <h2>Slow queries</h2>
      <p class="note">
        Of the last 30 days, each with a question mark in place of its values. The operator of the server sets from when on a query is slow.
      </p>
      <ListTable
        list={list}
        what="slow queries"
        head={[
          { title: 'Ended', by: ({ created_at }) => created_at },
          { title: 'Kind', by: ({ kind }) => kind },
          'Asked by',
          { title: 'Took', by: ({ milliseconds }) => milliseconds },
          { title: 'Rows', by: ({ rows }) => rows ?? -1, isNumber: true },
          null,
        ]}
        empty="No query took long."
        row={(one) => (
          <tr key={one.id}>
            <td class="when">
              <Ago of={one.created_at} />
            </td>
            <td class="wrap">{one.kind}</td>
            <td>{askedBy(one)}</td>
            <td>
              <span class={`state ${tones[one.outcome]}`}>{secondsText(one.milliseconds / 1000)}</span>
              {one.outcome !== 'answered' && (
                <div class="note">
                  {one.outcome}
                  {one.outcome === 'failed' && one.error !== null && `: ${one.error.replaceAll('-', ' ')}`}
                </div>
              )}
            </td>
            <td class="number">{numberText(one.rows)}</td>
            <td>
              <button type="button" onClick={() => setOpen(one)}>
                Details
              </button>
            </td>
          </tr>
        )}
      />
      {open && <Details of={open} onClose={() => setOpen(null)} />}
    </section>
  )
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)
const shapeText = (shape: string): string => {
  try {
    return pretty(JSON.parse(shape))
  } catch {
    return shape // it was cut
  }
}

function Details({ of, onClose }: { of: SlowQueryAnswer; onClose: () => void }) {
  const { api } = useProject()
  const { act, isBusy, failure } = useAction()
  const [explained, setExplained] = useState<ExplainedQueryAnswer | null>(null)
  const explain = () => act(async () => setExplained(await post<ExplainedQueryAnswer>(api(`slow_queries/${of.id}/explain/`))))
  return (
    <Dialog title={`${of.kind}, ${secondsText(of.milliseconds / 1000)}`} onClose={onClose}>
      {of.steps.length > 0 && (
        <table class="rows">
          <tbody>
            {of.steps.map(({ label, seconds }, i) => (
              <tr key={i}>
                <th scope="row">{label}</th>
                <td>{secondsText(seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Scroll label="Query">
        <pre tabIndex={0}>{of.query === null ? shapeText(of.shape) : pretty(of.query)}</pre>
      </Scroll>
      {of.query === null ? (
        <p class="note">Its values are shown to administrators and to those who asked.</p>
      ) : (
        <p>
          <button type="button" disabled={isBusy} onClick={explain}>
            {isBusy ? 'Asking again' : 'Explain'}
          </button>{' '}
          <span class="note">Asks it again, and shows its plan.</span>
        </p>
      )}
      {failure}
      {explained && (
        <Scroll label="Plan">
          <pre tabIndex={0}>{explained.explain.map(planText).join('\n\n')}</pre>
        </Scroll>
      )}
    </Dialog>
  )
}

/** The road of a question, and the SQL of its statement. */
function planText({ label, road, reason, sql }: ExplainedQueryAnswer['explain'][number]): string {
  const how = [road, reason].filter((one) => typeof one === 'string').join(': ')
  return [`${label}${how === '' ? '' : ` (${how})`}`, ...(typeof sql === 'string' ? [sql] : [])].join('\n')
}
