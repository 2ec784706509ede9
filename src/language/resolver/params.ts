import { QueryError } from '../../errors/errors.ts'
import type { Call } from '../ast/nodes.ts'
import { print } from '../ast/print.ts'
import type { FunctionRow, ParamKind } from '../functions/row.ts'
import { constantNumber } from './constants.ts'
import type { TypedExpr } from './typed.ts'

// The first parentheses of `f(params)(args)`.

const kinds: Readonly<Record<ParamKind, { readonly words: string; readonly example: number; fits(value: number): boolean }>> = {
  share: { words: 'a number from 0 to 1', example: 0.5, fits: (value) => value >= 0 && value <= 1 },
  count: { words: 'a positive integer', example: 10, fits: (value) => Number.isSafeInteger(value) && value > 0 },
  whole: { words: 'a non-negative integer', example: 1000, fits: (value) => Number.isSafeInteger(value) && value >= 0 },
}

export function checkParams(
  name: string,
  { paramKinds }: FunctionRow,
  params: readonly TypedExpr[],
  written: readonly Call['args'][number][],
): void {
  if (!paramKinds) return
  for (const [i, param] of params.entries()) {
    const { words, fits } = kinds[paramKinds[Math.min(i, paramKinds.length - 1)]!]
    const value = constantNumber(param)
    if (value !== null && fits(value)) continue
    const message = `The parameter of '${name}' must be ${words}, but got ${print(written[i]!)}`
    throw new QueryError('wrong-type', { message, expected: words }, param.span)
  }
}

/** The corrected form of a call that confuses parameters with arguments; null if the correction is not obvious. */
export function correctedCall({ name, args, params }: Pick<Call, 'name' | 'args' | 'params'>, row: FunctionRow): string | null {
  const listed = (exprs: readonly Call['args'][number][]) => exprs.map((expr) => print(expr)).join(', ')
  const fits = (count: number, [min, max]: readonly [number, number | null]) => count >= min && (max === null || count <= max)
  if (params?.length && !row.params) {
    if (name === 'groupArray' && params.length === 1) return `arraySlice(groupArray(${listed(args)}), 1, ${listed(params)})`
    return fits(args.length, row.args) ? `${name}(${listed(args)})` : null
  }
  if (params || !row.params) return null
  if (fits(args.length, row.args)) {
    const [kind] = row.paramKinds ?? []
    return kind ? `${name}(${kinds[kind].example})(${listed(args)})` : null
  }
  // Other engines write the argument first, then the parameters of the function.
  const [count] = row.args
  const [own, rest] = [args.slice(0, count), args.slice(count)]
  return rest.length > 0 && fits(rest.length, row.params) ? `${name}(${listed(rest)})(${listed(own)})` : null
}
