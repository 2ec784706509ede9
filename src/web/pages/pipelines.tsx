import type { PageProps } from '../lib/page.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { pipelineSections } from '../lib/sections.ts'
import { useProject } from '../lib/session.ts'
import { ExportPage, ExportsList, NewExport } from '../pipelines/exports.tsx'
import { NewPluginConfig, PluginPage } from '../pipelines/plugin.tsx'
import { PluginsList } from '../pipelines/plugins.tsx'
import { MembersPage } from '../ui/for-members.tsx'
import { Empty, PageHead } from '../ui/parts.tsx'
import { Tabs } from '../ui/tabs.tsx'

/** `plugins`, `plugins/<id of a config>`, `plugins/install/<id of a plugin>`, `exports`, `exports/new`, `exports/<id>`. */
export function Pipelines({ place, rest }: PageProps) {
  const { link } = useProject()
  const [tab = 'plugins', which, id] = rest
  return (
    <>
      <PageHead title="Pipelines" />
      <Tabs
        label="Kinds of pipelines"
        current={tab}
        tabs={pipelineSections.map((one) => ({ ...one, link: linkTo(link(`pipelines/${one.name}`)) }))}
      />
      <Body place={place} tab={tab} which={which} id={id} key={`${tab}/${which}/${id}`} />
    </>
  )
}

function Body({ place, tab, which, id }: { place: Place; tab: string; which: string | undefined; id: string | undefined }) {
  if (tab === 'plugins') {
    if (which === undefined) return <PluginsList />
    if (which === 'install')
      return (
        <MembersPage>
          <NewPluginConfig pluginId={Number(id)} />
        </MembersPage>
      )
    return <PluginPage place={place} configId={Number(which)} />
  }
  if (tab === 'exports') {
    if (which === undefined) return <ExportsList />
    if (which === 'new')
      return (
        <MembersPage>
          <NewExport />
        </MembersPage>
      )
    return <ExportPage place={place} id={which} />
  }
  return <Empty title="There is no such pipeline" />
}
