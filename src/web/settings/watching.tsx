import { useState } from 'preact/hooks'
import type { WatchAnswer, WatchesAnswer } from '../../doors/answers/notifications.ts'
import { get, patch } from '../lib/api.ts'
import { agoText, momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useAction } from '../ui/forms.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { useOrganization } from './organization-of.ts'

type Problem = WatchAnswer['problems'][number]

/** What owners get mails about by themselves, and what is wrong at the moment. */
export function WatchingSection() {
  const { api } = useProject()
  const { isAdmin } = useOrganization()
  const { value, error, reload } = useLoaded((signal) => get<WatchesAnswer>(api('watches/'), signal), [])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading what is watched" />
  const groups = [
    { title: 'Watching this project', of: 'project' },
    { title: 'Watching this server', of: 'server' },
  ] as const
  return (
    <>
      {groups.map(({ title, of }) => {
        const watches = value.results.filter((one) => one.of === of)
        return (
          watches.length > 0 && (
            <section class="block" key={of}>
              <h2>{title}</h2>
              <p class="note">
                {value.mails
                  ? 'The owners of the organization get one mail when it begins, and one when it is over.'
                  : 'This server has no mail server, so nobody gets a mail: problems are only shown here. Its operator starts it with '}
                {!value.mails && (
                  <>
                    <code class="whole">waymark serve --smtp URL</code>.
                  </>
                )}
                {of === 'server' && ' The switches are the same in all projects of the organization.'}
                {!isAdmin && ' Only administrators can change what is mailed.'}
              </p>
              {watches.map((watch) => (
                <WatchRow key={watch.name} watch={watch} mayChange={isAdmin} />
              ))}
            </section>
          )
        )
      })}
    </>
  )
}

function WatchRow({ watch: { name, title, summary, enabled, problems }, mayChange }: { watch: WatchAnswer; mayChange: boolean }) {
  const { api } = useProject()
  const { act, isBusy, failure } = useAction()
  const [isOn, setOn] = useState(enabled)
  const toggle = (wanted: boolean) => {
    setOn(wanted)
    act(async () => {
      try {
        await patch<WatchAnswer>(api(`watches/${name}/`), { enabled: wanted })
      } catch (error) {
        setOn(!wanted)
        throw error
      }
    })
  }
  return (
    <div class="field">
      <label class="check">
        <input type="checkbox" checked={isOn} disabled={!mayChange || isBusy} onChange={(event) => toggle(event.currentTarget.checked)} />
        <span>{title}</span>
      </label>
      <span class="note">{summary}</span>
      {problems.slice(0, 5).map((problem) => (
        <ProblemLine key={`${problem.subject} ${problem.began_at}`} of={problem} />
      ))}
      {failure}
    </div>
  )
}

function ProblemLine({ of: { subject, began_at, ended_at, mailed_at, lines } }: { of: Problem }) {
  const { timezone } = useProject()
  const about = subject === '' ? '' : `${subject}: `
  if (ended_at !== null)
    return (
      <p class="note">
        {about}Last time from {momentText(began_at, timezone)} to {momentText(ended_at, timezone)}.
      </p>
    )
  return (
    <div class="error-box" role="alert">
      <p>
        {about}
        {lines.join(' ')}
      </p>
      <p class="note">
        Since {momentText(began_at, timezone)} ({agoText(began_at)}). {mailed_at === null ? 'Nobody got a mail.' : 'The owners got a mail.'}
      </p>
    </div>
  )
}
