import { beforeAll, expect, test } from 'vitest'
import { ownKinds } from '../../src/queries/viewer/kinds.ts'
import { viewerTokenFields } from '../../src/service/viewers/grant.ts'
import { withHome } from '../doors/http/conversation.ts'
import { httpExamples, pageOf, wanted } from './http-examples.ts'

// Every request of docs/viewers.md, in its order; its application runs in test/recipes/viewers.long.test.ts.

const page = pageOf('viewers.md')
const held = withHome()

beforeAll(async () => {
  const { world, project, owner, call } = held.home
  const data = await world.projectData(project.id)
  await data.ingest({
    batch: ['acme', 'bolt'].map((customer) => ({ event: 'order', distinct_id: customer, properties: { customer, $set: { plan: 'pro' } } })),
  })
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] }
  await call('POST', `/api/projects/${project.id}/insights/`, { as: owner, body: { name: 'Orders', query } })
})

test('the examples answer what the page says', async () => {
  const { call, owner } = held.home
  let token = ''
  for (const { method, path, body, status, answer } of httpExamples(page)) {
    const reply = await call(method, path, { as: path.startsWith('/api/viewer') ? token : owner, ...(body && { body }) })
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).toBe(status)
    if (answer !== '') expect(reply.body, `${method} ${path}`).toEqual(wanted(JSON.parse(answer)))
    token = reply.body?.token ?? token
  }
})

test('the page names each option of a token, and each kind', () => {
  for (const name of viewerTokenFields) expect(page).toContain(`| \`${name}\` |`)
  for (const kind of ownKinds) expect(page).toContain(`\`${kind}\``)
})
