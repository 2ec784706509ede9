import { storableText } from '../../../lib/text/storable-text.ts'
import { initialName, isCopied } from '../persons/initial-properties.ts'

// Property names, and the sets of properties of events (shapes), which are looked up once for all events of a shape.

/** The special treatment of a property. */
export type Role = 'plain' | 'set' | 'set-once' | 'unset' | 'ip' | 'sent-at' | 'elements' | 'elements-chain'

export interface PropertyName {
  /** As it is stored. */
  readonly name: string
  readonly number: number
  readonly role: Role
  /** The original name had characters that cannot be stored. */
  readonly isRepaired: boolean
  /** The `$initial_…` property that holds a person's first value, for properties of visits. */
  readonly initial: string | null
}

const roles: ReadonlyMap<string, Role> = new Map([
  ['$set', 'set'],
  ['$set_once', 'set-once'],
  ['$unset', 'unset'],
  ['$ip', 'ip'],
  ['$sent_at', 'sent-at'],
  ['$elements', 'elements'],
  ['$elements_chain', 'elements-chain'],
])
const namesKept = 10_000
const longestKept = 200
const names = new Map<string, PropertyName>()
let numbers = 0

function makeName(key: string): PropertyName {
  const name = storableText(key)
  return {
    name,
    number: numbers++,
    role: roles.get(key) ?? 'plain',
    isRepaired: name !== key,
    initial: isCopied(key) ? initialName(key) : null,
  }
}

export function propertyName(key: string): PropertyName {
  const known = names.get(key)
  if (known) return known
  if (names.size >= namesKept) names.clear()
  const made = makeName(key)
  if (key.length <= longestKept) names.set(key, made)
  return made
}

/** The names and types of an event's properties in order; one shared object per shape, while it is in use. */
export class Shape {
  readonly before: Shape | null
  readonly name: string
  /** Index into `valueTypes`. */
  readonly type: number
  readonly length: number
  /** Only if there are several types: most names have one. */
  private next: Map<number, Shape> | null = null
  private lastKey = -1
  private last: Shape | null = null

  constructor(before: Shape | null, name: string, type: number) {
    this.before = before
    this.name = name
    this.type = type
    this.length = before === null ? 0 : before.length + 1
  }

  /** The shape with one more property. Missing values (type -1) and properties beyond the limit are skipped. */
  with(name: PropertyName, type: number): Shape {
    if (type < 0 || this.length >= longestShape) return this
    const key = name.number * 8 + type
    if (key === this.lastKey) return this.last!
    let shape = this.next?.get(key)
    if (!shape) {
      shape = new Shape(this, name.name, type)
      shapesMade++
      shapeCharacters += name.name.length
      if (this.last !== null) {
        this.next ??= new Map([[this.lastKey, this.last]])
        this.next.set(key, shape)
      }
    }
    this.lastKey = key
    this.last = shape
    return shape
  }

  /** In their order. */
  parts(): { readonly name: string; readonly type: number }[] {
    const parts: { name: string; type: number }[] = []
    for (let shape: Shape | null = this; shape?.before; shape = shape.before) parts.push({ name: shape.name, type: shape.type })
    return parts.reverse()
  }
}

/** Maximum number of properties per event whose names and types are counted. */
const longestShape = 50_000
const shapesKept = 50_000
const shapeCharactersKept = 8_000_000
let shapesMade = 0
let shapeCharacters = 0
let root = new Shape(null, '', -1)

/** The shape of an event without properties. */
export function emptyShape(): Shape {
  if (shapesMade > shapesKept || shapeCharacters > shapeCharactersKept) {
    root = new Shape(null, '', -1)
    shapesMade = 0
    shapeCharacters = 0
  }
  return root
}
