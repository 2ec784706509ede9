import { createRequire } from 'node:module'

/** The functions of the store's library, of which any may be replaced. The bundle has this in place of the library. */
const library = createRequire(import.meta.url)('@duckdb/node-bindings') as Record<string, unknown>

export default Object.fromEntries(Object.getOwnPropertyNames(library).map((name) => [name, library[name]]))
