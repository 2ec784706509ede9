import type { ActivityEntryAnswer } from '../../doors/answers/activity.ts'
import { actorOf, changeText, scopeWords, wordsOf } from '../lib/activity.ts'
import { counted } from '../lib/format.ts'
import { Ago } from '../ui/ago.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { deviceName } from './device-name.ts'
import { useOrganization } from './organization-of.ts'

/** Changes of an entry that are shown; the file has all of them. */
const shownChanges = 5

function What({ entry }: { entry: ActivityEntryAnswer }) {
  const { activity, scope, item_id, detail } = entry
  const changes = detail.changes ?? []
  return (
    <>
      {wordsOf(activity)} <span class="note">{scopeWords(scope)}</span> {detail.name ?? item_id}
      {changes.slice(0, shownChanges).map((change, i) => (
        <div class="note" key={i}>
          {changeText(change)}
        </div>
      ))}
      {changes.length > shownChanges && <div class="note">and {counted(changes.length - shownChanges, 'more change')}</div>}
    </>
  )
}

/** The activity log of the organization, for administrators. */
export function ActivitySection() {
  const own = useOrganization()
  return (
    <section class="block">
      <h2>Activity log</h2>
      {own.isAdmin ? <Entries /> : <p class="note">Only administrators can read the activity log.</p>}
    </section>
  )
}

function Entries() {
  const own = useOrganization()
  const list = useList<ActivityEntryAnswer>(own.api('activity/?limit=50'))
  return (
    <>
      <p class="note">
        What was changed in the organization and its projects, newest first. The address and the browser are kept of what concerns signing
        in.{' '}
        <a href={own.api('activity/export/')} download>
          Download the whole log
        </a>{' '}
        (lines of JSON)
      </p>
      <ListTable
        list={list}
        what="entries"
        head={['When', 'Who', 'What', 'From']}
        empty="Nothing was changed yet."
        row={(entry) => (
          <tr key={entry.id}>
            <td class="when">
              <Ago of={entry.created_at} />
            </td>
            <td class="clip" title={entry.user?.email}>
              {actorOf(entry)}
            </td>
            <td class="wrap">
              <What entry={entry} />
            </td>
            <td title={entry.detail.from?.user_agent ?? undefined}>
              {entry.detail.from && (
                <>
                  {entry.detail.from.address ?? 'Unknown address'}
                  <div class="note">{deviceName(entry.detail.from.user_agent)}</div>
                </>
              )}
            </td>
          </tr>
        )}
      />
    </>
  )
}
