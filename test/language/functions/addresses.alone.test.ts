import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Functions of addresses, each inside of each other one whose result it takes: what an address is written as must not matter.

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

/** An address as a call returns it: `of` is the text of the address, mapped for an IPv4 address in the form of IPv6. */
interface Form {
  readonly is: 'text' | 'number' | 'IPv4' | 'IPv6' | 'bytes'
  readonly of: string
  readonly sql: string
}
interface Call {
  readonly name: string
  readonly takes: readonly Form['is'][]
  readonly family: 'IPv4' | 'IPv6' | 'any'
  readonly gives: Form['is']
  readonly of?: (address: string) => string
  readonly more?: string
}

const isV4 = (address: string) => !address.includes(':')
const mapped = (address: string) => (isV4(address) ? `::ffff:${address}` : address)
const v4: readonly Call[] = [
  { name: 'IPv4StringToNum', takes: ['text'], family: 'IPv4', gives: 'number' },
  { name: 'IPv4StringToNumOrDefault', takes: ['text'], family: 'IPv4', gives: 'number' },
  { name: 'IPv4StringToNumOrNull', takes: ['text'], family: 'IPv4', gives: 'number' },
  { name: 'IPv4NumToString', takes: ['number', 'IPv4'], family: 'IPv4', gives: 'text' },
  { name: 'toIPv4', takes: ['text', 'number', 'IPv4'], family: 'IPv4', gives: 'IPv4' },
  { name: 'toIPv4OrNull', takes: ['text'], family: 'IPv4', gives: 'IPv4' },
  { name: 'toIPv4OrZero', takes: ['text'], family: 'IPv4', gives: 'IPv4' },
  { name: 'IPv4ToIPv6', takes: ['number', 'IPv4'], family: 'IPv4', gives: 'IPv6', of: mapped },
]
const v6: readonly Call[] = [
  { name: 'IPv6StringToNum', takes: ['text'], family: 'any', gives: 'bytes', of: mapped },
  { name: 'IPv6StringToNumOrDefault', takes: ['text'], family: 'any', gives: 'bytes', of: mapped },
  { name: 'IPv6StringToNumOrNull', takes: ['text'], family: 'any', gives: 'bytes', of: mapped },
  { name: 'IPv6NumToString', takes: ['bytes', 'IPv6'], family: 'IPv6', gives: 'text' },
  { name: 'toIPv6', takes: ['text', 'bytes', 'IPv4', 'IPv6'], family: 'any', gives: 'IPv6', of: mapped },
  { name: 'toIPv6OrNull', takes: ['text', 'bytes'], family: 'any', gives: 'IPv6', of: mapped },
  { name: 'toIPv6OrZero', takes: ['text', 'bytes'], family: 'any', gives: 'IPv6', of: mapped },
  { name: 'cutIPv6', takes: ['bytes', 'IPv6'], family: 'IPv6', gives: 'text', more: ', 0, 0' },
]
const takesAddress = ({ family }: Call, { of }: Form) => family === 'any' || (family === 'IPv4') === isV4(of)

/** What every call makes of the forms that it takes. */
const around = (forms: readonly Form[]): Form[] =>
  [...v4, ...v6].flatMap((call) =>
    forms
      .filter((form) => call.takes.includes(form.is) && takesAddress(call, form))
      .map(({ of, sql }) => ({ is: call.gives, of: call.of ? call.of(of) : of, sql: `${call.name}(${sql}${call.more ?? ''})` })),
  )

const numberOf = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const shown = ({ is, sql }: Form) => (is === 'bytes' ? `IPv6NumToString(${sql})` : is === 'number' ? sql : `toString(${sql})`)
const expected = ({ is, of }: Form) => (is === 'number' ? numberOf(of) : of)

