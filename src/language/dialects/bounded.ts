import { noSpan } from '../../errors/span.ts'
import type { AggregateContext, Arg } from '../functions/row.ts'
import { type Bound, columnKey, type EachBound, type Footprint } from '../plan/footprint.ts'
import { makesOf } from '../plan/known-sizes.ts'
import { isFixed } from '../plan/sizes.ts'
import type { CallNode, TypedExpr } from '../resolver/typed.ts'
import type { Guards } from './dialect.ts'

// Prints the size limits of a footprint around the calls that have one.

/** Longer arguments are named, because the size and the call both use them. */
const longestTwice = 300

/** The rows that an aggregate reads, printed. */
type Rows = Pick<AggregateContext, 'filter' | 'over'>

interface Parts {
  fresh(): string
  expr(expr: TypedExpr): string
}

export class Bounded {
  private readonly guards: Guards
  private readonly footprint: Footprint
  private readonly parts: Parts

  constructor(guards: Guards, footprint: Footprint, parts: Parts) {
    this.guards = guards
    this.footprint = footprint
    this.parts = parts
  }

  /** What equal calls must share, besides their arguments, to be printed identically. */
  keyOf = (call: CallNode): readonly (number | undefined)[] =>
    [this.footprint.calls, this.footprint.kept, this.footprint.each].map((bounds) => bounds.get(call)?.most)

  /** Does the call, or one of its arguments, have a limit? */
  concerns(call: CallNode): boolean {
    const { calls, kept, each, columns } = this.footprint
    if (calls.has(call) || kept.has(call) || each.has(call)) return true
    return columns.size > 0 && call.args.some((arg) => arg.kind === 'column' && columns.has(columnKey(arg.source, arg.name)))
  }

  within(call: CallNode, bytes: string, made: string): string {
    const bound = this.footprint.calls.get(call)
    return bound ? this.guard(call, bound, bytes, made) : made
  }

  /** A column that is the input of very large values, or what a recursive query adds in a round. */
  value(expr: TypedExpr, text: string): string {
    const { guards } = this
    if (expr.kind === 'column') {
      const bound = this.footprint.columns.get(columnKey(expr.source, expr.name))
      // Printed identically everywhere, so that GROUP BY and the select list match.
      const refusal = { name: expr.name, most: bound?.most ?? 0, span: noSpan }
      return bound ? guards.within(guards.bytesOf(text, expr.type), text, refusal) : text
    }
    const bound = this.footprint.rounds.get(expr)
    if (!bound) return text
    const refusal = { name: expr.kind === 'call' ? expr.name : null, most: bound.most, span: expr.span }
    return guards.named([text], this.parts.fresh(), ([value]) => guards.within(guards.bytesOf(value!, expr.type), value!, refusal))
  }

  call(call: CallNode, args: readonly Arg[], rows: Rows, cell: (args: readonly Arg[]) => string): string {
    const each = this.footprint.each.get(call)
    if (each) return this.each(call, each, args, cell)
    const kept = this.footprint.kept.get(call)
    if (kept) return this.kept(call, kept, args, rows, cell(args))
    const bound = this.footprint.calls.get(call)
    const makes = bound && makesOf(call)
    if (makes?.kind !== 'counted') return cell(args)
    return this.once(args, (named) => this.guard(call, bound!, makes.bytes(this.guards.countingIn(named)), cell(named)))
  }

  private kept(
    call: CallNode,
    kept: Bound & { readonly isSummed: boolean },
    args: readonly Arg[],
    { filter, over }: Rows,
    text: string,
  ): string {
    const { guards } = this
    const isWhole = call.row.keeps === 1 && !isFixed(call.type)
    const ofArgs = () => args.map((arg) => guards.bytesOf(arg.sql, arg.type)).join(' + ') || '8'
    const bytes = isWhole ? guards.bytesOf(text, call.type) : guards.ofRows(ofArgs(), filter, over)
    return kept.isSummed ? this.guard(call, kept, guards.together(bytes), text) : this.guard(call, kept, bytes, text)
  }

  private each(call: CallNode, bound: EachBound, args: readonly Arg[], cell: (args: readonly Arg[]) => string): string {
    const { guards } = this
    const list = args.findIndex((arg) => !arg.lambda)
    if (bound.captured) {
      const array = args[list]!
      const ofOne = bound.captured.map(([expr, times]) => `coalesce(${guards.bytesOf(this.parts.expr(expr), expr.type)}, 0) * ${times}`)
      const guarded = (sql: string) => this.guard(call, bound, `(${ofOne.join(' + ')}) * ${guards.items(sql, array.type)}`, sql)
      const wrapped = this.once([array], ([one]) => guarded(one!.sql))
      return cell(args.map((arg, i) => (i === list ? { ...arg, sql: wrapped } : arg)))
    }
    if (bound.isStep)
      return cell(args.map((arg) => this.withBody(arg, (value) => this.guard(call, bound, guards.bytesOf(value, call.type), value))))
    return this.once(
      args,
      (named) => {
        const array = named[list]!
        const type = (arg: Arg) => arg.lambda!.type
        return cell(
          named.map((arg) =>
            this.withBody(arg, (value) =>
              this.guard(call, bound, `${guards.bytesOf(value, type(arg))} * ${guards.items(array.sql, array.type)}`, value),
            ),
          ),
        )
      },
      0,
    )
  }

  private withBody(arg: Arg, guarded: (value: string) => string): Arg {
    const { lambda } = arg
    if (!lambda || isFixed(lambda.type)) return arg
    return { ...arg, lambda: { ...lambda, body: this.guards.named([lambda.body], this.parts.fresh(), ([value]) => guarded(value!)) } }
  }

  private once(args: readonly Arg[], body: (args: readonly Arg[]) => string, longest = longestTwice): string {
    const isLong = (arg: Arg) => !arg.lambda && arg.constant === undefined && arg.sql.length > longest
    const long = args.filter(isLong)
    if (long.length === 0) return body(args)
    const values = long.map(({ sql }) => sql)
    return this.guards.named(values, this.parts.fresh(), (names) =>
      body(args.map((arg) => (isLong(arg) ? { ...arg, sql: names[long.indexOf(arg)]!, items: undefined, call: undefined } : arg))),
    )
  }

  private guard = (call: CallNode, { most }: Bound, bytes: string, made: string): string =>
    this.guards.within(bytes, made, { name: call.name, most, span: call.span })
}
