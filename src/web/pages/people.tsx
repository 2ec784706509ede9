import type { GroupTypeAnswer } from '../../doors/answers/groups.ts'
import { get } from '../lib/api.ts'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { GroupList, GroupPage } from '../people/groups.tsx'
import { PersonList } from '../people/person-list.tsx'
import { ByDistinctId, PersonPage } from '../people/person-page.tsx'
import { pluralOf } from '../people/types.ts'
import { ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { Tabs } from '../ui/tabs.tsx'
import '../ui/records.css'

/** `people`, `people/<uuid>`, `people/by-id?distinct_id=`, `people/groups/<type>` and `people/groups/<type>/<key>`. */
export function People({ place, rest }: PageProps) {
  const [which, type, ...key] = rest
  if (which === 'by-id') return <ByDistinctId distinctId={place.search.get('distinct_id') ?? ''} />
  if (which === 'groups') return <Groups place={place} rest={[type ?? '0', ...key]} />
  if (which !== undefined) return <PersonPage place={place} uuid={which} key={which} />
  return (
    <>
      <PageHead title="People" />
      <Kinds current="people" />
      <PersonList place={place} />
    </>
  )
}

const useGroupTypes = () => {
  const { api } = useProject()
  return useLoaded((signal) => get<readonly GroupTypeAnswer[]>(api('groups_types/'), signal), [])
}

function Kinds({ current }: { current: string }) {
  const { link } = useProject()
  const { value } = useGroupTypes()
  const types = (value ?? []).map((type) => ({
    name: String(type.group_type_index),
    title: pluralOf(type),
    link: linkTo(link(`people/groups/${type.group_type_index}`)),
  }))
  return (
    <Tabs label="Kinds of records" current={current} tabs={[{ name: 'people', title: 'People', link: linkTo(link('people')) }, ...types]} />
  )
}

function Groups({ place, rest: [index, key] }: PageProps) {
  const { link } = useProject()
  const { value, error, reload } = useGroupTypes()
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the types of groups" />
  const type = value.find(({ group_type_index }) => String(group_type_index) === index)
  if (!type)
    return (
      <NotHere title="There is no such type of group">
        <p>
          Types appear with the first <code>$groupidentify</code> event.
        </p>
        <p>
          <a href={linkTo(link('people'))}>All people</a>
        </p>
      </NotHere>
    )
  if (key !== undefined) return <GroupPage place={place} type={type} groupKey={key} key={`${index} ${key}`} />
  return (
    <>
      <PageHead title={pluralOf(type)} />
      <Kinds current={String(index)} />
      <GroupList place={place} type={type} key={index} />
    </>
  )
}
