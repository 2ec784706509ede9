import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { kinds, unwrapped } from '../insights/query.ts'
import { shownName } from '../insights/saved.tsx'
import { patch, post } from '../lib/api.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { Ago } from '../ui/ago.tsx'
import { useAction } from '../ui/forms.tsx'
import { Icon } from '../ui/icon.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead, Select } from '../ui/parts.tsx'
import { Star, TagFilter, TagLinks } from '../ui/tags.tsx'

const otherKinds: Readonly<Record<string, string>> = {
  HogQLQuery: 'SQL',
  SqlLikeQuery: 'SQL',
  EventsQuery: 'Events',
  ActorsQuery: 'People',
}
export const kindTitle = (asked: string): string => kinds.find(({ kind }) => kind === asked)?.title ?? otherKinds[asked] ?? asked

/** As the API names the kinds of a list. */
const listedKinds = [
  { value: '', label: 'All kinds' },
  ...kinds.map(({ kind, title }) => ({ value: kind.replace(/Query$/, '').toUpperCase(), label: title })),
  { value: 'SQL', label: 'SQL' },
]
const whose = [
  { value: '', label: 'All' },
  { value: 'favorites', label: 'Favorites' },
  { value: 'own', label: 'Created by me' },
]
const orders = [
  { value: '', label: 'Changed last' },
  { value: 'name', label: 'By name' },
  { value: '-last_viewed_at', label: 'Viewed last' },
  { value: '-created_at', label: 'Created last' },
]

const FavoriteHead = () => (
  <th>
    <span class="hidden">Favorite</span>
  </th>
)

/** What can be built, and what is saved. */
export function SavedList({ place }: { place: Place }) {
  const { api, link, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const [search, show, kind, tag, order] = [of('search'), of('show'), of('kind'), of('tag'), of('order')]
  const list = useList<SavedInsightAnswer>(
    api(
      `insights/?${parameters({
        ...{ basic: 'true', saved: 'true', limit: 50, order: order || '-last_modified_at', search, insight: kind, tags: tag },
        ...{ favorited: show === 'favorites' ? 'true' : null, user: show === 'own' ? 'true' : null },
      })}`,
    ),
  )
  const { act, failure } = useAction()
  const change = (one: SavedInsightAnswer, body: object) => patch(api(`insights/${one.id}/`), body).then(list.reload)
  const remove = async (one: SavedInsightAnswer) => {
    await change(one, { deleted: true })
    offerUndo({ text: `${shownName(one)} is deleted.`, undo: () => change(one, { deleted: false }) })
  }
  const duplicate = async (one: SavedInsightAnswer) => {
    const { description, tags, query } = one
    const made = await post<AnsweredInsightAnswer>(api('insights/'), {
      name: `${shownName(one)} (copy)`,
      description,
      tags,
      query,
      saved: true,
    })
    go(linkTo(link(`insights/${made.short_id}`), { edit: '1' }))
  }
  const isNarrowed = [search, show, kind, tag].some((text) => text !== '')
  return (
    <>
      <PageHead title="Insights" />
      <div class="kinds">
        {kinds.map(({ name, icon, title, about }) => (
          <a key={name} class="kind" href={linkTo(link('insights/new'), { kind: name })}>
            <Icon name={icon} />
            <strong>New: {title}</strong>
            <span>{about}</span>
          </a>
        ))}
      </div>
      <h2>Saved</h2>
      <div class="filters">
        <Search label="Search saved insights" value={search} onChange={(text) => set({ search: text })} />
        <Select label="Whose insights" value={show} options={whose} onChange={(next) => set({ show: next })} />
        <Select label="Kind of insights" value={kind} options={listedKinds} onChange={(next) => set({ kind: next })} />
        <Select label="Order" value={order} options={orders} onChange={(next) => set({ order: next })} />
        {tag !== '' && <TagFilter tag={tag} onRemove={() => set({ tag: '' })} />}
      </div>
      {failure}
      <ListTable
        list={list}
        what="saved insights"
        head={[<FavoriteHead key="star" />, 'Name', 'Kind', 'Created by', 'Changed', null]}
        empty={
          isNarrowed ? 'No insight fits. Search for something shorter, or remove a choice above.' : 'None yet: build one above and save it.'
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="tools">
              <Star of={shownName(one)} isOn={one.favorited} onChange={(favorited) => act(() => change(one, { favorited }))} />
            </td>
            <td class="wrap">
              <a href={linkTo(link(`insights/${one.short_id}`))}>{shownName(one)}</a>{' '}
              <TagLinks tags={one.tags} onChoose={(name) => set({ tag: name })} />
              {one.description && <div class="note">{one.description}</div>}
            </td>
            <td>{kindTitle(unwrapped(one.query).kind)}</td>
            <td class="clip" title={one.created_by?.email}>
              {one.created_by ? one.created_by.first_name || one.created_by.email : '–'}
            </td>
            <td class="when">
              <Ago of={one.last_modified_at} />
            </td>
            <td class="tools">
              {mayChange && (
                <Menu label={`More for ${shownName(one)}`}>
                  <a href={linkTo(link(`insights/${one.short_id}`), { edit: '1' })}>Edit</a>
                  <button type="button" class="plain" onClick={() => act(() => duplicate(one))}>
                    Duplicate
                  </button>
                  <button type="button" class="plain" onClick={() => act(() => remove(one))}>
                    Delete
                  </button>
                </Menu>
              )}
            </td>
          </tr>
        )}
      />
    </>
  )
}
