import { call, field, literal } from '../../../src/language/ast/build.ts'
import type { Expr, Literal, Node, Query } from '../../../src/language/ast/nodes.ts'
import { print } from '../../../src/language/ast/print.ts'
import { rewrite, walk } from '../../../src/language/ast/walk.ts'
import { families, registry } from '../../../src/language/functions/registry.ts'
import { collectExpr, collectQuery } from '../../../src/language/parser/parse.ts'
import { casesOf } from '../../language/functions/cases-of.ts'
import type { Probe } from '../probe.ts'
import { fill } from './shapes.ts'
import { statementInput } from './statements.ts'

// Every function of the registry, by the cases it brings: each of their constants is grown, as it stands in the statement and as rows make it. A
// function that is added is driven without a change here.

type Tree = Expr | Query
const read = (text: string): Tree | null => (/^\s*(select|with)\b/i.test(text) ? collectQuery(text).ast : collectExpr(text).ast)
const trees = new Map<string, Tree | null>()
const parsed = (text: string): Tree | null => {
  const known = trees.get(text)
  if (known !== undefined) return known
  const tree = read(text)
  trees.set(text, tree)
  return tree
}

const constantsOf = (tree: Tree): Literal[] => {
  const found: Literal[] = []
  walk(tree, (node) => {
    if (node.kind === 'literal' && (typeof node.value === 'string' || typeof node.value === 'number')) found.push(node)
  })
  return found
}

const named = (name: string, ...args: readonly Expr[]): Expr => call(name, ...args)
/** A column of numbers, so that nothing is folded into one constant. */
const row = field('number')

interface Growth {
  readonly of: 'string' | 'number'
  readonly from: number
  readonly most: number
  readonly grows: Probe['grows']
  make(size: number, old: Literal): Expr
}
const kilobyte = 1024
const growths: Readonly<Record<string, Growth>> = {
  'a long text': {
    of: 'string',
    grows: 'input',
    from: kilobyte,
    most: 4 * 1024 * kilobyte,
    make: (size, old) => literal(fill(String(old.value) || 'a', size)),
  },
  'a text of one letter': {
    of: 'string',
    grows: 'input',
    from: kilobyte,
    most: 4 * 1024 * kilobyte,
    make: (size) => literal(fill('a', size)),
  },
  'a long text in each row': {
    of: 'string',
    grows: 'data',
    from: 64,
    most: 16_384,
    make: (size, old) =>
      named('repeat', literal(String(old.value) || 'a'), named('minus', literal(size), named('modulo', row, literal(3)))),
  },
  'a large number': {
    of: 'number',
    grows: 'data',
    from: 100,
    most: 1e12,
    make: (size, old) => literal(Number(old.value) < 0 ? -size : size),
  },
  'a large number in each row': {
    of: 'number',
    grows: 'data',
    from: 64,
    most: 1_000_000,
    make: (size) => named('minus', literal(size), named('modulo', row, literal(3))),
  },
}

/** Several vectors of the engine, so that all its threads are at work on some. */
const rowsOfProbe = 16_384
/** Ways to read a value to its end, so that it is made: what has a length is read cheapest. */
const shows: readonly ((value: string) => string)[] = [
  'sum(length(_))',
  'max(_)',
  'sum(length(toString(_)))',
  'sum(length(toJSONString(_)))',
  'count(_)',
].map((show) => (value) => `select ${show.replace('_', () => value)} from numbers(${rowsOfProbe})`)

/** All constants of a case at once, one of them, or the rows that an aggregate reads. */
type Which = number | 'all' | 'rows'
export interface Place {
  readonly name: string
  readonly kase: number
  readonly constant: Which
  readonly growth: string
}

const probeOf = (place: Place, growth: Pick<Growth, 'grows' | 'from' | 'most'>, write: (size: number) => string[], of = ''): Probe => ({
  name: `function ${place.name}${of} ${place.kase}.${place.constant}: ${place.growth}`,
  door: 'ask',
  grows: growth.grows,
  from: growth.from,
  most: growth.most,
  step: 16,
  make: (size) => statementInput(write(size)[0]!),
  others: write(1)
    .slice(1)
    .map((_, i) => (size: number) => statementInput(write(size)[i + 1]!)),
})

/** The case over many rows instead of the few that it reads. */
const overRows = (text: string, rows: number): string =>
  text
    .replace(
      /\(select arrayJoin\((\[.*?\])\) as x\)/g,
      (_, list: string) => `(select arrayElement(${list}, 1 + number % 3) as x from numbers(${rows}))`,
    )
    .replace(/from numbers\(\d+\)/g, `from numbers(${rows})`)

