import type { QueryKind } from './kind.ts'

/** Every kind of query that can be asked, by its name. */
export const queryKinds: Readonly<Record<string, QueryKind<unknown, object>>> = {}
