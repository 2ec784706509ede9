import { expect, test } from 'vitest'
import { openTestProject } from '../harness/duckdb.ts'

test('what a channel is told by is worked out once for a session, not once for each branch that asks for it', async () => {
  const project = await openTestProject()
  const { printed } = await project.compile('select $channel_type, count() from sessions group by $channel_type')
  // The id of the session, whether the visit was paid, a shop and a video in the campaign, and campaigns across networks; and whether each of four
  // texts in lower case has capitals beyond ASCII.
  expect(printed.sql.match(/regexp_matches\(/g)).toHaveLength(5 + 4)
  expect(printed.sql.match(/translate\(/g)).toHaveLength(4)
  const [row] = (await project.compile('select $pageview_count from sessions')).printed.sql.match(/@channel_\w+/g) ?? []
  expect(row, 'nothing of it where nobody asks for it').toBeUndefined()
  await project.close()
})
