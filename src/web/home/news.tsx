import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import type { WarningAnswer } from '../../doors/answers/ingestion-warnings.ts'
import type { AlertAnswer } from '../../doors/answers/notifications.ts'
import { readableEvent } from '../../service/pictures/readable.ts'
import { alertName, comparedText } from '../alerts/notified.ts'
import { WithCode } from '../data/with-code.tsx'
import { get, type Page } from '../lib/api.ts'
import { agoText, numberText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'

/** What is older is no news. */
const newsDays = 7
const mostOfKind = 4

interface News {
  readonly key: string
  readonly title: string
  readonly note: string
  readonly path: string
  readonly look: 'bad' | 'new' | 'note'
}
const signs: Readonly<Record<News['look'], string>> = { bad: '!', new: '↗', note: '●' }

const isRecent = (time: string | null): time is string => time !== null && Date.now() - Date.parse(time) < newsDays * 86_400_000

const ofAlerts = (alerts: readonly AlertAnswer[]): readonly News[] =>
  alerts
    .filter(({ enabled, state }) => enabled && (state === 'Firing' || state === 'Errored'))
    .map((alert) => ({
      key: `alert ${alert.id}`,
      title: alertName(alert),
      note:
        alert.state === 'Firing'
          ? `Alert: ${alert.last_value === null ? 'fires' : `now ${comparedText(alert.last_value, alert)}`}`
          : `The check failed: ${alert.last_error ?? ''}`,
      path: alert.insight ? `insights/${alert.insight.short_id}` : 'alerts',
      look: 'bad' as const,
    }))
const ofWarnings = (warnings: readonly WarningAnswer[]): readonly News[] =>
  warnings
    .filter(({ effect, last_seen_at }) => effect !== 'altered' && isRecent(last_seen_at))
    .map(({ type, description, count }) => ({
      key: `warning ${type}`,
      title: description,
      note: `${numberText(count)} ${count === 1 ? 'event' : 'events'} not stored as sent`,
      path: 'data/warnings',
      look: 'bad' as const,
    }))
/** A project in which all events are new has no news of them. */
function ofEvents(events: readonly EventDefinitionAnswer[]): readonly News[] {
  const fresh = events.filter(({ created_at: since }) => isRecent(since))
  if (fresh.length === events.length) return []
  return fresh.map(({ name, count, created_at: since }) => ({
    key: `event ${name}`,
    title: readableEvent(name),
    note: `New event, ${numberText(count)} since ${agoText(since!)}`,
    path: `live?event=${encodeURIComponent(name)}`,
    look: 'new' as const,
  }))
}
const ofAnnotations = (annotations: readonly AnnotationAnswer[]): readonly News[] =>
  annotations
    .filter(({ date_marker: time }) => isRecent(time))
    .map(({ id, content, date_marker: time }) => ({
      key: `annotation ${id}`,
      title: content ?? '',
      note: `Annotation, ${agoText(time!)}`,
      path: 'data/annotations',
      look: 'note' as const,
    }))

/** Alerts that fire, events that were not stored, events that are new, annotations. Nothing if there is none of them. */
export function WhatChanged({ events }: { events: readonly EventDefinitionAnswer[] }) {
  const { api, link } = useProject()
  const { value } = useLoaded(async (signal) => {
    const rowsOf = <T,>(path: string) =>
      get<Page<T> | readonly T[]>(api(path), signal).then(
        (page) => ('results' in page ? page.results : page),
        () => [] as readonly T[], // its own page says why
      )
    const [alerts, warnings, annotations] = await Promise.all([
      rowsOf<AlertAnswer>('alerts/?limit=100'),
      rowsOf<WarningAnswer>('ingestion_warnings/'),
      rowsOf<AnnotationAnswer>('annotations/?limit=20'),
    ])
    return { alerts, warnings, annotations }
  }, [])
  if (!value) return null
  const news = [ofAlerts(value.alerts), ofWarnings(value.warnings), ofEvents(events), ofAnnotations(value.annotations)].flatMap((of) =>
    of.slice(0, mostOfKind),
  )
  if (news.length === 0) return null
  return (
    <section class="panel" aria-label="What changed">
      <h2>What changed</h2>
      <ul class="news">
        {news.map(({ key, title, note, path, look }) => (
          <li key={key}>
            <span class={`badge ${look}`} aria-hidden="true">
              {signs[look]}
            </span>
            <div>
              <a href={linkTo(link(path))}>{look === 'bad' ? <WithCode text={title} /> : title}</a>
              <span class="note">{note}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
