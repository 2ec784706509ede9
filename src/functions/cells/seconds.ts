import { isTime } from '../../types/types.ts'
import type { Arg } from '../row.ts'
import { asNumber } from './duckdb-values.ts'

/** Whole seconds of a time on DuckDB; other numbers are what they are. */
export const seconds = (at: Arg): string =>
  isTime(at.type) ? `CAST(floor(epoch(${at.sql})) AS BIGINT)` : `CAST(${asNumber(at)} AS BIGINT)`
