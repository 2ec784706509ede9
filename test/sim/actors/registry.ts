import type { AnyActor } from './actor.ts'
import { backup } from './backup.ts'
import { capture } from './capture.ts'
import { change } from './change.ts'
import { exportDays } from './export.ts'
import { importPast } from './import.ts'
import { query } from './query.ts'
import { removeProperty } from './remove-property.ts'
import { retain } from './retain.ts'
import { session } from './session.ts'

/** Who acts, by name. A new one is a file beside this one, and a line here. */
export const actors: Readonly<Record<string, AnyActor>> = {
  backup,
  capture,
  change,
  export: exportDays,
  import: importPast,
  query,
  removeProperty,
  retain,
  session,
}
