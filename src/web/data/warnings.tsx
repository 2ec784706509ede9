import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { get, type Page } from '../lib/api.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Properties } from '../pages/live.tsx'
import { Scroll } from '../ui/lists.tsx'
import { Empty, ErrorBox, Working } from '../ui/parts.tsx'

interface Warning {
  readonly type: string
  readonly effect: 'altered' | 'in part' | 'dropped'
  readonly description: string
  readonly count: number
  readonly last_seen_at: string
  readonly samples: readonly { readonly timestamp: string; readonly details: Readonly<Record<string, unknown>> }[] | null
}

const effects = { altered: 'stored, altered', 'in part': 'stored in part', dropped: 'not stored' } as const

/** What was altered or left out of events. */
export function Warnings() {
  const { api, timezone } = useProject()
  const [open, setOpen] = useState<string | null>(null)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<Warning>>(api('ingestion_warnings/?limit=200'), signal),
    [],
  )
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return isLoading ? <Working what="Reading warnings" cancel={cancel} /> : null
  if (value.results.length === 0)
    return (
      <Empty title="No warnings">
        <p>Every event was stored as it was sent.</p>
      </Empty>
    )
  return (
    <Scroll label="Warnings">
      <table class="rows" aria-busy={isLoading}>
        <thead>
          <tr>
            <th>Warning</th>
            <th>Events were</th>
            <th class="number">Times</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {value.results.map((one) => (
            <Fragment key={one.type}>
              <tr>
                <td class="wrap">
                  <button
                    type="button"
                    class="plain cell"
                    aria-expanded={open === one.type}
                    onClick={() => setOpen(open === one.type ? null : one.type)}
                  >
                    {one.type}
                  </button>
                  <div class="note">{one.description}</div>
                </td>
                <td>
                  <span class={`badge${one.effect === 'dropped' ? ' bad' : ''}`}>{effects[one.effect]}</span>
                </td>
                <td class="number">{numberText(one.count)}</td>
                <td title={momentText(one.last_seen_at, timezone)}>{agoText(one.last_seen_at)}</td>
              </tr>
              {open === one.type && (
                <tr class="detail">
                  <td colSpan={4}>
                    {one.samples === null && <p class="note">Samples are shown to those who may query.</p>}
                    {one.samples?.map(({ timestamp, details }, i) => (
                      <section key={i}>
                        <h3>{momentText(timestamp, timezone)}</h3>
                        <Properties of={details} />
                      </section>
                    ))}
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
