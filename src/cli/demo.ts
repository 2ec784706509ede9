import type { FirstStart } from '../accounts/accounts.ts'
import type { Waymark } from '../engine.ts'
import { demoEvents } from '../http/demo-events.ts'

/** A second project with sample events. */
export const makeDemo = async (waymark: Waymark, { user, organization }: FirstStart): Promise<number> => {
  const { accounts } = waymark
  const membership = await accounts.organizations.membership(organization.id, user)
  const record = await accounts.projects.create({ user, membership: membership! }, { name: 'Demo shop', is_demo: true })
  const project = await waymark.project(record.id)
  await project.ingest({ batch: demoEvents(waymark.clock()), historical_migration: true })
  return record.id
}
