/** An event name that has been seen. */
export interface KnownEvent {
  readonly name: string
  readonly count: number
  readonly first_seen: Date | null
  readonly last_seen: Date | null
}

/** A property that has been seen or declared. */
export interface KnownProperty {
  /** event, person, or group_0 to group_4 */
  readonly scope: string
  readonly name: string
  /** The declared type; null: each value keeps its own type. */
  readonly property_type: 'Numeric' | 'String' | 'Boolean' | 'DateTime' | null
  /** How many values of each kind were sent. */
  readonly counts: {
    readonly numeric: number
    /** Texts that read as a number. */
    readonly numeric_text: number
    /** All other texts except times. */
    readonly text: number
    readonly boolean: number
    readonly time: number
    readonly other: number
  }
  readonly first_seen: Date | null
  readonly last_seen: Date | null
}

/** A search of names by words: a name fits if it, or its label, has all of them. */
export interface NameSearch {
  readonly words: readonly string[]
  /** The names whose label has all words. */
  readonly labelled: readonly string[]
  /** Names that begin like this have a label that begins like that, and ends like the name; except those that `labelled` decides. */
  readonly prefixes: readonly { readonly prefix: string; readonly label: string; readonly except: readonly string[] }[]
}

export const nameOrders = ['name', 'count', 'created_at', 'last_seen_at', 'verified'] as const
export type NameOrder = (typeof nameOrders)[number]

/** One page of the names of a project. There can be 200,000, so the store finds, orders and counts them, and only the page is read. */
export interface NamesAsked {
  readonly limit: number
  readonly offset: number
  /** The most important first; then by name. */
  readonly order: readonly { readonly by: NameOrder; readonly isDescending: boolean }[]
  /** These come before others, whatever the order. */
  readonly first?: readonly string[]
  readonly search?: NameSearch
  /** Only these. */
  readonly names?: readonly string[]
  /** All but these. */
  readonly without?: readonly string[]
  /** Only those with one of these beginnings, and none of those. */
  readonly begins?: readonly string[]
  readonly beginsNot?: readonly string[]
  /** Of properties: event, person, or group_0 to group_4. */
  readonly scopes?: readonly string[]
  /** Of properties: declared as a number, or all values are numbers. */
  readonly isNumerical?: boolean
  /** How the id of a name is made: a UUIDv5 of the prefix, for properties the scope and a colon, and the name. */
  readonly ids: { readonly namespace: string; readonly prefix: string }
  readonly onlyIds?: readonly string[]
  readonly withoutIds?: readonly string[]
  /** Not listed until they have more than this count. */
  readonly removed?: readonly { readonly id: string; readonly count: number }[]
  /** For the order `verified`. */
  readonly verified?: readonly string[]
}

export interface NamesFound<T> {
  /** Of all pages. */
  readonly count: number
  readonly page: readonly T[]
}
