import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { Actions } from '../data/actions.tsx'
import { Annotations } from '../data/annotations.tsx'
import { EventDefinitions } from '../data/event-definitions.tsx'
import { PropertyDefinitions } from '../data/property-definitions.tsx'
import { Warnings } from '../data/warnings.tsx'
import type { PageProps } from '../lib/page.ts'
import { go, linkTo, type Place } from '../lib/router.ts'
import { dataSections } from '../lib/sections.ts'
import { useProject } from '../lib/session.ts'
import { Empty, PageHead } from '../ui/parts.tsx'
import { Tabs } from '../ui/tabs.tsx'
import '../ui/records.css'

type PartName = (typeof dataSections)[number]['name']
const bodies: Readonly<Record<PartName, FunctionComponent<{ place: Place }>>> = {
  events: EventDefinitions,
  properties: PropertyDefinitions,
  actions: Actions,
  warnings: Warnings,
  annotations: Annotations,
}

/** What the data of a project is made of. Each part is `data/<name>`. */
export function Data({ place, rest: [name = dataSections[0].name] }: PageProps) {
  const { link } = useProject()
  // Where it was before it had a page of its own.
  const isImport = name === 'import'
  useEffect(() => {
    if (isImport) go(linkTo(link('import')), true)
  }, [isImport])
  if (isImport) return null
  const Body = Object.hasOwn(bodies, name) ? bodies[name as PartName] : null
  return (
    <>
      <PageHead title="Events and properties" />
      <Tabs
        label="Parts of the data"
        current={name}
        tabs={dataSections.map((one) => ({ ...one, link: linkTo(link(`data/${one.name}`)) }))}
      />
      {Body ? <Body place={place} key={name} /> : <Empty title="There is no such part" />}
    </>
  )
}
