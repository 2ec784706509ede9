import type { FunctionComponent } from 'preact'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { DomainsSection, ProxySection, RolesSection } from '../settings/access.tsx'
import { AccountSection, KeysSection, NoSection, OrganizationSection } from '../settings/account.tsx'
import { InvitesSection, MembersSection } from '../settings/members.tsx'
import { CaptureSection, FiltersSection, ProjectSection } from '../settings/project.tsx'
import { AccessSection } from '../settings/project-access.tsx'
import { PageHead } from '../ui/parts.tsx'

interface Section {
  readonly name: string
  readonly title: string
  readonly body: FunctionComponent
}
const groups: readonly { readonly title: string; readonly sections: readonly Section[] }[] = [
  {
    title: 'Project',
    sections: [
      { name: 'project', title: 'General', body: ProjectSection },
      { name: 'access', title: 'Access', body: AccessSection },
      { name: 'filters', title: 'Filters', body: FiltersSection },
      { name: 'capture', title: 'Capture', body: CaptureSection },
    ],
  },
  {
    title: 'Organization',
    sections: [
      { name: 'organization', title: 'Name', body: OrganizationSection },
      { name: 'members', title: 'Members', body: MembersSection },
      { name: 'invites', title: 'Invitations', body: InvitesSection },
      { name: 'roles', title: 'Roles', body: RolesSection },
      { name: 'domains', title: 'Domains', body: DomainsSection },
      { name: 'proxies', title: 'Proxies', body: ProxySection },
    ],
  },
  {
    title: 'You',
    sections: [
      { name: 'account', title: 'Account', body: AccountSection },
      { name: 'keys', title: 'API keys', body: KeysSection },
    ],
  },
]
const sections = groups.flatMap((group) => group.sections)

export function Settings({ rest }: PageProps) {
  const { link } = useProject()
  const name = rest[0] ?? sections[0]!.name
  const section = sections.find((one) => one.name === name)
  const Body = section?.body ?? NoSection
  return (
    <>
      <PageHead title="Settings" />
      <div class="with-sections">
        <nav aria-label="Settings">
          {groups.map((group) => (
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
