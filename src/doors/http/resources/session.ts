import { currentSchema } from '../../answers/users.ts'
import { presentShortProject } from '../present.ts'
import { defineResource } from '../resource.ts'
import { projectsOf } from './projects.ts'
import { presentMe } from './users.ts'

/** More projects are a question of their own. */
const shownProjects = 200

export const session = defineResource({
  name: 'session',
  summary: 'Who is signed in, for pages',
  path: '/api/session',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      name: 'retrieve',
      summary: `The user whom the cookie or the host application has signed in, with the first ${shownProjects} projects. \`user\` is null if nobody is: no error, as pages ask before anybody signs in`,
      answer: currentSchema,
      handle: async ({ app, caller }) => {
        if (!caller) return { user: null, projects: [], has_more_projects: false, must_set_up_2fa: false, requires_2fa: [] }
        const { held } = caller
        const [user, projects] = await Promise.all([presentMe(app, caller.user, caller.limits), projectsOf(app, caller)])
        return {
          user,
          projects: projects.slice(0, shownProjects).map(presentShortProject),
          has_more_projects: projects.length > shownProjects,
          must_set_up_2fa: held.isAll,
          requires_2fa: held.organizations.map(({ id, name }) => ({ id, name })),
        }
      },
    }),
  ],
})
