import { actor } from './actor.ts'

/** An administrator makes a batch export of all events, day by day, into files. */
export const exportDays = actor({
  weight: 2,
  isAlone: true,
  draw: ({ model }) => (model.contents.exports === 0 ? {} : null),
  async perform({ waymark, project }) {
    const { accounts, exports } = waymark
    const { user, organization } = await accounts.firstStart({ makesKey: false })
    const membership = await accounts.organizations.membership(organization.id, user)
    const record = await accounts.projects.byId(project.id)
    await exports.service.create({ user, membership: membership! }, record!, {
      name: 'all events',
      interval: 'day',
      destination: { type: 'LocalFiles', config: { prefix: '', file_format: 'JSONLines' } },
    })
  },
  leaves: () => ({ deed: 'export' }),
})
