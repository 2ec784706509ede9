import { expect, test } from 'vitest'
import { flagOperators } from '../../src/service/flags/definition.ts'
import { withHome } from '../doors/http/conversation.ts'
import { httpExamples, pageOf, wanted } from './http-examples.ts'

// Every request of docs/flags.md, in its order, and its question.

const page = pageOf('flags.md')
const held = withHome()

test('the examples answer what the page says', async () => {
  const { call, owner, project } = held.home
  for (const { method, path, body, status, answer } of httpExamples(page)) {
    const as = path.startsWith('/ofrep') ? project.api_token : owner
    const reply = await call(method, path, { as, ...(body && { body }) })
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).toBe(status)
    expect(reply.body, `${method} ${path}`).toEqual(wanted(JSON.parse(answer)))
  }
  const [, question] = /```json\n([\s\S]*?)```/.exec(page)!
  const asked = await call('POST', `/api/projects/${project.id}/query/`, { as: owner, body: { query: JSON.parse(question!) } })
  expect(asked.status, JSON.stringify(asked.body)).toBe(200)
})

test('the page names each operator', () => {
  for (const operator of flagOperators) if (operator !== 'in' && operator !== 'not_in') expect(page).toContain(`\`${operator}\``)
})
