/** The value at a JSON pointer; undefined when there is none. */
export function at(value: unknown, pointer: string): unknown
/** A value in few words, for a message. */
export function show(value: unknown): string
/** Whether `got` is what `want` describes, matchers included. */
export function fits(want: unknown, got: unknown): boolean
