import type { Span } from '../../errors/span.ts'
import type { FunctionRow } from '../functions/row.ts'
import { type CallParts, findRow, plainCall } from './call-node.ts'
import { byPropertyOrder, readProperties } from './property-values.ts'
import type { TypedExpr } from './typed.ts'

export { checkArity, findRow } from './call-node.ts'
export { isComparison } from './property-values.ts'

/** A call, with property arguments converted to what it takes. */
export const callNode = (name: string, row: FunctionRow, parts: CallParts, span: Span): TypedExpr =>
  byPropertyOrder(name, row, parts, span) ?? plainCall(name, row, readProperties(name, row, parts), span)

/** A generated call, by its exact name. */
export const builtCall = (name: string, args: readonly TypedExpr[], span: Span): TypedExpr =>
  callNode(name, findRow(name, span).row, { args }, span)