/** `inner`: what stands for the text of each row, where that is another function's. */
export function functionProbe(place: Place, inner?: { readonly name: string; readonly tree: (size: number) => Expr }): Probe | null {
  const { name, kase, constant, growth } = place
  const [text] = casesOf(name)[kase]!
  if (constant === 'rows')
    return overRows(text, 7) === text
      ? null
      : probeOf(place, { grows: 'data', from: 1_000, most: 100_000_000 }, (size) => [overRows(text, size)])
  const tree = parsed(text)
  const grown = growths[growth]!
  const isWhole = tree?.kind === 'select' || tree?.kind === 'set'
  if (!tree || (isWhole && grown.grows === 'data')) return null
  const isAsked = (one: Literal, at: number) => typeof one.value === grown.of && (constant === 'all' || at === constant)
  const places = constantsOf(tree).filter(isAsked)
  if (places.length === 0) return null
  const written = (size: number): string[] => {
    const after = print(
      rewrite(tree as Node, (node) =>
        places.includes(node as Literal) ? (inner?.tree(size) ?? grown.make(size, node as Literal)) : node,
      ) as Tree,
    )
    if (isWhole) return [after]
    return grown.grows === 'data' ? shows.map((show) => show(after)) : [`select ${after}`]
  }
  return probeOf(place, grown, written, inner ? ` of ${inner.name}` : '')
}

const rowsGrowth = 'many rows'
export function functionNamed(name: string): Probe | null {
  const [, of = '', kase = '', constant = '', growth = ''] = /^function (\w+) (\d+)\.(\w+): (.*)$/.exec(name) ?? []
  if (!registry.has(of) || !(growth in growths || growth === rowsGrowth)) return null
  return functionProbe({
    name: of,
    kase: Number(kase),
    constant: constant === 'all' || constant === 'rows' ? constant : Number(constant),
    growth,
  })
}

/** The first cases with constants: the others ask about corners. */
const casesOfEach = 2
interface UsefulCase {
  readonly kase: number
  readonly constants: number
}
const useful = new Map<string, readonly UsefulCase[]>()
const usefulCases = (name: string): readonly UsefulCase[] => {
  const known = useful.get(name)
  if (known) return known
  const found = casesOf(name)
    .map(([expression], kase) => ({ kase, constants: constantsOf(parsed(expression) ?? literal(null)).length }))
    .filter(({ constants }) => constants > 0)
    .slice(0, casesOfEach)
  useful.set(name, found)
  return found
}

/** Rows that are made of other rows by rule come late. */
const derived = ['Aggregates with suffixes', 'Aggregates over an array']

export function* functionProbes(draw: () => number): Generator<Probe> {
  const late = new Set(derived.flatMap((family) => Object.keys(families[family] ?? {})))
  const all: [rank: number, place: Place][] = []
  for (const name of registry.keys())
    for (const { kase, constants } of usefulCases(name)) {
      all.push([draw() + (late.has(name) ? 2 : 0.7) + kase, { name, kase, constant: 'rows', growth: rowsGrowth }])
      for (const growth of Object.keys(growths))
        for (const constant of ['all' as const, ...Array.from({ length: constants }, (_, i) => i)]) {
          const rank =
            draw() + (late.has(name) ? 2 : 0) + (constant === 'all' && kase === 0 ? 0 : 1) - (growths[growth]!.grows === 'data' ? 0.3 : 0)
          all.push([rank, { name, kase, constant, growth }])
        }
    }
  for (const [, place] of all.sort(([a], [b]) => a - b)) {
    const probe = functionProbe(place)
    if (probe) yield probe
  }
}

/** Functions of functions: what one makes of each row is what the other is given. */
export function* functionPairProbes(draw: () => number): Generator<Probe> {
  const late = new Set(derived.flatMap((family) => Object.keys(families[family] ?? {})))
  const names = [...registry.keys()].filter((name) => !late.has(name) && usefulCases(name).length > 0)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(draw() * of.length)]!
  for (;;) {
    const [outer, inner] = [pick(names), pick(names)]
    const kase = usefulCases(inner)[0]!.kase
    const tree = parsed(casesOf(inner)[kase]![0])
    if (!tree || tree.kind === 'select' || tree.kind === 'set') continue
    const probe = functionProbe(
      { name: outer, kase: usefulCases(outer)[0]!.kase, constant: 'all', growth: 'a long text in each row' },
      {
        name: inner,
        tree: (size) =>
          rewrite(tree as Node, (node) =>
            node.kind === 'literal' && typeof node.value === 'string' ? growths['a long text in each row']!.make(size, node) : node,
          ) as Expr,
      },
    )
    if (probe) yield probe
  }
}
