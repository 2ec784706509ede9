import type { LocalWaymark } from '../../engine.ts'
import type { FirstStart } from '../../service/accounts/accounts.ts'
import { fillDemo } from '../http/commands/demo-project.ts'

/** A second project with sample events and a dashboard. */
export const makeDemo = async (waymark: LocalWaymark, { user, organization }: FirstStart): Promise<number> => {
  const { accounts } = waymark
  const membership = await accounts.organizations.membership(organization.id, user)
  const by = { user, membership: membership! }
  const record = await accounts.projects.create(by, { name: 'Demo shop', is_demo: true })
  await fillDemo(waymark, record, by)
  return record.id
}
