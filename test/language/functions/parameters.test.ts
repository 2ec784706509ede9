import { afterAll, beforeAll, expect, test } from 'vitest'
import type { QueryError } from '../../../src/errors/errors.ts'
import { registry } from '../../../src/language/functions/registry.ts'
import type { FunctionRow, ParamKind } from '../../../src/language/functions/row.ts'
import { type ClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// What cannot be a parameter is refused before an engine sees it, with its place: for every function that takes parameters.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const wrong: Readonly<Record<ParamKind, readonly string[]>> = {
  share: ["'a'", 'null', '1.5', '-0.5'],
  count: ["'a'", 'null', '0', '-1', '1.5'],
  whole: ["'a'", 'null', '-1', '1.5'],
}
/** Rows that look at their parameters themselves. */
const own: Readonly<Record<string, readonly string[]>> = {
  exponentialMovingAverage: ["'a'", '0', '-1'],
  histogram: ["'a'", '0', '1.5', '251'],
  sequenceMatch: ['5', "'(?9)'"],
  sequenceCount: ['5', "'(?9)'"],
  windowFunnel: ["'a'", '0', '-5'],
}
const argsOf: Readonly<Record<string, string>> = {
  exponentialMovingAverage: '(number, number)',
  sequenceMatch: '(toDateTime(number), number = 1, number = 2)',
  sequenceCount: '(toDateTime(number), number = 1, number = 2)',
  windowFunnel: '(toDateTime(number), number = 1, number = 2)',
  percentile_cont: ' WITHIN GROUP (ORDER BY number)',
  percentile_disc: ' WITHIN GROUP (ORDER BY number)',
}

const baseOf = (name: string): string => Object.keys(own).find((base) => name.startsWith(base)) ?? name
const withParams = [...registry].filter(([, { params }]) => params)

test('every row with parameters says what they are, or looks at them itself', () => {
  expect(withParams.filter(([name, { paramKinds }]) => !paramKinds && !own[baseOf(name)]).map(([name]) => name)).toEqual([])
})

const calls = withParams
  .filter(
    ([name]) => !/(If|Array|Map|State|Merge|ForEach|OrNull|OrDefault|ArgMin|ArgMax|Distinct)$/.test(name) || name === 'groupUniqArray',
  )
  .map(([name, row]): [string, FunctionRow] => [name, row])

test.each(calls)('%s', async (name, { paramKinds }) => {
  const params = paramKinds ? wrong[paramKinds[0]!] : own[name]!
  for (const param of params) {
    const start = `select ${name}(`
    const statement = `${start}${param})${argsOf[name] ?? '(number)'} from numbers(3)`
    for (const compiled of [() => project.compile(statement), () => clickhouse.compile(statement, project)]) {
      const error = await compiled().then(
        () => new Error(`${statement} was taken`),
        (refused: QueryError) => refused,
      )
      expect(error).toMatchObject({ code: 'wrong-type', message: expect.stringContaining(`'${name}'`), span: expect.anything() })
      if (paramKinds && !name.startsWith('percentile_'))
        expect((error as QueryError).span).toEqual({ start: start.length, end: start.length + param.length })
    }
  }
})
