// Which arguments an engine refuses when a column stands in the place of the constant of a case, and in which words. Every other function answers for a
// column what it answers for the constant, and each line here fails once the engine answers.

export interface RefusedColumn {
  readonly functions: string
  /** Counted from 1. */
  readonly argument: number
  /** Absent: both. */
  readonly engine?: 'duckdb' | 'clickhouse'
  /** Only where the column may hold NULL. */
  readonly isNullable?: true
  /** Refused beside NULL too; absent: the answer is NULL there without a look at the column. */
  readonly isBesideNull?: true
  /** Part of the cases that are answered as usual: the column is not looked at there. */
  readonly except?: string
  /** Words of the refusal. */
  readonly says: string
}

const units = 'A unit of time must be one of microsecond, millisecond, second, minute, hour, day, week, month, quarter, year'

export const refusedColumns: readonly RefusedColumn[] = [
  // What the language itself refuses: it chooses the type, or the cell.
  { functions: 'age dateAdd dateDiff dateSub dateTrunc date_diff date_trunc', argument: 1, says: units },
  { functions: 'dateName', argument: 1, says: 'A part of a date must be one of year, quarter' },
  { functions: 'date_part', argument: 1, says: 'The part of a date must be a constant.' },
  {
    functions: 'JSONExtractKeysAndValues accurateCast accurateCastOrNull',
    argument: 2,
    says: 'The name of a type must be given as a text constant.',
  },
  { functions: 'defaultValueOfTypeName', argument: 1, says: 'The name of a type must be given as a text constant.' },
  {
    functions: 'L1Normalize L2Normalize LinfNormalize LpNormalize tupleElement',
    argument: 2,
    says: "'tupleElement' takes the position or the name of the element as a constant",
  },
  { functions: 'arrayReduce', argument: 1, says: 'The aggregate of arrayReduce must be one of count,' },
  { functions: 'convertCurrency', argument: 1, except: 'BOGUS', says: 'this server has no exchange rates' },
  { functions: 'convertCurrency', argument: 2, says: 'this server has no exchange rates' },
  { functions: 'toDateTime', argument: 2, says: 'A time zone must be given as a text constant.' },
  { functions: 'toDecimal', argument: 2, says: 'The scale of a decimal must be a constant.' },
  // What the cells of DuckDB refuse, and DuckDB.
  { functions: 'divideDecimal', argument: 3, engine: 'duckdb', says: 'The scale of a decimal must be a constant.' },
  {
    functions: 'extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical extractGroups',
    argument: 2,
    engine: 'duckdb',
    says: 'The regular expression must be a constant.',
  },
  { functions: 'format', argument: 1, engine: 'duckdb', isBesideNull: true, says: 'The format must be a constant.' },
  { functions: 'formatDateTime to_char', argument: 2, engine: 'duckdb', says: 'A date format must be a text constant.' },
  {
    functions: 'formatDateTime to_char toDayOfWeek toStartOfWeek tumbleEnd',
    argument: 3,
    engine: 'duckdb',
    says: 'A time zone must be given as a text constant.',
  },
  { functions: 'toUnixTimestamp', argument: 2, engine: 'duckdb', says: 'A time zone must be given as a text constant.' },
  { functions: 'formatReadableTimeDelta', argument: 2, engine: 'duckdb', says: 'The largest unit must be a constant.' },
  { functions: 'arrayStringConcat', argument: 2, engine: 'duckdb', says: 'Separator argument to StringAgg must be a constant' },
  { functions: 'parseDateTime', argument: 2, engine: 'duckdb', says: 'strptime format must be a constant' },
  { functions: 'regexpExtract', argument: 3, engine: 'duckdb', isBesideNull: true, says: 'Group specification field must be a constant' },
  // What ClickHouse refuses: it wants a constant.
  {
    functions: 'arrayStringConcat extractAll parseDateTime regexpExtract split_part trim trimLeft trimRight',
    argument: 2,
    engine: 'clickhouse',
    says: 'Expected: const String, got: String',
  },
  {
    functions: 'splitByChar splitByRegexp splitByString',
    argument: 1,
    engine: 'clickhouse',
    isBesideNull: true,
    says: 'Expected: const String, got: String',
  },
  {
    functions: 'splitByChar splitByRegexp splitByString',
    argument: 3,
    engine: 'clickhouse',
    says: 'Expected: const Number, got: UInt8',
  },
  { functions: 'alphaTokens splitByWhitespace', argument: 2, engine: 'clickhouse', says: 'Expected: const Number, got: UInt8' },
  {
    functions: 'countMatches countMatchesCaseInsensitive',
    argument: 2,
    engine: 'clickhouse',
    says: 'Expected: constant String, got: String',
  },
  {
    functions: 'extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical extractGroups',
    argument: 2,
    engine: 'clickhouse',
    says: 'Expected: const String or const FixedString, got: String',
  },
  {
    functions: 'hasAllTokens hasAnyTokens',
    argument: 2,
    engine: 'clickhouse',
    says: 'Expected: const String or const Array(String), got: String',
  },
  { functions: 'ngrams', argument: 2, engine: 'clickhouse', says: 'Expected: const UInt8/16/32/64, got: UInt8' },
  { functions: 'toUnixTimestamp', argument: 2, engine: 'clickhouse', says: 'Expected: const String or FixedString, got: String' },
  {
    functions: 'divideDecimal',
    argument: 3,
    engine: 'clickhouse',
    says: 'Illegal column of third argument of function divideDecimal. Should be constant UInt8',
  },
  {
    functions: 'geohashDecode',
    argument: 2,
    engine: 'clickhouse',
    says: "'tupleElement' takes the position or the name of the element as a constant",
  },
  // It takes another character of padding from a constant only, and does not say so.
  { functions: 'leftPad leftPadUTF8 lpad rightPad rpad', argument: 3, engine: 'clickhouse', says: "'pad_string' to function" },
  // It takes no NULL there.
  {
    functions: 'arrayFold',
    argument: 3,
    engine: 'clickhouse',
    isNullable: true,
    says: 'inferred return type of lambda: String, inferred type of accumulator: Nullable(String)',
  },
  { functions: 'arrayResize', argument: 2, engine: 'clickhouse', isNullable: true, says: 'Expected: Number, got: Nullable(' },
  {
    functions: 'arrayWithConstant',
    argument: 1,
    engine: 'clickhouse',
    isNullable: true,
    says: 'Illegal type Nullable(UInt8) of argument of function arrayWithConstant, expected Integer',
  },
  {
    functions: 'isIPAddressInRange',
    argument: 2,
    engine: 'clickhouse',
    isNullable: true,
    except: "('0',",
    says: 'and the second argument must be String',
  },
  { functions: 'map', argument: 1, engine: 'clickhouse', isNullable: true, says: 'Map cannot have a key of type Nullable(String)' },
  { functions: 'map', argument: 3, engine: 'clickhouse', isNullable: true, says: 'Map cannot have a key of type Nullable(String)' },
  {
    functions: 'transform',
    argument: 1,
    engine: 'clickhouse',
    isNullable: true,
    except: "'c')",
    says: 'Function transform has signature: transform(T, Array(T), Array(U), U) -> U',
  },
]

/** JSONExtract takes the name of the type behind the path, whose length differs. */
const typeNames: RefusedColumn = { functions: 'JSONExtract', argument: 0, says: 'The name of a type must be given as a text constant.' }

export interface AskedColumn {
  readonly expression: string
  readonly name: string
  readonly engine: 'duckdb' | 'clickhouse'
  readonly argument: number
  readonly isLast: boolean
  readonly isNullable: boolean
  /** Another argument is NULL. */
  readonly isBesideNull: boolean
}

export const refusalOf = (asked: AskedColumn): RefusedColumn | undefined =>
  asked.name === typeNames.functions && asked.isLast
    ? typeNames
    : refusedColumns.find(
        ({ functions, argument, engine, isNullable, isBesideNull, except }) =>
          functions.split(' ').includes(asked.name) &&
          argument === asked.argument &&
          (!engine || engine === asked.engine) &&
          (!isNullable || asked.isNullable) &&
          (isBesideNull || !asked.isBesideNull) &&
          !(except && asked.expression.includes(except)),
      )

/** What a case answers of a column that may hold NULL, where that is seen. */
export const answerOfNullable: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ['toTypeName', (value: unknown) => `Nullable(${value})`],
])
