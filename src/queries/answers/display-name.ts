import { call, field, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { ProjectSettings } from '../kind.ts'

const usual = ['email', 'Email', 'name', 'Name', 'username', 'Username', 'UserName']

/** The first configured property that has a value, else `otherwise`. `properties` is the way to the person's properties, `readable` those that may be read: by default all. */
export function displayName(
  project: Pick<ProjectSettings, 'personDisplayNameProperties'>,
  properties: readonly string[],
  otherwise: Expr,
  readable?: ReadonlySet<string>,
): Expr {
  const configured = project.personDisplayNameProperties.length ? project.personDisplayNameProperties : usual
  const names = readable ? configured.filter((name) => readable.has(name)) : configured
  return call('coalesce', ...names.map((name) => call('nullif', call('toString', field(...properties, name)), literal(''))), otherwise)
}
