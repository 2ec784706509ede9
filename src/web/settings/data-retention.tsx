import type { ProjectAnswer } from '../../doors/answers/projects.ts'
import { DialogButton, Form, linesOf, numberIn, TextField, textOf } from '../ui/forms.tsx'

type Retention = NonNullable<ProjectAnswer['data_retention']>

const monthsText = (months: number | null | undefined): string =>
  months == null ? 'for ever' : `for ${months} ${months === 1 ? 'month' : 'months'}`

/** `name = 3`; without a number: for ever. */
const lineOf = ([name, months]: [string, number | null]): string => `${name} = ${months ?? ''}`
const namesOf = (lines: readonly string[]): Record<string, number | null> =>
  Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf('=')
      const months = end < 0 ? '' : line.slice(end + 1).trim()
      return [(end < 0 ? line : line.slice(0, end)).trim(), numberIn(months)]
    }),
  )

/** How long the project keeps what. */
export function DataRetention({
  settings: { data_retention: own },
  isAdmin,
  save,
}: {
  settings: ProjectAnswer
  isAdmin: boolean
  save: (fields: Partial<ProjectAnswer>) => Promise<void>
}) {
  const { events_months: events, persons_months: persons, event_names }: Retention = own ?? {}
  const names = Object.entries(event_names ?? {})
  const send = (close: () => void) => (form: HTMLFormElement) => {
    const months = (name: string) => numberIn(textOf(form, name))
    const fields = {
      events_months: months('events_months'),
      persons_months: months('persons_months'),
      event_names: namesOf(linesOf(form, 'event_names')),
    }
    return save({ data_retention: fields }).then(close)
  }
  return (
    <section class="block">
      <h2>Data retention</h2>
      <p class="note">
        Events are kept {monthsText(events)}
        {names.length > 0 && `, ${names.map(([name, one]) => `${name} ${monthsText(one)}`).join(', ')}`}. People without events are kept{' '}
        {monthsText(persons)}.
      </p>
      {isAdmin && (
        <DialogButton label="Change…">
          {(close) => (
            <Form submit="Save and delete what is older" send={send(close)}>
              <TextField
                name="events_months"
                label="Months that events are kept"
                value={events == null ? '' : String(events)}
                hint="Empty: for ever. What is older is deleted at once, and then each midnight. Only a backup brings it back."
                autofocus
              />
              <TextField
                name="event_names"
                label="Other times for some events"
                rows={3}
                value={names.map(lineOf).join('\n')}
                hint="One per line: $pageview = 3. Without a number: for ever."
              />
              <TextField
                name="persons_months"
                label="Months that people without events are kept"
                value={persons == null ? '' : String(persons)}
                hint="After their last event. Empty: for ever."
              />
            </Form>
          )}
        </DialogButton>
      )}
    </section>
  )
}
