/** What the values of a property are. */
export type ValueKind = 'number' | 'boolean' | 'time' | 'text'
