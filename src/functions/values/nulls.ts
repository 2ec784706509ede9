import { isNullable, notNull, nullable } from '../../types/types.ts'
import { defaultOf, onceAll } from '../cells/duckdb-values.ts'
import { part } from '../makes.ts'
import { always, commonType } from '../results.ts'
import { call, functions, sql } from '../row.ts'

export const nullFunctions = functions({
  isnull: {
    kind: 'scalar',
    args: [1, 1],
    takes: 'key',
    caseInsensitive: true,
    returns: always('Bool'),
    summary: 'Whether the value is NULL.',
    sql: { duckdb: sql`(${0} IS NULL)`, clickhouse: call('isNull') },
    cases: [
      ['isNull(null)', 1],
      ["isNull('')", 0],
    ],
  },
  isNotNull: {
    kind: 'scalar',
    args: [1, 1],
    takes: 'key',
    returns: always('Bool'),
    summary: 'Whether the value is anything but NULL.',
    sql: { duckdb: sql`(${0} IS NOT NULL)`, clickhouse: call('isNotNull') },
    cases: [
      ['isNotNull(null)', 0],
      ['isNotNull(0)', 1],
    ],
  },
  coalesce: {
    kind: 'scalar',
    args: [1, null],
    takes: 'alike',
    caseInsensitive: true,
    returns: (args) => (args.every(isNullable) ? commonType(args) : notNull(commonType(args))),
    makes: part,
    summary: 'The first argument that is not NULL.',
    sql: { duckdb: call('coalesce'), clickhouse: call('coalesce') },
    cases: [
      ['coalesce(null, 2)', 2],
      ["COALESCE(null, null, 'a', 'b')", 'a'],
      ['coalesce(null)', null],
      ["coalesce(null, [], ['a'])", []],
    ],
  },
  ifnull: {
    kind: 'scalar',
    args: [2, 2],
    takes: 'alike',
    caseInsensitive: true,
    returns: (args) => (args.every(isNullable) ? commonType(args) : notNull(commonType(args))),
    makes: part,
    summary: 'The first argument, or the second when the first is NULL.',
    sql: { duckdb: call('coalesce'), clickhouse: call('ifNull') },
    cases: [
      ["ifNull(null, 'a')", 'a'],
      ['ifNull(1, 2)', 1],
    ],
  },
  nullif: {
    kind: 'scalar',
    args: [2, 2],
    takes: 'alike',
    caseInsensitive: true,
    returns: ([x]) => nullable(x!),
    makes: part,
    summary: 'NULL when both arguments are equal, else the first.',
    sql: {
      // A macro of DuckDB that writes its first argument out twice: nested ones would double each time.
      duckdb: ([x, y], context) =>
        x!.sql.includes('nullif(')
          ? onceAll(context, [x!.sql, y!.sql], (value, other) => `nullif(${value}, ${other})`)
          : `nullif(${x!.sql}, ${y!.sql})`,
      clickhouse: call('nullIf'),
    },
    cases: [
      ['nullIf(1, 1)', null],
      ["nullIf('a', '')", 'a'],
      ["nullIf(null, '')", null],
    ],
  },
  assumeNotNull: {
    kind: 'scalar',
    args: [1, 1],
    returns: ([x]) => notNull(x!),
    makes: part,
    summary: 'The value with a type that has no NULL; what a NULL becomes is not given.',
    sql: {
      duckdb: ([x], { type }) => (isNullable(x!.type) && defaultOf(type) !== 'NULL' ? `coalesce(${x!.sql}, ${defaultOf(type)})` : x!.sql),
      clickhouse: call('assumeNotNull'),
    },
    cases: [['assumeNotNull(toNullable(5))', 5]],
  },
  toNullable: {
    kind: 'scalar',
    args: [1, 1],
    takes: 'value',
    returns: ([x]) => nullable(x!),
    makes: part,
    summary: 'The value with a type that may be NULL.',
    sql: { duckdb: sql`${0}`, clickhouse: call('toNullable') },
    cases: [
      ['toNullable(1)', 1],
      ["toTypeName(toNullable('a'))", 'Nullable(String)'],
    ],
  },
})
