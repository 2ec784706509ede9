import { shownParts } from '../resolver/shape.ts'
import type { TypedExpr, TypedSelect } from '../resolver/typed.ts'

/** All expressions of a select except those in FROM. */
export const partsOf = (select: TypedSelect): TypedExpr[] => [
  ...shownParts(select),
  ...(select.where ? [select.where] : []),
  ...(select.groupBy ? [...select.groupBy.items, ...select.groupBy.sets.flat()] : []),
]
