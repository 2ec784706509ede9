import { isNamed, isText } from '../types/types.ts'
import type { Arg } from './row.ts'

/** A value as text on ClickHouse. What is a flag for us reads true or false. */
export const asText = (arg: Arg): string =>
  isText(arg.type)
    ? arg.sql
    : isNamed(arg.type, 'Nothing')
      ? 'CAST(NULL AS Nullable(String))'
      : isNamed(arg.type, 'Bool')
        ? `toString(toBool(${arg.sql}))`
        : `toString(${arg.sql})`
