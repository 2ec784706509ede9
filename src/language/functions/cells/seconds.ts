import { isTime } from '../../types/types.ts'
import type { Arg } from '../row.ts'
import { asNumber } from './duckdb-values.ts'

/** A time as whole seconds on DuckDB; other numbers unchanged. */
export const seconds = (at: Arg): string =>
  isTime(at.type) ? `CAST(floor(epoch(${at.sql})) AS BIGINT)` : `CAST(${asNumber(at)} AS BIGINT)`
