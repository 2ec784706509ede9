import { isNullable, notNull, nullable } from '../../types/types.ts'
import { defaultOf, onceAll } from '../cells/duckdb-values.ts'
import { part } from '../makes.ts'
import { always, commonType } from '../results.ts'
import { call, sql } from '../row.ts'
import { scalars } from '../scalars.ts'

export const nullFunctions = scalars({
  isnull: {
    args: 1,
    takes: 'key',
    caseInsensitive: true,
    returns: always('Bool'),
    summary: 'Whether the value is NULL.',
    duckdb: sql`(${0} IS NULL)`,
    clickhouse: 'isNull',
    cases: [
      ['isNull(null)', 1],
      ["isNull('')", 0],
    ],
  },
  isNotNull: {
    args: 1,
    takes: 'key',
    returns: always('Bool'),
    summary: 'Whether the value is anything but NULL.',
    duckdb: sql`(${0} IS NOT NULL)`,
    cases: [
      ['isNotNull(null)', 0],
      ['isNotNull(0)', 1],
    ],
  },
  coalesce: {
    args: [1, null],
    takes: 'alike',
    caseInsensitive: true,
    returns: (args) => (args.every(isNullable) ? commonType(args) : notNull(commonType(args))),
    makes: part,
    summary: 'The first argument that is not NULL.',
    duckdb: call('coalesce'),
    cases: [
      ['coalesce(null, 2)', 2],
      ["COALESCE(null, null, 'a', 'b')", 'a'],
      ['coalesce(null)', null],
      ["coalesce(null, [], ['a'])", []],
    ],
  },
  ifnull: {
    args: 2,
    takes: 'alike',
    caseInsensitive: true,
    returns: (args) => (args.every(isNullable) ? commonType(args) : notNull(commonType(args))),
    makes: part,
    summary: 'The first argument, or the second if the first is NULL.',
    duckdb: call('coalesce'),
    clickhouse: 'ifNull',
    cases: [
      ["ifNull(null, 'a')", 'a'],
      ['ifNull(1, 2)', 1],
    ],
  },
  nullif: {
    args: 2,
    takes: 'alike',
    caseInsensitive: true,
    returns: ([x]) => nullable(x!),
    makes: part,
    summary: 'NULL if both arguments are equal, else the first.',
    // A DuckDB macro that repeats its first argument: each nested call would double the text.
    duckdb: ([x, y], context) =>
      x!.sql.includes('nullif(')
        ? onceAll(context, [x!.sql, y!.sql], (value, other) => `nullif(${value}, ${other})`)
        : `nullif(${x!.sql}, ${y!.sql})`,
    clickhouse: 'nullIf',
    cases: [
      ['nullIf(1, 1)', null],
      ["nullIf('a', '')", 'a'],
      ["nullIf(null, '')", null],
    ],
  },
  assumeNotNull: {
    args: 1,
    returns: ([x]) => notNull(x!),
    makes: part,
    summary: 'Changes the type to one without NULL; the result for NULL is undefined.',
    duckdb: ([x], { type }) => (isNullable(x!.type) && defaultOf(type) !== 'NULL' ? `coalesce(${x!.sql}, ${defaultOf(type)})` : x!.sql),
    cases: [['assumeNotNull(toNullable(5))', 5]],
  },
  toNullable: {
    args: 1,
    takes: 'value',
    returns: ([x]) => nullable(x!),
    makes: part,
    summary: 'Changes the type to its nullable form.',
    duckdb: sql`${0}`,
    cases: [
      ['toNullable(1)', 1],
      ["toTypeName(toNullable('a'))", 'Nullable(String)'],
    ],
  },
})
