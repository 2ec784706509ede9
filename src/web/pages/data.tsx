import type { FunctionComponent } from 'preact'
import { Actions } from '../data/actions.tsx'
import { Annotations } from '../data/annotations.tsx'
import { EventDefinitions } from '../data/event-definitions.tsx'
import { Import } from '../data/import.tsx'
import { PropertyDefinitions } from '../data/property-definitions.tsx'
import { Warnings } from '../data/warnings.tsx'
import type { PageProps } from '../lib/page.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { Empty, PageHead } from '../ui/parts.tsx'
import { Tabs } from '../ui/tabs.tsx'
import '../ui/records.css'

interface Part {
  readonly name: string
  readonly title: string
  readonly Body: FunctionComponent<{ place: Place }>
}
const parts: readonly Part[] = [
  { name: 'events', title: 'Events', Body: EventDefinitions },
  { name: 'properties', title: 'Properties', Body: PropertyDefinitions },
  { name: 'actions', title: 'Actions', Body: Actions },
  { name: 'warnings', title: 'Warnings', Body: Warnings },
  { name: 'import', title: 'Import', Body: Import },
  { name: 'annotations', title: 'Annotations', Body: Annotations },
]

/** What the data of a project is made of. Each part is `data/<name>`. */
export function Data({ place, rest: [name = parts[0]!.name] }: PageProps) {
  const { link } = useProject()
  const part = parts.find((one) => one.name === name)
  return (
    <>
      <PageHead title="Data" />
      <Tabs label="Parts of the data" current={name} tabs={parts.map((one) => ({ ...one, link: linkTo(link(`data/${one.name}`)) }))} />
      {part ? <part.Body place={place} key={name} /> : <Empty title="There is no such part" />}
    </>
  )
}
