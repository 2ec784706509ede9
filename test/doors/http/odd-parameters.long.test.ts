import { expect, test } from 'vitest'
import { withHome } from './conversation.ts'
import { placedRows } from './creating.ts'

// Odd texts in the parameters of URLs, and as ids, of routes about records: none is a fault of ours.

const held = withHome()
const texts = ['\0', "'; drop table x; --", '%', '[]', '[1', '{}', '-1', '1e9', '99999999999', 'null', 'true', '🦆', '1,2,', '"', '\\']
/** Their answers are queries, which take longer: a few texts are enough. */
const data = ['events', 'persons', 'groups', 'groups_types', 'event_definitions', 'property_definitions']
const resources = ['insights', 'dashboards', 'annotations', 'warehouse_saved_queries', ...data]
const reading = placedRows.filter(({ row }) => row.method === 'GET' && resources.includes(row.name.split('.')[0]!))

test.each(reading.map((one) => ({ title: one.row.name, ...one })))('$title', async ({ path, row }) => {
  const { call, owner, project } = held.home
  for (const text of data.includes(row.name.split('.')[0]!) ? texts.filter((_, i) => i % 4 === 0) : texts) {
    const odd = encodeURIComponent(text)
    const filled = path.replace(':project_id', String(project.id)).replace(/:\w+/g, odd)
    for (const name of ['', ...Object.keys(row.queryParameters)]) {
      const { status, body } = await call('GET', `${filled}/${name && `?${name}=${odd}`}`, { as: owner })
      expect(status, `${row.name} ${name}=${text}: ${JSON.stringify(body).slice(0, 200)}`).toBeLessThan(500)
    }
  }
})
