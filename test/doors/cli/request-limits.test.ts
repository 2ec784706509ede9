import { expect, test } from 'vitest'
import { readValues } from '../../../src/doors/cli/command.ts'
import { requestLimits } from '../../../src/doors/cli/request-limits.ts'
import { serve } from '../../../src/doors/cli/serve.ts'

const limits = (args: string[], env = {}) => requestLimits(readValues({ name: 'serve', summary: '', ...serve }, args, env))
const hourly = (count: number) => [{ count, seconds: 3600 }]

test.each([
  ['a server of your own asks as often as it likes', [], {}, []],
  ['one for customers has a limit', ['--hosted'], {}, hourly(120)],
  ['which can be another one', ['--hosted', '--queries-per-hour', '10'], {}, hourly(10)],
  ['or none', ['--hosted', '--queries-per-hour', '0'], {}, []],
  ['an own server may have one', [], { WAYMARK_QUERIES_PER_HOUR: '7' }, hourly(7)],
])('%s', (_, args, env, query) => {
  expect(limits(args, env).limits.query).toEqual(query)
})

test('0 takes a limit away', () => {
  expect(limits([])).toMatchObject({
    limits: { api: [{ count: 480, seconds: 60 }, ...hourly(4800)] },
    concurrency: { perProject: 3, perUser: 50, perOrganization: 200, inAll: 500 },
  })
  const none = limits(['--api-limit', '0', '--concurrent-queries', '0', '--queries-per-user', '0'])
  expect(none).toMatchObject({
    limits: { api: [] },
    concurrency: { perProject: Number.POSITIVE_INFINITY, perUser: Number.POSITIVE_INFINITY },
  })
})
