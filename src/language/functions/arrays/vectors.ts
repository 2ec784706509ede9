import { isNamed, isNullable, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { once, onceAll } from '../cells/duckdb-values.ts'
import { checkSameSize } from '../results.ts'
import { type Arg, type Case, type CellContext, type Difference, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Norms and distances of vectors. A vector is an array or a tuple of numbers.

/** As a list of floats. */
const items = (vector: Arg, context: CellContext): string =>
  vector.type.kind === 'tuple'
    ? once(
        context,
        vector.sql,
        (t) =>
          `[${tupleItems(vector)
            .map((i) => `CAST(struct_extract_at(${t}, ${i}) AS DOUBLE)`)
            .join(', ')}]`,
      )
    : `CAST(${vector.sql} AS DOUBLE[])`
const tupleItems = ({ type }: Arg): number[] => (type.kind === 'tuple' ? type.items.map((_, i) => i + 1) : [])

type Norm = (list: string, context: CellContext) => string
const folded =
  (name: 'list_sum' | 'list_max', of: (x: string) => string): Norm =>
  (list, context) => {
    const x = context.fresh()
    return `coalesce(${name}(list_transform(${list}, lambda ${x}: ${of(x)})), 0)`
  }
const norms = {
  L1: folded('list_sum', (x) => `abs(${x})`),
  L2: (list: string, context: CellContext) => `sqrt(${folded('list_sum', (x) => `${x} * ${x}`)(list, context)})`,
  Linf: folded('list_max', (x) => `abs(${x})`),
} as const
const lp =
  (p: string): Norm =>
  (list, context) =>
    `pow(${folded('list_sum', (x) => `pow(abs(${x}), ${p})`)(list, context)}, 1.0 / ${p})`

const difference = (a: Arg, b: Arg, context: CellContext): string =>
  onceAll(context, [items(a, context), items(b, context)], (x, y) => {
    const i = context.fresh()
    return `list_transform(range(1, len(${x}) + 1), lambda ${i}: ${x}[${i}] - ${y}[${i}])`
  })
/** A norm that is NULL if an element of the vector is. */
const knownParts = ({ type }: Arg, list: string, length: string): string => {
  const nullable = type.kind === 'tuple' ? type.items.flatMap((item, i) => (isNullable(item) ? [`${list}[${i + 1}] IS NOT NULL`] : [])) : []
  return nullable.length ? `CASE WHEN ${nullable.join(' AND ')} THEN ${length} END` : length
}
/** The vector scaled to norm 1, as a tuple. */
const normalized =
  (norm: (args: readonly Arg[]) => Norm): SqlCell =>
  (args, context) => {
    const [vector] = args
    return once(context, items(vector!, context), (list) =>
      once(
        context,
        knownParts(vector!, list, norm(args)(list, context)),
        (length) =>
          `row(${tupleItems(vector!)
            .map((i) => `${list}[${i}] / ${length}`)
            .join(', ')})`,
      ),
    )
  }
const normalizedType: FunctionRow['returns'] = ([vector]) =>
  tupleOf(vector?.kind === 'tuple' ? vector.items.map(() => scalar('Float64', vector.items.some(isNullable))) : [])

const mayBeNull = (type: SqlType): boolean => isNullable(type) || (type.kind === 'tuple' && type.items.some(isNullable))
/** A number that is NULL if an argument or an element of a tuple is. */
const length: FunctionRow['returns'] = (types) => scalar('Float64', types.some(mayBeNull))
const whereKnown =
  (cell: SqlCell): SqlCell =>
  (args, context) => {
    if (args.some(({ type }) => isNamed(type, 'Nothing'))) return 'CAST(NULL AS DOUBLE)'
    const nullable = args.flatMap(({ type, sql }) => {
      if (type.kind !== 'tuple') return isNullable(type) ? [sql] : []
      return type.items.flatMap((item, i) => (isNullable(item) ? [`struct_extract_at(${sql}, ${i + 1})`] : []))
    })
    const value = cell(args, context)
    return nullable.length ? `CASE WHEN ${nullable.map((sql) => `${sql} IS NOT NULL`).join(' AND ')} THEN ${value} END` : value
  }
const vectorRow = (
  args: number,
  summary: string,
  duckdb: SqlCell,
  cases: readonly Case[],
  returns: FunctionRow['returns'] = length,
  differences: readonly Difference[] = [],
): ScalarSpec => ({
  args,
  returns,
  summary,
  duckdb: returns === length ? whereKnown(duckdb) : duckdb,
  cases,
  differences,
})

/** For two vectors of equal length. */
const distances = (specs: Readonly<Record<string, ScalarSpec>>): Record<string, ScalarSpec> =>
  Object.fromEntries(
    Object.entries(specs).map(([name, spec]): [string, ScalarSpec] => [
      name,
      {
        ...spec,
        sideBySide: [0, 2],
        returns(types, context) {
          checkSameSize(name, types)
          return spec.returns(types, context)
        },
      },
    ]),
  )

const family = (
  name: keyof typeof norms,
  what: string,
  cases: readonly [length: number, distance: number, part: number],
): Record<string, ScalarSpec> => ({
  [`${name}Norm`]: vectorRow(1, `The length of a vector by ${what}.`, ([v], context) => norms[name](items(v!, context), context), [
    [`${name}Norm([3, -4])`, cases[0]],
    [`${name}Norm((3, -4))`, cases[0]],
    [`${name}Norm((1, null))`, null],
    [`${name}Norm(null)`, null],
  ]),
  ...distances({
    [`${name}Distance`]: vectorRow(
      2,
      `The distance of two vectors by ${what}.`,
      ([a, b], context) => norms[name](difference(a!, b!, context), context),
      [
        [`${name}Distance([1, 2], [4, 6])`, cases[1]],
        [`${name}Distance((1, null), (1, 2))`, null],
        [`${name}Distance([1, 2], null)`, null],
      ],
      length,
      [
        {
          expression: `${name}Distance([1, null], [1, 2])`,
          duckdb: { value: 0 },
          clickhouse: { refused: 'nested type Nullable' },
          reason: 'ClickHouse has no distances of arrays whose items may be NULL; DuckDB skips NULL',
        },
      ],
    ),
  }),
  [`${name}Normalize`]: vectorRow(
    1,
    `A tuple, normalized to length 1 by ${what}.`,
    normalized(() => norms[name]),
    [
      [`tupleElement(${name}Normalize((3, 4)), 1)`, cases[2], { tolerance: 1e-12 }],
      [`${name}Normalize((1, null))`, [null, null]],
    ],
    normalizedType,
  ),
})

const l2 = family('L2', 'the Euclidean norm', [5, 5, 0.6])

export const vectorFunctions = scalars({
  ...family('L1', 'the sum of its components', [7, 7, 3 / 7]),
  ...l2,
  L2Norm: {
    ...l2.L2Norm!,
    differences: [
      differing(
        'L2Norm((1, 4294967296))',
        4294967296,
        1,
        'ClickHouse squares whole numbers of a tuple in 64 bits and wraps around, DuckDB squares floats',
      ),
    ],
  },
  ...family('Linf', 'its largest component', [4, 4, 0.75]),
  LpNorm: vectorRow(2, 'The length of a vector by a power.', ([v, p], context) => lp(p!.sql)(items(v!, context), context), [
    ['LpNorm([1, 2], 3)', 2.080083823051904, { tolerance: 1e-12 }],
  ]),
  ...distances({
    LpDistance: vectorRow(
      3,
      'The distance of two vectors by a power.',
      ([a, b, p], context) => lp(p!.sql)(difference(a!, b!, context), context),
      [['LpDistance([1, 2], [2, 3], 3)', 1.2599210498948732, { tolerance: 1e-12 }]],
    ),
  }),
  LpNormalize: vectorRow(
    2,
    'A tuple, normalized to length 1 by a power.',
    normalized((args) => lp(args[1]!.sql)),
    [
      ['tupleElement(LpNormalize((1, 2), 2), 1)', 0.4472135954999579, { tolerance: 1e-12 }],
      ['LpNormalize((1, null), 2)', [null, null]],
    ],
    normalizedType,
  ),
  ...distances({
    cosineDistance: vectorRow(
      2,
      '1 minus the cosine of the angle between two vectors.',
      // list_cosine_similarity returns a value for zero vectors, which have no angle
      ([a, b], context) =>
        onceAll(
          context,
          [items(a!, context), items(b!, context)],
          (x, y) => `(1 - list_dot_product(${x}, ${y}) / sqrt(list_dot_product(${x}, ${x}) * list_dot_product(${y}, ${y})))`,
        ),
      [
        ['cosineDistance([1, 2], [2, 3])', 0.007722123286332261, { tolerance: 1e-9 }],
        ['cosineDistance((1, 0), (0, 1))', 1],
        ['isNaN(cosineDistance((0, 0), (1, 2)))', 1],
        ['cosineDistance((1, null), (1, 2))', null],
      ],
    ),
  }),
})