const texts: readonly Form[] = ['1.2.3.4', '255.0.0.1', '2001:db8::8a2e:370:7334', '::1', '::ffff:10.0.0.7'].map((of) => ({
  is: 'text',
  of,
  sql: `'${of}'`,
}))
const once = around(texts)
/** All of them are thousands. */
const some = (forms: readonly Form[], step: number) => forms.filter((_, i) => i % step === 0)
const twice = some(around(once), 3)
/** What the third call takes is a column. */
const thrice = some(twice, 9).flatMap((inner) => around([{ ...inner, sql: 'x' }]).map((outer) => ({ ...outer, inner: inner.sql })))

const partsOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))

/** A statement has a largest size, and so few expressions. */
async function expectRight(rows: (statement: string) => Promise<readonly unknown[][]>, forms: readonly Form[], inOne: number) {
  for (const part of partsOf(forms, inOne)) {
    const [row] = await rows(`select ${part.map(shown).join(', ')}`)
    expect(part.map(({ sql }, i) => [sql, row![i]])).toEqual(part.map((form) => [form.sql, expected(form)]))
  }
}

test('the calls meet each other in all forms', () => {
  expect(once.length).toBeGreaterThan(20)
  expect(thrice.length).toBeGreaterThan(10)
  const forms = [...once, ...twice, ...thrice].map(({ is }) => is)
  expect(new Set(forms)).toEqual(new Set(['number', 'text', 'IPv4', 'IPv6', 'bytes']))
})

test.each([
  ['once', once, 5],
  ['twice', twice, 2],
] as const)('addresses through calls, %s', async (_, forms, inOne) => {
  await expectRight((statement) => project.rows(statement), forms, inOne)
  if (hasClickHouse) await expectRight((statement) => clickhouse.rows(statement, project), forms, inOne)
})

test('addresses through calls, three times', async () => {
  for (const form of thrice) {
    const statement = `select ${shown(form)} from (select ${form.inner} as x)`
    const right = [statement, [[expected(form)]]]
    expect([statement, await project.rows(statement)]).toEqual(right)
    if (hasClickHouse) expect([statement, await clickhouse.rows(statement, project)]).toEqual(right)
  }
})

test.each([
  ["IPv4CIDRToRange(IPv4StringToNum('1.2.3.4'), 16)", "('1.2.0.0','1.2.255.255')"],
  ["IPv4CIDRToRange(toIPv4('1.2.3.4'), 16)", "('1.2.0.0','1.2.255.255')"],
  ["IPv6CIDRToRange(IPv6StringToNum('2001:db8::1'), 32)", "('2001:db8::','2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')"],
  ["IPv6CIDRToRange(IPv4ToIPv6(IPv4StringToNum('1.2.3.4')), 112)", "('::ffff:1.2.0.0','::ffff:1.2.255.255')"],
  ["cutIPv6(IPv4ToIPv6(IPv4StringToNum('1.2.3.4')), 15, 1)", '::ffff:1.2.3.0'],
  ["cutIPv6(toIPv6('2001:db8::8a2e:370:7334'), 2, 0)", '2001:db8::8a2e:370:0'],
  ["isIPAddressInRange(toIPv4('1.2.3.4'), '1.2.0.0/16')", 'true'],
  ["isIPAddressInRange(toIPv6('2001:db8::1'), '2001:db8::/32')", 'true'],
  ["isIPAddressInRange(IPv4StringToNum('1.2.3.4'), '1.2.0.0/16')", 'false'],
  ["toIPv4(toIPv6('1.2.3.4'))", '1.2.3.4'],
])('%s', async (expression, value) => {
  expect(await project.rows(`select toString(${expression})`)).toEqual([[value]])
  if (hasClickHouse) expect(await clickhouse.rows(`select toString(${expression})`, project)).toEqual([[value]])
})

test.each([
  "IPv6NumToString('2001:db8::1')",
  "cutIPv6('2001:db8::8a2e:370:7334', 2, 0)",
  "IPv4ToIPv6('nope')",
  "toIPv6(IPv6NumToString('abcdefghijklmnop'))",
])('no address is made of %s', async (expression) => {
  await expect(project.rows(`select toString(${expression})`)).rejects.toMatchObject({ code: 'engine-refused' })
  if (hasClickHouse) await expect(clickhouse.rows(`select toString(${expression})`, project)).rejects.toThrow()
})
