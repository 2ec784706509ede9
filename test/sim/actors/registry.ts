import type { Actor } from './actor.ts'
import { capture } from './capture.ts'
import { query } from './query.ts'

/** Who acts, by name. A new one is a file beside this one, and a line here. */
export const actors: Readonly<Record<string, Actor<never>>> = { capture, query }
