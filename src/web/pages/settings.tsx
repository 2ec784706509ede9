import type { FunctionComponent } from 'preact'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { settingsGroups } from '../lib/sections.ts'
import { useProject } from '../lib/session.ts'
import { ProxySection } from '../settings/access.tsx'
import { AccountSection, KeysSection, NoSection, OrganizationSection } from '../settings/account.tsx'
import { ActivitySection } from '../settings/activity.tsx'
import { BackupsSection } from '../settings/backups.tsx'
import { DomainsSection } from '../settings/domains.tsx'
import { InstallSection } from '../settings/install.tsx'
import { InvitesSection, MembersSection } from '../settings/members.tsx'
import { CaptureSection, FiltersSection, ProjectSection } from '../settings/project.tsx'
import { AccessSection } from '../settings/project-access.tsx'
import { RolesSection } from '../settings/roles.tsx'
import { SlowQueriesSection } from '../settings/slow-queries.tsx'
import { ViewerKeysSection } from '../settings/viewer-keys.tsx'
import { WatchingSection } from '../settings/watching.tsx'
import { PageHead } from '../ui/parts.tsx'
import { useChosenInSight } from '../ui/tabs.tsx'

type SectionName = (typeof settingsGroups)[number]['sections'][number]['name']
const bodies: Readonly<Record<SectionName, FunctionComponent>> = {
  project: ProjectSection,
  access: AccessSection,
  filters: FiltersSection,
  install: InstallSection,
  viewers: ViewerKeysSection,
  capture: CaptureSection,
  watching: WatchingSection,
  slow: SlowQueriesSection,
  organization: OrganizationSection,
  members: MembersSection,
  invites: InvitesSection,
  roles: RolesSection,
  domains: DomainsSection,
  proxies: ProxySection,
  activity: ActivitySection,
  backups: BackupsSection,
  account: AccountSection,
  keys: KeysSection,
}

export function Settings({ rest }: PageProps) {
  const { link } = useProject()
  const name = rest[0] ?? settingsGroups[0].sections[0].name
  const Body = Object.hasOwn(bodies, name) ? bodies[name as SectionName] : NoSection
  return (
    <>
      <PageHead title="Settings" />
      <div class="with-sections">
        <nav aria-label="Settings" ref={useChosenInSight(name)}>
          {settingsGroups.map((group) => (
            <div key={group.title}>
              <h2>{group.title}</h2>
              <ul>
                {group.sections.map((one) => (
                  <li key={one.name}>
                    <a href={linkTo(link(`settings/${one.name}`))} aria-current={one.name === name ? 'page' : undefined}>
                      {one.title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div>
          <Body key={name} />
        </div>
      </div>
    </>
  )
}
