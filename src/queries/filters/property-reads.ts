import { field } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { fieldsOfEvents, fieldsOfPersons } from '../../language/catalog/computed-fields.ts'

/** The property of an event, or what is computed under its name. */
export const eventProperty = (name: string): Expr => (Object.hasOwn(fieldsOfEvents, name) ? field(name) : field('properties', name))

/** The property of a person at the end of a chain, or what is computed under its name. */
export const personProperty = (name: string, chain: readonly string[]): Expr =>
  Object.hasOwn(fieldsOfPersons, name) ? field(...chain, name) : field(...chain, 'properties', name)
