import type { Call, Expr, Node, Query } from '../../../src/language/ast/nodes.ts'
import { print } from '../../../src/language/ast/print.ts'
import { walk } from '../../../src/language/ast/walk.ts'
import { registry } from '../../../src/language/functions/registry.ts'
import { collectExpr, collectQuery } from '../../../src/language/parser/parse.ts'
import { casesOf } from '../../language/functions/cases-of.ts'
import type { Probe } from '../probe.ts'
import { compiled } from './statements.ts'

// Every function within itself, and within another one and that within it: a cell that prints an argument twice doubles with each level.

const parsed = (text: string): Expr | Query | null => (/^\s*(select|with)\b/i.test(text) ? collectQuery(text).ast : collectExpr(text).ast)

/** The first call of the function in its own cases. */
function callOf(name: string): Call | null {
  for (const [text] of casesOf(name)) {
    const tree = parsed(text)
    let found: Call | null = null
    if (tree)
      walk(tree as Node, (node) => {
        if (node.kind === 'call' && node.name.toLowerCase() === name.toLowerCase() && node.args.length > 0) found ??= node
        return found === null
      })
    if (found) return found
  }
  return null
}

interface Link {
  readonly call: Call
  readonly place: number
}
const withArgument = ({ call, place }: Link, argument: Expr): Expr => ({
  ...call,
  args: call.args.map((one, i) => (i === place ? argument : one)),
})

/** More levels than the tree may have are refused; doubling shows long before. */
const mostLevels = 200

export const nestedProbe = (links: readonly Link[]): Probe => {
  const [first] = links as readonly [Link, ...Link[]]
  const write = (levels: number) => {
    let inner = first.call.args[first.place]!
    for (let i = 0; i < levels; i++) inner = withArgument(links[i % links.length]!, inner)
    return `select ${print(inner)}`
  }
  const name = `nested ${links.map(({ call, place }) => `${call.name} at ${place}`).join(' and ')}`
  return { ...compiled(name, { from: 3, most: mostLevels, write }, 'DuckDB'), name: `compile for DuckDB: ${name}`, step: 3 }
}

function linksOf(name: string): Link[] {
  const call = callOf(name)
  return call ? call.args.flatMap((argument, place) => (argument.kind === 'lambda' ? [] : [{ call, place }])) : []
}

export function* nestedProbes(draw: () => number): Generator<Probe> {
  const names = [...registry.keys()].filter((name) => registry.get(name)!.kind === 'scalar')
  const order = names.map((name) => [draw(), name] as const).sort(([a], [b]) => a - b)
  for (const [, name] of order) for (const link of linksOf(name)) yield nestedProbe([link])
  const pick = <T>(of: readonly T[]): T => of[Math.floor(draw() * of.length)]!
  for (;;) {
    const [one, other] = [linksOf(pick(names)), linksOf(pick(names))]
    if (one.length > 0 && other.length > 0) yield nestedProbe([pick(one), pick(other)])
  }
}
